"""Batteries that runs need where the grid connection of a site has a ramp limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.planning.problem.terms import Placement, SiteTerms
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER


def with_ramps(
    runs: Sequence[RunOption],
    sites: Iterable[SiteTerms],
    placed: Iterable[Placement],
    excluded: list[ExcludedOption],
) -> list[RunOption]:
    """Return the runs with the battery that they need, without those that no battery of a site allows.

    A run over several halls of a site has its battery in its first part there.
    """
    limited = {s.id: s for s in sites if s.ramp is not None}
    if not limited:
        return list(runs)
    kw = _kw(placed)
    found: list[RunOption] = []
    refused: dict[tuple[str, str], str] = {}
    for parts in _whole(runs):
        own, why = _needs(parts, limited, kw)
        if why:
            refused[parts[0].job, parts[0].whole.place] = why
        else:
            found += own
    able = {(x.job, x.whole.place) for x in found}
    excluded += [
        ExcludedOption(Kind.JOB, job, where, why)
        for (job, where), why in refused.items()
        if (job, where) not in able
    ]
    return found


def _whole(runs: Iterable[RunOption]) -> list[list[RunOption]]:
    """Return the parts of each complete run."""
    found: dict[str, list[RunOption]] = defaultdict(list)
    for i, run in enumerate(runs):
        found[run.part.run if run.part else f"{i}"].append(run)
    return list(found.values())


def _kw(placed: Iterable[Placement]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return rated and idle power of an accelerator by hall and system, of the cooling with the largest fall."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for p in placed:
        each = (p.rated_kw / p.accelerators, p.idle_average_kw / p.accelerators)
        old = found.get((p.hall, p.system), each)
        found[p.hall, p.system] = max(old, each, key=lambda x: x[0] - x[1])
    return found


def _needs(
    parts: Sequence[RunOption],
    limited: Mapping[str, SiteTerms],
    kw: Mapping[tuple[str, str], tuple[float, float]],
) -> tuple[list[RunOption], str]:
    """Return the parts of a run with the battery of each site, and why a site does not allow it."""
    found = list(parts)
    for site in dict.fromkeys(x.place.split("/")[0] for x in parts):
        terms = limited.get(site)
        if terms is None or terms.ramp is None:
            continue
        here = [i for i, x in enumerate(parts) if x.place.split("/")[0] == site]
        high, idle = (
            sum(parts[i].accelerators * kw[parts[i].place, parts[i].system][n] for i in here)
            / KW_PER_MW
            for n in (0, 1)
        )
        ramp, first = terms.ramp, parts[here[0]]
        fall = f"its load falls by {high - idle:,.3g} MW, faster than {site} allows"
        if ramp.battery is None:
            if ramp.falls(high, idle):
                return [], f"{fall}, and the site has no battery in onsite"
            continue
        need = ramp.rated_mw(high, idle, first.step_time_s)
        plant = next(x for x in terms.onsite if x.id == ramp.battery)
        if need > plant.most_units * plant.unit_mw:
            most = f"max_mw of {plant.id} is {plant.most_units * plant.unit_mw:,.3g}"
            return [], f"{fall}: it needs {need:,.3g} MW of battery, and {most}"
        if need and first.start_month // MONTHS_PER_QUARTER < plant.lead:
            return [], f"{fall}, and {plant.id} is in service {plant.lead} quarters after the order"
        found[here[0]] = replace(first, ramp_mw=need)
    return found, ""
