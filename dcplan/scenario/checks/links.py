"""Checks of links between halls, and of the runs that spread over them."""

from __future__ import annotations

from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema.places.links import Link
from dcplan.units import quarter_index


def check_links(check: Checker) -> None:
    """Check ``links:`` and ``over`` of the training runs."""
    scenario = check.scenario
    halls = [f"{site.id}/{hall.id}" for site in scenario.sites for hall in site.halls]
    check.unique((link.id for link in scenario.links), ("links",))
    for i, link in enumerate(scenario.links):
        _check_link(check, link, halls, ("links", i))
    known, used = [link.id for link in scenario.links], set[str]()
    for i, job in enumerate(scenario.workloads.training):
        for k, name in enumerate(job.over):
            path: Path = ("workloads", "training", i, "over", k)
            check.one_of(name, known, "link", path)
            if name in job.over[:k]:
                check.add("DC011", f"{job.id}: the link {name!r} occurs twice", path)
        used |= set(job.over)
        far = [x for x in scenario.links if x.id in job.over and not x.within_site]
        if job.local_steps > 1 and not far:
            cause = (
                f"{job.id}: local_steps counts between sites, and no link of over joins two sites"
            )
            where: Path = ("workloads", "training", i, "local_steps")
            check.add("DC015", cause, where, help="add a link between two sites, or remove it")
    for i, name in enumerate(known):
        if name not in used:
            cause = f"no training run spreads over the link {name!r}"
            step = f"add `over: [{name}]` to a training run, or remove the link"
            check.add("DC015", cause, ("links", i, "id"), help=step)


def _check_link(check: Checker, link: Link, halls: list[str], path: Path) -> None:
    for k, name in enumerate(link.joins):
        where = (*path, "joins", k)
        check.one_of(name, halls, "hall", where)
        if name in link.joins[:k]:
            check.add("DC011", f"{link.id}: the hall {name!r} occurs twice", where)
    sites = [name.partition("/")[0] for name in link.joins]
    pair = len(sites) == len(set(sites)) == 2
    if len(set(sites)) > 1 and not pair:
        cause = f"{link.id}: it joins halls of one site, or one hall of each of two sites"
        step = "declare one link for each pair of sites, and one for the halls of each site"
        check.add("DC015", cause, (*path, "joins"), help=step)
    start = quarter_index(check.scenario.horizon.start)
    end = start + check.scenario.horizon.quarters
    if link.available_from and not start <= quarter_index(link.available_from) < end:
        cause = f"{link.id}: available_from {link.available_from} is outside the horizon"
        check.add("DC015", cause, (*path, "available_from"))
