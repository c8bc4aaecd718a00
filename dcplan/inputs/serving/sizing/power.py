"""Power of a serving accelerator at the load of its replica."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.inputs.serving.sizing.pools import DECODE, PREFILL
from dcplan.inputs.serving.sizing.work import ServedWork
from dcplan.serving.forward import Served
from dcplan.serving.power import PowerTerms, Step, power_frac, use_of
from dcplan.serving.search import Layout
from dcplan.serving.tables import Array


@dataclass(frozen=True)
class PoolLoad:
    """Load of one replica."""

    rate: float
    """Request rate [1/s]."""
    running: float
    """Requests that decode at the same time."""
    tpot_s: float
    """Mean time per output token."""
    stable_rate: float
    """Request rate from which the queue grows without limit [1/s]."""


def pool_power_frac(
    work: ServedWork, served: Served, layout: Layout, load: PoolLoad, pool: str
) -> float:
    r"""Return the power of a serving accelerator over its thermal design power.

    A replica has no work in a share :math:`e^{-B}` of the time, with B requests in the mean. One of
    a prefill pool has work in a share of its rate over its stable rate.

    Parameters
    ----------
    work : ServedWork
        The service.
    served : Served
        The layout of the replica.
    layout : Layout
        The same layout by its numbers.
    load : PoolLoad
        Load of one replica.
    pool : str
        Name of the pool: ``prefill``, ``decode`` or another one for both.
    """
    terms = PowerTerms(**{k: np.array(v) for k, v in work.service.power.items()})
    need = work.need
    context = np.array(need.input_tokens + need.output_tokens / 2.0)
    prompts = load.rate * (need.input_tokens - need.cached_tokens)
    plan = work.plan
    step = np.array(load.tpot_s * plan.tokens_per_step)
    running, share = load.running, 1.0 - math.exp(-load.running)
    more = Step(plan.draft_tokens + 1.0, plan.draft_tokens * plan.draft_frac)
    if pool == PREFILL:
        together, step = _prompt_step(work, layout, load.stable_rate)
        more = Step(prompt_tokens=together * (need.input_tokens - need.cached_tokens))
        running, share = 0.0, min(load.rate / load.stable_rate, 1.0)
    if pool == DECODE:
        prompts = 0.0
    share = max(share, 1e-9)
    use = use_of(served, np.array(running / share), context, step, np.array(prompts / share), more)
    busy = float(np.max(power_frac(terms, use)))
    return share * busy + (1.0 - share) * work.service.power["idle_frac"]


def _prompt_step(work: ServedWork, layout: Layout, stable_rate: float) -> tuple[float, Array]:
    """Return the prompts of a full step of a prefill replica, and the time of the step.

    The stable rate holds what the clock holds: cached tokens, and the prompts of one step.
    """
    fresh = max(work.need.input_tokens - work.need.cached_tokens, 1.0)
    together = max(work.service.step_tokens / fresh, 1.0)
    return together, np.array(together * layout.dp / stable_rate)
