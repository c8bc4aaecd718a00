"""Points of a sweep: all combinations, pairs of values or samples; and their order."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from dcplan.economics.sampling import triangular_quantile, unit_points
from dcplan.errors import InputError, Place, Problem
from dcplan.scenario.axes import Axis
from dcplan.study.bounds import AsIs
from dcplan.study.sweep.request import METHODS, MOST_POINTS

CHAIN = 8
"""Maximum points per chain; each point starts from the plan of the point before."""
LINES = 16
"""Number of chains of a small sweep, so that all processes and shards have work."""
Values = tuple[Any, ...]


def grid(axes: Sequence[Axis], *, paired: bool) -> list[Values]:
    """Return every combination, the last axis fastest; or with ``paired``, the pairs of values.

    Raises
    ------
    InputError
        DC051 when a distribution has no samples, paired lists differ in length, or there are too
        many points.

    Examples
    --------
    >>> grid([Axis("a", (1, 2)), Axis("b", (3, 4))], paired=False)
    [(1, 3), (1, 4), (2, 3), (2, 4)]
    >>> grid([Axis("a", (1, 2)), Axis("b", (3, 4))], paired=True)
    [(1, 3), (2, 4)]
    """
    distributions = [a.key for a in axes if a.sampled]
    if distributions:
        raise _wrong(
            f"{', '.join(distributions)}: a distribution needs --sample N", "--sample 64 --seed 1"
        )
    lengths = [len(a.values) for a in axes]
    if paired and len(set(lengths)) > 1:
        texts = ", ".join(f"{a.key} has {n}" for a, n in zip(axes, lengths, strict=True))
        raise _wrong(f"--zip needs the same number of values on every axis: {texts}", "")
    if not paired and math.prod(lengths) > MOST_POINTS:
        raise _wrong(
            f"{math.prod(lengths):,} points: {MOST_POINTS:,} at most",
            "use a wider step, or --sample N",
        )
    lists = [a.values for a in axes]
    return list(zip(*lists, strict=True)) if paired else list(itertools.product(*lists))


def sampled(axes: Sequence[Axis], count: int, seed: int, method: str) -> list[Values]:
    """Sample points that fill the space of the axes evenly; a seed always gives the same points.

    Parameters
    ----------
    axes : sequence of Axis
        Distributions by their quantiles, lists with equal shares.
    count : int
        From 1 to 100,000; a power of two is best for "sobol".
    seed : int
        Seed of the scrambling.
    method : {"lhs", "sobol"}
        Latin hypercube: every axis is stratified in ``count`` parts; Sobol' sequence, scrambled.
    """
    unit = unit_points(len(axes), count, seed, METHODS[method])
    inside = unit.clip(1e-9, 1.0 - 1e-9)  # keeps the quantiles of a normal distribution finite
    return [tuple(quantile(a, float(u)) for a, u in zip(axes, row, strict=True)) for row in inside]


def quantile(axis: Axis, share: float) -> Any:
    """Return the quantile of a distribution.

    For a list, return the value at that share of the list.

    Examples
    --------
    >>> quantile(Axis("x", (1, 2, 3)), 0.5)
    2
    >>> quantile(Axis("x", kind="uniform", numbers=(2.0, 4.0)), 0.25)
    2.5
    """
    if not axis.sampled:
        return axis.values[min(int(share * len(axis.values)), len(axis.values) - 1)]
    a, b = axis.numbers[0], axis.numbers[1]
    if axis.kind == "triangular":
        return float(triangular_quantile(share, a, b, axis.numbers[2]))
    if axis.kind == "uniform":
        return a + share * (b - a)
    if axis.kind == "normal":
        return NormalDist(a, b).inv_cdf(share)
    return a * math.exp(b * NormalDist().inv_cdf(share))  # log-normal


def chains(axes: Sequence[Axis], points: Sequence[Values], *, product: bool) -> list[list[int]]:
    """Return chains of indices of neighboring points; they do not depend on the engine.

    In a product of axes, one axis changes at a time; other points are sorted by their values.

    Examples
    --------
    >>> axes = [Axis("a", (1, 2)), Axis("b", (3, 4))]
    >>> chains(axes, [(1, 3), (1, 4), (2, 3), (2, 4)], product=True)
    [[0], [1], [3], [2]]
    """
    if product:
        order = _snake([len(a.values) for a in axes])
    else:
        order = sorted(range(len(points)), key=lambda i: ([_rank(v) for v in points[i]], i))
    return _cut(order)


def _cut(order: list[int]) -> list[list[int]]:
    """Cut an order of points into chains."""
    size = min(max(math.ceil(len(order) / LINES), 1), CHAIN)
    return [order[i : i + size] for i in range(0, len(order), size)]


def in_turn(count: int) -> list[list[int]]:
    """Return chains of points in their given order."""
    return _cut(list(range(count)))


def _rank(value: Any) -> tuple[int, float, str]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (
        (0, float(value), "")
        if number
        else (1, 0.0, json.dumps(value, sort_keys=True, default=str))
    )


def _snake(lengths: Sequence[int]) -> list[int]:
    """Return the indices of a product; its last axis alternately runs up and down.

    Examples
    --------
    >>> _snake([2, 3])
    [0, 1, 2, 5, 4, 3]
    """
    if not lengths:
        return [0]
    inner = _snake(lengths[1:])
    size = len(inner)
    return [i * size + j for i in range(lengths[0]) for j in (inner if i % 2 == 0 else inner[::-1])]


def set_texts(axes: Sequence[Axis], values: Values) -> tuple[str, ...]:
    """Return the ``--set`` text of each axis that a point changes."""
    pairs = zip(axes, values, strict=True)
    return tuple(f"{a.key}={json.dumps(v)}" for a, v in pairs if not isinstance(v, AsIs))


def _wrong(cause: str, help_text: str) -> InputError:
    return InputError([Problem("DC051", cause, Place("sweep"), help=help_text)])
