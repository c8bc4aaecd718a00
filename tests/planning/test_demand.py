"""Demands in their units: what one accelerator serves, by hand; residency; the price of what is
left unserved."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dcplan.economics.cash_flow import cash_out_usd, totals_usd
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.scenario.load import load
from tests.planning.small import small_menu

TEXT = """
dcplan: 1
name: serve
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 14
    halls: [{id: liquid, racks: 96, rack_kw_max: 250, it_mw: 11, air_mw: 3, cooling: [direct-liquid-tower]}]
systems: [dgx-h100, gb200-nvl72]
fabrics: [ib-ndr-400]
workloads:
  capacity:
    - {id: fleet, h100_equivalents: 600, utilization_frac: 0.5, reference: {model: llama-3.1-70b, seq_len: 8192}}
    - {id: hours, accelerator_hours: 1.0e6, utilization_frac: 0.7, systems: [gb200-nvl72]}
  inference:
    - {id: chat, tokens_per_s: [1e5, 2e5], peak_factor: 2.5, utilization_frac: 0.8, countries: COUNTRIES,
       tokens_per_s_per_accelerator: {gb200-nvl72: 9000, aws-p5en-48xlarge: 2500}, usd_per_unmet_quarter: 7}
cloud: {offers: [aws-p5en-48xlarge], max_accelerators: 2000}
"""
HALL = "ashburn/liquid"


def menu_of(tmp_path: Path, countries: str = "[US]", **changes: str) -> PlanningProblem:
    text = TEXT.replace("COUNTRIES", countries)
    for old, new in changes.items():
        text = text.replace(old, new)
    file = tmp_path / "serve.yaml"
    file.write_text(text, encoding="utf-8")
    return build(load(file)).problem


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> PlanningProblem:
    return menu_of(tmp_path_factory.mktemp("demand"))


def test_an_h100_server_counts_one_h100_by_its_utilization(problem: PlanningProblem) -> None:
    demand = problem.demands[0]
    assert demand.unit == "H100-equivalents"
    assert demand.each[HALL, "dgx-h100"] == pytest.approx(0.5, rel=1e-12)
    # GB200 has 2.5 times the dense 16-bit peak: it achieves between twice and three times an H100's
    # rate
    assert 2.0 < demand.each[HALL, "gb200-nvl72"] / demand.each[HALL, "dgx-h100"] < 3.0


def test_accelerator_hours_are_busy_accelerators(problem: PlanningProblem) -> None:
    demand = problem.demands[1]
    assert demand.wanted == pytest.approx((1e6 / 2191.5,) * 2)  # 91.3125 x 24 h a quarter
    assert demand.each == {(HALL, "gb200-nvl72"): 0.7}
    assert any(
        x.kind == "capacity" and "not among its systems" in x.reason for x in problem.excluded
    )


def test_inference_follows_the_peak_and_pays_energy_for_the_average(
    problem: PlanningProblem,
) -> None:
    demand = problem.demands[2]
    assert demand.wanted == pytest.approx((250.0, 500.0))  # 1e5 x 2.5 in thousands
    assert demand.each == pytest.approx(
        {(HALL, "gb200-nvl72"): 7.2, ("cloud:aws-p5en-48xlarge", "h200-sxm"): 2.0}
    )
    assert demand.load_frac == pytest.approx(0.8 / 2.5)
    # 7 USD for each mean token/s, which 2.5 tokens/s at the peak stand for: 7 x 1,000 / 2.5
    assert demand.unmet_usd == pytest.approx(2800.0)
    assert any(
        x.id == "chat" and "no tokens_per_s_per_accelerator for dgx-h100" in x.reason
        for x in problem.excluded
    )


def test_residency_closes_other_countries(tmp_path: Path) -> None:
    problem = menu_of(tmp_path, "[DE, fr]")
    assert problem.demands[2].each == {}
    reasons = {x.reason for x in problem.excluded if x.id == "chat"}
    assert reasons == {"in US; `countries` allows DE, FR"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("h100_equivalents: 600", "h100_equivalents: 600, pflops_delivered: 3", "give one of"),
        (", reference: {model: llama-3.1-70b, seq_len: 8192}", "", "needs reference"),
        ("gb200-nvl72: 9000", "gb300-nvl27: 9000", "did you mean"),
        ("id: chat", "id: hours", "occurs twice"),
        ("[1e5, 2e5]", "[1e5, 2e5, 3e5]", "3 values for 2 quarters"),
    ],
)
def test_wrong_demands_are_refused_with_the_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(InputError) as error:
        menu_of(tmp_path, **{old: new})
    assert words in str([(p.cause, p.hint) for p in error.value.problems]) or words in str(
        error.value
    )
    assert all(p.place.line > 1 for p in error.value.problems)


def test_what_is_not_served_is_priced_and_no_cash() -> None:
    demand = dataclasses.replace(small_menu().demands[0], unmet_usd=5e4)
    problem = dataclasses.replace(small_menu(), demands=(demand,), jobs=(), run_options=())
    d = Decisions(unmet={("research", 0): 1.0, ("research", 1): 4.0})
    books = make_accounts(problem, d)
    assert totals_usd(books.flows)["unserved"] == pytest.approx(5 * 5e4)
    assert sum(cash_out_usd(books.flows, 2)) == 0.0
    assert not [c for c in all_checks(problem, d, books) if not c.holds]
    short = Decisions(unmet={("research", 0): 1.0, ("research", 1): 3.9})
    assert [
        c.name for c in all_checks(problem, short, make_accounts(problem, short)) if not c.holds
    ] == ["PFLOP/s missing"]
