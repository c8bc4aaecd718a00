"""Speculative decoding: tokens per step, and the steady state of a closed loop with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.steady import ROUNDS, Load, Steady, prompts_s
from dcplan.serving.step import decode_s
from dcplan.serving.tables import Array


@dataclass(frozen=True)
class Speculation:
    """Draft tokens of a step, and what they bring and cost."""

    draft_tokens: float
    """Tokens K that the draft proposes; the step verifies K + 1. [-]"""
    tokens_per_step: float
    """Mean tokens that a step gives, from 1 to K + 1. [-]"""
    draft_frac: float
    """Time of one draft token over that of a step without speculation. [-]"""


NONE = Speculation(0.0, 1.0, 0.0)
"""A step gives one token."""


def expected_tokens(accept_frac: float, draft_tokens: float) -> float:
    r"""Return the mean tokens of a step that verifies K draft tokens.

    .. math:: E = \frac{1 - a^{K+1}}{1 - a}

    Parameters
    ----------
    accept_frac : float
        Probability a that a draft token is accepted, from 0 to 1. [-]
    draft_tokens : float
        Draft tokens K of a step, at least 0. [-]

    References
    ----------
    .. [1] Y. Leviathan et al., "Fast Inference from Transformers via Speculative Decoding",
       ICML 2023, equation 1.

    Examples
    --------
    >>> round(expected_tokens(0.6, 3), 3), expected_tokens(0.0, 3), expected_tokens(1.0, 3)
    (2.176, 1.0, 4.0)
    """
    if accept_frac >= 1.0:
        return draft_tokens + 1.0
    return float((1.0 - accept_frac ** (draft_tokens + 1.0)) / (1.0 - accept_frac))


def verify_s(served: Served, batch: Array, context: Array, plan: Speculation) -> Array:
    r"""Return the time of a step with its draft tokens.

    .. math:: t = t_{dec}(K + 1) + K\,f\,t_{dec}(1)

    Parameters
    ----------
    served : Served
        The configuration.
    batch : array
        Running requests of the replica, at least 0. [-]
    context : array
        Mean tokens of a request so far. [-]
    plan : Speculation
        Draft tokens and their cost.
    """
    step = decode_s(served, batch, context, plan.draft_tokens + 1.0)
    if not plan.draft_tokens:
        return step
    return step + plan.draft_tokens * plan.draft_frac * decode_s(served, batch, context)


def speculated(served: Served, load: Load, found: Steady, plan: Speculation) -> Steady:
    r"""Return a closed loop whose steps give several tokens.

    The waits of the loop without speculation remain; the time per output token follows from

    .. math:: TPOT = \frac{t(N)}{E} + \frac{N - 1}{d\,o}\,\phi\,m\,t_{pre},\quad
       \phi = \frac{o\,TPOT}{TTFT + o\,TPOT}

    as in :func:`dcplan.serving.steady.closed_loop`.

    Parameters
    ----------
    served : Served
        The configuration.
    load : Load
        The requests of one replica.
    found : Steady
        Its closed loop without speculation.
    plan : Speculation
        Draft tokens, tokens of a step, cost of a draft.
    """
    if not plan.draft_tokens:
        return found
    c, dp = served.terms, served.layout.dp
    context = load.input_tokens + load.output_tokens / 2.0
    others = np.maximum(found.admitted - 1.0, 0.0)
    one = np.ones_like(found.admitted)
    each = prompts_s(served, load, others / dp / load.output_tokens)[1]
    delay = c.separate_prefill_frac * each
    share = one
    for _ in range(ROUNDS):
        running = np.minimum(1.0 + others * share, found.admitted)
        step = verify_s(served, running, context, plan)
        tpot = step / plan.tokens_per_step + others / dp / load.output_tokens * share * delay
        life = load.output_tokens * tpot
        share = (share + life / (life + found.prefill_s + step)) / 2.0
    waits = found.ingress_s + found.queue_s + found.prefill_s
    return replace(
        found,
        tpot_s=tpot,
        first_step_s=step,
        running=np.minimum(1.0 + others * share, found.admitted),
        requests_per_s=found.admitted / (load.output_tokens * tpot + waits + step),
    )
