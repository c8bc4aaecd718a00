"""Shared types of the scenario schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.base import QuarterName, Strict

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$")]
Quarter = QuarterName
Count = Annotated[int, Field(ge=1, strict=True)]
"""An integer of at least 1; text and true/false are rejected."""
CountOrZero = Annotated[int, Field(ge=0, strict=True)]


def _all_or_ids(data: Any) -> Any:
    if data == "all" or (isinstance(data, list | tuple) and all(isinstance(x, str) for x in data)):
        return data
    code = "all_or_ids"
    raise PydanticCustomError(
        code, "expected `all` or a list of ids, got {got}", {"got": repr(data)[:60]}
    )


AllOrIds = Annotated[Literal["all"] | tuple[str, ...], BeforeValidator(_all_or_ids)]


UnitShare = Annotated[float, Field(ge=0, le=1)]
"""A plain share from 0 to 1."""


def check_speed(power_frac: float | None, speed_frac: float | None) -> None:
    """Refuse a speed of a run that has no power while the grid interrupts it.

    Raises
    ------
    PydanticCustomError
        If it has a speed above 0 without power, or the speed is given without the power.
    """
    if speed_frac and not power_frac:
        code = "speed"
        text = (
            "interrupted_speed_frac needs interrupted_power_frac: a run without power has no speed"
        )
        raise PydanticCustomError(code, text)


class Part(Strict):
    """Base of every mapping in a scenario."""
