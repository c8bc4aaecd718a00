"""``dcplan import``: every row of a file is imported, or rejected with a reason."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from dcplan.answers.imports.prices import fx_of, import_prices
from dcplan.answers.imports.request import ImportRequest, Kind
from dcplan.answers.imports.spend import import_spend
from dcplan.answers.imports.workbook import import_book
from dcplan.result import Result
from dcplan.specs import imports as specs

MOST_REASONS = 4
"""Reasons that :func:`rejected` names."""


def imported(request: ImportRequest) -> tuple[Result, str]:
    """Return the outcome of every row, and the YAML of an overlay or of overrides.

    Raises
    ------
    InputError
        When the file cannot be read as its ``kind``.
    """
    if request.kind is Kind.WORKBOOK:
        return import_book(request.file)
    read = import_prices if request.kind is Kind.PRICES else import_spend
    catalogs = tuple(Path(c) for c in request.catalogs)
    return read(request.file, catalogs=catalogs, fx=fx_of(request.fx))


def rejected(result: Result) -> str:
    """Count the rejected rows by reason, the most frequent reasons first.

    The details of a reason, after a colon or semicolon and in quotes, do not count.
    """
    lines: dict[str, set[int]] = defaultdict(set)
    for row in specs.REJECTED.rows(result.tables[specs.REJECTED.name]):
        lines[_kind(row.reason)].add(row.line)
    order = sorted(lines, key=lambda kind: -len(lines[kind]))
    words = [f"{kind} ({len(lines[kind]):,})" for kind in order[:MOST_REASONS]]
    rest = set().union(*(lines[kind] for kind in order[MOST_REASONS:]))
    words += [f"other reasons ({len(rest):,})"] if rest else []
    total = len(set().union(*lines.values()))
    return f"{total:,} rows rejected: {', '.join(words)}"


def _kind(reason: str) -> str:
    """Return a reason without its details.

    Examples
    --------
    >>> _kind("unknown accelerator 'B3'; did you mean b300?"), _kind("invalid date '1': use 2026")
    ('unknown accelerator', 'invalid date')
    >>> _kind("superseded by line 4: spot in us-east")
    'superseded by another line'
    """
    plain = re.sub(r"\s*('[^']*'|\"[^\"]*\")", "", reason)
    plain = re.sub(r"line \d+", "another line", plain)
    return re.split(r"[:;]", plain, maxsplit=1)[0].strip() or reason
