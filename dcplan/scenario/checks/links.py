"""Checks of links between halls, and of the runs that spread over them."""

from __future__ import annotations

from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Job
from dcplan.scenario.schema.places.links import Link


def check_links(check: Checker) -> None:
    """Check ``links:`` and ``over`` of the training runs."""
    scenario = check.scenario
    halls = [f"{site.id}/{hall.id}" for site in scenario.sites for hall in site.halls]
    check.unique((link.id for link in scenario.links), ("links",))
    for i, link in enumerate(scenario.links):
        _check_link(check, link, halls, ("links", i))
    known, used = [link.id for link in scenario.links], set[str]()
    for i, job in enumerate(scenario.workloads.training):
        _check_job(check, job, known, ("workloads", "training", i))
        used |= set(job.over)
    for i, name in enumerate(known):
        if name not in used:
            cause = f"no training run spreads over the link {name!r}"
            step = f"add `over: [{name}]` to a training run, or remove the link"
            check.add("DC015", cause, ("links", i, "id"), help=step)


def _check_job(check: Checker, job: Job, known: list[str], path: Path) -> None:
    """Check that a run may use its links, and that its sites exchange."""
    links = {link.id: link for link in check.scenario.links}
    for k, name in enumerate(job.over):
        where: Path = (*path, "over", k)
        check.one_of(name, known, "link", where)
        if name in job.over[:k]:
            check.add("DC011", f"{job.id}: the link {name!r} occurs twice", where)
        joined = [end.partition("/")[0] for end in links[name].joins] if name in links else []
        closed = sorted({x for x in joined if job.sites is not None and x not in job.sites})
        if closed:
            cause = f"{job.id}: the link {name!r} joins {', '.join(closed)}, where it may not run"
            step = f"add {', '.join(closed)} to its sites, or remove the link from over"
            check.add("DC015", cause, where, help=step)
    far = any(name in links and not links[name].within_site for name in job.over)
    where = (*path, "local_steps")
    if job.local_steps > 1 and not far:
        cause = f"{job.id}: local_steps counts between sites, and no link of over joins two sites"
        check.add("DC015", cause, where, help="add a link between two sites, or remove it")
    steps = job.tokens.value / job.global_batch_tokens.value
    if job.local_steps > steps:
        cause = (
            f"{job.id}: with {job.local_steps:,} local_steps its sites never exchange, because the run "
            f"has {steps:,.0f} steps"
        )
        check.add("DC015", cause, where, help="give fewer local_steps, such as 50 to 500")


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
    check.in_horizon(link.id, link.available_from, (*path, "available_from"), earlier=False)
    quarters = check.scenario.horizon.quarters
    if link.lead_quarters >= quarters:
        cause = f"{link.id}: it serves after {link.lead_quarters} quarters, and the horizon has {quarters}"
        check.add("DC015", cause, (*path, "lead_quarters"), help="give a longer horizon")
    for name in ("optic", "router", "span_km") if link.quoted else ():
        if getattr(link, name) is not None:
            cause = f"{link.id}: {name} has no effect on a link whose usd, usd_per_year, mw and rtt_ms are given"
            check.add("DC015", cause, (*path, name), help=f"leave {name} out")
