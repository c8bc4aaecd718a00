"""Models without decode: embedding and reranking, vision encoders, diffusion transformers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.serving.attention import joined, prompt_attention_s
from dcplan.serving.forward import Served, forward_parts
from dcplan.serving.step import prompt_s
from dcplan.serving.tables import Array
from dcplan.units import HALF_BYTES, MICRO, W_PER_KW


@dataclass(frozen=True)
class PassRate:
    """Time of one batch, and the rate that one accelerator keeps up."""

    batch_s: Array
    """Time from the start of a batch to its last result. [s]"""
    items_per_s: Array
    """Sequences or images per accelerator. [1/s]"""
    tokens_per_s: Array
    """Tokens per accelerator: of the text, or of the images in the language model. [1/s]"""


@dataclass(frozen=True)
class ImageTokens:
    """One image (or tile) of a vision encoder."""

    patches: Array
    """Tokens inside the encoder, class token included."""
    tokens: Array
    """Tokens of the image in the language model; the patches if there is none."""
    projector_params: Array
    """Parameters between encoder and language model, applied to each of the tokens."""


@dataclass(frozen=True)
class VisionPrompt:
    """One prompt with images: what the vision encoder adds to its tokens and its time."""

    tokens: Array
    """Tokens of the prompt with its images."""
    encode_s: Array
    """Time of the vision encoder. [s]"""
    prefill_s: Array
    """Time of the language model's prompt. [s]"""

    @property
    def total_s(self) -> Array:
        """Return the time before the first decode step [s]."""
        return self.encode_s + self.prefill_s


@dataclass(frozen=True)
class ImageWork:
    """Work of one generated image: denoising, text encoders and image decoder."""

    tokens: Array
    """Latent patches and text tokens of one image in the transformer."""
    steps: Array
    """Denoising steps."""
    passes: Array
    """Forward passes of one step: 2 with classifier-free guidance, 1 without."""
    once_params: Array
    """Parameters that a pass reads once per step: modulation and second copies of two-stream blocks."""
    once_bytes: Array
    """Bytes of one such parameter."""
    text_params: Array
    """Parameters of the text encoders; 0 if a label is the condition."""
    text_tokens: Array
    """Tokens of the prompt in the text encoders."""
    decode_flops: Array
    """Operations of the image decoder for one image. [FLOP]"""
    text_hbm_frac: Array
    """Share of the memory bandwidth at which the text encoders read their weights."""
    decode_flops_frac: Array
    """Share of the 16-bit peak that the image decoder reaches."""


@dataclass(frozen=True)
class ImageRate:
    """Time of one batch of generated images by cause, and the rate of one accelerator."""

    step_s: Array
    """One denoising step with all its passes. [s]"""
    denoise_s: Array
    """All denoising steps. [s]"""
    text_s: Array
    """Text encoders. [s]"""
    decode_s: Array
    """Image decoder. [s]"""
    batch_s: Array
    """The complete batch; the seconds per image at a batch of 1. [s]"""
    images_per_s: Array
    """Images per accelerator. [1/s]"""


def prefill_only(served: Served, batch: Array, tokens: Array) -> PassRate:
    r"""Return time and rate of an embedding or reranking model, which has no cache and no decode.

    .. math:: t = f\,(t_{forward}(n s) + t_{attention}(n, s) + t_{head}(n)) + t_{step} + n\,t_{request}

    The head works on one token of a sequence: the score of a reranker that is a language model. The
    layer that pools the tokens of a sequence is neglected. With pipeline stages, as many batches as
    stages are on their way, so the rate of one accelerator stays.

    Parameters
    ----------
    served : Served
        The configuration; the model may have a causal mask or none.
    batch : array
        Sequences of a replica in one step, above 0. [-]
    tokens : array
        Tokens s of a sequence, at least 1. [-]

    References
    ----------
    .. [1] S. Williams et al., "Roofline", CACM 52(4), 2009.
    """
    x, c = served.layout, served.terms
    group = batch / x.dp
    work = _body_s(served, group, tokens) + _head_s(served, group)
    seconds = c.prefill_factor * work + (c.step_us + batch * c.request_us) * MICRO
    rate = batch / (seconds * x.ranks)
    return PassRate(seconds, rate, rate * tokens)


def encoder_pass(served: Served, image: ImageTokens, images: Array) -> PassRate:
    r"""Return time and rate of a vision encoder for a batch of images.

    .. math:: t = t_{forward}(n p) + t_{attention}(n, p) + t_{projector}(n q) + t_{step}

    with p patches and q tokens of one image.

    Parameters
    ----------
    served : Served
        The configuration whose model is the encoder alone.
    image : ImageTokens
        Tokens of one image.
    images : array
        Images (or tiles) n of one batch, above 0. [-]

    References
    ----------
    .. [1] A. Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021, section 3.1.
    """
    x, c = served.layout, served.terms
    group = images / x.dp
    bytes_each = served.model.attention_bytes
    project = _product_s(served, image.projector_params, bytes_each, group * image.tokens)
    seconds = _body_s(served, group, image.patches) + project + c.step_us * MICRO
    rate = images / (seconds * x.ranks)
    return PassRate(seconds, rate, rate * image.tokens)


