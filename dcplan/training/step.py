"""Time of one optimizer step, split into parts that sum to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.llm import operations as blocks
from dcplan.llm.operations import Pass, Setup
from dcplan.llm.tables import SCHEDULES, Array, LayoutTable
from dcplan.training.memory import in_mode, kept_bytes
from dcplan.training.sharding import exposed, reduction
from dcplan.training.traffic import Traffic, boundary_s, traffic

STAGE_ROUNDING_TOLERANCE = 0.05
"""Rounding tolerance on layers of an uneven stage."""


@dataclass(frozen=True)
class Step:
    """Seconds of a step and of its parts."""

    time_s: Array
    parts_s: dict[str, Array]


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


def step(setup: Setup) -> Step:
    """Return the time of one optimizer step of each row."""
    return assemble(setup, micro_batch(setup, work(setup), traffic(setup)))


def assemble(setup: Setup, one: MicroBatch) -> Step:
    r"""Return the time of one optimizer step from the times of one micro-batch.

    .. math::
       T = \left[m\,t_{max} + \Big(\sum_i t_i - t_{max}\Big) / v + T_{dp} + T_{opt}\right](1 +
       \sigma\sqrt{2\ln n})

    with the stage times of the pipeline t_i (blocks, exposed collectives, vision tower on
    the first stage, output layer on the last), m micro-batches and v chunks per stage.
    """
    d, s, x = setup.device, setup.stack, setup.layout
    offload = np.zeros_like(x.pp)
    if np.any(x.offload > 0):
        moved = x.offload * in_mode(kept_bytes(setup), x.recompute) / d.host_bytes_per_s
        cover = setup.coefficients.cover_frac
        offload = exposed(moved, one.forward, cover) + exposed(moved, one.backward, cover)
    busy = one.forward + one.backward + one.tensor + one.context + one.expert + offload
    host = np.maximum(one.launch - busy, 0.0)
    send = 2.0 * x.vpp * boundary_s(setup) * (1.0 - s.pp_overlap * (x.vpp > 1)) * (x.pp > 1)
    fullest, everything = _stages(setup, busy + host, one.head, one.tower)
    slowest = fullest + send
    count = x.micro_batches
    mean = (busy + host) / x.pp
    named = {
        "gemm": one.gemm,
        "grouped_gemm": one.grouped,
        "attention": one.attention,
        "elementwise": one.elementwise,
        "head": one.head,
        "host": host,
        "tensor_parallel": one.tensor,
        "context_parallel": one.context,
        "expert_parallel": one.expert,
        "offload": offload,
    }
    if setup.tower is not None:
        named["tower"] = one.tower
    parts = {name: seconds / x.pp * count for name, seconds in named.items()}
    parts["pipeline_send"] = send * count
    parts["imbalance"] = (
        np.maximum(fullest - mean - (one.head + one.tower) / x.pp, 0.0) * count * (x.pp > 1)
    )
    parts["bubble"] = _bubble(setup, one, slowest, everything + send * x.pp)
    parts |= _data_parallel(setup, one, host)
    running = sum(parts.values(), np.zeros(1))
    ranks = x.tp * x.pp * x.dp * x.cp
    nodes = np.maximum(ranks / d.node, 1.0)
    parts["straggler"] = s.straggler * np.sqrt(2.0 * np.log(nodes)) * running
    return Step(running + parts["straggler"], parts)


def least_step_s(one_s: Array, layout: LayoutTable) -> Array:
    """Return a lower bound of the step time.

    It uses ``least_s`` of a micro-batch in even stages, and the fill of 1F1B.
    """
    fill = np.where(layout.schedule > 0, 0.0, (layout.pp - 1.0) / layout.vpp)
    return one_s / layout.pp * (layout.micro_batches + fill)


def _stages(setup: Setup, blocks_s: Array, head: Array, tower: Array) -> tuple[Array, Array]:
    """Return the time of the slowest stage, and of all stages, for one micro-batch.

    If the layers divide evenly, they are distributed evenly, and the last stage also computes the
    output layer. Otherwise the layout is uneven, as frameworks allow: the last stage has fewer
    layers. The first stage also computes the vision tower, or has fewer layers if that is faster.
    """
    m, x = setup.model, setup.layout
    piped = x.pp > 1
    layer = blocks_s / m.layers
    even = (np.mod(m.layers, x.pp) == 0) & (m.mtp_layers <= 0)
    drawn = np.ceil((m.layers + head / layer) / x.pp - STAGE_ROUNDING_TOLERANCE)
    full = np.where(even, m.layers / x.pp, drawn)
    rest = np.where(even, full, np.maximum(m.layers - drawn * (x.pp - 1.0), 0.0))
    fullest = np.maximum(full * layer, rest * layer + head)
    whole = blocks_s + head + tower
    if setup.tower is not None:
        share = whole / layer / x.pp
        # the slowest stage is at least the mean, and the tower itself is on one stage
        given_up = np.maximum(
            np.maximum(np.ceil(share - STAGE_ROUNDING_TOLERANCE), share) * layer, tower
        )
        fullest = np.maximum(fullest, np.minimum(full * layer + tower, given_up))
    return np.where(piped, fullest, whole), whole


def _bubble(setup: Setup, one: MicroBatch, slowest: Array, everything: Array) -> Array:
    r"""Return the idle time of fill and drain.

    It is the other stages' share of one pass, less with chunks or a split backward pass.

    With forward share f and weight-gradient share w of a pass F + B: 1F1B idles (p-1)(F+B), zero
    bubble (p-1)(F+B-2W), DualPipe (p/2-1)(F+B + B-3W).

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, table 2.
    """
    x = setup.layout
    idle = np.maximum(everything - slowest, 0.0) / x.vpp
    if not np.any(x.schedule > 0):
        return idle * (x.pp > 1)
    zero_bubble, dual = (
        x.schedule == SCHEDULES.index("zero-bubble"),
        x.schedule == SCHEDULES.index("dualpipe"),
    )
    halves = np.maximum(x.pp / 2.0 - 1.0, 0.0) / np.maximum(x.pp - 1.0, 1.0)
    idle = np.where(zero_bubble, idle * np.maximum(1.0 - 2.0 * one.wgrad_frac, 0.0), idle)
    return np.where(
        dual, idle * halves * np.maximum(2.0 - one.forward_frac - 3.0 * one.wgrad_frac, 0.0), idle
    ) * (x.pp > 1)


def _data_parallel(setup: Setup, one: MicroBatch, host: Array) -> dict[str, Array]:
    """Return the exposed data-parallel traffic.

    Traffic continues while the device waits for the host, and while the vision tower runs: in the
    forward pass for its share of the time, a third if a backward pass takes twice as long.
    """
    s, x = setup.stack, setup.layout
    r = reduction(setup)
    more, ratio = host + one.tower, setup.coefficients.backward_over_forward
    forward = (one.cover_forward + more / (1.0 + ratio)) / x.pp
    backward = (one.cover_backward + more * ratio / (1.0 + ratio)) / x.pp
    # with a pipeline, sharded stacks keep the gathered parameters of a step (no reshard after
    # forward)
    sharded = (x.zero >= 3) & (x.pp <= 1)
    count = x.micro_batches
    # sharded parameters are communicated for every micro-batch, which slows compute
    first = (r.gather + r.scatter) / np.maximum(setup.model.layers / x.pp, 1.0)
    every = exposed(r.gather, forward, s.dp_overlap) + exposed(
        r.gather + r.scatter, backward, s.dp_overlap
    )
    drag = s.contention * (
        np.minimum(r.gather, forward) + np.minimum(r.gather + r.scatter, backward)
    )
    full = count * (every + drag) + first + exposed(r.replicate, backward, s.dp_overlap)
    scatter = np.where(x.zero == 2, count, 1.0) * exposed(r.scatter, backward, s.dp_overlap)
    plain = scatter + exposed(r.gather, forward, s.dp_overlap) + first * (s.dp_overlap > 0)
    plain = plain + exposed(r.replicate, backward, s.dp_overlap)
    return {"data_parallel": np.where(sharded, full, plain), "optimizer": r.optimizer}
