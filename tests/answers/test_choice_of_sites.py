"""Candidate sites in the answer: two of four sites against an enumeration of all pairs."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

import dcplan
from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from dcplan.result import Result

SITES: dict[str, dict[str, Any]] = {
    "ashburn": {"location": "us-ashburn", "land_usd": 20e6},
    "abilene": {"location": "us-abilene"},
    "columbus": {"location": "us-columbus", "energy": {"usd_per_kwh": 0.13}},
    "helsinki": {"location": "fi-helsinki", "energy": {"usd_per_kwh": 0.075}},
}
HALL = {
    "id": "ai",
    "count": 1,
    "racks": 20,
    "rack_kw_max": 150,
    "it_mw": 0.5,
    "cooling": ["direct-liquid-dry-cooler"],
}


def scenario(folder: Path, names: tuple[str, ...], **more: Any) -> str:
    """Write four quarters of research with some of the sites, each with one hall of 0.5 MW."""
    sites = [{"id": s, "utility_mw": 3, "halls": [HALL], **SITES[s]} for s in names]
    research = {
        "id": "research",
        "pflops_delivered": [0, 30, 60, 60],
        "utilization_frac": 0.55,
        "reference": {"model": "llama-3.1-70b", "seq_len": 8192, "precision": "bf16"},
    }
    data = {
        "dcplan": 1,
        "name": "-".join(names),
        "horizon": {"start": "2027-Q1", "quarters": 4},
        "sites": sites,
        "systems": ["dgx-b200"],
        "fabrics": ["eth-400"],
        "finance": {"tax": {"land_property_tax_frac_per_year": 0.011}}
        if "ashburn" in names
        else {},
        "workloads": {"capacity": [research]},
        **more,
    }
    file = folder / f"{data['name']}-{len(more)}.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two of the four sites, with the comparison."""
    folder = tmp_path_factory.mktemp("sites")
    return plan(scenario=scenario(folder, tuple(SITES), sites_max=2), compare_sites=True, gap=1e-6)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], float]:
    """Net present cost of each pair of sites, planned without the others."""
    folder = tmp_path_factory.mktemp("pairs")
    return {
        names: float(dcplan.plan(scenario(folder, names), gap=1e-6).value("cost.npv_usd"))
        for names in combinations(SITES, 2)
    }


def test_the_chosen_pair_and_each_change_are_those_of_an_enumeration(
    compared: Result, pairs: dict[tuple[str, ...], float]
) -> None:
    """No site holds the work alone, so every plan has two: with a site, the cheapest pair with it."""
    least = min(pairs.values())
    assert compared.value("cost.npv_usd") == pytest.approx(least, rel=1e-6)
    rows = compared.frame("sites").set_index("site")
    assert set(rows.index[rows["chosen"]]) == set(min(pairs, key=pairs.__getitem__))
    for site, row in rows.iterrows():
        other = min(usd for names, usd in pairs.items() if (site in names) != row["chosen"])
        assert row["change_usd"] == pytest.approx(other - least, abs=least * 1e-5)
        assert row["change_low_usd"] <= row["change_usd"] + 1.0
        parts = row[[f"{x}_change_usd" for x in ("capex", "energy", "opex", "other")]].sum()
        assert parts == pytest.approx(row["change_usd"], abs=1.0)
    assert rows["only_here_npv_usd"].isna().all()  # 0.5 MW of one hall are too few


def test_facts_of_the_sites(compared: Result) -> None:
    rows = compared.frame("sites").set_index("site")
    assert rows.loc["columbus", "energy_usd_per_kwh"] == 0.13
    assert rows.loc["ashburn", "land_tax_usd_per_year"] == pytest.approx(0.011 * 20e6)
    assert (rows["powered_from"] == "2027-Q1").all()
    assert rows.loc["helsinki", "pue"] < rows.loc["ashburn", "pue"]


def test_at_the_break_even_price_the_site_is_chosen(tmp_path: Path) -> None:
    """Two equal sites but for the price of energy: 0.20 is chosen when it falls to that of the other."""
    names = ("columbus", "abilene")
    one = {"id": "columbus", "location": "us-columbus", "utility_mw": 3, "halls": [HALL]}
    sites = [one, {**one, "id": "abilene", "energy": {"usd_per_kwh": 0.2}}]
    sites[0]["energy"] = {"usd_per_kwh": 0.1}
    file = scenario(tmp_path, names, sites=sites, sites_max=1)
    small = [f"workloads.capacity.research.pflops_delivered={[0, 20, 30, 30]}"]
    found = plan(scenario=file, sets=tuple(small), compare_sites=True, gap=1e-6)
    row = found.frame("sites").set_index("site").loc["abilene"]
    assert not row["chosen"]
    assert row["break_even_usd_per_kwh"] == pytest.approx(0.1, rel=1e-6)
    assert row["energy_change_usd"] == pytest.approx(row["change_usd"], rel=1e-6)
    below = (*small, "sites.abilene.energy.usd_per_kwh=0.0999")
    rows = plan(scenario=file, sets=below, gap=1e-6).frame("sites").set_index("site")
    assert rows.loc["abilene", "chosen"]
    assert not rows.loc["columbus", "chosen"]


def test_at_least_so_many_sites(tmp_path: Path) -> None:
    file = scenario(tmp_path, tuple(SITES), sites_min=3, sites_max=3)
    found = dcplan.plan(file, gap=1e-6)
    assert found.frame("sites")["chosen"].sum() == 3
    checks = found.frame("checks").set_index("check")
    row = checks.loc["fewest sites with racks"]
    assert (row["used"], row["limit"]) == (3, 3)


@pytest.mark.parametrize(
    ("more", "flag", "text"),
    [
        ({"sites_min": 5}, False, "sites_min is 5, and the number of sites is 4"),
        ({"sites_min": 3, "sites_max": 2}, False, "sites_min is 3, and sites_max is 2"),
        ({"objective": "min_carbon"}, True, "--compare-sites compares costs"),
    ],
)
def test_refusals(tmp_path: Path, more: dict[str, Any], flag: bool, text: str) -> None:
    file = scenario(tmp_path, tuple(SITES), **more)
    with pytest.raises(InputError, match=text):
        plan(scenario=file, compare_sites=flag)
