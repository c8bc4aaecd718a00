"""Images in the prompts of a vision-language model: tokens, time and memory of its encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dcplan.answers.serve.request import ServeRequest
from dcplan.catalog.schema import WeightFormat
from dcplan.errors import Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.images import image_numbers
from dcplan.inputs.serving.setups import Checkpoint, Service, served_of
from dcplan.llm.architecture import Architecture
from dcplan.llm.vision.joined import assumed
from dcplan.serving.passes import ImageTokens, vision_prompt
from dcplan.serving.search import Layout
from dcplan.serving.tables import table
from dcplan.units import HALF_BYTES, MILLI

TOWER_FORMAT = "bf16"
"""Format of the encoder: quantized checkpoints leave it at 16 bit."""


@dataclass(frozen=True)
class Vision:
    """Images of one prompt."""

    images: int
    tokens: float
    """Tokens that the images add to a prompt."""
    encode_s: float
    """Time of the encoder for the images of a prompt [s]."""
    prompt_s: float
    """Time of encoder and prompt on one accelerator, without a queue [s]."""
    weight_bytes: float
    """Weights of the encoder and its projector on each accelerator [byte]."""
    assumed: tuple[str, ...] = ()
    """Sizes of an image that the configuration does not have."""

    def served(self, found: Service) -> Service:
        """Return a service whose accelerators also hold the encoder."""
        return replace(found, reserve_bytes=found.reserve_bytes + self.weight_bytes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the images of a prompt take, and what is assumed of them."""
        note = (
            f"{self.images:,} images add {self.tokens:,.0f} tokens and "
            f"{self.encode_s / MILLI:,.1f} ms of the vision encoder to a prompt, which takes "
            f"{self.prompt_s / MILLI:,.1f} ms on one accelerator; each accelerator encodes complete "
            "images"
        )
        return (note, *self.assumed)


def vision_problems(request: ServeRequest, shape: Architecture) -> Iterator[Problem]:
    """Yield the problems of ``--images``: a model without an encoder, or a trace."""
    if not request.images:
        return
    where = Place("--images")
    if shape.tower is None:
        cause = f"--images does not apply: {request.model} has no vision encoder"
        yield Problem("DC050", cause, where, help="choose a model such as qwen2.5-vl-7b")
    if request.trace is not None:
        cause = "--images cannot be combined with --trace, whose prompts have their tokens"
        yield Problem("DC050", cause, where, help="give --lengths")


def tower_checkpoint(log: InputLog, tower: Architecture) -> Checkpoint:
    """Return the vision encoder as a model of its own at 16 bit."""
    return Checkpoint(tower, None, log.catalog.get("formats", TOWER_FORMAT, WeightFormat), "half")


def vision_of(
    config: Mapping[str, Any],
    shape: Architecture,
    services: tuple[Service, Service],
    text_tokens: float,
    images: int,
) -> Vision:
    """Return what the images of a prompt take, with the encoder complete on each accelerator.

    Parameters
    ----------
    config : Mapping
        Configuration of a model with a vision encoder.
    shape : Architecture
        The model.
    services : tuple of Service
        The language model and its encoder on the same accelerator.
    text_tokens : float
        Tokens of the text of a prompt.
    images : int
        Images of a prompt, at least 1.
    """
    alone = [Layout(1)]
    language, tower = (served_of([x], alone) for x in services)
    found = vision_prompt(
        language,
        tower,
        table(ImageTokens, [image_numbers(shape)]),
        np.array([text_tokens]),
        np.array([float(images)]),
    )
    return Vision(
        images,
        float(found.tokens[0]) - text_tokens,
        float(found.encode_s[0]),
        float(found.total_s[0]),
        shape.tower_params * HALF_BYTES,
        assumed(config),
    )
