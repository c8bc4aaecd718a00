"""Halls whose runs pause, or slow, while the grid interrupts the power of their site."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dcplan.inputs.log import InputLog
from dcplan.inputs.power.interruptions import OnInterruption, interruption_h
from dcplan.planning.problem.energy import TrancheTerms
from dcplan.planning.problem.terms import SiteTerms
from dcplan.planning.problem.work.targets import Target
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from dcplan.scenario.schema import ScheduledJob


def interrupted(
    job: ScheduledJob, where: Sequence[Target], sites: Iterable[SiteTerms], log: InputLog
) -> list[Target]:
    """Return copies of the targets in which the run of a job pauses, or slows, in interruptions.

    A target of halls on two sites has no copy: its run keeps its power in the interruptions of both.
    """
    if job.interrupted_power_frac == 1.0:
        return []
    asked = OnInterruption(f"jobs.{job.id}", job.interrupted_power_frac, job.interrupted_speed_frac)
    cuts = {site.id: _cuts(site, asked, log) for site in sites if _hours_per_year(site)}
    found = []
    for target in where:
        at = {hall.split("/")[0] for hall in target.halls}
        cut = cuts.get(next(iter(at)), NO_CUTS) if len(at) == 1 else NO_CUTS
        if cut.hours_per_year:
            found.append(replace(target, cuts=cut))
    return found


def _hours_per_year(site: SiteTerms) -> float:
    """Return the hours of all interruptions and calls of a site, which do not overlap."""
    tranches = sum(x.hours_per_year for x in _together(site))
    return tranches + (site.response.hours_per_year if site.response else 0.0)


def _together(site: SiteTerms) -> list[TrancheTerms]:
    """Return the tranches with power in the quarter in which these have the most hours."""
    quarters = range(len(site.utility_mw))
    found = [[x for x in site.tranches if x.mw[t]] for t in quarters]
    return max(found, key=lambda tranches: sum(x.hours_per_year for x in tranches), default=[])


def _cuts(site: SiteTerms, asked: OnInterruption, log: InputLog) -> PowerCuts:
    """Return the interruptions of a site, and what the run does in them."""
    usual_h = interruption_h(f"sites.{site.id}", None, log)
    each = [(x.hours_per_year, x.event_h or usual_h) for x in _together(site)]
    if site.response is not None:
        each.append((site.response.hours_per_year, usual_h))
    hours = sum(h for h, _ in each)
    return asked.over(hours, hours / sum(h / length for h, length in each), log)
