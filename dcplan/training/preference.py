"""The layout that an expert would run among those whose times the model cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.llm.tables import Array
from dcplan.training.grid import KEYS, Case
from dcplan.training.search import Found

MOST_WHOLE_TOKENS = 16384
"""Longest sequence that recipes do not divide by context parallelism."""
MOST_CUT_TOKENS = 8192
"""Tokens of one rank of a longer sequence below which recipes do not divide it further."""
MOST_MICRO_BATCH = 2
"""Largest micro-batch of recipes, in sequences."""
MOST_TENSOR = 8
"""Largest tensor-parallel size of recipes: the accelerators of a server."""
SEARCH_EQUAL_FRAC = 0.01
"""Difference of step times up to which the minor rules decide."""
Columns = Mapping[str, Array]


@dataclass(frozen=True)
class Preference:
    """One rule of recipes."""

    text: str
    """The rule in words."""
    distance: Callable[[Case, float, Columns], Array]
    """Distance of each layout from the rule, of case, ranks and layouts; 0 if it follows it."""


def usual_experts(experts: int, domain: float) -> int:
    """Return the expert parallelism of recipes: the largest that a scale-up domain holds.

    It is a power of two that divides the experts.

    >>> usual_experts(256, 72), usual_experts(8, 72), usual_experts(128, 8)
    (64, 8, 8)
    """
    size = 1
    while experts % (2 * size) == 0 and 2 * size <= domain:
        size *= 2
    return size


def _context(case: Case, ranks: float, x: Columns) -> Array:
    usual = 1.0 if case.seq_len <= MOST_WHOLE_TOKENS else case.seq_len / MOST_CUT_TOKENS
    return np.maximum(x["cp"] / usual, 1.0) - 1.0


def _tensor(case: Case, ranks: float, x: Columns) -> Array:
    host = min(MOST_TENSOR, case.device.domain * case.device.ranks)
    odd = np.mod(np.log2(x["tp"]), 1.0) > 0
    return np.asarray(np.maximum(np.log2(x["tp"] / host), 0.0) + odd, dtype=np.float64)


def _experts(case: Case, ranks: float, x: Columns) -> Array:
    usual = usual_experts(case.shape.experts, case.device.domain * case.device.ranks)
    return np.asarray(np.abs(np.log2(x["ep"] / usual)) + (x["etp"] > 1), dtype=np.float64)


def _idle(case: Case, ranks: float, x: Columns) -> Array:
    return ranks - x["tp"] * x["pp"] * x["cp"] * x["dp"]


def _uneven(case: Case, ranks: float, x: Columns) -> Array:
    # embedding and output layer may count as layers
    stages = np.minimum(*(np.mod(case.shape.layers + n, x["pp"]) for n in (0, 2)))
    rest = np.mod(case.global_batch, x["dp"] * x["micro_batch"])
    return np.asarray(1.0 * (stages > 0) + (rest > 0), dtype=np.float64)


MAJOR = (
    Preference("no activations in host memory", lambda case, ranks, x: x["offload"]),
    Preference("tensor parallelism of 1, 2, 4 or 8 inside a domain", _tensor),
    Preference("no context parallelism up to 16k tokens, beyond it 8k a rank", _context),
    Preference(
        "micro-batches of 1 or 2 sequences",
        lambda case, ranks, x: np.maximum(x["micro_batch"] - MOST_MICRO_BATCH, 0.0),
    ),
    Preference("experts over the scale-up domain, each in one piece", _experts),
    Preference(
        "the sharding of the software", lambda case, ranks, x: np.abs(x["zero"] - case.stack.zero)
    ),
)
"""Rules of recipes, the most important first; together they may cost the whole tolerance."""
MINOR = (
    Preference("no idle ranks", _idle),
    Preference("equal stages, and a batch of complete micro-batches", _uneven),
    Preference("the lightest recompute", lambda case, ranks, x: x["recompute"]),
    Preference("few pipeline stages", lambda case, ranks, x: x["pp"]),
    Preference("few chunks", lambda case, ranks, x: x["vpp"]),
    Preference("small tensor parallelism", lambda case, ranks, x: x["tp"]),
    Preference("small context parallelism", lambda case, ranks, x: x["cp"]),
)
"""Rules that decide between layouts of practically equal time, the most important first."""


def preference(case: Case, ranks: float, layouts: Columns, time_s: Array) -> Array:
    """Return the order of layouts by the rules of recipes.

    The layouts are first ordered by :data:`MAJOR`; a rule decides only between layouts at equal
    distance from all rules before it. Of equal ones, those within 1 % of their fastest follow
    :data:`MINOR`, and the rest the time.

    Parameters
    ----------
    case : Case
        Model, accelerator, stack and batch.
    ranks : float
        Available ranks.
    layouts : mapping of arrays, shape (n,)
        Columns of layouts, whose times the model cannot tell apart.
    time_s : array, shape (n,)
        Their step times. [s]
    """
    major = [rule.distance(case, ranks, layouts) for rule in MAJOR]
    _, kind = np.unique(np.stack(major), axis=1, return_inverse=True)
    fastest = np.full(kind.max() + 1, np.inf)
    np.minimum.at(fastest, kind, time_s)
    slow = np.maximum(time_s / fastest[kind] - 1.0 - SEARCH_EQUAL_FRAC, 0.0)
    minor = [rule.distance(case, ranks, layouts) for rule in MINOR]
    return np.asarray(np.lexsort([time_s, *reversed(minor), slow, *reversed(major)]))


def preferred(case: Case, ranks: float, found: Found, keep: int) -> Found:
    """Return a search result with the layout that an expert would run first.

    The others follow by time: those of the result, and the next ``keep`` by preference.

    Parameters
    ----------
    case : Case
        Model, accelerator, stack and batch.
    ranks : float
        Available ranks.
    found : Found
        Result of a search, whose ``near`` holds the layouts to choose from.
    keep : int
        Number of layouts to list by preference.
    """
    if found.near is None:
        return found
    near = found.near
    order = preference(case, ranks, near.layouts, near.step_time_s)[:keep]
    layouts = {k: np.concatenate([near.layouts[k][order], found.layouts[k]]) for k in KEYS}
    time_s = np.concatenate([near.step_time_s[order], found.step_time_s])
    needed = np.concatenate([near.memory_bytes[order], found.memory_bytes])
    _, first = np.unique(np.stack([layouts[k] for k in KEYS]), axis=1, return_index=True)
    others = first[first > 0]
    rows = np.concatenate([[0], others[np.argsort(time_s[others], kind="stable")]])
    return replace(
        found,
        layouts={k: v[rows] for k, v in layouts.items()},
        step_time_s=time_s[rows],
        memory_bytes=needed[rows],
    )
