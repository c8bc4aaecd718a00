"""Schedule of a run: phases, interruptions, checkpoints, spares, and spread of the finish date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dcplan.answers.train.resolve import TrainRun
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import class_network, machine, policy, stored_bytes
from dcplan.llm.tables import Array
from dcplan.reliability.calendar import Goodput, RunTime
from dcplan.reliability.goodput import Losses
from dcplan.reliability.job import Machine, Policy
from dcplan.reliability.outlook import Outlook, outlook
from dcplan.reliability.rates import Stops
from dcplan.reliability.setbacks import SetbackShares, setback_shares
from dcplan.reliability.storage import Feed, ingest_step_s
from dcplan.training.estimate import Sweep
from dcplan.training.grid import Case, model_parallel_accelerators
from dcplan.training.search import Found
from dcplan.training.wide_area import mean_step_s
from dcplan.units import SECONDS_PER_DAY

PLANNED = "planned-maintenance"
"""Failure rate of planned stops."""
LOSSES = ("saves", "lost_work", "restarts", "slow", "waiting")
"""Kinds of loss that goodput includes."""
ELASTIC_LOSSES = ("stalls", "absent")
"""Kinds of loss of elastic replicas."""
SETBACKS = ("rollbacks", "manual_restarts", "idle")
"""Kinds of loss of the given setbacks."""


@dataclass(frozen=True)
class Part:
    """One phase at one precision: its layouts, and other delays of a step."""

    run: TrainRun
    case: Case
    found: Found
    data: Feed

    @property
    def exchange_s(self) -> float:
        """Time that exchanges over the wide-area link add to a step."""
        local, wide = float(self.found.step_time_s[0]), self.run.wide
        return mean_step_s(local, self.run.shape.params, wide) - local if wide else 0.0

    @property
    def ingest_s(self) -> float:
        """Time that storage adds to a step that computes faster than its data arrive."""
        own = float(self.found.step_time_s[0]) + self.exchange_s
        step_bytes = self.run.batch_tokens * self.data.bytes_per_token
        return float(ingest_step_s(own, step_bytes, self.data.read_gb_per_s)) - own

    @property
    def step_time_s(self) -> float:
        """Step time of all sites, including exchanges between them and waits for data."""
        return float(self.found.step_time_s[0]) + self.exchange_s + self.ingest_s

    @property
    def clean_days(self) -> float:
        """Days at the predicted step time, without failures."""
        return self.run.tokens / self.run.batch_tokens * self.step_time_s / SECONDS_PER_DAY


@dataclass(frozen=True)
class Calendar:
    """Expectations of one run on one count."""

    run: RunTime
    outlook: Outlook
    policy: Policy
    stops: Stops
    clean_days: float
    size_bytes: float
    setbacks: SetbackShares

    def of(self, name: str) -> float:
        """Return a value of the outlook at the run's count."""
        return first(getattr(self.outlook, name))

    @property
    def p50_days(self) -> float:
        """Median duration."""
        return first(self.run.p50_days)

    @property
    def lost(self) -> dict[str, float]:
        """Share of wall-clock time of each kind of loss that goodput includes."""
        names = (*LOSSES, *ELASTIC_LOSSES) if self.outlook.elastic else LOSSES
        own = {name: first(getattr(self.outlook.losses, name)) for name in names}
        given = {name: first(getattr(self.setbacks, name)) for name in SETBACKS}
        return own | {name: share for name, share in given.items() if share}

    def stops_of(self, part: str, per_day: float) -> float:
        """Return the stops per day of one kind of part, from its rate at the run's count.

        Elastic replicas keep the planned stops of the job at their own rate.
        """
        planned = next((each for key, _, each in self.stops.by_part if key == PLANNED), 0.0)
        whole, all_stops = self.of("whole_stops_per_day"), self.of("stops_per_day")
        if not self.outlook.elastic:
            return per_day * all_stops / max(self.stops.per_day, 1e-30)
        if part == PLANNED:
            return whole
        return per_day * (all_stops - whole) / max(self.stops.per_day - planned, 1e-30)

    @property
    def production_frac(self) -> float:
        """Share of wall-clock time lost because steps in production are slower than predicted.

        The median duration is :math:`D f / E` for D days at the predicted step time, slowdown f and
        goodput E, so the share is :math:`E (1 - 1 / f)`.
        """
        usual = self.outlook.slowdown[1]
        return first(self.outlook.goodput.value) * (1.0 - 1.0 / usual)


