"""Shared types of the scenario schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.base import QuarterName

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


class Part(BaseModel):
    """Base of every mapping in a scenario: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
