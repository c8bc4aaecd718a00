"""Fine-tuning as a training step: packed samples, forward-only passes, frozen parameters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dcplan.llm.architecture import Architecture, context_tokens
from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array
from dcplan.training.micro_batch import micro_batch, work
from dcplan.training.step import Step
from dcplan.training.traffic import traffic


def packed_shape(shape: Architecture, seq_len: int, sample_len: float) -> Architecture:
    r"""Return a model whose attention costs as much as that of samples packed into a sequence.

    A token attends only to its own sample, of L tokens for a random token. A window of W over the
    whole sequence s has the same number of keys:

    .. math:: W - \frac{W^2}{2 s} = \frac{L}{2} \quad\Rightarrow\quad
       W = s\,\big(1 - \sqrt{1 - L / s}\big)

    Layers that have a shorter window keep its keys.

    Parameters
    ----------
    shape : Architecture
        The model, with a causal mask.
    seq_len : int
        Tokens s of a packed sequence.
    sample_len : float
        Mean length L of a random token's sample, E[l^2] / E[l]; at most ``seq_len``.

    Examples
    --------
    Samples of 750 tokens in sequences of 1,000: a window of 500 has 500 - 125 = 375 keys.

    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 10}
    >>> packed_shape(from_config(tiny), 1000, 750.0).window
    500
    """
    if sample_len >= seq_len or not shape.attention_layers:
        return shape
    mean = sample_len / 2.0
    window = min(shape.window or seq_len, seq_len)
    local = shape.local_layers if shape.window else 0
    own = min(window - window**2 / (2.0 * seq_len), mean)
    keys = (mean * (shape.attention_layers - local) + own * local) / shape.attention_layers
    whole = seq_len * (1.0 - math.sqrt(1.0 - 2.0 * keys / seq_len))
    return replace(shape, local_layers=shape.attention_layers, window=max(round(whole), 1))


def scored_shape(shape: Architecture) -> Architecture:
    """Return a reward model: the look-up table stays, the output layer gives one value.

    Parameters
    ----------
    shape : Architecture
        The language model.

    Examples
    --------
    A table of 10 x 64 without the output layer of 10 x 64, which becomes 1 x 64.

    >>> from dcplan.llm.config import from_config
    >>> tiny = from_config({"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
    ...     "vocab_size": 10, "tie_word_embeddings": False})
    >>> tiny.params - scored_shape(tiny).params
    576
    """
    table = shape.vocab * shape.hidden
    return replace(shape, vocab=1, tied=True, position_params=shape.position_params + table)


def forward_s(setup: Setup, done: Step) -> Array:
    r"""Return the time of forward-only passes over the sequences of one step.

    .. math:: T_{fwd} = (T - T_{dp} - T_{opt})\,\frac{F + F_{head}}{F + B + H}

    with the forward pass F, the backward pass B (recompute included) and the output layer H of a
    micro-batch: a forward-only pass has the same layout, pipeline and exposed traffic, but no
    gradients and no optimizer. [s]

    Parameters
    ----------
    setup : Setup
        Layouts of the training step, shape (n,).
    done : Step
        Its time and parts.
    """
    did = work(setup)
    one = micro_batch(setup, did, traffic(setup))
    share = (one.forward + did.head.forward) / (one.forward + one.backward + one.head)
    running = done.time_s - done.parts_s["straggler"]
    state = done.parts_s["data_parallel"] + done.parts_s["optimizer"]
    return np.asarray(done.time_s * (1.0 - state / running) * share)


def of_step_s(setup: Setup, done: Step, micro_batch_s: Array) -> Array:
    r"""Return what an addition to each micro-batch adds to a step: work, fill and stragglers.

    .. math:: T = t\,\frac{m + (p - 1) / v}{p}\,(1 + \sigma\sqrt{2 \ln n})

    Parameters
    ----------
    setup : Setup
        Layouts, shape (n,).
    done : Step
        Their step, for the share of stragglers.
    micro_batch_s : array
        Addition t to one micro-batch over all p stages. [s]
    """
    x = setup.layout
    late = done.time_s / (done.time_s - done.parts_s["straggler"])
    fill = np.where(x.pp > 1, (x.pp - 1.0) / x.vpp, 0.0)
    return np.asarray(micro_batch_s * (x.micro_batches + fill) / x.pp * late)


def tuning_flops_per_token(
    model_flops: float, attention_flops: float, trained_frac: float, adapter_params: float = 0.0
) -> float:
    r"""Return the model FLOPs of a token where only a share of the parameters is trained.

    .. math:: F = \tfrac{2 + \varphi}{3}\,(F_6 - F_a) + F_a + 6 N_{ad}

    A frozen matrix has no product for the gradient of its weights: two of three remain. Attention
    F_a has no weights.

    Parameters
    ----------
    model_flops : float
        FLOPs F_6 of a token of full training, with attention. [FLOP]
    attention_flops : float
        Its part of attention scores. [FLOP]
    trained_frac : float
        1 for full training, 0 for a frozen model. [-]
    adapter_params : float, default 0
        Parameters of the adapters that a token passes through.

    Examples
    --------
    A frozen model of 6 GFLOP a token, 0.6 of it attention: 2 / 3 x 5.4 + 0.6.

    >>> round(tuning_flops_per_token(6.0, 0.6, 0.0), 6)
    4.2
    """
    matrices = model_flops - attention_flops
    return (2.0 + trained_frac) / 3.0 * matrices + attention_flops + 6.0 * adapter_params


def attention_flops_per_token(shape: Architecture, seq_len: int) -> float:
    """Return the FLOPs of attention scores of one token, forward and backward.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence.

    Examples
    --------
    One layer of 4 heads of 16 at 1,000 tokens: 6 x 500 x 4 x 32.

    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 10}
    >>> attention_flops_per_token(from_config(tiny), 1000)
    384000.0
    """
    pair = shape.heads * (shape.head_dim + shape.value_dim)
    return 6.0 * context_tokens(shape, seq_len) * pair


def random_sample_len(mean_len: float, cv: float, longest: float) -> float:
    r"""Return the mean length of a random token's sample.

    .. math:: L = \min(E[l^2] / E[l],\ l_{max}) = \min(\bar l\,(1 + c^2),\ l_{max})

    Parameters
    ----------
    mean_len : float
        Mean length of a sample. [-]
    cv : float
        Standard deviation of the length over its mean. [-]
    longest : float
        Longest sample.

    Examples
    --------
    >>> random_sample_len(1000.0, 0.5, 8192.0)
    1250.0
    """
    return min(mean_len * (1.0 + cv**2), longest)


def logits_s(tokens: float, top_k: float, value_bytes: float, bytes_per_s: float) -> float:
    r"""Return the time to send a teacher's logits to the student's accelerators.

    .. math:: T = n\,k\,b / B

    Parameters
    ----------
    tokens : float
        Tokens n of a step.
    top_k : float
        Logits k of a token that are sent.
    value_bytes : float
        Bytes b of a logit, with its index where only some are sent.
    bytes_per_s : float
        Rate B of all links of the smaller pool, one way. [byte/s]

    Examples
    --------
    A million tokens x 100 logits x 6 byte over 50 GB/s:

    >>> logits_s(1e6, 100.0, 6.0, 50e9)
    0.012
    """
    return tokens * top_k * value_bytes / bytes_per_s
