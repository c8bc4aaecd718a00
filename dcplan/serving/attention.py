"""Cached tokens: what one decode step reads, what a prompt computes, how many fit."""

from __future__ import annotations

import numpy as np

from dcplan.serving.tables import Array, EngineTerms, ServedDevice, ServedLayout, ServedModel


def read_tokens(model: ServedModel, context: Array) -> Array:
    r"""Return the cached tokens that one query reads, summed over the attention layers.

    .. math:: R = L_{full}\,\min(s, k) + L_{local}\,\min(s, w)

    with k the tokens that sparse attention selects.

    Parameters
    ----------
    model : ServedModel
        The checkpoint.
    context : array
        Tokens of the sequence so far, at least 0.
    """
    seen = np.where(model.sparse_topk > 0, np.minimum(context, model.sparse_topk), context)
    return model.full_layers * seen + model.local_layers * np.minimum(context, model.window)


def held_tokens(model: ServedModel, context: Array) -> Array:
    """Return the tokens that a sequence stores, summed over the attention layers.

    Sparse attention stores all of them; a local layer stores its window.
    """
    local = model.local_layers * np.minimum(context, model.window)
    return model.full_layers * context + local


def prompt_pairs(model: ServedModel, tokens: Array) -> Array:
    r"""Return the query-key pairs of a prompt, summed over the attention layers.

    .. math:: P = L_{full}\,(s m - m^2/2) + L_{local}\,(s w - w^2/2),\quad m = \min(s, k),\ w \le s

    An encoder without a causal mask has all s x s pairs.

    References
    ----------
    .. [1] T. Dao, "FlashAttention-2", 2023, section 4.1 (causal pairs count half).
    """
    most = np.where(model.sparse_topk > 0, np.minimum(tokens, model.sparse_topk), tokens)
    window = np.minimum(model.window, tokens)
    full = np.where(model.causal > 0, tokens * most - most * most / 2.0, tokens * tokens)
    local = np.where(model.causal > 0, tokens * window - window * window / 2.0, tokens * window)
    return model.full_layers * full + model.local_layers * local


def cache_shards(model: ServedModel, layout: ServedLayout) -> Array:
    """Return over how many ranks of a tensor-parallel group the cache is divided.

    More ranks than key-value heads hold copies; a latent cache is always copied.
    """
    return np.minimum(layout.tp, model.cache_shards)


def sequence_bytes(model: ServedModel, layout: ServedLayout, context: Array) -> Array:
    r"""Return the bytes that one sequence occupies on a rank, all pipeline stages together.

    .. math:: M = \frac{H\,c\,b + L_{full}\,s\,i}{\min(t, a_{kv})} + \frac{L_{rec}\,z}{t}

    with H the tokens held, c values of b bytes each, i the index key and z the state of a
    recurrent layer.
    """
    held = held_tokens(model, context) * model.cache_width * model.cache_bytes
    index = model.full_layers * context * model.index_bytes
    state = model.recurrent_layers * model.state_bytes / layout.tp
    return (held + index) / cache_shards(model, layout) + state


def decode_attention_s(
    model: ServedModel,
    device: ServedDevice,
    layout: ServedLayout,
    terms: EngineTerms,
    batch: Array,
    context: Array,
) -> Array:
    r"""Return the attention time of one token for ``batch`` sequences on one rank.

    .. math:: t = \left(\left(\frac{bytes}{e_{kv} B}\right)^p + \left(\frac{2 R a d}{e_a F}\right)^p\right)^{1/p}

    Reading the cache and the state limits; latent attention also computes: all heads work on one
    latent vector.

    Parameters
    ----------
    batch : array
        Sequences of one attention rank group, at least 0.
    context : array
        Mean tokens of a sequence.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V2", arXiv 2405.04434, section 2.1.2 (absorbed projections).
    """
    reads = read_tokens(model, context) * model.cache_width * model.cache_bytes
    reads = reads + model.full_layers * context * model.index_bytes
    shared = batch * reads / cache_shards(model, layout)
    state = 2.0 * batch * model.recurrent_layers * model.state_bytes / layout.tp
    memory = (shared + state) / (terms.cache_hbm_frac * device.hbm_bytes_per_s)
    flops = 2.0 * batch * read_tokens(model, context) * model.heads * model.latent_dims / layout.tp
    compute = flops / (terms.cache_flops_frac * device.cache_flops)
    return joined(memory, compute, terms.overlap_power)


def prompt_attention_s(
    model: ServedModel,
    device: ServedDevice,
    layout: ServedLayout,
    terms: EngineTerms,
    prompts: Array,
    tokens: Array,
    cached: Array,
) -> Array:
    """Return the attention time of prompts on one rank, of which ``cached`` tokens are known.

    Pairs of the known tokens with each other are not computed again.
    """
    pairs = prompt_pairs(model, tokens) - prompt_pairs(model, cached)
    flops = 2.0 * prompts * pairs * model.heads * model.pair_dims / layout.tp
    return flops / (terms.prefill_attention_frac * device.cache_flops)


def joined(memory: Array, compute: Array, power: Array) -> Array:
    r"""Return the time of work that memory and compute share.

    .. math:: t = (t_m^p + t_c^p)^{1/p}

    It is the sum for p = 1 and the longer of the two for large p.

    Examples
    --------
    >>> one = np.array(1.0)
    >>> [round(float(joined(3 * one, 4 * one, p * one)), 3) for p in (1, 2, 50)]
    [7.0, 5.0, 4.0]
    """
    longest = np.maximum(np.maximum(memory, compute), 1e-30)
    return longest * ((memory / longest) ** power + (compute / longest) ** power) ** (1.0 / power)
