"""Compute and exposed traffic of one micro-batch over all blocks of a model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.llm import operations as blocks
from dcplan.llm.operations import Pass, Setup
from dcplan.llm.tables import SCHEDULES, Array
from dcplan.training.sharding import exposed
from dcplan.training.traffic import Traffic


@dataclass(frozen=True)
class Work:
    """Compute of one micro-batch over all blocks of the model, and of the output layer."""

    gemm: Pass
    grouped: Pass
    attention: Pass
    elementwise: Pass
    head: Pass
    tower: Work | None = None
    """Compute of the vision tower, with its projector in ``gemm``."""

    def forward(self) -> Array:
        """Return the forward pass of all blocks."""
        return (
            self.gemm.forward
            + self.grouped.forward
            + self.attention.forward
            + self.elementwise.forward
        )

    def backward(self) -> Array:
        """Return the backward pass of all blocks, without recomputation."""
        kinds = (self.gemm, self.grouped, self.attention, self.elementwise)
        return sum((k.dgrad + k.wgrad for k in kinds), np.zeros(1))


def work(setup: Setup) -> Work:
    """Sum the operations of all blocks; frozen models (LoRA) skip the weight gradients."""
    m, x = setup.model, setup.layout
    attention, dense = blocks.attention_linear(setup), blocks.dense_mlp(setup, m.ffn)
    shared = blocks.dense_mlp(setup, m.shared_ffn)
    router = blocks.linear(setup, blocks.tokens(setup) / x.tp, m.experts, m.hidden, half=True)
    groups = 2.0 * m.mamba_groups * m.mamba_state
    width = (2.0 * m.mamba_inner + groups + m.mamba_heads) / x.tp
    mamba = blocks.linear(setup, blocks.tokens(setup), width, m.hidden)
    mamba += blocks.linear(setup, blocks.tokens(setup), m.hidden, m.mamba_inner / x.tp)
    moe = m.moe_layers + m.mtp_layers * (m.moe_layers > 0)
    plain = m.dense_layers + m.mtp_layers * (m.moe_layers <= 0)
    gemm = attention.scaled(m.attention_layers + m.mtp_layers) + dense.scaled(plain)
    gemm += (shared + router).scaled(moe) + mamba.scaled(m.mamba_layers)
    around, mlp, sparse, state = blocks.elementwise(setup)
    once = (
        around * (m.attention_layers + m.mtp_layers)
        + mlp * plain
        + sparse * moe
        + state * m.mamba_layers
    )
    back = setup.coefficients.backward_passes * once
    passes = Pass(once, back, np.zeros_like(once)) + blocks.scan(setup).scaled(m.mamba_layers)
    on = x.trainable

    def learn(p: Pass) -> Pass:
        return Pass(p.forward, p.dgrad, p.wgrad * on)

    return Work(
        learn(gemm),
        learn(blocks.experts(setup).scaled(moe)),
        blocks.attention_core(setup),
        passes,
        learn(blocks.head(setup).scaled(1.0 + m.mtp_layers)),
        _tower_work(setup),
    )


def _tower_work(setup: Setup) -> Work | None:
    """Return the compute of the vision tower on the images of one micro-batch.

    It is None if the model has no tower or the data has no images.
    """
    tower = setup.tower
    if tower is None or not np.any(tower.images > 0):
        return None
    did = work(blocks.tower_setup(setup, tower))
    joined = blocks.projector(setup, tower)
    on = setup.layout.trainable
    return replace(did, gemm=did.gemm + Pass(joined.forward, joined.dgrad, joined.wgrad * on))


@dataclass(frozen=True)
class MicroBatch:
    """Seconds of one micro-batch over all blocks.

    They do not depend on stages and data-parallel ranks.
    """

    gemm: Array
    grouped: Array
    attention: Array
    elementwise: Array
    head: Array
    tensor: Array
    """Exposed time of collectives."""
    context: Array
    expert: Array
    launch: Array
    """Host time to launch all operations."""
    forward: Array
    backward: Array
    """Compute of the blocks, with recomputation in the backward pass."""
    forward_frac: Array
    """Share of the forward pass in a pass without recomputation."""
    wgrad_frac: Array
    """Share of the weight gradients, which a split backward pass can delay."""
    cover_forward: Array
    """Compute that can hide data-parallel traffic, without host time."""
    cover_backward: Array
    tower: Array
    """Total time of the vision tower, including host and collectives."""

    @property
    def blocks_s(self) -> Array:
        """Return the time of all blocks, at least the host time to launch them."""
        kinds = self.gemm + self.grouped + self.attention + self.elementwise
        return np.maximum(kinds + self.tensor + self.context + self.expert, self.launch)

    @property
    def least_s(self) -> Array:
        """Return a lower bound of one micro-batch over all stages."""
        return self.blocks_s + self.head + self.tower


def operators(setup: Setup) -> Array:
    """Return the operators that software launches for one micro-batch over all blocks.

    They are norms, projections, position, attention, activation and residual of each block, each
    once forward and twice backward; the extra launches of experts are a time of the stack.
    """
    m, n = setup.model, setup.coefficients.operators
    attention = n.attention + n.latent * (m.kv_rank > 0)
    return (
        attention * m.attention_layers
        + n.mlp * (m.dense_layers + m.moe_layers)
        + n.mamba * m.mamba_layers
        + n.ends
    )


def micro_batch(setup: Setup, did: Work, sent: Traffic) -> MicroBatch:
    """Return compute in the layout's recompute mode and exposed traffic."""
    m, s, x, c = setup.model, setup.stack, setup.layout, setup.coefficients
    recompute_all = np.where(x.recompute >= 2, 1.0, 0.0)
    some = np.where(x.recompute >= 1, 1.0, 0.0)
    again_core = np.maximum(recompute_all, some * np.where(s.flash > 0, s.selective_attention, 1.0))
    again_gemm = np.maximum(recompute_all, some * s.selective_frac)
    again_grouped, again_passes = recompute_all, some
    if x.again is not None:
        again_gemm = np.where(x.again.gemm < 0.0, again_gemm, x.again.gemm)
        again_grouped = np.where(x.again.grouped < 0.0, again_grouped, x.again.grouped)
        again_core = np.where(x.again.attention < 0.0, again_core, x.again.attention)
        again_passes = np.where(x.again.elementwise < 0.0, again_passes, x.again.elementwise)

    def total(p: Pass, again: Array) -> Array:
        return p.forward * (1.0 + again) + p.dgrad + p.wgrad

    repeated = (
        did.gemm.forward * again_gemm
        + did.grouped.forward * again_grouped
        + did.attention.forward * again_core
    )
    repeated = repeated + did.elementwise.forward * again_passes
    forward, plain_backward = did.forward(), did.backward()
    launches = operators(setup)
    tensor = sent.tensor_forward * (1.0 + recompute_all) + sent.tensor_backward
    context = exposed(sent.context_forward, did.attention.forward, c.cover_frac) + exposed(
        sent.context_backward, did.attention.dgrad, c.cover_frac
    )
    hidden = np.where(x.schedule == SCHEDULES.index("dualpipe"), c.cover_frac, s.ep_overlap)
    whole = np.maximum(forward + plain_backward, 1e-30)
    tower = _tower_s(setup, did, sent)
    return MicroBatch(
        gemm=total(did.gemm, again_gemm),
        grouped=total(did.grouped, again_grouped),
        attention=total(did.attention, again_core),
        elementwise=total(did.elementwise, again_passes),
        head=total(did.head, np.zeros_like(recompute_all)),
        tensor=tensor * (1.0 - s.tp_overlap),
        context=context,
        expert=(sent.expert_forward * (1.0 + again_grouped) + sent.expert_backward)
        * (1.0 - hidden),
        launch=(s.launch_s * launches + s.moe_host_s * m.moe_layers)
        * (1.0 + recompute_all / (1.0 + c.backward_over_forward)),
        forward=forward,
        backward=plain_backward + repeated,
        forward_frac=forward / whole,
        wgrad_frac=(did.gemm.wgrad + did.grouped.wgrad) / whole,
        cover_forward=forward + did.head.forward + sent.tensor_forward,
        cover_backward=plain_backward
        + repeated
        + did.head.dgrad
        + did.head.wgrad
        + sent.tensor_backward,
        tower=tower,
    )


def _tower_s(setup: Setup, did: Work, sent: Traffic) -> Array:
    """Return the time of the vision tower for one micro-batch; 0 without a tower or images."""
    if setup.tower is None or did.tower is None or sent.tower is None:
        return np.zeros(1)
    return micro_batch(blocks.tower_setup(setup, setup.tower), did.tower, sent.tower).blocks_s
