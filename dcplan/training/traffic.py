"""Time of the collectives of one micro-batch: tensor, context, expert and pipeline parallelism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.fabric.collectives import all_to_all_s, group_rate, tree_half_s
from dcplan.llm.operations import Setup, tokens, tower_setup
from dcplan.llm.tables import Array


@dataclass(frozen=True)
class Traffic:
    """Forward and backward seconds of one micro-batch over all blocks of the model.

    Nothing is hidden at this point.
    """

    tensor_forward: Array
    tensor_backward: Array
    context_forward: Array
    context_backward: Array
    expert_forward: Array
    expert_backward: Array
    tower: Traffic | None = None
    """Time of the collectives of the vision tower."""


def traffic(setup: Setup) -> Traffic:
    """Return the time of the collectives of a micro-batch.

    Tensor parallelism gathers and scatters the hidden states around each block: two halves forward,
    two backward (Korthikanti et al. 2022, arXiv 2205.05198, section 4.2). With sequence parallelism
    the backward pass gathers the input of a block once more, as a rank keeps its own part only
    (section 4.2.2). Context parallelism passes keys and values around a ring, and their gradients
    back. Expert parallelism dispatches and combines, twice.
    """
    tensor, again = _tensor_s(setup)
    ring = _ring_s(setup)
    dispatch, combine = _experts_s(setup)
    tower = traffic(tower_setup(setup, setup.tower)) if setup.tower else None
    return Traffic(
        tensor, tensor + again, ring, 2.0 * ring, dispatch + combine, 2.0 * combine, tower
    )


def _tensor_s(setup: Setup) -> tuple[Array, Array]:
    """Return the time of tensor parallelism forward, and what the backward pass adds."""
    m, x = setup.model, setup.layout
    half = _half_s(setup)
    more = np.where(m.moe_layers > 0, m.mtp_layers, 0.0)
    sparse = m.moe_layers + more
    blocks = (
        m.attention_layers + m.mtp_layers + m.dense_layers + m.mtp_layers - more + m.mamba_layers
    )
    blocks = blocks + np.where(x.etp > 1, sparse, 0.0)
    shared = np.where((m.shared_ffn > 0) & (x.etp <= 1), sparse, 0.0)
    tensor = 2.0 * half * (blocks + shared)
    return tensor, setup.stack.sequence_parallel * half * (blocks + shared)


def _ring_s(setup: Setup) -> Array:
    """Return the time in which keys and values pass around the ring of context parallelism."""
    m, d, x = setup.model, setup.device, setup.layout
    t = tokens(setup)
    # a ring passes from neighbor to neighbor: one rank, with its one NIC, crosses the domain's
    # border
    _, leaves = group_rate(x.cp, x.tp, d.domain, d.scaleup_bytes_per_s, d.scaleout_bytes_per_s)
    speed = np.where(
        leaves, np.minimum(d.scaleup_bytes_per_s, d.scaleout_bytes_per_s), d.scaleup_bytes_per_s
    )
    delay = np.where(leaves, d.scaleout_latency_s, d.scaleup_latency_s)
    values = np.maximum(m.kv_heads / x.tp, 1.0) * (m.head_dim + m.value_dim)
    ring = (x.cp - 1.0) * (
        t * values * setup.recipe.activation_bytes / speed + np.where(x.cp > 1, delay, 0.0)
    )
    return np.asarray(ring * (m.attention_layers + m.mtp_layers))


def _experts_s(setup: Setup) -> tuple[Array, Array]:
    """Return the times of dispatch to the experts, and of combination."""
    m, d, x = setup.model, setup.device, setup.layout
    t = tokens(setup)
    one = np.ones_like(x.tp)
    sparse = m.moe_layers + np.where(m.moe_layers > 0, m.mtp_layers, 0.0)
    s = setup.stack
    rows = t / x.tp * m.experts_per_token * x.etp
    copies = np.where(s.moe_combined > 0, np.maximum(m.experts_per_token, 1.0), 1.0)
    out = all_to_all_s(
        rows / copies,
        m.hidden * one,
        copies,
        x.ep,
        x.etp,
        d.domain,
        d.scaleup_bytes_per_s * s.moe_rate,
        d.scaleout_bytes_per_s * s.moe_rate * d.exchange,
        np.where(m.expert_groups > 0, m.expert_groups, np.inf),
    )
    wait = np.where(
        x.ep > 1, np.where(x.ep * x.etp > d.domain, d.scaleout_latency_s, d.scaleup_latency_s), 0.0
    )
    dispatch = (out * setup.recipe.operand_bytes + wait) * sparse
    return dispatch, (out * setup.recipe.activation_bytes + wait) * sparse


def _half_s(setup: Setup) -> Array:
    """Return the time in which tensor parallelism gathers (or scatters) the hidden states once."""
    d, x = setup.device, setup.layout
    speed, leaves = group_rate(
        x.tp, np.ones_like(x.tp), d.domain, d.scaleup_bytes_per_s, d.scaleout_bytes_per_s
    )
    delay = np.where(leaves, d.scaleout_latency_s, d.scaleup_latency_s)
    size = tokens(setup) * setup.model.hidden * setup.recipe.activation_bytes
    return tree_half_s(size, x.tp, speed, delay) + np.where(x.tp > 1, setup.stack.collective_s, 0.0)


def boundary_s(setup: Setup) -> Array:
    """Return the time of one activation over one stage boundary, one way.

    Stages are tp x cp x dp ranks apart: if several fit in one domain, most boundaries stay
    inside. Each tensor rank sends its part; without sequence parallelism the next stage gathers the
    parts (Narayanan et al. 2021, arXiv 2104.04473, section 4.1).
    """
    m, d, x = setup.model, setup.device, setup.layout
    stages = np.clip(np.floor(d.domain / (x.tp * x.cp * x.dp)), 1.0, x.pp)
    out = np.where(stages >= x.pp, 0.0, 1.0 / stages)
    each = out / d.scaleout_bytes_per_s + (1.0 - out) / d.scaleup_bytes_per_s
    send = tokens(setup) / x.tp * m.hidden * setup.recipe.activation_bytes * each
    gather = np.where(setup.stack.sequence_parallel > 0, 0.0, _half_s(setup))
    delay = np.where(out > 0, d.scaleout_latency_s, d.scaleup_latency_s)
    return np.where(x.pp > 1, send + gather + delay, 0.0)
