"""Inputs of a workbook that can be edited for the same decisions, and why others cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcplan.inputs.log import Input
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.provenance import Status
from dcplan.report.book.data.facts import Facts, Frozen
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import set_key

HALL_FIELD = re.compile(r"(sites\..+\.halls\.[^.]+)\.[^.]+\.(pue|peak_pue|wue_l_per_kwh)")
"""A coefficient of a hall's cooling option, which the scenario gives for the hall."""
SIZES = ("rated_kw", "fan_frac", "server-fan-air-frac", "block_mw", "block-mw-default")
"""Key endings of inputs that set the nodes per rack and the number of power blocks."""


def live_inputs(
    facts: Facts, problem: PlanningProblem, d: Decisions, question: Question
) -> dict[str, str | Frozen]:
    """Return the name in ``--set`` of each input of a formula, or why it cannot be edited."""
    frozen = list(_frozen(facts, problem, d))
    found: dict[str, str | Frozen] = {}
    for key in sorted(facts.live):
        why = next((reason for start, reason in frozen if key.startswith(start)), None)
        found[key] = why or _editable(facts.inputs[key], question)
    return found


def _frozen(facts: Facts, problem: PlanningProblem, d: Decisions) -> Iterator[tuple[str, Frozen]]:
    """Yield key prefixes of inputs that affect more than the formulas, and why."""
    for existing in problem.existing:
        yield f"systems.{existing.key[2]}.", Frozen.EXISTING
    if problem.existing:
        yield "storage_tiers.", Frozen.EXISTING
    for key in facts.inputs:
        quoted = re.fullmatch(r"supply\.(.+)\.price_usd(\[\d+\])?", key)
        if quoted:
            yield f"systems.{quoted[1]}.price_usd", Frozen.QUOTED
    if d.rented or d.serving or any(run.on_cloud for run in d.runs):
        yield "cloud.", Frozen.SHARED_WORK
    if d.serving:
        yield "power.average-", Frozen.SHARED_WORK
        for p in problem.placements:
            yield f"systems.{p.system}.average_kw", Frozen.SHARED_WORK
    serving = {problem.hall(hall).site for (_, hall, _, _, _), n in d.serving.items() if n}
    for site in problem.sites:
        if len(serving) > 1 and site.id in serving:
            yield f"sites.{site.id}.energy.", Frozen.SHARED_WORK
        if site.onsite:
            yield f"sites.{site.id}.energy.", Frozen.ON_SITE


def _editable(row: Input, question: Question) -> str | Frozen:
    if row.status == str(Status.DERIVED):
        return Frozen.DERIVED
    if row.key.endswith(SIZES):
        return Frozen.CAPACITY
    hall = HALL_FIELD.fullmatch(row.key)
    return f"{hall[1]}.{hall[2]}" if hall else set_key(row.key, question)
