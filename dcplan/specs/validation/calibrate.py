"""Tables of ``calibrate``: fitted terms and excluded ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, TableSpec


@dataclass(frozen=True)
class ValueRow:
    """One training term of an accelerator, fitted to measurements."""

    quantity: Annotated[str, Column("Training term of the accelerator that is fitted")]
    measured: Annotated[float, Column("Fitted value")]
    low: Annotated[float, Column("Low bound of the value or of the fit")]
    high: Annotated[float, Column("High bound of the value or of the fit")]
    points: Annotated[int, Column("Measurements used in the fit")]
    error_frac: Annotated[float, Column("Mean error of the fit to these measurements")]
    catalog: Annotated[float | None, Column("Value in the catalog")]


VALUES = TableSpec("values", ValueRow, "Values", by_item=True)


@dataclass(frozen=True)
class ExcludedRow:
    """One training term that keeps the catalog's value."""

    quantity: Annotated[str, Column("Measured quantity that could not be fitted")]
    reason: Annotated[str, Column("Reason for the exclusion")]


EXCLUDED = TableSpec(
    "excluded", ExcludedRow, "Excluded options and reasons", section=Section.EXCLUDED
)