def first(value: Any) -> float:
    """Return the only number of an array of one, or the number itself."""
    return float(np.asarray(value).reshape(-1)[0])


def calendar(log: InputLog, run: TrainRun, main: Part, clean_days: float) -> Calendar:
    """Return the expectations of a run, from its clean days and its main phase's layout."""
    part, stops, rules = _terms(log, run, run.accelerators)
    count = np.array([float(run.accelerators)])
    size = stored_bytes(run.shape, run.spec)
    layout = {key: column[:1] for key, column in main.found.layouts.items()}
    group = model_parallel_accelerators(layout, main.case.device.ranks)
    _check_replica(run, layout, main.case.device.ranks)
    plain = outlook(part, rules, count, size, group, clean_days)
    shares, found = _with_setbacks(plain, run, clean_days)
    ends = found.run(clean_days, run.spec.spread_frac)
    return Calendar(ends, found, rules, stops, clean_days, size, shares)


def run_at(log: InputLog, run: TrainRun, swept: Sweep, clean_days: Array) -> RunTime:
    """Return the duration of the run at every count of a sweep."""
    part, _, rules = _terms(log, run, int(swept.accelerators[-1]))
    group = model_parallel_accelerators(swept.layouts, run.spec.device.ranks)
    size = stored_bytes(run.shape, run.spec)
    plain = outlook(part, rules, swept.accelerators, size, group, clean_days)
    _, found = _with_setbacks(plain, run, clean_days)
    return found.run(clean_days, run.spec.spread_frac)


def _with_setbacks(
    plain: Outlook, run: TrainRun, clean_days: Array | float
) -> tuple[SetbackShares, Outlook]:
    """Return the shares of the setbacks, and an outlook whose goodput and losses include them."""
    days = clean_days * plain.slowdown[1] / plain.goodput.value
    shares = setback_shares(run.setbacks, run.steps, days)
    kept, good = shares.kept_frac, plain.goodput
    lost = {f.name: getattr(plain.losses, f.name) * kept for f in fields(plain.losses)}
    scaled = Goodput(good.value * kept, good.low * kept, good.high * kept)
    return shares, replace(plain, losses=Losses(**lost), goodput=scaled)


def _check_replica(run: TrainRun, layout: Mapping[str, Array], ranks: float) -> None:
    """Refuse an elastic replica that cannot hold one copy of the layout, or that has no second one."""
    given = run.reliability.replica_accelerators
    if given is None:
        return
    if 2 * given > run.accelerators:
        cause = (
            f"a replica of {given:,} accelerators is more than half of the run's "
            f"{run.accelerators:,}, so no other replica trains on"
        )
        help_text = "lower replica-accelerators, or leave it out"
        raise InputError([Problem("DC051", cause, Place("--reliability"), help=help_text)])
    n = {key: first(layout[key]) for key in ("tp", "cp", "pp", "ep", "etp")}
    least = max(n["tp"] * n["cp"], n["ep"] * n["etp"]) * n["pp"] / ranks
    if least <= given:
        return
    cause = f"a replica of {given:,} accelerators cannot hold the layout, which needs {least:,.0f}"
    help_text = "raise replica-accelerators, or give a smaller --layout"
    raise InputError([Problem("DC052", cause, Place("--reliability"), help=help_text)])


def _terms(log: InputLog, run: TrainRun, accelerators: int) -> tuple[Machine, Stops, Policy]:
    each = run.system.accelerators
    ports = accelerators * (run.system.scaleout_ports or each) / each
    part, stops = machine(run.system, class_network(ports, log), log, run.reliability)
    return part, stops, policy(run.reliability, run.storage, log)
