"""Schedule of a run: phases, interruptions, checkpoints, spares, and spread of the finish date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcplan.answers.train.resolve import TrainRun
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import class_network, machine, policy, stored_bytes
from dcplan.llm.tables import Array
from dcplan.reliability.calendar import RunTime
from dcplan.reliability.outlook import Machine, Outlook, Policy, outlook
from dcplan.reliability.rates import Stops
from dcplan.reliability.storage import Feed, ingest_step_s
from dcplan.training.estimate import Sweep
from dcplan.training.grid import Case, model_parallel_accelerators
from dcplan.training.search import Found
from dcplan.training.wide_area import mean_step_s
from dcplan.units import SECONDS_PER_DAY

LOSSES = ("saves", "lost_work", "restarts", "slow", "waiting")
"""Kinds of loss that goodput includes."""


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
        return {name: first(getattr(self.outlook.losses, name)) for name in LOSSES}

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
    found = outlook(part, rules, count, size, group, clean_days)
    ends = found.run(clean_days, run.spec.spread_frac)
    return Calendar(ends, found, rules, stops, clean_days, size)


def run_at(log: InputLog, run: TrainRun, swept: Sweep, clean_days: Array) -> RunTime:
    """Return the duration of the run at every count of a sweep."""
    part, _, rules = _terms(log, run, int(swept.accelerators[-1]))
    group = model_parallel_accelerators(swept.layouts, run.spec.device.ranks)
    size = stored_bytes(run.shape, run.spec)
    found = outlook(part, rules, swept.accelerators, size, group, clean_days)
    return found.run(clean_days, run.spec.spread_frac)


def _terms(log: InputLog, run: TrainRun, accelerators: int) -> tuple[Machine, Stops, Policy]:
    each = run.system.accelerators
    ports = accelerators * (run.system.scaleout_ports or each) / each
    part, stops = machine(run.system, class_network(ports, log), log, run.reliability)
    return part, stops, policy(run.reliability, run.storage, log)
