"""Halls and sites over which one run may spread: targets that stand for several halls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.parts import SPAN_MARK, RunPart
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import RunOption
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Job, ScheduledJob
from dcplan.scenario.schema.jobs import SYNC_BYTES_PER_PARAM
from dcplan.training.wide_area import Span, WideArea


@dataclass(frozen=True)
class _Group:
    """Halls of one site that train together, and the link between them."""

    halls: tuple[str, ...]
    link: LinkTerms | None


@dataclass(frozen=True)
class _Asked:
    """What a job says of its exchanges."""

    value_bytes: float
    local_steps: int
    extra_tokens_frac: float


def spans_of(
    job: ScheduledJob,
    where: Sequence[Target],
    links: Iterable[LinkTerms],
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[Target]:
    """Return targets of several halls for a job: neighbors of a link, and those of two sites.

    All halls of a span have the same system and link speed, and equal parts of the run. A link whose
    halls have no such system is an excluded option.
    """
    named = [link for link in links if isinstance(job, Job) and link.id in job.over]
    if not named or not isinstance(job, Job):
        return []
    asked = _asked(job, log)
    here: dict[tuple[object, ...], dict[str, Target]] = defaultdict(dict)
    for t in where:
        if not is_cloud(t.place):
            here[t.system, t.accelerator, t.unit, t.gb_per_s, t.link][t.place] = t
    found = []
    for groups, between in _choices(named):
        places = [hall for group in groups for hall in group.halls]
        found += [
            _joined([there[place] for place in places], groups, between, asked)
            for there in here.values()
            if all(place in there for place in places)
        ]
    used = {name for target in found for part in target.parts for name in part.links}
    reason = "no system that may run it has the same network link in these halls"
    excluded += [
        ExcludedOption(Kind.JOB, job.id, SPAN_MARK.join(link.ends), reason)
        for link in named
        if link.id not in used
    ]
    return found


def _asked(job: Job, log: InputLog) -> _Asked:
    key = f"jobs.{job.id}"
    each = log.assumed(
        f"{key}.sync_bytes_per_param", job.sync_bytes_per_param, SYNC_BYTES_PER_PARAM
    )
    if job.local_steps == 1:
        return _Asked(each, 1, 0.0)
    log.take(f"{key}.local_steps", Quantity(value=job.local_steps, status=Status.INPUT))
    given = job.extra_tokens_frac
    more = None if given is None else Quantity(value=given, status=Status.INPUT)
    name = "local-steps-extra-tokens-frac"
    return _Asked(
        each, job.local_steps, log.chosen(f"{key}.extra_tokens_frac", more, "training", name)
    )


def _choices(links: Sequence[LinkTerms]) -> Iterator[tuple[tuple[_Group, ...], LinkTerms | None]]:
    """Yield groups of halls that may train together, with the link between two sites."""
    local = [link for link in links if link.local]
    groups = [
        _Group(link.ends[i:j], link)
        for link in local
        for i in range(len(link.ends))
        for j in range(i + 2, len(link.ends) + 1)
    ]
    for group in groups:
        yield (group,), None
    for link in links:
        if link.local:
            continue
        near, far = (
            [_Group((end,), None), *(g for g in groups if end in g.halls)] for end in link.ends
        )
        for first in near:
            for second in far:
                if len(first.halls) == len(second.halls):
                    yield (first, second), link


def _exchange(groups: tuple[_Group, ...], between: LinkTerms | None, asked: _Asked) -> Span:
    """Return the exchanges of a run between its halls and its sites."""
    first = groups[0]
    halls = sites = None
    if first.link is not None:
        local = [g.link for g in groups if g.link is not None]
        gbps, rtt_s = min(x.gbps for x in local), max(x.rtt_s for x in local)
        halls = WideArea(len(first.halls), 1, gbps, asked.value_bytes, rtt_s / 2.0)
    if between is not None:
        latency_s, steps = between.rtt_s / 2.0, asked.local_steps
        sites = WideArea(len(groups), steps, between.gbps, asked.value_bytes, latency_s)
    return Span(halls, sites, asked.extra_tokens_frac if between is not None else 0.0)


def _joined(
    targets: Sequence[Target], groups: tuple[_Group, ...], between: LinkTerms | None, asked: _Asked
) -> Target:
    """Return one target for several halls with the same hardware."""
    places = tuple(t.place for t in targets)
    exchange = _exchange(groups, between, asked)
    parts = []
    for group in groups:
        for hall in group.halls:
            used = [group.link.id] if group.link is not None else []
            used += [between.id] if between is not None and hall in between.ends else []
            parts.append(RunPart("", hall, places, tuple(used), exchange))
    n = len(places)
    return replace(
        targets[0],
        place=SPAN_MARK.join(places),
        unit=n * targets[0].unit,
        limit=n * min(t.limit for t in targets),
        parts=tuple(parts),
    )


def divided(run: RunOption, target: Target, key: str) -> list[RunOption]:
    """Return the parts of a run over the halls of a target; the run itself if it has one hall.

    Parameters
    ----------
    run : RunOption
        Complete run.
    target : Target
        Its place.
    key : str
        Id of the run, in no other run of the problem.
    """
    n = len(target.parts)
    if not n:
        return [run]

    def each(facts: Mapping[str, float]) -> dict[str, float]:
        return {**facts, "stored_tb": facts["stored_tb"] / n}

    whole = replace(
        run,
        accelerators=run.accelerators // n,
        used=run.used // n,
        spares=run.spares // n,
        outlook=each(run.outlook),
        ahead_outlook=each(run.ahead_outlook),
    )
    return [replace(whole, place=x.place, part=replace(x, run=key)) for x in target.parts]
