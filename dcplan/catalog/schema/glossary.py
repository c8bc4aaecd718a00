"""Rows of terms: the words of the field and of this tool."""

from __future__ import annotations

from dcplan.catalog.schema.base import Row


class Term(Row):
    """One term of the field, as dcplan uses it."""

    unit: str = ""
    """Unit of the quantity; empty for a term that is no quantity."""
    definition: str
    """Meaning in one or two sentences."""
    standard: str
    """Standard, textbook or tool whose usage it follows."""
    used_in: str = ""
    """Metrics, columns, fields and flags of dcplan that carry it."""
