"""Published figures, read on demand: ``published/*.yaml`` of the packaged catalogs and of each
overlay.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as File

from pydantic import ValidationError

from dcplan.catalog.documents import PUBLISHED
from dcplan.catalog.explain_validation import problems_of
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema.published import Published
from dcplan.catalog.yaml12 import parse, read_text
from dcplan.errors import InputError, Problem


def read(subject: str, folders: Sequence[File] = ()) -> list[Published]:
    """Read the rows of one subject in the order of their files; an overlay's row replaces the row
    with the same id.

    Raises
    ------
    InputError
        With every problem of every file.
    """
    rows: dict[str, Published] = {}
    problems: list[Problem] = []
    packaged = data_dir("catalogs")
    for folder in (packaged, *folders):
        seen: set[str] = set()
        for file in sorted((folder / PUBLISHED).glob("*.yaml")):
            document = parse(read_text(file), str(file), ours=folder == packaged)
            found = document.data.get(PUBLISHED) if isinstance(document.data, dict) else None
            if not isinstance(found, list):
                problems.append(
                    document.problem("DC004", f"expected a list under `{PUBLISHED}:`", ())
                )
                continue
            for i, fields in enumerate(found):
                try:
                    row = Published.model_validate(fields)
                except ValidationError as error:
                    problems += problems_of(error, document, Published, (PUBLISHED, i))
                    continue
                if row.id in seen:
                    problems.append(
                        document.problem(
                            "DC011", f"the id {row.id!r} occurs twice", (PUBLISHED, i, "id")
                        )
                    )
                seen.add(row.id)
                rows[row.id] = row
    if problems:
        raise InputError(problems)
    return [row for row in rows.values() if row.subject == subject]
