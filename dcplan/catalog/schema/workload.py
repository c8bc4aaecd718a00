"""Models to train and to serve."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from dcplan.catalog.schema.base import Row
from dcplan.catalog.schema.ranges import Positive
from dcplan.catalog.schema.serving import TensorFormats


class Model(Row):
    """A model, given by its Hugging Face ``config.json`` keys, with published counts as a check."""

    config: dict[str, Any]
    """Keys of the config.json."""
    params_b: Positive
    """Published number of parameters, in 1e9."""
    active_params_b: Positive | None = None
    """Published number of parameters that one token uses, in 1e9."""
    training_tokens: Positive | None = None
    """Published number of training tokens."""
    checkpoints: dict[str, TensorFormats] = Field(default_factory=dict)
    """Format of a checkpoint -> formats of its tensors, where they differ from the usual rule: linear
    layers in the format of the name, embedding and output layer in 16 bit."""


class LibraryDefaults(Row):
    """Values that the class of a ``model_type`` fills in where a ``config.json`` leaves them out."""

    model_type: str
    """Kind of model as ``config.json`` names it."""
    keys: dict[str, Any]
    """Key -> value where the file has none."""
