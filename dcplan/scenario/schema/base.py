"""Shared types of the scenario schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from dcplan.catalog.schema.base import QuarterName

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$")]
Quarter = QuarterName


class Part(BaseModel):
    """Base of every mapping in a scenario: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
