"""Demand that any suitable accelerator may serve: research capacity and inference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Positive, Series, Share
from dcplan.scenario.schema.base import Count, Key, Part

Precision = Literal["bf16", "fp16", "fp32", "tf32", "fp8", "fp8-rowwise", "mxfp8", "int8", "fp4"]
CAPACITY_UNITS = ("pflops_delivered", "accelerator_hours", "h100_equivalents")


class Reference(Part):
    """The reference job on which delivered FLOP/s are measured."""

    model: str
    """Catalog id of the model that the reference job trains."""
    seq_len: Count
    """Tokens in one sequence."""
    precision: Precision = "bf16"
    """Precision of the matrix products."""


class Demand(Part):
    """Demand that any suitable accelerator may serve: where, by what, and the cost of not serving
    it.
    """

    id: Key
    """Name of this demand, used in keys and tables."""
    sites: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Sites that may serve it. Default: every site and, unless countries forbids it, the cloud."""
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Data residency: only sites and cloud regions in these countries may serve it (two letters
    each)."""
    systems: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Systems and accelerators that may serve it. Default: all."""
    usd_per_unmet_quarter: Positive | None = None
    """Cost of one unit that is not served for a quarter. Default: all demand must be served."""


class Capacity(Demand):
    """Research capacity in addition to the jobs, quarterly average, in one of three units.

    The units are model FLOP/s on the reference job; busy accelerator-hours of a quarter; and
    H100-equivalent accelerators, counted by what each achieves on the reference job.
    """

    pflops_delivered: Series | None = None
    """Model PFLOP/s on the reference job, mean over the quarter."""
    accelerator_hours: Series | None = None
    """Busy accelerator-hours in the quarter."""
    h100_equivalents: Series | None = None
    """Accelerators, each weighted by its rate on the reference job divided by the rate of an
    H100."""
    utilization_frac: Share
    """Share of the time in which the accelerators work."""
    reference: Reference | None = None
    """Reference job; required unless accelerator_hours is given."""
    any_hours: bool = False
    """Whether the work may be done in any hours of the week, such as nights, when services leave
    accelerators free."""

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
                "{unit} needs reference (model and seq_len): the job on which compute is measured",
            )
            raise PydanticCustomError(code, text, {"unit": given[0]})
        return self

    @property
    def unit(self) -> str:
        """The one of the three units that is given."""
        return next(name for name in CAPACITY_UNITS if getattr(self, name) is not None)
