"""The lightest recompute mode that fits in memory.

It fills the mode that a table of runs does not give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.llm.device_terms import StackTerms, lean
from dcplan.llm.operations import Setup
from dcplan.llm.tables import RECOMPUTE, Array, RecipeTable
from dcplan.training.memory import memory
from dcplan.units import BYTES_PER_GIB


@dataclass(frozen=True)
class Chosen:
    """Layout and recipe with recompute, offload and state widths filled in.

    ``fits`` is false if none fits.
    """

    setup: Setup
    fits: npt.NDArray[np.bool_]


def lightest(setup: Setup, stacks: Sequence[StackTerms], given: Array) -> Chosen:
    """Fill in the recompute mode if ``given`` is negative.

    The order is: the stack's modes except full, then with lean gradients and optimizer
    states, then with activations in host memory if stack and host link allow it, then full
    recompute.

    Parameters
    ----------
    setup : Setup
        The runs; the layout's own recompute is not used, its offload only with a given mode.
    stacks : sequence of StackTerms
        Stack of each run.
    given : array
        Index in ``RECOMPUTE``, or negative if the run does not give it.
    """
    limit = setup.device.hbm_gb * BYTES_PER_GIB * setup.coefficients.measured_memory_factor
    thin = lean(setup.recipe, stacks)
    blank = given < 0
    size = len(stacks)
    mode, slim = np.where(blank, -1.0, given), np.zeros(size)
    off = np.where(blank, 0.0, setup.layout.offload)
    allowed = {name: np.array([name in s.recompute for s in stacks]) for name in RECOMPUTE}
    fast_host = np.array([s.offloads for s in stacks]) & (
        setup.device.host_bytes_per_s >= setup.coefficients.offload_bytes_per_s
    )
    for name, share, narrow in SEARCH_ORDER:
        level = RECOMPUTE.index(name)
        layout = replace(
            setup.layout, recompute=np.full(size, float(level)), offload=np.full(size, share)
        )
        recipe = thin if narrow else setup.recipe
        fits = memory(replace(setup, recipe=recipe, layout=layout)).total <= limit
        fits = fits & allowed[name] & (fast_host | (share <= 0.0))
        new = blank & (mode < 0) & fits
        mode = np.where(new, float(level), mode)
        off = np.where(new, share, off)
        slim = np.where(new & narrow, 1.0, slim)
    layout = replace(setup.layout, recompute=np.where(mode < 0, 2.0, mode), offload=off)
    recipe = _mixed(setup.recipe, thin, slim)
    return Chosen(replace(setup, recipe=recipe, layout=layout), mode >= 0)


SEARCH_ORDER = (
    ("none", 0.0, False),
    ("selective", 0.0, False),
    ("none", 0.0, True),
    ("selective", 0.0, True),
    ("selective", 0.5, True),
    ("selective", 1.0, True),
    ("full", 0.0, True),
)


def _mixed(plain: RecipeTable, thin: RecipeTable, slim: Array) -> RecipeTable:
    return replace(
        plain,
        grad_bytes=np.where(slim > 0, thin.grad_bytes, plain.grad_bytes),
        optimizer_bytes=np.where(slim > 0, thin.optimizer_bytes, plain.optimizer_bytes),
    )
