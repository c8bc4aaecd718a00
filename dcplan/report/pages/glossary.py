"""Page of the glossary, made from the catalog of terms."""

from __future__ import annotations

from dcplan.answers.reference.glossary import terms
from dcplan.report.pages.page_text import page_table

HEAD = """\
# Glossary

Terms of the field as dcplan uses them, with unit, definition and the standard or the tool whose
usage they follow. `dcplan explain TERM` prints one of them with its source.
"""


def glossary_page() -> str:
    """Return the page: one table in the order of the names."""
    columns = ("term", "unit", "definition", "standard or usage", "used in")
    rows = [(t.name, t.unit, t.definition, t.standard, t.used_in) for t in terms()]
    return f"{HEAD}\n{page_table(columns, rows)}"
