"""The ``workloads:`` block of the sizes: demand of each cluster by quarter, with its quantiles."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcplan.answers.demand.ahead import Ahead
from dcplan.answers.demand.digits import DIGITS, short
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import Sized
from dcplan.catalog.yaml12 import dump
from dcplan.demand.log.jobs import Array
from dcplan.scenario.set_keys import quoted
from dcplan.units import HOURS_PER_QUARTER

"""Significant digits of the numbers in the block."""
LOW_VARIANT, HIGH_VARIANT = "demand-p10", "demand-p90"
WEIGHTS = {"base": 0.4, LOW_VARIANT: 0.3, HIGH_VARIANT: 0.3}
"""Weights of P50, P10 and P90 that keep the mean of a distribution (Swanson's rule: A. Hurst, G. C.
Brown, R. I. Swanson, "Swanson's 30-40-30 rule", AAPG Bulletin 84, 2000)."""


def block_of(
    request: DemandRequest, sizes: Sequence[Sized], then: Sequence[Ahead], source: str
) -> str:
    """Return the YAML of the demand; empty if no cluster has a size, or one has no coming demand.

    A cluster is research capacity: the hours that its jobs need, and the use at which the target is
    kept. A plan therefore installs the accelerators of the replay. A scenario takes the block with
    ``extends:``, or by copying it.
    """
    pairs = [(x, a) for x, a in zip(sizes, then, strict=True) if x.accelerators]
    given, coming = [x for x, _ in pairs], [a for _, a in pairs]
    if not given or why_no_block(sizes, then):
        return ""
    left = [f"# {x.cluster.name}: no demand here, because {x.why_not}" for x in sizes if x.why_not]
    source += "".join(f"{line}\n" for line in left)
    ids = _ids([x.cluster.name for x in given])
    data: dict[str, Any] = {
        "workloads": {
            "capacity": [
                {
                    "id": name,
                    "accelerator_hours": _hours(x, a.factor),
                    "utilization_frac": _short(_used(x), 1),
                }
                for name, x, a in zip(ids, given, coming, strict=True)
            ]
        }
    }
    if all(x.interval for x in given):
        data |= _variants(request, given, coming, ids)
    return source + dump(data)


def why_no_block(sizes: Sequence[Sized], then: Sequence[Ahead]) -> str:
    """Return why sizes give no demand of a scenario; empty if they do, or if there are none."""
    for found, coming in zip(sizes, then, strict=True):
        if found.accelerators and not found.load.mean:
            name = found.cluster.name
            return (
                f"{name}: the log has no demand over time: its runs start at one moment or last 0 s"
            )
        if found.accelerators and coming.why_not:
            return coming.why_not
    return ""


def _variants(
    request: DemandRequest, given: Sequence[Sized], coming: Sequence[Ahead], ids: Sequence[str]
) -> dict[str, Any]:
    """Return the low and the high variant of the demand, and the spread of all clusters.

    The spreads of the size and of the forecast are independent: their logarithms add in squares.
    """
    ends: dict[str, dict[str, Any]] = {LOW_VARIANT: {}, HIGH_VARIANT: {}}
    sums = [0.0, 0.0]
    for name, x, a in zip(ids, given, coming, strict=True):
        assert x.interval is not None and x.accelerators is not None  # noqa: S101, PT018
        for k, variant in enumerate(ends):
            key = f"workloads.capacity.{quoted(name)}.accelerator_hours"
            size = math.log(x.interval[k] / x.accelerators)
            growth = np.log((a.low, a.high)[k] / a.factor)
            away = np.sign(k - 0.5) * np.hypot(size, growth)
            ends[variant][key] = _hours(x, a.factor * np.exp(away))
            sums[k] += x.accelerators * float(np.exp(away).mean())
    total = sum(x.accelerators or 0.0 for x in given)
    low, high = min(sums[0] / total, 1.0), max(sums[1] / total, 1.0)
    uncertainty: dict[str, Any] = {"demand": {"value": 1, "low": _short(low), "high": _short(high)}}
    if request.start is not None:
        uncertainty["hedge"] = {"through": request.start, "weights": dict(WEIGHTS)}
    return {
        "overrides": ends,
        "scenarios": {variant: [variant] for variant in ends},
        "uncertainty": uncertainty,
    }


def _hours(found: Sized, factor: Array) -> list[float]:
    """Return the accelerator-hours of each quarter."""
    offered = found.load.mean / found.cluster.recorded.units_per_accelerator
    return [_short(offered * HOURS_PER_QUARTER * x, -1) for x in factor.tolist()]


def _used(found: Sized) -> float:
    assert found.accelerators is not None  # noqa: S101 - the caller has a size
    offered = found.load.mean / found.cluster.recorded.units_per_accelerator
    return min(offered / found.accelerators, 1.0)


def _short(value: float, direction: int = 0) -> float:
    """Round to a few digits; down or up, so that no plan needs one accelerator more."""
    near = short(value)
    if direction * (value - near) <= 0.0:
        return near
    step = 10.0 ** (math.floor(math.log10(abs(value))) - DIGITS + 1)
    return short(near + direction * step)


def _ids(names: Sequence[str]) -> list[str]:
    """Return names of pools as ids of a scenario; equal ones get a number."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "pool"
        number, unique = 2, plain
        while unique in found:
            unique, number = f"{plain}-{number}", number + 1
        found.append(unique)
    return found
