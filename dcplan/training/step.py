"""Time of one optimizer step, split into parts that sum to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.llm.operations import Setup
from dcplan.llm.tables import SCHEDULES, Array, LayoutTable
from dcplan.training.memory import in_mode, kept_bytes
from dcplan.training.micro_batch import MicroBatch, micro_batch, work
from dcplan.training.sharding import exposed, reduction
from dcplan.training.traffic import boundary_s, traffic

STAGE_ROUNDING_TOLERANCE = 0.05
"""Rounding tolerance on layers of an uneven stage."""


@dataclass(frozen=True)
class Step:
    """Seconds of a step and of its parts."""

    time_s: Array
    parts_s: dict[str, Array]


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
