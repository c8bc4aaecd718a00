"""Kinds of models by the work of a request, and the flags that apply to each."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from dcplan.answers.common.model_config import read_config
from dcplan.answers.serve.request import ServeRequest, without_system
from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.serving.images import is_diffusion, is_prefill_only, is_vision
from dcplan.llm.config import from_config
from dcplan.specs.request import fields_of


class Kind(StrEnum):
    """What a request of a model does."""

    DECODE = "decode"
    TEXT = "text"
    ENCODER = "encoder"
    IMAGE = "image"


DECODE, TEXT, ENCODER, IMAGE = Kind
WHY = {
    DECODE: "generates text",
    TEXT: "embeds or scores a prompt in one pass, without output tokens and KV cache",
    ENCODER: "encodes images, each in one pass",
    IMAGE: "generates images in denoising steps",
}
OWNERS = {
    DECODE: "models that generate text",
    TEXT: "embedding and reranking",
    ENCODER: "vision encoders",
    IMAGE: "diffusion models",
}
APPLIES: dict[str, tuple[Kind, ...]] = {
    "isl": (DECODE, TEXT),
    **dict.fromkeys(
        (
            "osl",
            "lengths",
            "trace",
            "concurrency",
            "prefix_hit_frac",
            "ttft_ms",
            "tpot_ms",
            "quantile",
            "kv_precision",
            "disaggregated",
            "speculative",
            "images",
        ),
        (DECODE,),
    ),
    "latency_ms": (TEXT, ENCODER, IMAGE),
    "prefill_only": (TEXT,),
    "images_per_request": (ENCODER, IMAGE),
    **dict.fromkeys(("steps", "pixels", "guidance_passes"), (IMAGE,)),
}
"""Field of the request -> kinds that it applies to; the others apply to all."""


def kind_of(request: ServeRequest, catalog: Catalog) -> Kind:
    """Return the kind of the model; ``DECODE`` if it cannot be read, which its branch reports."""
    row = model_of(catalog, request.model)
    try:
        config = row.config if row else read_config(catalog, request.model)[0]
        shape = from_config(config)
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return DECODE
    if is_diffusion(config):
        return IMAGE
    if is_vision(shape):
        return ENCODER
    return TEXT if request.prefill_only or is_prefill_only(config, shape) else DECODE


def inapplicable(request: ServeRequest, kind: Kind) -> Iterator[Problem]:
    """Yield a problem for each given flag that does not apply to the kind of the model."""
    for field in fields_of(ServeRequest):
        kinds = APPLIES.get(field.name, (kind,))
        if kind in kinds or getattr(request, field.name) == field.default:
            continue
        owners = " and ".join(OWNERS[k] for k in kinds)
        cause = f"{field.spelled} does not apply: {request.model} {WHY[kind]}"
        help_text = f"omit it; it is for {owners}"
        yield Problem("DC050", cause, Place(field.spelled), help=help_text)


def conflicts(request: ServeRequest, kind: Kind) -> list[Problem]:
    """Return the problems of the flags of a model without decode."""
    found = [*without_system(request), *inapplicable(request, kind)]
    if kind is TEXT and request.isl is None:
        cause = "--isl is needed: tokens of a sequence"
        found.append(Problem("DC050", cause, Place("--isl"), help="--isl 512"))
    return found
