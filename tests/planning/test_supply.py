"""Vendors' limits: parts by quarter and shares of makers, in the model, in the audit and in a
scenario."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PartsTerms, PlanningProblem
from dcplan.scenario.load import load
from tests.planning.optimum import optimum
from tests.planning.small import HALL, small_menu


def compute_menu(**changes: object) -> PlanningProblem:
    """The small menu with research alone in the second quarter, owned; a is acme's, b another's."""
    problem = small_menu()
    placed = tuple(
        dataclasses.replace(p, makers=("acme",) if p.system == "a" else ("other",))
        for p in problem.placements
    )
    demand = dataclasses.replace(
        problem.demands[0], wanted=(0.0, 14.0), each={(HALL, "a"): 0.2, (HALL, "b"): 0.35}
    )
    problem = dataclasses.replace(
        problem, placements=placed, jobs=(), run_options=(), demands=(demand,)
    )
    return dataclasses.replace(problem, **changes)  # type: ignore[arg-type]


def best(problem: PlanningProblem) -> tuple[Decisions, float] | None:
    found, decisions = optimum(problem)
    return None if decisions is None else (decisions, found.objective)


def racks_of(d: Decisions) -> dict[str, int]:
    return {s: sum(n for (_, _, k, _), n in d.ordered.items() if k == s) for s in ("a", "b")}


def test_a_maker_has_at_most_its_share_of_the_spending() -> None:
    free, existing = best(compute_menu()), best(compute_menu(vendor_share={"other": 0.55}))
    assert free is not None
    assert existing is not None
    assert racks_of(free[0]) == {"a": 1, "b": 2}  # 16 x 0.2 + 32 x 0.35 = 14.4 PFLOP/s
    spent = {k: n * {"a": 1.0, "b": 1.4}[k] for k, n in racks_of(existing[0]).items()}
    assert 0 < spent["b"] <= 0.55 * sum(spent.values())
    assert existing[1] > free[1]
    problem = compute_menu(vendor_share={"other": 0.55})
    names = [
        c.name for c in all_checks(problem, free[0], make_accounts(problem, free[0])) if not c.holds
    ]
    assert names == ["spending on one vendor USD"]


def test_power_blocks_come_when_they_are_delivered() -> None:
    """A rack of a and two of b draw (40 + 120) x 1.2 = 192 kW and their switches: N+1 in blocks of
    100 kW are 3."""
    found = best(compute_menu(parts=(PartsTerms("power_blocks", (2.0, 2.0)),)))
    assert found is not None
    blocks = {q: n for (_, q), n in found[0].blocks.items()}
    assert (blocks[0], blocks[1]) == (1, 3)
    assert best(compute_menu(parts=(PartsTerms("power_blocks", (1.0, 1.0)),))) is None


def test_the_audit_counts_switches_whole() -> None:
    problem = compute_menu(
        parts=(PartsTerms("switches", (1.0, 0.0)), PartsTerms("transceivers", (10_000.0, 0.0)))
    )
    d = Decisions(
        ordered={(HALL, "wet", "b", 0): 3},
        fitted={(HALL, "wet", 0): 1, (HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 0): 4, ("s", 1): 4},
    )
    books = make_accounts(problem, d)
    whole = sum(books.ordered_networks[HALL, 0].switches.values())
    assert books.parts_bought[HALL, 0]["switches"] == whole > 1
    broken = {
        c.name: c.used for c in all_checks(problem, d, books) if not c.holds and "bought" in c.name
    }
    assert broken == {"switches bought": whole}


TEXT = """
dcplan: 1
name: vendors
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 14
    halls: [{id: liquid, racks: 96, rack_kw_max: 250, it_mw: 11, air_mw: 3, cooling: [direct-liquid-tower]}]
systems: [dgx-h100, mi325x-8]
fabrics: [eth-400]
parts_per_quarter: {switches: [10, 20], power_blocks: 3}
vendor_share_max: {VENDOR: 0.6}
workloads: {capacity: [{id: hours, accelerator_hours: 1.0e6, utilization_frac: 0.7}]}
"""


def test_limits_of_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "vendors.yaml"
    file.write_text(TEXT.replace("VENDOR", "AMD"), encoding="utf-8")
    problem = build(load(file)).problem
    assert {p.part: p.most for p in problem.parts} == {
        "switches": (10.0, 20.0),
        "power_blocks": (3.0, 3.0),
    }
    assert problem.vendor_share == {"AMD": 0.6}
    assert {p.system: "NVIDIA" in p.makers for p in problem.placements} == {
        "dgx-h100": True,
        "mi325x-8": False,
    }
    file.write_text(TEXT.replace("VENDOR", "NVDIA"), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load(file)
    (found,) = error.value.problems
    assert "no vendor 'NVDIA'" in found.cause
    assert "NVIDIA" in found.hint
