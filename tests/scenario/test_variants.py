"""dcplan/scenario/load.py and tree.py: extends, overrides and scenarios, prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.provenance import Status
from dcplan.scenario.load import load
from tests.scenario.samples import GOOD, asked, refused, spot, written

OVER = """dcplan: 1
name: over
extends: base.yaml
finance: {budget_usd: 5e8}
sites:
  - id: ashburn
    halls:
      - {id: air, racks: 30}
      - {id: new, racks: 10, rack_kw_max: 100, it_mw: 1, cooling: [direct-liquid-tower]}
systems: {replace: [dgx-b200]}
"""


def test_extends_merges_deeply_and_lists_by_id(tmp_path: Path) -> None:
    written(tmp_path, GOOD, "base.yaml")
    question = load(str(written(tmp_path, OVER, "over.yaml")))
    scenario = question.scenario
    assert scenario.name == "over"
    assert scenario.finance.discount_rate is not None
    assert scenario.finance.discount_rate.value == 0.1
    assert [(h.id, h.racks) for h in scenario.sites[0].halls] == [
        ("liquid", 96),
        ("air", 30),
        ("new", 10),
    ]
    assert scenario.systems == ("dgx-b200",)
    assert scenario.fabrics == ("ib-ndr-400",)


def test_after_extends_every_value_points_into_its_own_file(tmp_path: Path) -> None:
    written(tmp_path, GOOD, "base.yaml")
    question = load(str(written(tmp_path, OVER, "over.yaml")))
    site = question.scenario.sites[0]
    assert question.scenario.finance.discount_rate is not None
    assert question.scenario.finance.budget_usd is not None
    places = {
        "discount": question.scenario.finance.discount_rate.at,
        "budget": question.scenario.finance.budget_usd[0].at,
        "air.it_mw": site.halls[1].it_mw.at,
        "air.racks": question.at("sites", 0, "halls", 1, "racks"),
        "new.it_mw": site.halls[2].it_mw.at,
        "systems": question.at("systems", 0),
    }
    assert {key: spot(tmp_path, at) for key, at in places.items()} == {
        "discount": "base.yaml:4:26",
        "budget": "over.yaml:4:23",
        "air.it_mw": "base.yaml:11:54",
        "air.racks": "over.yaml:8:26",
        "new.it_mw": "over.yaml:9:55",
        "systems": "over.yaml:10:21",
    }


def test_an_error_in_the_base_names_the_base(tmp_path: Path) -> None:
    written(tmp_path, GOOD.replace("racks: 96", "racks: many"), "base.yaml")
    places = [spot(tmp_path, problem.place) for problem in refused(tmp_path, OVER)]
    assert "base.yaml:10:29" in places


def test_a_replaced_list_needs_no_list_before_it(tmp_path: Path) -> None:
    written(tmp_path, GOOD.replace("systems: [dgx-h200, gb200-nvl72]\n", ""), "base.yaml")
    assert asked(tmp_path, OVER).scenario.systems == ("dgx-b200",)


@pytest.mark.parametrize(
    "chain", [["s.yaml"], ["b.yaml", "s.yaml"], ["b.yaml", "c.yaml", "b.yaml"]]
)
def test_extends_that_returns_is_refused(tmp_path: Path, chain: list[str]) -> None:
    names = ["s.yaml", *chain]
    for name, target in zip(names, chain, strict=False):
        written(tmp_path, f"dcplan: 1\nextends: {target}\n", name)
    with pytest.raises(InputError) as caught:
        load(str(tmp_path / "s.yaml"))
    [problem] = caught.value.problems
    assert (problem.code, problem.place.line if problem.place else 0) == ("DC016", 2)


@pytest.mark.parametrize(
    "target", ["../base.yaml", "/etc/passwd", "sub/../../base.yaml", "link.yaml"]
)
def test_extends_must_stay_inside_the_project(tmp_path: Path, target: str) -> None:
    written(tmp_path, GOOD, "base.yaml")
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.yaml").symlink_to(tmp_path / "base.yaml")
    [problem] = refused(project, f"dcplan: 1\nextends: {target}\n")
    assert problem.code == "DC008"
    assert spot(project, problem.place) == "s.yaml:2:10"


def test_a_project_reaches_up_to_its_marker(tmp_path: Path) -> None:
    written(tmp_path, "", "dcplan.toml")
    written(tmp_path, GOOD, "base.yaml")
    assert asked(tmp_path / "sub", "name: over\nextends: ../base.yaml\n").scenario.name == "over"


def test_a_missing_base_is_named(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, "dcplan: 1\nextends: bose.yaml\n")
    assert problem.code == "DC006"


VARIANTS = """overrides:
  cheap: {"sites.ashburn.energy.usd_per_kwh": 0.05, finance.discount_rate: 0.07}
  dear: {"finance.discount_rate": 0.12}
  small: {"sites.ashburn.halls.liquid.it_mw": 6}
