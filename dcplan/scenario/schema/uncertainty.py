"""What is not known when the plan is signed: how inputs may turn out, and which variants a plan
must hedge.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.provenance import NonNegative, Positive
from dcplan.scenario.schema.base import Part, Quarter


class Hedge(Part):
    """Variants of the scenario with their weights: decisions up to a quarter are one for all of
    them.
    """

    through: Quarter
    """Last quarter whose orders, halls, fabrics, blocks and commitments are decided before the
    variant is known."""
    weights: Annotated[dict[str, Positive], Field(min_length=2)]
    """Names of `scenarios:` (or `base`) and how likely each is; they are scaled to 1."""
    tail_frac: Annotated[float, Field(ge=0.01, le=1)] = 1.0
    """1: the expected cost; less: the mean of the worst share (CVaR)."""


class Uncertainty(Part):
    """Factors on the plan's own values (1 is as planned), as triangular distributions; and sampled
    futures.
    """

    hardware_price: Positive | None = None
    """Of systems not yet ordered."""
    energy_price: Positive | None = None
    """Of all sites."""
    cloud_price: Positive | None = None
    """Of rent on demand."""
    step_time: Positive | None = None
    """Of training runs over the median that the plan knows."""
    tokens: Positive | None = None
    """Of training runs."""
    demand: NonNegative | None = None
    """Of capacity and inference."""
    delivery_days: NonNegative | None = None
    """Days by which hardware on order and ordered comes late."""
    samples: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 1000
    """Sampled futures of the plan."""
    seed: Annotated[int, Field(ge=0, strict=True)] = 1
    """Of the samples."""
    tail_frac: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """Share of the worst futures whose mean is shown (CVaR)."""
    hedge: Hedge | None = None
    """One plan for several variants, with `plan --hedge`."""

    @model_validator(mode="after")
    def _spread(self) -> Uncertainty:
        if self.hedge is None and not self.inputs:
            code = "uncertainty"
            raise PydanticCustomError(
                code, "names no input: give hardware_price, energy_price, … with low and high"
            )
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs that vary."""
        names = (
            "hardware_price",
            "energy_price",
            "cloud_price",
            "step_time",
            "tokens",
            "demand",
            "delivery_days",
        )
        return tuple(name for name in names if getattr(self, name) is not None)
