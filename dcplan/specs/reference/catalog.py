"""Tables of the ``catalog`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, TableSpec, pattern


@dataclass(frozen=True)
class KindRow:
    """One catalog kind."""

    kind: Annotated[str, Column("Kind of catalog row")]
    rows: Annotated[int, Column("Rows of the kind")]


@dataclass(frozen=True)
class ItemRow:
    """One row of a kind; its main fields follow its name."""

    id: Annotated[str, Column("Id of the row")]
    name: Annotated[str, Column("Name of the row")]


@dataclass(frozen=True)
class ValueRow:
    """One value of a catalog row."""

    field: Annotated[str, Column("Field of the catalog row")]
    value: Annotated[float | str, Column("Value in use")]
    unit: Annotated[str, Column("Unit of the value")]
    status: Annotated[str, Column("Origin: user input, catalog, estimate, derived or default")]
    low: Annotated[float | None, Column("Low bound of the value or of the fit")]
    high: Annotated[float | None, Column("High bound of the value or of the fit")]
    source: Annotated[str | None, Column("Source of the value")]
    as_of: Annotated[str | None, Column("Date of the value")]
    note: Annotated[str | None, Column("Remark on the value and its derivation")]


@dataclass(frozen=True)
class FindingRow:
    """One finding of the lint."""

    code: Annotated[str, Column("Error code of the finding")]
    kind: Annotated[str, Column("Kind of catalog row")]
    id: Annotated[str, Column("Id of the row")]
    field: Annotated[str, Column("Field with the finding")]
    message: Annotated[str, Column("Description of the fault")]
    at: Annotated[str, Column("File, line and column of the value")]


VALUES = TableSpec("values", ValueRow, "Values", by_item=True)
KINDS = TableSpec("rows", KindRow, "Catalog")
ITEMS = TableSpec(
    "rows", ItemRow, "Catalog", wide=(pattern("<field>", "Value of this field in the row"),)
)
FINDINGS = TableSpec("findings", FindingRow, "Findings")
