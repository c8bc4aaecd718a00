"""Memory of one accelerator: weights, gradients, optimizer, activations. Closed form, on arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dcplan.llm.operations import Setup, tokens, tower_setup
from dcplan.llm.tables import SCHEDULES, Array, LayoutTable
from dcplan.training.sharding import LocalParams, expert_ranks, local_params, shard_ranks
from dcplan.units import FLOAT_BYTES


@dataclass(frozen=True)
class Memory:
    """Bytes of the rank with the most memory, by kind."""

    weights: Array
    gradients: Array
    optimizer: Array
    activations: Array
    logits: Array
    buffers: Array
    """Gathered parameters, the largest weight gradient before it is added, and a reserve."""

    @property
    def total(self) -> Array:
        """Return the sum [byte]."""
        return (
            self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.logits
            + self.buffers
        )


def memory(setup: Setup, activations: Kept | None = None) -> Memory:
    r"""Return the peak memory of the pipeline stage with the most memory.

    .. math::
       M = P_{loc}\,(b_w + b_g) + P_{loc}\,b_o / n_{zero} + f\,\frac{L}{pp}\,A +
       \max(M_{logits}, M_{again}) + M_{buf}

    The loss and the backward pass of a layer follow each other: a stage never has the logits and
    the activations of a layer that full recompute repeats at the same time.

    with f micro-batches in flight: :math:`\min(m, pp)` on the first stage of 1F1B, and
    :math:`pp\,(1 + (pp-1)/(pp\,v))` with v chunks (Korthikanti et al. 2022, equation 5 and section
    4.2.3). The first stage keeps most activations and the vision tower; the last stage keeps the logits
    and, after leading dense layers, more experts. The result is the larger of the two.
    ``activations`` avoids a second count of them.
    """
    m, x = setup.model, setup.layout
    p, group = local_params(setup), shard_ranks(setup)
    sizes = activations or kept_bytes(setup)
    kept, whole = in_mode(sizes, x.recompute), sizes.whole
    in_flight = _in_flight(setup)
    again = np.where(x.recompute >= 2, whole / m.layers, 0.0)
    seen = np.zeros(1)
    if setup.tower is not None and sizes.tower is not None:
        seen = in_mode(sizes.tower, x.recompute)
        block = np.where(x.recompute >= 2, sizes.tower.whole / setup.tower.model.layers, 0.0)
        again = np.maximum(again, block)
    sharded = (x.zero >= 3) & (group > 1)
    layer = (p.dense + p.routed_last) * x.pp / m.layers
    each = kept / x.pp * (1.0 - x.offload)
    if np.any(setup.recipe.kept_cast_bytes > 0):
        # gathered weights are cast before they are sent, and freed after use
        casts = np.where(sharded, 0.0, layer * setup.recipe.kept_cast_bytes)
        each = each + np.where(x.recompute >= 2, 0.0, casts * m.layers / x.pp)
        again = np.where(x.recompute >= 2, again + casts, again)
    buffers = _buffers(setup, p, layer, group)
    logits = logits_bytes(setup)
    if setup.tower is None and not np.any(m.moe_layers > 0):
        states = _states(setup, (p.dense + p.embedding) * _copies(setup), group)
        return Memory(*states, *_alike_ends(x, in_flight * each, each, again, logits), buffers)
    # with a pipeline, a stage also keeps the gathered parameters of the tower
    more = np.where(sharded & (x.pp > 1), p.tower * setup.recipe.activation_bytes, 0.0)
    first = _end(
        setup,
        (p.routed_first, p.tower),
        (in_flight * (each + seen), again, logits * (x.pp <= 1)),
        buffers + more,
    )
    last = _end(setup, (p.routed_last, 0.0 * p.tower), (each, again, logits), buffers)
    fuller = first.total >= last.total
    return Memory(
        **{
            f.name: np.where(fuller, getattr(first, f.name), getattr(last, f.name))
            for f in fields(Memory)
        }
    )


def _buffers(setup: Setup, p: LocalParams, layer: Array, group: Array) -> Array:
    """Return gathered parameters, the largest weight gradient before it is added, and a reserve.

    With a pipeline, the gathered parameters of the complete stage stay for the step.
    """
    x = setup.layout
    sharded = (x.zero >= 3) & (group > 1)
    gathered = np.where(x.pp > 1, p.dense + p.routed_last, 2.0 * layer) + p.embedding
    return np.asarray(
        np.where(sharded, gathered * setup.recipe.activation_bytes, 0.0)
        + np.maximum(p.largest * FLOAT_BYTES, p.head * setup.recipe.head_bytes) * x.trainable
        + setup.coefficients.reserve_bytes
    )


def _alike_ends(
    x: LayoutTable, first: Array, each: Array, again: Array, logits: Array
) -> tuple[Array, Array]:
    """Return activations and logits of the fuller end, where both ends have the same parameters.

    Parameters
    ----------
    x : LayoutTable
        The layouts.
    first : array
        Activations of all micro-batches in flight on the first stage. [byte]
    each : array
        Activations of one micro-batch of a stage. [byte]
    again : array
        Activations of a layer that recompute repeats. [byte]
    logits : array
        Logits of the last stage. [byte]
    """
    early = first + np.where(x.pp > 1, again, np.maximum(again, logits))
    late = each + np.maximum(again, logits)
    fuller = np.maximum(early, late)
    lossy = ((x.pp <= 1) | (late > early)) & (logits >= again)
    loss = np.where(lossy, logits, 0.0)
    return fuller - loss, loss


def _in_flight(setup: Setup) -> Array:
    """Return the micro-batches whose activations the first stage keeps at the same time."""
    x = setup.layout
    deep = np.where(x.vpp > 1, x.pp * (1.0 + (x.pp - 1.0) / (x.pp * x.vpp)), x.pp)
    return np.asarray(np.minimum(deep, np.maximum(x.micro_batches, 1.0)))


def host_bytes(setup: Setup, activations: Kept | None = None) -> Array:
    r"""Return the host memory of one rank for offloaded activations [byte].

    They are the activations that :func:`memory` leaves out, :math:`o\,f\,A\,L/pp` with the share o:
    those of all micro-batches in flight on the first stage, which keeps most.
    """
    x = setup.layout
    kept = in_mode(activations or kept_bytes(setup), x.recompute)
    return np.asarray(x.offload * _in_flight(setup) * kept / x.pp)


def _end(
    setup: Setup, own: tuple[Array, Array], phases: tuple[Array, Array, Array], buffers: Array
) -> Memory:
    """Return the first or the last stage, with its routed experts and its vision tower.

    ``phases`` are the kept activations, what one layer repeats, and the logits.
    """
    kept, again, logits = phases
    loss = np.where(logits >= again, logits, 0.0)
    activations = kept + np.where(logits >= again, 0.0, again)
    p, copies = local_params(setup), _copies(setup)
    shared = _states(setup, (p.dense + p.embedding + own[1]) * copies, shard_ranks(setup))
    routed = _states(setup, own[0] * copies, expert_ranks(setup))
    weights, gradients, optimizer = (a + b for a, b in zip(shared, routed, strict=True))
    return Memory(weights, gradients, optimizer, activations, loss, buffers)


def _copies(setup: Setup) -> Array:
    """Return the copies of parameters; DualPipe has those of two stages."""
    return np.where(setup.layout.schedule == SCHEDULES.index("dualpipe"), 2.0, 1.0)


def _states(setup: Setup, params: Array, shards: Array) -> tuple[Array, Array, Array]:
    """Return weights, gradients and optimizer of a stage.

    ZeRO: Rajbhandari et al. 2020, arXiv 1910.02054, section 5.
    """
    r, x = setup.recipe, setup.layout
    part = params / shards
    return (
        np.where(x.zero >= 3, part, params) * r.weight_bytes,
        np.where(x.zero >= 2, part, params) * r.grad_bytes * x.trainable,
        np.where(x.zero >= 1, part, params) * r.optimizer_bytes * x.trainable,
    )


def logits_bytes(setup: Setup) -> Array:
    """Return the bytes of the logits, their 32-bit copy for the softmax, and the gradient.

    The gradient takes the place of the logits. Some software has no 32-bit copy.
    """
    m, x = setup.model, setup.layout
    copy = np.where(setup.stack.half_logits > 0, 0.0, FLOAT_BYTES)
    return (
        tokens(setup)
        * m.vocab
        / x.tp
        * (setup.recipe.activation_bytes + copy)
        * (1.0 + m.mtp_layers)
    )


@dataclass(frozen=True)
class Kept:
    """Activation bytes of one micro-batch over all layers, by recompute mode."""

    whole: Array
    selected: Array
    inputs: Array
    tower: Kept | None = None
    """Activation bytes of the vision tower."""


def kept_bytes(setup: Setup) -> Kept:
    """Return the activations of one micro-batch for its backward pass over all layers.

    The count is by tensor: the inputs of both norms and of both projections, queries, keys and
    values, attention output and its log-sum-exp, the MLP's hidden values before and after the
    activation; each at its stored width. Selective recompute does not keep tensors that are cheap to recompute:
    norm outputs, activation outputs, the up-projections of latent attention, unfused scores. Full
    recompute keeps the input of each layer.
    """
    m, x = setup.model, setup.layout
    spread = np.where(setup.stack.sequence_parallel > 0, x.tp, 1.0)
    inputs = tokens(setup) / spread * m.hidden * setup.recipe.activation_bytes * m.layers
    tower = kept_bytes(tower_setup(setup, setup.tower)) if setup.tower else None
    return Kept(_kept(setup, 0.0), _kept(setup, 1.0), inputs, tower)


def in_mode(kept: Kept, recompute: Array) -> Array:
    """Return the bytes kept in each row's recompute mode."""
    return np.where(
        recompute >= 2, kept.inputs, np.where(recompute >= 1, kept.selected, kept.whole)
    )