def vision_prompt(
    language: Served, encoder: Served, image: ImageTokens, text_tokens: Array, images: Array
) -> VisionPrompt:
    r"""Return tokens and time of one prompt with images: what a request waits before its first token.

    .. math:: s = s_{text} + n\,q,\quad t = t_{encoder}(n) + t_{prompt}(s)

    Parameters
    ----------
    language, encoder : Served
        The language model, and its vision encoder on the same accelerator.
    image : ImageTokens
        Tokens of one image.
    text_tokens : array
        Tokens of the text in the prompt. [-]
    images : array
        Images n of the prompt; without one, the encoder takes no time. [-]

    References
    ----------
    .. [1] H. Liu et al., "Visual Instruction Tuning", 2023, section 4.1.
    """
    tokens = text_tokens + images * image.tokens
    some = np.maximum(images, 1.0)
    encode = np.where(images > 0, encoder_pass(encoder, image, some).batch_s, 0.0)
    prefill = prompt_s(language, np.ones_like(tokens), tokens)
    return VisionPrompt(tokens, encode, prefill)


def diffusion_pass(served: Served, work: ImageWork, batch: Array) -> ImageRate:
    r"""Return time and rate of a diffusion transformer that generates a batch of images.

    .. math:: t = t_{text} + k\,t_{step}(g n) + n\,t_{decode},\quad
       t_{step} = t_{forward}(g n s) + t_{attention}(g n, s) + \frac{N_{once} b}{e_w B} + t_{engine}

    for n images, k steps of g passes, and s tokens of one image. All passes of a step run as one
    batch. Text encoders and image decoder run on every rank: they are not divided.

    Parameters
    ----------
    served : Served
        The configuration whose model is the transformer; attention at 16 bit.
    work : ImageWork
        Work of one image.
    batch : array
        Images n that one replica denoises at the same time, above 0. [-]

    References
    ----------
    .. [1] P. Esser et al., "Scaling Rectified Flow Transformers", 2024, arXiv 2403.03206, section 4.
    .. [2] J. Ho, T. Salimans, "Classifier-Free Diffusion Guidance", 2022, section 3.
    """
    d, x, c = served.device, served.layout, served.terms
    group = batch / x.dp
    sequences = group * work.passes
    rate = c.weight_hbm_frac * d.hbm_bytes_per_s
    once = work.once_params * work.once_bytes / (x.tp * rate)
    step = _body_s(served, sequences, work.tokens) + once + c.step_us * MICRO
    denoise = work.steps * step
    read = work.text_params * HALF_BYTES / (work.text_hbm_frac * d.hbm_bytes_per_s)
    words = 2.0 * work.text_params * work.text_tokens * sequences
    text = np.where(
        work.text_params > 0,
        joined(read, words / (c.linear_flops_frac * d.half_flops), c.overlap_power),
        0.0,
    )
    decode = group * work.decode_flops / (work.decode_flops_frac * d.half_flops)
    total = text + denoise + decode
    return ImageRate(step, denoise, text, decode, total, batch / (total * x.ranks))


def joules_per_item(power_kw: Array, items_per_s: Array) -> Array:
    r"""Return the energy of one image or sequence [J].

    .. math:: E = P / X

    Parameters
    ----------
    power_kw : array
        Power of one accelerator with its share of the facility. [kW]
    items_per_s : array
        Rate of one accelerator, above 0. [1/s]

    References
    ----------
    .. [1] Energy is power times time.

    Examples
    --------
    >>> float(joules_per_item(np.array(0.7), np.array(0.25)))
    2800.0
    """
    return power_kw * W_PER_KW / items_per_s


def _body_s(served: Served, sequences: Array, tokens: Array) -> Array:
    """Return the time of all layers for the sequences of one attention rank group, without the head."""
    m, x = served.model, served.layout
    body = replace(served, model=replace(m, head_params=np.zeros_like(m.head_params)))
    rows = sequences * tokens
    parts = forward_parts(body, rows, rows * x.dp)
    known = np.zeros_like(tokens)
    pairs = prompt_attention_s(m, served.device, x, served.terms, sequences, tokens, known)
    return parts.total + pairs


def _head_s(served: Served, rows: Array) -> Array:
    """Return the time of the output layer on one token of each sequence."""
    return _product_s(served, served.model.head_params, served.model.head_bytes, rows)


def _product_s(served: Served, weights: Array, bytes_each: Array, rows: Array) -> Array:
    """Return the time of a 16-bit product of ``weights`` parameters with ``rows`` tokens; 0 without weights."""
    d, x, c = served.device, served.layout, served.terms
    memory = weights * bytes_each / (x.tp * c.weight_hbm_frac * d.hbm_bytes_per_s)
    compute = 2.0 * weights * rows / (x.tp * c.linear_flops_frac * d.half_flops)
    return np.where(weights > 0, joined(memory, compute, c.overlap_power), 0.0)
