"""Parts that vision encoders share: sizes, patches, attention, the transformer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import linear_params, mlp_params, need

Config = Mapping[str, Any]
COLORS = 3


def transformer(
    hidden: int,
    layers: int,
    heads: int,
    inner: int,
    attention: int,
    outside: int,
    positions: int,
    *,
    gated: bool = False,
) -> Architecture:
    """Return the architecture of a vision transformer.

    ``attention`` is parameters per block with norms, ``outside`` is parameters for every patch.
    """
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        value_dim=hidden // heads,
        vocab=0,
        tied=True,
        attention_params=attention,
        dense_mlp_params=mlp_params(hidden, inner, gated=gated, bias=True),
        attention_layers=layers,
        dense_layers=layers,
        ffn=inner,
        gated=gated,
        position_params=positions,
        norm_params=outside,
        causal=False,
    )


def sizes(vision: Config) -> tuple[int, int, int, int]:
    """Return width, layers, heads and MLP width by their usual names.

    Raises
    ------
    ValueError
        When one is missing.
    """
    return (
        int(need(vision, "hidden_size")),
        int(need(vision, "num_hidden_layers")),
        int(need(vision, "num_attention_heads")),
        int(need(vision, "intermediate_size")),
    )


def image_patches(vision: Config, image_size: int | None = None) -> tuple[int, int]:
    """Return the patches of an image, and the color values of one patch.

    Raises
    ------
    ValueError
        When a size is missing, or a patch is larger than the image.

    Examples
    --------
    >>> image_patches({"patch_size": 14, "image_size": 336})
    (576, 588)
    """
    patch = int(need(vision, "patch_size"))
    size = image_size or int(need(vision, "image_size"))
    if not 1 <= patch <= size:
        msg = f"patch_size {patch} does not fit image_size {size}"
        raise ValueError(msg)
    return (size // patch) ** 2, COLORS * patch * patch


def projections(hidden: int, *, bias: bool = True) -> int:
    """Return the parameters of queries, keys, values and output of one attention block.

    Examples
    --------
    Four matrices of 8 x 8 with 8 biases each:

    >>> projections(8), projections(8, bias=False)
    (288, 256)
    """
    return 4 * linear_params(hidden, hidden, bias=bias)