scenarios:
  none: []
  best: [cheap, small]
  both: [cheap, dear]
  typo: [chep]
"""


def test_overrides_apply_to_what_they_name(tmp_path: Path) -> None:
    question = asked(tmp_path, GOOD + VARIANTS, variant="best")
    site, finance = question.scenario.sites[0], question.scenario.finance
    assert site.energy.usd_per_kwh is not None
    assert finance.discount_rate is not None
    assert (site.energy.usd_per_kwh[0].value, finance.discount_rate.value) == (0.05, 0.07)
    assert [h.it_mw.value for h in site.halls] == [6, 1]
    # GOOD has 16 lines; `small` is the fourth of VARIANTS
    assert spot(tmp_path, site.halls[0].it_mw.at) == "s.yaml:20:47"
    assert spot(tmp_path, finance.discount_rate.at) == "s.yaml:18:76"
    assert spot(tmp_path, site.halls[0].rack_kw_max.at) == "s.yaml:10:46"


def test_without_a_variant_nothing_changes(tmp_path: Path) -> None:
    plain = asked(tmp_path / "a", GOOD + VARIANTS)
    none = asked(tmp_path / "b", GOOD + VARIANTS, variant="none")
    assert plain.digest == none.digest


@pytest.mark.parametrize(
    ("variant", "code", "hint", "place"),
    [
        ("bst", "DC013", 'did you mean "best"?', "s.yaml:22:3"),
        ("typo", "DC013", 'did you mean "cheap"?', "s.yaml:25:10"),
        ("both", "DC015", "", "s.yaml:19:10"),
    ],
)
def test_wrong_variants_are_refused(
    tmp_path: Path, variant: str, code: str, hint: str, place: str
) -> None:
    [problem] = refused(tmp_path, GOOD + VARIANTS, variant=variant)
    assert (problem.code, problem.hint, spot(tmp_path, problem.place)) == (code, hint, place)


@pytest.mark.parametrize(
    "text",
    [
        "scenarios: [best]",
        "scenarios: {best: 5}",
        "scenarios: {best: [[a]]}",
        "overrides: 5",
        "overrides: 5\nscenarios: {best: [a]}",
        "scenarios: 7",
        "scenarios: {best: null}",
    ],
)
def test_malformed_variants_are_refused_and_do_not_crash(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, GOOD + text + "\n", variant="best")


def test_malformed_ids_under_extends_are_refused_and_do_not_crash(tmp_path: Path) -> None:
    written(tmp_path, GOOD, "base.yaml")
    assert refused(tmp_path, "name: x\nextends: base.yaml\nsites: [{id: [1]}]\n")


def test_prices_of_the_scenario_reach_the_catalog_with_their_place(tmp_path: Path) -> None:
    text = (
        GOOD
        + "prices:\n  dgx-h200: {price_usd: {value: 3e5, low: 2e5, high: 4e5, source: quote}}\n"
    )
    price = asked(tmp_path, text).catalog.get("systems", "dgx-h200", System).price_usd
    assert price is not None
    assert (price.value, price.bounds, price.status, price.source) == (
        3e5,
        (2e5, 4e5),
        Status.INPUT,
        "quote",
    )
    assert spot(tmp_path, price.at) == "s.yaml:18:25"


def test_wrong_prices_are_refused_at_their_key(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, GOOD + "prices:\n  dgx-h200: {price_us: 3e5}\n")
    assert (problem.code, spot(tmp_path, problem.place)) == ("DC002", "s.yaml:18:14")
    assert problem.hint == 'did you mean "price_usd"?'


def test_an_override_that_two_files_give_in_parts_has_both(tmp_path: Path) -> None:
    """Its mapping merges, and each part keeps the place of its own file."""
    base = "overrides: {loan: {finance.debt: {share: 0.5, rate: 0.08, term_years: 4}}}\n"
    written(tmp_path, f"{GOOD}{base}", "base.yaml")
    over = (
        "dcplan: 1\nextends: base.yaml\nname: over\n"
        "overrides: {loan: {finance.debt: {rate: 0.06}}}\nscenarios: {financed: [loan]}\n"
    )
    debt = load(str(written(tmp_path, over, "over.yaml")), variant="financed").scenario.finance.debt
    assert debt is not None
    assert (debt.share.value, debt.rate.value, debt.term_years.value) == (0.5, 0.06, 4)
    assert spot(tmp_path, debt.rate.at) == "over.yaml:4:41"
    assert spot(tmp_path, debt.share.at) == "base.yaml:17:42"
