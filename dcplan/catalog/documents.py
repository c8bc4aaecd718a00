"""Documents of a catalog folder: YAML files, and CSV files of one kind each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path as File
from typing import Any

from dcplan.catalog.delimiter import check_delimiter
from dcplan.catalog.schema import KINDS
from dcplan.catalog.yaml12 import Document, parse, read_text
from dcplan.errors import InputError, Problem
from dcplan.provenance import Path

TABLE_FILES = frozenset(
    {
        "climate_bins.csv",
        "fine_tuning_runs.csv",
        "post_training_facts.csv",
        "post_training_runs.csv",
        "published_recipes.csv",
        "serving_runs.csv",
        "training_runs.csv",
    }
)
"""CSV files that are read as arrays on demand, not as rows."""
PUBLISHED = "published"
"""Folder of published figures, read on demand (``catalog/published.py``)."""


def _csv_document(text: str, path: str, kind: str) -> Document:
    rows = []
    fields = KINDS[kind].model_fields if kind in KINDS else {}
    texts = {
        name
        for name, info in fields.items()
        if info.annotation is str or name in {"id", "name", "source"}
    }
    reader = csv.DictReader(io.StringIO(text))
    check_delimiter(reader.fieldnames or (), fields, path)
    for record in reader:
        cells = {
            key: _cell(value, key in texts)
            for key, value in record.items()
            if key and value not in ("", None)
        }
        rows.append(cells)
    lines = tuple(text.splitlines())
    values: dict[Path, tuple[int, int]] = {(kind, i): (i + 2, 1) for i in range(len(rows))}
    return Document(path, {kind: rows}, lines, values, {})


def _cell(text: str, is_text: bool) -> Any:
    try:
        return text if is_text else float(text)
    except ValueError:
        return text


def documents_of(
    folder: File, problems: list[Problem], *, ours: bool
) -> Iterable[tuple[Document, str]]:
    """Yield each document of a folder with its text; problems of files are added to the list."""
    for file in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.yml"))) + sorted(
        folder.rglob("*.csv")
    ):
        if file.name in TABLE_FILES or file.parent.name == PUBLISHED:
            continue
        try:
            text = read_text(file)
            is_csv = file.suffix == ".csv"
            document = (
                _csv_document(text, str(file), file.stem)
                if is_csv
                else parse(text, str(file), ours=ours)
            )
        except InputError as error:
            problems += error.problems
            continue
        yield document, text
