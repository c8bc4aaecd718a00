"""Data parallelism: gradient and parameter traffic, its exposed part, and the optimizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.fabric.collectives import group_rate, tree_half_s
from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array

READ_WRITE = 2.0


@dataclass(frozen=True)
class LocalParams:
    """Parameters on one rank of the first and of the last pipeline stage.

    It is before data-parallel sharding.
    """

    dense: Array
    routed_first: Array
    routed_last: Array
    embedding: Array
    largest: Array
    """The largest single matrix."""
    tower: Array
    """Vision tower and projector, on the first stage."""
    head: Array
    """The output layer."""


def local_params(setup: Setup) -> LocalParams:
    """Split parameters by tensor, pipeline and expert parallelism.

    The look-up table and the vision tower are on the first stage.

    The output layer is on the last stage.

    Leading dense layers (DeepSeek) are on the first stage, so the last stage has more experts
    than the mean; if dense layers alternate with experts, stages are equal.
    """
    m, x = setup.model, setup.layout
    dense = (m.trunk_params - m.routed_params - m.embedding_params) / (x.tp * x.pp)
    table = m.vocab * m.hidden / x.tp
    embedding = np.where(x.pp > 1, table + m.position_params, m.embedding_params / x.tp)
    each = m.routed_params / np.maximum(m.moe_layers, 1.0) / (x.ep * x.etp)
    depth = m.layers / x.pp
    leading = (m.dense_layers <= depth) & (m.mamba_layers <= 0)
    last = np.where(leading, np.minimum(depth, m.moe_layers), m.moe_layers / x.pp)
    last = last + np.where(m.moe_layers > 0, m.mtp_layers, 0.0)
    first = np.where(leading, np.maximum(depth - m.dense_layers, 0.0), m.moe_layers / x.pp)
    largest = (1.0 + m.gated) * np.where(m.dense_layers > 0, m.ffn, m.shared_ffn) * m.hidden / x.tp
    tower = setup.tower.params / x.tp if setup.tower else np.zeros(1)
    return LocalParams(dense, each * first, each * last, embedding, largest, tower, table)


def shard_ranks(setup: Setup) -> Array:
    """Return the ranks that share one copy of the dense state.

    They are all data-parallel ranks, or those of one FSDP shard.
    """
    x = setup.layout
    ranks = x.dp * x.cp
    return np.where(x.zero >= 3, np.minimum(x.shard, ranks), ranks)


def expert_ranks(setup: Setup) -> Array:
    """Return the ranks that share one copy of the routed experts' state."""
    x = setup.layout
    return np.maximum(shard_ranks(setup) * x.tp / (x.ep * x.etp), 1.0)


@dataclass(frozen=True)
class Reduction:
    """Seconds of one parameter gather, one gradient scatter, and the optimizer."""

    gather: Array
    scatter: Array
    replicate: Array
    """All-reduce between the copies of hybrid sharding."""
    optimizer: Array


def reduction(setup: Setup) -> Reduction:
    """Return the traffic of the data-parallel groups at their share of the links.

    It includes the optimizer's pass over memory.
    """
    d, x, r = setup.device, setup.layout, setup.recipe
    p = local_params(setup)
    total = x.dp * x.cp
    group = shard_ranks(setup)
    gather, scatter, replicate = np.zeros_like(total), np.zeros_like(total), np.zeros_like(total)
    kinds = (
        (p.dense + p.embedding + p.tower, group, x.tp),
        (p.routed_last, expert_ranks(setup), x.ep * x.etp),
    )
    for params, ranks, stride in kinds:
        speed, leaves = group_rate(
            ranks, stride, d.domain, d.scaleup_bytes_per_s, d.scaleout_bytes_per_s
        )
        delay = np.where(leaves, d.scaleout_latency_s, d.scaleup_latency_s)
        # without a sharded optimizer the gradients are all-reduced: the second half carries
        # gradients too
        carried = np.where(x.zero >= 1, r.gather_bytes, r.grad_bytes)
        # switches that reduce return the sum directly: an all-reduce has no second half
        back = np.where((x.zero < 1) & (d.in_network > 0) & leaves, 0.0, carried)
        gather = gather + tree_half_s(params * back, ranks, speed, delay)
        scatter = scatter + tree_half_s(params * r.grad_bytes, ranks, speed, delay)
        copies = np.maximum(total / group, 1.0)
        far, _ = group_rate(
            copies, stride * ranks, d.domain, d.scaleup_bytes_per_s, d.scaleout_bytes_per_s
        )
        halves = np.where(d.in_network > 0, 1.0, 2.0)
        replicate = replicate + halves * tree_half_s(
            params * r.grad_bytes / np.maximum(ranks, 1.0), copies, far, d.scaleout_latency_s
        )
    shards = np.where(x.zero >= 1, group, 1.0)
    expert_shards = np.where(x.zero >= 1, expert_ranks(setup), 1.0)
    own = (p.dense + p.embedding + p.tower) / shards + p.routed_last / expert_shards
    # a weight that is its own master is read before it is written
    weights = np.where(r.head_bytes > 0, READ_WRITE, 1.0) * r.weight_bytes
    touched = READ_WRITE * r.optimizer_bytes + r.grad_bytes + weights
    on = x.trainable
    return Reduction(
        gather * np.where(x.zero >= 3, 1.0, on),
        scatter * on,
        np.where(x.zero >= 3, replicate, 0.0) * on,
        own * touched / d.hbm_bytes_per_s * on,
    )


def exposed(comm: Array, cover: Array, share: Array | float) -> Array:
    """Return the part of ``comm`` that the ``share`` of ``cover`` cannot hide."""
    return np.maximum(comm - share * cover, 0.0)
