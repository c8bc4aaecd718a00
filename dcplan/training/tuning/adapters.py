"""Low-rank adapters of a frozen model (LoRA): parameters, and their time in a micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dcplan.llm.architecture import Architecture
from dcplan.llm.operations import Setup, tokens
from dcplan.llm.tables import RECOMPUTE, Array
from dcplan.training.sharding import local_params


@dataclass(frozen=True)
class Linear:
    """A kind of linear layer of the blocks."""

    name: str
    """q, k, v or o of attention, gate, up or down of an MLP, mixer of a Mamba-2 block."""
    layers: int
    """Layers that have it."""
    stored: int
    """Matrices of a layer: one, or one of each expert."""
    used: int
    """Matrices of a layer that one token passes through."""
    inputs: int
    outputs: int


@dataclass(frozen=True)
class Adapters:
    """Sizes of the adapters of a model."""

    params: float
    """Parameters of all adapters."""
    layers: float
    """Adapted linear layers; those of all experts of a layer run in one kernel."""
    width: float
    """Inputs and outputs of the adapted matrices that one token passes through, summed."""


@dataclass(frozen=True)
class AdapterPasses:
    """Passes over memory and kernels that an adapter adds to its linear layer."""

    forward: float
    """Passes over the mean of a layer's inputs and outputs. [-]"""
    backward: float
    kernels: float
    """Kernels of one adapted layer, forward and backward. [-]"""


def linear_layers(shape: Architecture) -> list[Linear]:
    """Return the linear layers of the blocks, without norms, router, embedding and output layer.

    Latent attention has its down- and up-projections under ``q`` and ``k``. Experts have one set of
    matrices each; a token passes through those of its own experts.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    >>> [(x.name, x.layers, x.inputs, x.outputs) for x in linear_layers(from_config(tiny))][:2]
    [('q', 2, 64, 64), ('k', 2, 64, 64)]
    """
    found = (*_attention(shape), *_mlps(shape), *_mixers(shape))
    return [x for x in found if x.layers * x.stored * x.inputs * x.outputs > 0]


def _attention(m: Architecture) -> Iterator[Linear]:
    n, h = m.attention_layers, m.hidden
    queries, values = m.heads * m.head_dim, m.heads * m.value_dim
    if m.query_rank:
        yield Linear("q", n, 1, 1, h, m.query_rank)
    yield Linear("q", n, 1, 1, m.query_rank or h, queries)
    if m.kv_rank:
        expanded = m.heads * (m.head_dim - m.rope_dim + m.value_dim)
        yield Linear("k", n, 1, 1, h, m.kv_rank + m.rope_dim)
        yield Linear("k", n, 1, 1, m.kv_rank, expanded)
    else:
        yield Linear("k", n, 1, 1, h, m.kv_heads * m.head_dim)
        yield Linear("v", n, 1, 1, h, m.kv_heads * m.value_dim)
    yield Linear("o", n, 1, 1, values, h)


def _mlps(m: Architecture) -> Iterator[Linear]:
    kinds = (
        (m.dense_layers, 1, 1, m.ffn),
        (m.moe_layers, 1, 1, m.shared_ffn),
        (m.moe_layers, m.experts, m.experts_per_token, m.expert_ffn),
    )
    for layers, stored, used, width in kinds:
        if m.gated:
            yield Linear("gate", layers, stored, used, m.hidden, width)
        yield Linear("up", layers, stored, used, m.hidden, width)
        yield Linear("down", layers, stored, used, width, m.hidden)


def _mixers(m: Architecture) -> Iterator[Linear]:
    n, inner = m.mamba_layers, m.mamba_inner
    width = 2 * inner + 2 * m.mamba_groups * m.mamba_state + m.mamba_heads
    yield Linear("mixer", n, 1, 1, m.hidden, width)
    yield Linear("mixer", n, 1, 1, inner, m.hidden)


def adapters(shape: Architecture, rank: int, targets: Iterable[str]) -> Adapters:
    r"""Return the sizes of adapters of one rank on the layers of some names.

    .. math:: N = \sum_{l} r\,(i_l + o_l)

    An adapter of a layer from i to o values has two matrices, r x i and o x r.

    Parameters
    ----------
    shape : Architecture
        The frozen model.
    rank : int
        Rank r, at least 1. [-]
    targets : iterable of str
        Names of :func:`linear_layers`.

    References
    ----------
    .. [1] E. Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", arXiv 2106.09685,
       section 4.1.

    Examples
    --------
    One layer of width 64 with an MLP of 256: rank 2 on queries alone is 2 x 128 parameters.

    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 10}
    >>> adapters(from_config(tiny), 2, ["q"]).params
    256.0
    """
    names = set(targets)
    chosen = [x for x in linear_layers(shape) if x.name in names]
    return Adapters(
        params=float(sum(rank * x.layers * x.stored * (x.inputs + x.outputs) for x in chosen)),
        layers=float(sum(x.layers for x in chosen)),
        width=float(sum(x.layers * x.used * (x.inputs + x.outputs) for x in chosen)),
    )


def adapter_s(setup: Setup, sizes: Adapters, passes: AdapterPasses) -> Array:
    r"""Return the time that adapters add to one micro-batch over all layers of the model.

    .. math:: t = \frac{(n_f (1 + r_f) + n_b)\,\tfrac{1}{2} W\,b\,t_{tok}/tp}{B} + k\,M\,\tau

    with the widths W of the adapted layers (inputs and outputs), b bytes of a value, passes n_f
    and n_b of the forward and the backward pass (r_f is 1 with full recompute), k kernels of each
    of M linear layers and the gap tau between kernels. The products of a small rank take as long as
    their inputs and outputs need to pass through memory, so they are counted as passes. [s]

    Parameters
    ----------
    setup : Setup
        Layouts, shape (n,).
    sizes : Adapters
        Sizes of the adapters.
    passes : AdapterPasses
        Passes and kernels of an adapted layer.
    """
    x, d = setup.layout, setup.device
    again = (x.recompute >= RECOMPUTE.index("full")) * passes.forward
    mean_bytes = sizes.width / 2.0 * setup.recipe.activation_bytes * tokens(setup) / x.tp
    memory_s = (passes.forward + passes.backward + again) * mean_bytes / d.hbm_bytes_per_s
    return memory_s + passes.kernels * sizes.layers * d.kernel_s


def dequantize_s(
    setup: Setup, stored_bytes: float, hbm_frac: float, forwards: float = 1.0
) -> Array:
    r"""Return the time to unpack all quantized weights for one micro-batch, over all stages.

    .. math:: t = n\,\frac{P\,(b_q + b)}{f\,B}

    with P parameters of the blocks on a rank of each stage, read at b_q bytes and written at b,
    and n passes: the forward ones, one backward, one more with full recompute. [s]

    Parameters
    ----------
    setup : Setup
        Layouts, shape (n,).
    stored_bytes : float
        Bytes b_q of a quantized parameter with its scales.
    hbm_frac : float
        Share f of the memory rate that the unpacking reaches, above 0. [-]
    forwards : float, default 1
        Forward passes, with that of a reference. [-]

    References
    ----------
    .. [1] T. Dettmers et al., "QLoRA", arXiv 2305.14314, section 3.
    """
    x, p = setup.layout, local_params(setup)
    stage = p.dense + (p.routed_first + p.routed_last) / 2.0
    moved = stage * x.pp * (stored_bytes + setup.recipe.activation_bytes)
    backward = 1.0 + (x.recompute >= RECOMPUTE.index("full"))
    return (forwards + backward) * moved / (hbm_frac * setup.device.hbm_bytes_per_s)
