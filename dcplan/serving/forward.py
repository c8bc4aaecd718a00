"""Time of one forward pass of a replica without attention: products, floors, communication."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.attention import joined
from dcplan.serving.tables import Array, EngineTerms, ServedDevice, ServedLayout, ServedModel
from dcplan.units import HALF_BYTES, MICRO

REDUCTIONS_PER_LAYER = 2
"""All-reduces of a tensor-parallel layer: after attention and after the MLP."""
EXCHANGE_BYTES = 3.0
"""Bytes of a value sent to an expert and back: 8 bit to it, 16 bit from it."""


@dataclass(frozen=True)
class Served:
    """One configuration: model, accelerator, layout and engine."""

    model: ServedModel
    device: ServedDevice
    layout: ServedLayout
    terms: EngineTerms
    encode_s: float = 0.0
    """Time of the vision encoder for the images of one prompt. [s]"""


@dataclass(frozen=True)
class Parts:
    """Seconds of one forward pass by cause, of all pipeline stages together."""

    linear: Array
    experts: Array
    activations: Array
    floors: Array
    reductions: Array
    exchange: Array

    @property
    def total(self) -> Array:
        """Return the sum."""
        linear = self.linear + self.experts + self.activations
        return linear + self.floors + self.reductions + self.exchange


def active_experts(experts: Array, experts_per_token: Array, tokens: Array, spread: Array) -> Array:
    r"""Return the distinct experts of a layer that a batch of tokens uses.

    .. math:: E_{act} = E\,(1 - (1 - k/E)^{\sigma n})

    for n tokens that choose k of E experts; :math:`\sigma` below 1 counts tokens that choose the same experts.

    Parameters
    ----------
    experts, experts_per_token : array
        Experts E of a layer, and k of each token. [-]
    tokens : array
        Tokens n of the batch, at least 0. [-]
    spread : array
        Independent choices per token, above 0. [-]

    Examples
    --------
    One token uses 8 experts; many tokens use all 256.

    >>> one = np.array(1.0)
    >>> [round(float(active_experts(256 * one, 8 * one, n * one, one)), 1) for n in (1, 32, 1000)]
    [8.0, 163.3, 256.0]
    """
    share = np.where(experts > 0, experts_per_token / np.maximum(experts, 1.0), 0.0)
    untouched = (1.0 - np.minimum(share, 1.0 - 1e-12)) ** np.minimum(tokens * spread, 1e6)
    return experts * (1.0 - untouched)


def forward_parts(
    served: Served, rank_tokens: Array, all_tokens: Array, head_tokens: Array | None = None
) -> Parts:
    r"""Return the time of one forward pass without attention.

    A linear layer of n weights of b bytes takes
    :math:`((n b/(e_b B t))^p + (2 n m/(e_f F t))^p)^{1/p}` for m tokens on t ranks.

    Parameters
    ----------
    served : Served
        The configuration.
    rank_tokens : array
        Tokens of one attention rank group. [-]
    all_tokens : array
        Tokens of all groups of the replica, which share the experts. [-]
    head_tokens : array, default ``rank_tokens``
        Tokens of a group whose next token is wanted; a prompt needs only that of its end. [-]

    References
    ----------
    .. [1] S. Williams et al., "Roofline", CACM 52(4), 2009.
    """
    m, d, x, c = served.model, served.device, served.layout, served.terms
    rate = c.weight_hbm_frac * d.hbm_bytes_per_s

    last = rank_tokens if head_tokens is None else head_tokens

    def linear(weights: Array, size: Array, flops: Array, tokens: Array = rank_tokens) -> Array:
        memory = weights * size / (x.tp * rate)
        compute = 2.0 * weights * tokens / (x.tp * c.linear_flops_frac * flops)
        return joined(memory, compute, c.overlap_power)

    attention = m.attention_layers * m.attention_params + m.recurrent_layers * m.recurrent_params
    total = (
        linear(attention, m.attention_bytes, d.attention_flops)
        + linear(m.dense_layers * m.dense_params, m.dense_bytes, d.dense_flops)
        + linear(m.moe_layers * m.shared_params, m.shared_bytes, d.dense_flops)
        + linear(m.head_params, m.head_bytes, d.half_flops, last)
    )
    passes = m.layers * c.activation_passes * m.hidden * HALF_BYTES
    floors = (
        m.layers * (c.layer_us + m.quantized * c.quantize_us)
        + m.moe_layers * c.moe_layer_us
        + m.shared_layers * c.shared_us
        + np.where(m.latent_dims > 0, m.attention_layers, 0.0) * c.latent_us
        + m.recurrent_layers * c.recurrent_us
    )
    return Parts(
        linear=total,
        experts=_experts_s(served, all_tokens),
        activations=rank_tokens * passes / d.hbm_bytes_per_s,
        floors=floors * MICRO,
        reductions=_reductions_s(served, rank_tokens),
        exchange=_exchange_s(served, rank_tokens),
    )


def _experts_s(served: Served, tokens: Array) -> Array:
    """Return the time of the routed experts of all layers on the busiest rank."""
    m, d, x, c = served.model, served.device, served.layout, served.terms
    active = active_experts(m.experts, m.experts_per_token, tokens, c.routing_spread)
    weights = m.moe_layers * m.expert_params
    memory = weights * m.expert_bytes * active
    memory = memory / (x.ranks * c.expert_hbm_frac * d.hbm_bytes_per_s)
    flops = 2.0 * tokens * m.experts_per_token * weights / x.ranks
    compute = flops / (c.expert_flops_frac * d.expert_flops)
    busiest = np.where(x.ep > 1, c.expert_imbalance, 1.0)
    return joined(memory, compute, c.overlap_power) * busiest


def _reductions_s(served: Served, tokens: Array) -> Array:
    """Return the time of the all-reduces of tensor parallelism.

    A ring sends 2 (t - 1)/t of the message from each rank (Thakur et al., 2005, section 4.5).
    """
    m, d, x, c = served.model, served.device, served.layout, served.terms
    outside = x.tp > d.domain
    link = c.allreduce_link_frac * np.where(outside, d.nic_bytes_per_s, d.link_bytes_per_s)
    doublings = np.log2(np.maximum(x.tp, 2.0)) - 1.0
    latency = c.allreduce_us * (1.0 + c.allreduce_growth * doublings)
    latency = (latency + np.where(outside, c.hop_us, 0.0)) * MICRO
    message = tokens * m.hidden * HALF_BYTES * 2.0 * (x.tp - 1.0) / x.tp
    one = latency + message / np.maximum(link, 1.0)
    return np.where(x.tp > 1, REDUCTIONS_PER_LAYER * m.layers * one, 0.0)


def _exchange_s(served: Served, tokens: Array) -> Array:
    """Return the time to dispatch tokens to experts of other ranks and to combine the results."""
    m, d, x, c = served.model, served.device, served.layout, served.terms
    outside = x.ranks > d.domain
    # each token crosses the network once for each accelerator's domain, not once for each expert
    network = 2.0 * d.nic_bytes_per_s
    link = c.exchange_link_frac * np.where(outside, network, d.link_bytes_per_s)
    latency = (c.exchange_us + np.where(outside, 2.0 * c.hop_us, 0.0)) * MICRO
    message = tokens * m.experts_per_token * m.hidden * EXCHANGE_BYTES / x.tp
    one = latency + message / np.maximum(link, 1.0)
    return np.where((x.dp > 1) & (m.moe_layers > 0), m.moe_layers * one, 0.0)
