"""Demand that any fitting accelerator may serve: research capacity and inference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.provenance import AtLeastOne, Fraction, Positive, Quantity, Series
from dcplan.scenario.schema.base import Count, Key, Part

Precision = Literal["bf16", "fp16", "tf32", "fp8", "fp8-rowwise", "mxfp8", "fp4"]
CAPACITY_UNITS = ("pflops_delivered", "accelerator_hours", "h100_equivalents")


class Reference(Part):
    """The job on which delivered FLOP/s are counted."""

    model: str
    """Catalog id of the model that the reference job trains."""
    seq_len: Count
    """Tokens of a sequence."""
    precision: Precision = "bf16"
    """Of the matrix products."""


class Demand(Part):
    """What any fitting accelerator may serve: where it may be served, by what, and what leaving it
    unserved costs.
    """

    id: Key
    """Name of this demand, used in keys and tables."""
    sites: tuple[str, ...] | None = None
    """Sites that may serve it; left out, every site and, unless countries forbid, the cloud."""
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Residency: only sites and cloud regions of these countries (two letters)."""
    systems: tuple[str, ...] | None = None
    """Systems and accelerators that may serve it; left out, every one."""
    usd_per_unmet_quarter: Positive | None = None
    """Value of one unit not served for a quarter; left out, all of it must be served."""


class Capacity(Demand):
    """Research fleet beside the jobs, quarter average, in one of three units.

    Model FLOP/s on the reference job; accelerator-hours of a quarter, busy ones; or accelerators
    counted in H100, by what each achieves on the reference job.
    """

    pflops_delivered: Series | None = None
    """Model PFLOP/s on the reference job, mean of the quarter."""
    accelerator_hours: Series | None = None
    """Busy accelerator-hours of the quarter."""
    h100_equivalents: Series | None = None
    """Accelerators, each counted by its rate on the reference job over that of an H100 server."""
    utilization_frac: Fraction
    """Share of the time in which the accelerators work."""
    reference: Reference | None = None
    """Job on which it is counted; needed but for accelerator_hours."""

    @model_validator(mode="after")
    def _one_unit(self) -> Capacity:
        given = [name for name in CAPACITY_UNITS if getattr(self, name) is not None]
        if len(given) != 1:
            code, text = "capacity", "give one of {units}, got {given}"
            shown = {"units": ", ".join(CAPACITY_UNITS), "given": ", ".join(given) or "none"}
            raise PydanticCustomError(code, text, shown)
        if self.reference is None and given[0] != "accelerator_hours":
            code, text = (
                "capacity",
                "{unit} needs reference: model and seq_len: the job on which it is counted",
            )
            raise PydanticCustomError(code, text, {"unit": given[0]})
        return self

    @property
    def unit(self) -> str:
        """Which of the three units is given."""
        return next(name for name in CAPACITY_UNITS if getattr(self, name) is not None)


class Inference(Demand):
    """Tokens served, with your own measured throughput."""

    tokens_per_s: Series
    """Average of the quarter."""
    tokens_per_s_per_accelerator: Annotated[dict[str, Positive], Field(min_length=1)]
    """By system, accelerator or cloud offer; what has no figure does not serve."""
    peak_factor: AtLeastOne = Quantity(value=1.0)
    """Peak over average load: accelerators follow the peak, energy the average."""
    utilization_frac: Fraction = Quantity(value=1.0)
    """Share of the throughput that may be used at the peak."""
