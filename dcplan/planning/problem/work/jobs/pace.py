"""Pace of a job on a target: its step time at every count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import fed_step_s
from dcplan.llm.tables import Array
from dcplan.scenario.schema import Storage
from dcplan.units import SECONDS_PER_DAY


@dataclass(frozen=True)
class Pace:
    """Step time of a job at every count, and what its stops and its storage depend on."""

    accelerators: Array
    used: Array
    """Accelerators that do work."""
    step_time_s: Array
    """Infinite where the job does not fit."""
    tokens: float
    """Tokens that the run reads from storage."""
    tokens_per_step: float
    group: Array
    """Accelerators of the largest model-parallel group."""
    checkpoint_bytes: float
    spread_frac: float
    """Half width of the 80 % interval of the step time."""
    mfu_frac: Array
    """Not a number where it is not defined."""
    layout: Callable[[int], Mapping[str, int | str]]
    """Layout at the i-th count."""
    unfit: str = "no layout fits"
    """Words for a job that does not fit in memory."""

    def clean_days(self, step_time_s: Array) -> Array:
        """Return the days without loss at every count."""
        return self.tokens / self.tokens_per_step * step_time_s / SECONDS_PER_DAY

    def fed(self, storage: Storage | None, log: InputLog) -> Pace:
        """Return the pace with a step that waits for its data."""
        return replace(self, step_time_s=fed_step_s(storage, self, log))

    def within(self, limit: int) -> Pace:
        """Return the pace at the counts up to a limit."""
        n = int((self.accelerators <= limit).sum())
        if n == self.accelerators.size:
            return self
        names = ("accelerators", "used", "step_time_s", "group", "mfu_frac")
        return replace(self, **{name: getattr(self, name)[:n] for name in names})

    @property
    def fits(self) -> bool:
        """Return whether the job fits at a count."""
        return bool(np.isfinite(self.step_time_s).any())