def _kept(setup: Setup, light: float) -> Array:
    """Return the bytes over all layers of one micro-batch; ``light`` is 1 with selective recompute."""
    m, r, s, x = setup.model, setup.recipe, setup.stack, setup.layout
    t, wide = tokens(setup), r.activation_bytes
    spread = np.where(s.sequence_parallel > 0, x.tp, 1.0)
    stored = r.stored_bytes * (1.0 - light)
    norm = t / spread * m.hidden * (wide + stored)
    up = m.heads / x.tp * (2.0 * m.head_dim + m.value_dim) * wide * (1.0 - light)
    latent = (m.query_rank + m.kv_rank) * (wide + stored) + up
    pairs = np.where(s.expands_kv > 0, m.heads / x.tp, np.maximum(m.kv_heads / x.tp, 1.0))
    plain = (m.heads / x.tp * m.head_dim + 2.0 * pairs * m.head_dim) * wide
    again = np.where(r.stored_bytes < wide, r.stored_bytes, 0.0)
    out = m.heads / x.tp * (m.value_dim * (wide + again) + FLOAT_BYTES)
    scores = np.where(s.flash > 0, 0.0, 5.0 * x.seq_len * m.heads / x.tp * (1.0 - light))
    attention = norm + t * (np.where(m.kv_rank > 0, latent, plain) + out + scores)
    hidden = (1.0 + m.gated) * wide + stored
    dense = norm + t / x.tp * m.ffn * hidden
    routed = t / x.tp * m.experts_per_token
    sparse = (
        norm
        + routed * (m.hidden * (stored + wide) + m.expert_ffn * hidden)
        + t / x.tp * m.shared_ffn * hidden
    )
    width = 2.0 * m.mamba_inner + 2.0 * m.mamba_groups * m.mamba_state
    mamba = norm + t / x.tp * (width * 2.0 + 2.0 * m.mamba_inner) * wide
    return (
        attention * m.attention_layers
        + dense * m.dense_layers
        + sparse * m.moe_layers
        + mamba * m.mamba_layers
    )
