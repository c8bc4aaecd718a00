"""Logged incidents: failure rates, delays, lemon nodes, jobs by size, and the reliability of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcplan.answers.demand.digits import short
from dcplan.answers.demand.incidents import tables
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.requests import refuse
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_OK
from dcplan.inputs.incidents.columns import is_header
from dcplan.inputs.incidents.findings import Kind
from dcplan.inputs.incidents.read import Incidents, read_incidents
from dcplan.inputs.logs.options import LogOptions
from dcplan.reliability.counts import Lemons, lemons, poisson_bounds
from dcplan.reliability.incidents import node_days
from dcplan.result import Metric, Result
from dcplan.specs.demand import incidents as spec
from dcplan.specs.demand.log import FILES, FINDINGS
from dcplan.specs.request import fields_of
from dcplan.units import SECONDS_PER_DAY, SECONDS_PER_HOUR

KIND = "incidents"
OWN = frozenset(("nodes", "window", "job_nodes", "job_days"))
"""Flags that only logs of incidents use."""
SHARED = frozenset(("files", "kind", "timezone", "accelerators_per_node"))
"""Flags that they share with logs of jobs."""
CONFIDENCE_FRAC = 0.95
"""Coverage of the intervals in the answer."""
OVERLAY_FRAC = 0.8
"""Coverage of the interval in the overlay, whose low and high are P10 and P90."""
FALSE_FRAC = 0.05
"""Expected share of false ones among the lemon nodes."""
LEAST_OUTAGES = 3
"""Outages of a lemon node, at least."""
FEW_OUTAGES = 20
"""Outages below which a note says that the interval is wide."""
LEMON_VARIANT = "without-lemons"
HEAD_CHARACTERS = 65_536


@dataclass(frozen=True)
class Fleet:
    """A log of incidents with its stops and its lemon nodes."""

    log: Incidents
    node_days: float
    stops: int
    lemon_names: tuple[int, ...]
    """Numbers of the lemon nodes, the most outages first."""
    counts: dict[int, int]
    """Outages by number of the node."""
    found: Lemons

    @property
    def per_node_day(self) -> float:
        """Outages of a node."""
        return self.stops / self.node_days

    @property
    def bounds(self) -> tuple[float, float]:
        """Interval of the outages of a node."""
        return poisson_bounds(self.stops, self.node_days, CONFIDENCE_FRAC)

    @property
    def without(self) -> tuple[int, float]:
        """Outages and node-days without the lemon nodes."""
        gone = sum(self.counts[n] for n in self.lemon_names)
        share = 1.0 - len(self.lemon_names) / self.log.fleet
        return self.stops - gone, self.node_days * share


def are_incidents(request: DemandRequest) -> bool:
    """Return whether the logs are incidents of nodes, by the flag or by the names of their columns."""
    if request.kind is not None:
        return request.kind == KIND
    try:
        with request.files[0].open(encoding="utf-8-sig", errors="replace") as file:
            head = file.read(HEAD_CHARACTERS)
    except OSError:
        return False  # the reader of jobs reports the file
    return bool(head.strip()) and is_header(head.splitlines()[0])


def refuse_incidents_only(request: DemandRequest) -> None:
    """Refuse flags that logs of jobs and of requests do not use.

    Raises
    ------
    InputError
        With every such flag (DC050).
    """
    refuse(request, OWN, "only for logs of incidents")


def incidents_answer(request: DemandRequest) -> tuple[Result, str, str]:
    """Return the answer, the reliability of a scenario, and why there is none if it is empty.

    Raises
    ------
    InputError
        When a flag is of another kind of log, or the log cannot be read.
    """
    others = {f.name for f in fields_of(DemandRequest)} - OWN - SHARED
    refuse(request, frozenset(others), "not for logs of incidents")
    options = LogOptions(timezone=request.timezone)
    log = read_incidents(request.files, options, request.window, request.nodes)
    fleet = _fleet(log)
    overlay, none = _overlay(fleet)
    result = Result(
        verb="demand",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(fleet),
        scenario={"demand": _saved(request)},
        metrics=_metrics(fleet),
        tables={
            FILES.name: FILES.table(tables.file_rows(log, KIND)),
            FINDINGS.name: FINDINGS.table(tables.finding_rows(log)),
            spec.RATES.name: spec.RATES.table(tables.rate_rows(request, log, fleet.stops)),
            spec.DELAYS.name: spec.DELAYS.table(tables.delay_rows(log)),
            spec.LEMON_NODES.name: spec.LEMON_NODES.table(_lemon_rows(fleet)),
            spec.JOBS.name: spec.JOBS.table(_job_rows(request, fleet)),
        },
        warnings=[{"code": "demand", "message": text} for text in _warnings(request, fleet)],
    )
    return result, overlay, none


def _fleet(log: Incidents) -> Fleet:
    named = log.node[log.outages.first & (log.node >= 0)]
    numbers, counts = np.unique(named, return_counts=True)
    found = lemons(counts.astype(np.int64), log.fleet, FALSE_FRAC, LEAST_OUTAGES)
    order = np.lexsort((numbers, -counts))
    each = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    chosen = tuple(int(numbers[i]) for i in order.tolist() if found.lemon[i])
    exposure = node_days(log.fleet, log.window_s)
    return Fleet(log, exposure, int(log.outages.first.sum()), chosen, each, found)


def _metrics(fleet: Fleet) -> dict[str, Metric]:
    log = fleet.log
    low, high = fleet.bounds
    rest, rest_days = fleet.without
    least, most = poisson_bounds(rest, rest_days, CONFIDENCE_FRAC)
    clean = rest / rest_days
    metrics = spec.INCIDENTS(len(log)) | spec.NODE_DAYS(fleet.node_days)
    metrics |= spec.STOPS(fleet.per_node_day * 1e3, low=low * 1e3, high=high * 1e3)
    metrics |= spec.WITHOUT(clean * 1e3, low=least * 1e3, high=most * 1e3)
    metrics |= spec.LEMONS(len(fleet.lemon_names))
    metrics |= spec.LEMON_FACTOR(fleet.per_node_day / clean if clean else None)
    metrics |= spec.DETECTION(tables.delay(log, "detection").mean_h)
    metrics |= spec.REPAIR(tables.delay(log, "repair").mean_h)
    return metrics | spec.DOWN(log.outages.down_s / SECONDS_PER_DAY / fleet.node_days)


def _headline(fleet: Fleet) -> str:
    low, high = (x * 1e3 for x in fleet.bounds)
    count = len(fleet.lemon_names)
    rest, days = fleet.without
    lemon = (
        f"{count} lemon nodes, {rest / days * 1e3:.3g} without them" if count else "no lemon node"
    )
    return (
        f"{fleet.per_node_day * 1e3:.3g} ({low:.3g} to {high:.3g}) outages in 1,000 node-days "
        f"({fleet.stops:,} outages of {fleet.log.fleet:,} nodes); {lemon}"
    )


def _lemons(count: int) -> str:
    return f"{count:,} lemon node{'s' if count > 1 else ''}"


def _lemon_rows(fleet: Fleet) -> Iterator[spec.LemonRow]:
    log, total = fleet.log, sum(fleet.counts.values())
    chance = dict(zip(sorted(fleet.counts), fleet.found.chance_frac.tolist(), strict=True))
    for number in fleet.lemon_names:
        count = fleet.counts[number]
        yield spec.LemonRow(
            log.nodes[number],
            count,
            total / log.fleet,
            count / total,
            chance[number],
            tables.most_often(log, log.node == number),
            tables.down_h(log, log.node == number),
        )


def _job_rows(request: DemandRequest, fleet: Fleet) -> Iterator[spec.JobRow]:
    powers = [4**k for k in range(12) if 4**k < fleet.log.fleet]
    sizes = sorted(set(request.job_nodes)) or [*powers, fleet.log.fleet]
    rest, days = fleet.without
    rates = fleet.per_node_day, fleet.bounds, rest / days
    for size in sizes:
        yield tables.job_row(request, size, *rates)


def _warnings(request: DemandRequest, fleet: Fleet) -> Iterator[str]:
    log = fleet.log
    if not log.window_given:
        days = (log.window_s[1] - log.window_s[0]) / SECONDS_PER_DAY
        yield (
            f"the window is taken from the first to the last time of the log, {days:,.1f} days: the "
            "rates are too high if the record began earlier or ended later; give --window"
        )
    if fleet.stops < FEW_OUTAGES:
        yield f"{fleet.stops} outages are few: use the interval, not the rate alone"
    if request.accelerators_per_node is None:
        yield "give --accelerators-per-node for rates by accelerator-hour"
    beyond = [n for n in request.job_nodes if n > log.fleet]
    if beyond:
        yield (
            f"jobs of more than {log.fleet:,} nodes are larger than the cluster: their figures take "
            "its rate to larger sizes"
        )
    if any(f.kind is Kind.SIMULTANEOUS for f in log.findings):
        yield (
            "incidents of several nodes have the same start and cause: large jobs stop less often "
            "than jobs_by_size says, because one event stops them once"
        )
    if fleet.lemon_names:
        share = sum(fleet.counts[n] for n in fleet.lemon_names) / fleet.stops
        yield (
            f"{_lemons(len(fleet.lemon_names))} of {log.fleet:,} nodes: {share:.0%} of the outages; a "
            "job on the other nodes has the rate without, which is somewhat too low, because the "
            "same log chose the lemons"
        )


def _saved(request: DemandRequest) -> dict[str, object]:
    """Return the request as it is saved with the answer, without defaults."""
    default = DemandRequest(files=request.files)
    own = {k: v for k, v in vars(request).items() if k != "progress"}
    given = {k: v for k, v in own.items() if v != getattr(default, k)}
    given = {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}
    return {"files": [str(f) for f in request.files], **given}


def _overlay(fleet: Fleet) -> tuple[str, str]:
    """Return the reliability of a scenario as YAML, or why there is none.

    The rate contains the lemon nodes, as the cluster does; a variant is without them. All outages take
    their node out, for the mean time that incidents took it out.
    """
    log = fleet.log
    if not fleet.stops:
        return "", "no outage is in the window, so there is no rate to write"
    source = f"{fleet.stops:,} outages in {fleet.node_days:,.0f} node-days of incidents"
    block: dict[str, object] = {
        "stops_per_1000_node_days": _rate(fleet.stops, fleet.node_days, source)
    }
    away_s, detection = log.outages.mean_s, tables.delay(log, "detection")
    if away_s:
        text = f"mean of {log.outages.ended:,} outages that ended, from start to repair"
        block |= {"replaced_frac": 1, "repair_h": _value(away_s / SECONDS_PER_HOUR, text)}
    if detection.mean_h:
        text = f"mean of {detection.ended:,} detections"
        block["detection_s"] = _value(detection.mean_h * SECONDS_PER_HOUR, text)
    data: dict[str, object] = {"reliability": block}
    rest, days = fleet.without
    if fleet.lemon_names and rest:
        key = "reliability.stops_per_1000_node_days"
        note = (
            f"{rest:,} outages in {days:,.0f} node-days without {_lemons(len(fleet.lemon_names))}"
        )
        data["overrides"] = {LEMON_VARIANT: {key: _rate(rest, days, note)}}
        data["scenarios"] = {LEMON_VARIANT: [LEMON_VARIANT]}
    lines = ["# Reliability from incidents, written by dcplan demand."]
    lines += [f"# {f.path.rpartition('/')[2]}, sha256 {f.sha256}" for f in log.files]
    lines += ["# A scenario takes it with extends:, dcplan train with --reliability FILE."]
    lines += ["# low and high: exact Poisson interval of 80%, P10 and P90."]
    return "\n".join(lines) + "\n" + dump(data), ""


def _rate(stops: int, days: float, source: str) -> dict[str, object]:
    low, high = poisson_bounds(stops, days, OVERLAY_FRAC)
    value = stops / days
    found = {"value": value, "low": min(low, value), "high": max(high, value)}
    return {**{k: short(x * 1e3) for k, x in found.items()}, "source": source}


def _value(value: float, source: str) -> dict[str, object]:
    return {"value": short(value), "source": source}
