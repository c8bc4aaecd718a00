"""Fields of every catalog row: an id, a name and a source."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from dcplan.provenance import AsOf, Quantity

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
"""kebab-case; dots are allowed (``llama-3.1-405b``) and quoted in dotted keys."""

QuarterName = Annotated[str, StringConstraints(pattern=r"^\d{4}-Q[1-4]$")]


def _from_title(data: Any) -> Any:
    return {"title": data} if isinstance(data, str) else data


class Strict(BaseModel):
    """Base of every mapping in a file: unknown fields are errors, and nothing changes a value.

    The validator of a class is built when a file is first read with it. Catalogs come from the cache,
    so most commands build few of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class SourceText(Strict):
    """Source of a row's facts."""

    title: str = Field(min_length=3)
    """Publication, page or table."""
    url: str | None = None
    """URL."""
    as_of: AsOf | None = None
    """Date of the facts: a year, quarter, month or day."""

    def __str__(self) -> str:
        """Return title and URL in one line."""
        return f"{self.title} ({self.url})" if self.url else self.title


Source = Annotated[SourceText, BeforeValidator(_from_title)]


class Row(Strict):
    """Base of all catalog rows; a row without a source is an error."""

    id: Id
    """Kebab-case name, unique in its kind."""
    name: str
    """Full name."""
    source: Source
    """Source of the row's facts: a text, or {title, url, as_of}."""
    aliases: tuple[str, ...] = ()
    """Other names of the row."""
    vendor: str | None = None
    """Manufacturer."""
    note: str | None = None
    """Note for readers, such as sources that disagree."""


class Parameter(Row):
    """One number with a source that belongs to no product: a class value, a rate, a share."""

    value: Quantity
    """The number, with bounds if known."""
    unit: str
    """Unit of the number."""
    contains: tuple[str, ...] = ()
    """What a lump contains: rows of the same kind, fields of a scenario, names of own cost lines. An
    answer that counts the lump warns where one of them is given too."""
