"""Uncertainty at the time of decision: distributions of inputs, and variants that a plan must
hedge.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import NonNegative, Positive
from dcplan.scenario.schema.base import Part, Quarter


class Hedge(Part):
    """Variants of the scenario with their weights; decisions up to a quarter are common to all of
    them.
    """

    through: Quarter
    """Last quarter whose orders, halls, fabrics, blocks and commitments are decided before the
    variant is known."""
    weights: Annotated[dict[str, Positive], Field(min_length=2)]
    """Names in `scenarios:` (or `base`) with their probabilities, scaled to a sum of 1."""
    tail_frac: Annotated[float, Field(ge=0.01, le=1)] = 1.0
    """1 minimizes the expected cost; a smaller value minimizes the mean cost of that worst share
    (CVaR)."""


class Uncertainty(Part):
    """Triangular distributions of factors on the plan's own values (1 is as planned), and the
    Monte Carlo simulation.
    """

    hardware_price: Positive | None = None
    """Factor on the price of systems not yet ordered."""
    energy_price: Positive | None = None
    """Factor on the energy price of all sites."""
    cloud_price: Positive | None = None
    """Factor on the on-demand cloud price."""
    step_time: Positive | None = None
    """Factor on the step time of training runs, relative to the planned median."""
    tokens: Positive | None = None
    """Factor on the tokens of training runs."""
    demand: NonNegative | None = None
    """Factor on capacity and inference demand."""
    delivery_days: NonNegative | None = None
    """Delivery delay in days of hardware on order and of new orders."""
    samples: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 1000
    """Number of Monte Carlo samples."""
    seed: Annotated[int, Field(ge=0, strict=True)] = 1
    """Seed of the samples."""
    tail_frac: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """Share of the worst samples whose mean is reported (CVaR)."""
    hedge: Hedge | None = None
    """One plan for several variants, with `plan --hedge`."""

    @model_validator(mode="after")
    def _spread(self) -> Uncertainty:
        if self.hedge is None and not self.inputs:
            code = "uncertainty"
            raise PydanticCustomError(
                code,
                "has no uncertain input: give hardware_price, energy_price, … with low and high",
            )
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the uncertain inputs."""
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
