"""Read a diffusion transformer's ``config.json`` (Diffusers) into an :class:`Architecture`.

A token is a latent patch or a text token; every attention layer processes all tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import linear_params, mlp_params, need

Config = Mapping[str, Any]
FREQUENCIES = 256
"""Sine features of a time step that its embedder reads (Peebles and Xie 2022, arXiv 2212.09748, section
3.2)."""
MLP_RATIO = 4
"""Width of the MLP relative to the model, in all three families."""
LATENT_SIDE = 8
"""Pixels of one side that the image encoder of all three families makes one latent value (Rombach et al.
2022, arXiv 2112.10752, section 3.1; vae/config.json: four resolutions). [pixel]"""
PACKED_SIDE = 2
"""Latent values of one side that FLUX.1 packs into one token (Black Forest Labs, FLUX.1, 2024)."""


@dataclass(frozen=True)
class _Sizes:
    layers: int
    heads: int
    head_dim: int
    patch: int
    channels_in: int
    channels_out: int

    @property
    def hidden(self) -> int:
        return self.heads * self.head_dim


def from_diffusers(config: Config) -> Architecture:
    """Read a Diffusers ``config.json`` by its ``_class_name``: DiT, SD3 or FLUX.1.

    Raises
    ------
    ValueError
        If the class is another one, a key is missing, or blocks are of a kind that this reader
        does not support.

    Examples
    --------
    >>> dit = from_diffusers({"_class_name": "DiTTransformer2DModel", "num_layers": 28, "num_attention_heads": 16,
    ...     "attention_head_dim": 72, "patch_size": 2, "in_channels": 4, "out_channels": 8,
    ...     "num_embeds_ada_norm": 1000, "attention_bias": True})
    >>> round(dit.params / 1e6)
    675
    """
    name = str(config["_class_name"])
    if name == "Transformer2DModel" and config.get("norm_type") == "ada_norm_zero":
        name = "DiTTransformer2DModel"  # its name until Diffusers 0.29
    if name not in READERS:
        msg = f"_class_name {name}: supported diffusion transformers are {', '.join(READERS)}"
        raise ValueError(msg)
    return READERS[name](config)


def _sizes(config: Config) -> _Sizes:
    channels = int(need(config, "in_channels"))
    return _Sizes(
        int(need(config, "num_layers")),
        int(need(config, "num_attention_heads")),
        int(need(config, "attention_head_dim")),
        int(need(config, "patch_size")),
        channels,
        int(config.get("out_channels") or channels),
    )


def _embedder(inputs: int, hidden: int) -> int:
    """Return the weights of a two-layer MLP for a time, a guidance or a pooled text."""
    return linear_params(inputs, hidden) + linear_params(hidden, hidden)


def _shape(size: _Sizes, layers: int, attention: int, once: int) -> Architecture:
    """Return an architecture with one attention and one MLP per block, without a causal mask.

    Patch projections are at both ends.
    """
    h, area = size.hidden, size.patch * size.patch
    return Architecture(
        layers=layers,
        hidden=h,
        heads=size.heads,
        kv_heads=size.heads,
        head_dim=size.head_dim,
        value_dim=size.head_dim,
        vocab=0,
        tied=True,
        attention_params=attention,
        dense_mlp_params=mlp_params(h, MLP_RATIO * h, gated=False, bias=True),
        attention_layers=layers,
        dense_layers=layers,
        ffn=MLP_RATIO * h,
        gated=False,
        norm_params=linear_params(area * size.channels_in, h)
        + linear_params(h, area * size.channels_out),
        causal=False,
        once_params=once,
    )


def _dit(config: Config) -> Architecture:
    """Read a class-conditional DiT with adaLN-Zero: six modulations per block from time and label.

    Embedders are counted once, as in the original; Diffusers stores a copy of them in each block.

    References
    ----------
    .. [1] W. Peebles, S. Xie, "Scalable Diffusion Models with Transformers", 2022, arXiv 2212.09748, table 1.
    """
    size = _sizes(config)
    h = size.hidden
    attention = 3 * linear_params(
        h, h, bias=bool(config.get("attention_bias", True))
    ) + linear_params(h, h)
    once = _embedder(FREQUENCIES, h) + (int(need(config, "num_embeds_ada_norm")) + 1) * h
    once += size.layers * linear_params(h, 6 * h) + linear_params(h, 2 * h)
    return _shape(size, size.layers, attention, once)


def _mmdit(config: Config) -> Architecture:
    """Read the two-stream blocks of SD3.

    Text and image tokens have their own weights and share attention.

    In the last block, text gives only keys and values (and queries), because no later layer reads
    it. In the first blocks of SD3.5 Medium, the image has a second attention on itself, with three
    modulations more; it counts as an attention layer of all tokens.

    References
    ----------
    .. [1] P. Esser et al., "Scaling Rectified Flow Transformers", 2024, arXiv 2403.03206, section 4.
    .. [2] Stability AI, "Introducing Stable Diffusion 3.5", 2024 (MMDiT-X, SD3.5 Medium).
    """
    dual = len(config.get("dual_attention_layers") or ())
    if config.get("qk_norm") not in {None, "rms_norm"}:
        msg = f"qk_norm {config['qk_norm']!r}: must be none or rms_norm"
        raise ValueError(msg)
    size = _sizes(config)
    h = size.hidden
    norm = 2 * size.head_dim if config.get("qk_norm") else 0
    attention = 4 * linear_params(h, h) + norm
    second = attention + mlp_params(h, MLP_RATIO * h, gated=False, bias=True)
    last = 3 * linear_params(h, h) + norm
    modulation = (2 * size.layers - 1) * linear_params(h, 6 * h) + 2 * linear_params(h, 2 * h)
    modulation += dual * linear_params(h, 3 * h)
    text, pooled = (
        int(need(config, "joint_attention_dim")),
        int(need(config, "pooled_projection_dim")),
    )
    once = _embedder(FREQUENCIES, h) + _embedder(pooled, h)
    once += linear_params(text, int(need(config, "caption_projection_dim"))) + modulation
    shape = _shape(size, size.layers, attention, once + (size.layers - 1) * second + last)
    return replace(shape, attention_layers=size.layers + dual)


def _flux(config: Config) -> Architecture:
    """Read FLUX.1: two-stream blocks, then single-stream blocks.

    Attention and MLP of a single-stream block share norm and output projection.

    References
    ----------
    .. [1] Black Forest Labs, "FLUX.1", 2024, https://github.com/black-forest-labs/flux.
    """
    size = _sizes(config)
    h, singles = size.hidden, int(need(config, "num_single_layers"))
    attention = 4 * linear_params(h, h) + 2 * size.head_dim
    second = attention + mlp_params(h, MLP_RATIO * h, gated=False, bias=True)
    modulation = (
        2 * size.layers * linear_params(h, 6 * h)
        + singles * linear_params(h, 3 * h)
        + linear_params(h, 2 * h)
    )
    text, pooled = (
        int(need(config, "joint_attention_dim")),
        int(need(config, "pooled_projection_dim")),
    )
    embedders = (2 if need(config, "guidance_embeds") else 1) * _embedder(
        FREQUENCIES, h
    ) + _embedder(pooled, h)
    # one output projection instead of two: one bias less in each single block
    once = embedders + linear_params(text, h) + modulation + size.layers * second - singles * h
    return _shape(size, size.layers + singles, attention, once)


def image_tokens(config: Config, pixels: float) -> float:
    r"""Return the latent patches of an image in the transformer.

    .. math:: n = P / (8 p)^2

    Parameters
    ----------
    config : Mapping
        The transformer's configuration, with its patch p; FLUX.1 packs 2 x 2 latent values first.
    pixels : float
        Pixels P of the image, above 0.

    Examples
    --------
    >>> image_tokens({"_class_name": "FluxTransformer2DModel", "patch_size": 1}, 1024 * 1024)
    4096.0
    """
    packed = PACKED_SIDE if config["_class_name"] == "FluxTransformer2DModel" else 1
    side = LATENT_SIDE * int(need(config, "patch_size")) * packed
    return pixels / (side * side)


def guidance_passes(config: Config) -> int:
    """Return the forward passes of one denoising step as the makers run the model.

    FLUX.1 has its guidance distilled into the weights, so one pass is enough; the others run one
    with and one without the condition.

    Examples
    --------
    >>> guidance_passes({"_class_name": "SD3Transformer2DModel"})
    2
    """
    return 1 if config["_class_name"] == "FluxTransformer2DModel" else 2


READERS: Mapping[str, Callable[[Config], Architecture]] = {
    "DiTTransformer2DModel": _dit,
    "SD3Transformer2DModel": _mmdit,
    "FluxTransformer2DModel": _flux,
}
"""Readers by ``_class_name``."""
