"""What every catalog row has: an id, a name and a source."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from dcplan.provenance import AsOf, Quantity

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
"""kebab-case; dots are allowed (``llama-3.1-405b``) and quoted in dotted keys."""

QuarterName = Annotated[str, StringConstraints(pattern=r"^\d{4}-Q[1-4]$")]


def _from_title(data: Any) -> Any:
    return {"title": data} if isinstance(data, str) else data


class SourceText(BaseModel):
    """Where the facts of a row were read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=3)
    """Publication, page or table."""
    url: str | None = None
    """Address."""
    as_of: AsOf | None = None
    """Date of the facts: a year, quarter, month or day."""

    def __str__(self) -> str:
        """Title and address in one line."""
        return f"{self.title} ({self.url})" if self.url else self.title


Source = Annotated[SourceText, BeforeValidator(_from_title)]


class Row(BaseModel):
    """Base of all catalog rows; a row without a source does not load."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Id
    """Kebab-case name, unique in its kind."""
    name: str
    """Name for people."""
    source: Source
    """Where the facts of the row were read: a text, or {title, url, as_of}."""
    aliases: tuple[str, ...] = ()
    """Other names that find the row."""
    vendor: str | None = None
    """Maker."""
    note: str | None = None
    """What a reader should know, such as sources that disagree."""


class Parameter(Row):
    """One sourced number that belongs to no product: a class value, a rate, a share."""

    value: Quantity
    """The number, with bounds where they are known."""
    unit: str
    """Its unit."""
