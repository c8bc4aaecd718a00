"""Terms of the field: ``dcplan explain TERM`` and the page of the glossary."""

from __future__ import annotations

import functools

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Term


@functools.cache
def terms() -> tuple[Term, ...]:
    """Return all terms of the catalog in the order of their names."""
    return tuple(sorted(load(()).table("glossary", Term).values(), key=lambda t: t.name.casefold()))


def term_named(word: str) -> Term | None:
    """Return the term of this id, name or alias, whatever its case and hyphens.

    Examples
    --------
    >>> found = term_named("Approach Temperature")
    >>> found.id if found else None
    'approach-temperature'
    """
    wanted = _plain(word)
    for term in terms():
        short = term.name.partition(" (")
        names = (term.id, term.name, short[0], short[2].rstrip(")"), *term.aliases)
        if wanted in {_plain(name) for name in names if name}:
            return term
    return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").replace("_", " ").split())
