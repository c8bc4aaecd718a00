"""Number formats of weights in a checkpoint."""

from __future__ import annotations

from typing import Literal

from dcplan.catalog.schema.base import Row, Source, Strict
from dcplan.catalog.schema.ranges import Positive


class WeightFormat(Row):
    """A number format of weights."""

    weight_bytes: Positive
    """Bytes of one weight, with its share of the scales."""
    math: Literal["fp32", "half", "fp8", "int8", "fp4"]
    """Peak rate that matrix products with these weights use where the accelerator has it."""


class TensorFormats(Strict):
    """Formats of the classes of tensors in a checkpoint; a missing one follows the usual rule."""

    attention: str | None = None
    """Format of attention blocks, and of Mamba-2, linear attention and index blocks."""
    dense: str | None = None
    """Format of dense MLPs."""
    experts: str | None = None
    """Format of routed experts."""
    shared: str | None = None
    """Format of shared experts."""
    head: str | None = None
    """Format of the output layer."""
    embedding: str | None = None
    """Format of the look-up table."""
    source: Source | None = None
    """Source of the formats."""
    note: str | None = None
    """Note for readers."""
