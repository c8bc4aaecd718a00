"""Inputs of the serving model: engines with dated releases, and accelerator families."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcplan.catalog.schema.base import Row, Source, Strict
from dcplan.catalog.schema.ranges import Fraction, Positive
from dcplan.provenance import AsOf

Factor = Annotated[float, Field(gt=0.001, lt=1000.0)]
"""A factor on a constant; one outside this range is a typing mistake."""


class EngineRelease(Strict):
    """One line of releases of an engine: what changed since the row's own factors."""

    id: str
    """Version of the first release of the line, such as ``0.19``."""
    since: AsOf
    """Month of this release."""
    factors: dict[str, Factor] = Field(default_factory=dict)
    """Constant of the kind ``serving`` -> factor on it."""
    ports: dict[str, Factor] = Field(default_factory=dict)
    """Accelerator family -> time of a step over that of a mature port of this release."""
    source: Source | None = None
    """Source of the measured rows."""


class Engine(Row):
    """A serving engine: factors on the constants of the kind ``serving``, by release."""

    runs_on: tuple[str, ...] = ()
    """Accelerator families on which it runs; ``generic`` is an accelerator without a family.
    Default: all."""
    factors: dict[str, Factor] = Field(default_factory=dict)
    """Constant of the kind ``serving`` -> factor on it."""
    releases: tuple[EngineRelease, ...] = ()
    """Lines of releases, oldest first."""
    cache_precision: Literal["half", "weights"] = "half"
    """Default precision of the key-value cache: 16 bit, or 8 bit if the weights are quantized."""
    memory_frac: Fraction | None = None
    """Share of the accelerator memory that it takes."""
    most_running: Positive | None = None
    """Most requests that a replica runs at the same time."""
    step_tokens: Positive | None = None
    """Most tokens of one step (chunked prefill)."""
    measured_on: tuple[str, ...] = ()
    """Accelerators with measured rows of this engine."""
    spreads: dict[str, float] = Field(default_factory=dict)
    """Quantity (``tpot-ms``), with the kind of measurement (``tpot-ms-closed``) and the family
    (``tpot-ms-closed-hopper``) -> half width of the 80 % interval, as a log ratio."""


class ServingFamily(Row):
    """An accelerator family: factors on the constants of the kind ``serving``."""

    factors: dict[str, Factor] = Field(default_factory=dict)
    """Constant of the kind ``serving`` -> factor on it."""
    power: dict[str, float] = Field(default_factory=dict)
    """Constant of the kind ``serving`` that starts with ``power-`` -> value of this family."""
