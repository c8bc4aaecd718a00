"""Power of accelerators that serve, and energy of a token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.attention import cache_shards, read_tokens
from dcplan.serving.forward import Served, active_experts
from dcplan.serving.tables import Array


@dataclass(frozen=True)
class PowerTerms:
    """Power of one accelerator as shares of its thermal design power."""

    busy_frac: Array
    """Share with kernels running that neither read nor compute much."""
    memory_frac: Array
    """Additional share at the full memory bandwidth."""
    compute_frac: Array
    """Additional share at the full peak of matrix products."""
    idle_frac: Array
    """Share without work."""


@dataclass(frozen=True)
class Use:
    """Use of an accelerator's rates, as shares of the data-sheet values."""

    memory: Array
    compute: Array


@dataclass(frozen=True)
class Step:
    """What a step does beyond one token for each running request."""

    verified_tokens: float = 1.0
    """Tokens of a request that a step verifies: draft tokens and one more. [-]"""
    draft_passes: float = 0.0
    """Time of all draft tokens of a step over that of a step without speculation. [-]"""
    prompt_tokens: float = 0.0
    """Prompt tokens of a step of a copy of attention. They choose experts too. [-]"""


PLAIN = Step()
"""A step of one token for each request."""


def use_of(
    served: Served,
    running: Array,
    context: Array,
    tpot_s: Array,
    prompt_tokens_per_s: Array,
    step: Step = PLAIN,
) -> Use:
    r"""Return the use of memory bandwidth and peak of one accelerator of a replica.

    .. math:: u_m = \frac{bytes\ of\ a\ step}{TPOT\,B},\quad
       u_c = \frac{2 n_{act}/F\,((K + 1 + D) B/TPOT + \lambda s)}{t d}

    with K + 1 verified tokens of a step. The draft reads and computes as D steps of one token.

    Parameters
    ----------
    served : Served
        The configuration.
    running : array
        Requests that decode at the same time in the replica. [-]
    context : array
        Mean tokens of a request. [-]
    tpot_s : array
        Time of a step, which is the time per output token without speculation. [s]
    prompt_tokens_per_s : array
        Prompt tokens that the replica computes. [1/s]
    step : Step
        Verified tokens, draft and prompt tokens of a step.
    """
    m, d, x, c = served.model, served.device, served.layout, served.terms
    rank = running / x.dp
    mixer = m.attention_layers * m.attention_params + m.recurrent_layers * m.recurrent_params
    dense = m.dense_layers * m.dense_params
    shared = m.moe_layers * m.shared_params
    chosen = running * step.verified_tokens + step.prompt_tokens * x.dp
    active = active_experts(m.experts, m.experts_per_token, chosen, c.routing_spread)
    expert = m.moe_layers * m.expert_params
    weights = (
        mixer * m.attention_bytes
        + dense * m.dense_bytes
        + shared * m.shared_bytes
        + m.head_params * m.head_bytes
    ) / x.tp + expert * m.expert_bytes * active / x.ranks
    cache = rank * read_tokens(m, context) * m.cache_width * m.cache_bytes / cache_shards(m, x)
    passes = 1.0 + step.draft_passes
    memory = passes * (weights + cache) / (tpot_s * d.hbm_bytes_per_s)
    tokens = running * (step.verified_tokens + step.draft_passes) / tpot_s + prompt_tokens_per_s
    each = (
        mixer / d.attention_flops
        + (dense + shared) / d.dense_flops
        + expert * m.experts_per_token / d.expert_flops
        + m.head_params / d.half_flops
    )
    compute = 2.0 * tokens * each / x.ranks
    return Use(np.minimum(memory / x.pp, 1.0), np.minimum(compute / x.pp, 1.0))


def power_frac(terms: PowerTerms, use: Use) -> Array:
    r"""Return the power of an accelerator over its thermal design power, at most 1.

    .. math:: P/P_{TDP} = \min(1,\ p_0 + p_m\,u_m + p_c\,u_c)

    Examples
    --------
    >>> one = np.array(1.0)
    >>> terms = PowerTerms(0.35 * one, 0.4 * one, 0.6 * one, 0.1 * one)
    >>> round(float(power_frac(terms, Use(0.5 * one, 0.1 * one))), 2)
    0.61
    """
    share = terms.busy_frac + terms.memory_frac * use.memory + terms.compute_frac * use.compute
    return np.minimum(share, 1.0)


def joules_per_token(power_w: Array, tokens_per_s: Array) -> Array:
    """Return the energy of one output token at a power and a rate of the same accelerators."""
    return power_w / tokens_per_s
