"""Demand over the hours of a day or of a week."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from dcplan.catalog.schema.base import Row

DAY_HOURS = 24
WEEK_HOURS = 168


class LoadShape(Row):
    """Relative load of a service, or of the submission of jobs, by local hour."""

    what: Literal["requests", "jobs", "tokens"]
    """What the load counts: requests to a service, its tokens, or jobs that users submit."""
    load_frac: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...]
    """Relative load of each hour, of which only the ratios count: 24 numbers for every day, or 168
    from Monday 00:00 local time."""

    @field_validator("load_frac")
    @classmethod
    def _hours(cls, load_frac: tuple[float, ...]) -> tuple[float, ...]:
        """Reject a shape of another length, and one without load."""
        if len(load_frac) not in (DAY_HOURS, WEEK_HOURS):
            msg = (
                f"{len(load_frac)} numbers; expected {DAY_HOURS} for every day, "
                f"or {WEEK_HOURS} from Monday 00:00"
            )
            raise ValueError(msg)
        if max(load_frac) <= 0.0:
            msg = "every hour has load 0; expected at least one number above 0"
            raise ValueError(msg)
        return load_frac
