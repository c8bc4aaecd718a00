"""Menus of runs that pause or slow while the grid interrupts power."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.run import settled
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import ResponseTerms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from tests.planning.optimum import optimum
from tests.planning.small import powered_menu, small_menu

ROOT = Path(__file__).parents[2]
LAST = 1
HOURS_FRAC = 0.1
"""876.6 of 8,766 hours."""


def run(cuts: PowerCuts = NO_CUTS, days: float = 60.0) -> RunOption:
    """A run of 16 accelerators, one rack of 40 kW, that starts with the second quarter."""
    plain = small_menu().run_options[0]
    return dataclasses.replace(plain, cuts=cuts, days=days, days_p50=days)


def menu(firm_mw: float, *runs: RunOption, called: bool = False) -> PlanningProblem:
    """A site with some firm power, an interruptible tranche in the second quarter, and a run."""
    base, work = powered_menu(firm_mw, 0.3), small_menu()
    site = dataclasses.replace(base.sites[0], onsite=(), demand_usd_per_kw_month=0.0)
    if called:
        response = ResponseTerms(0.2, (9e5, 9e5), 876.6)
        site = dataclasses.replace(site, tranches=(), response=response)
    return dataclasses.replace(
        base, sites=(site,), demands=(), jobs=work.jobs, run_options=runs, margin_factor=2.0
    )


PAUSES = run(PowerCuts(876.6, 4.0), 68.0)
SLOWS = run(PowerCuts(876.6, 4.0, 0.5, 0.8), 61.5)
KEEPS = run()


def plan(problem: PlanningProblem) -> tuple[Decisions, float] | None:
    """The audited optimum and its cost; None if there is no plan."""
    outcome, found = optimum(problem)
    if found is None:
        return None
    d = settled(problem, found)
    broken = [c.id for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds]
    assert broken == []
    return d, outcome.objective


SITE = "    halls:\n"
TRANCHE = "    interruptible: [{id: early, mw: 9, hours_per_year: 200, event_h: 4}]\n"


def starter(folder: Path, site: str = "", job: str = "", more: str = "") -> str:
    """The starter scenario with more lines of its site, its run and the file."""
    text = (ROOT / "scenarios" / "starter.yaml").read_text(encoding="utf-8")
    text = text.replace(SITE, site + SITE, 1)
    text = text.replace("      tokens:", job + "      tokens:", 1) + more
    file = folder / "s.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)
