"""Loading of catalog folders into typed rows; overlays merge by id and field, and later folders
override earlier ones.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from dcplan.cache import Shelf, files_key, stored
from dcplan.catalog.documents import documents_of
from dcplan.catalog.explain_validation import problems_of
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import KINDS, Row
from dcplan.catalog.yaml12 import Document
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.provenance import Path, Status, sealed

R = TypeVar("R", bound=Row)
SUFFIXES = (".csv", ".yaml", ".yml")
"""Files of a catalog folder."""
PARSED = Shelf("catalogs", 8)
"""Parsed catalogs of earlier processes: reading some 90 files takes longer than many answers."""


@dataclass(frozen=True)
class Catalog:
    """All rows by kind and id; aliases resolve to ids."""

    rows: Mapping[str, Mapping[str, Row]]
    digest: str

    def table(self, kind: str, model: type[R]) -> Mapping[str, R]:
        """Return the rows of one kind, typed."""
        return cast("Mapping[str, R]", self.rows[kind]) if model else {}

    def find(self, kind: str, reference: str, model: type[R]) -> R | None:
        """Find a row by id or alias, or None."""
        table = self.table(kind, model)
        if reference in table:
            return table[reference]
        return next((row for row in table.values() if reference in row.aliases), None)

    def get(self, kind: str, reference: str, model: type[R]) -> R:
        """Return a row by id or alias.

        Raises
        ------
        KeyError
            If the row does not exist; the loaders check references before any computation.
        """
        row = self.find(kind, reference, model)
        if row is None:
            msg = f"{kind} has no row {reference!r}"
            raise KeyError(msg)
        return row

    def kinds_of(self, reference: str) -> list[str]:
        """Return the kinds that have a row with this id or alias."""
        return [kind for kind, table in self.rows.items() if _resolve(table, reference)]

    def overlaid(
        self, changes: Mapping[str, Mapping[str, dict[str, Any]]], document: Document, base: Path
    ) -> Catalog:
        """Return a copy in which a scenario's own values replace fields of some rows.

        ``changes`` is kind -> id -> fields as read; ``base`` is the path of the ids in the document.
        """
        rows: dict[str, dict[str, Row]] = {kind: dict(table) for kind, table in self.rows.items()}
        problems: list[Problem] = []
        for kind, entries in changes.items():
            model = KINDS[kind]
            for reference, fields in entries.items():
                key = _resolve(rows[kind], reference) or reference
                old = rows[kind].get(key)
                merged = (
                    merge(old.model_dump(exclude_none=True), fields)
                    if old
                    else {"id": key, **fields}
                )
                try:
                    row = model.model_validate(merged)
                except ValidationError as error:
                    problems += problems_of(error, document, model, (*base, reference))
                    continue
                origin = functools.partial(_where, document, (*base, reference))
                rows[kind][key] = sealed(row, status=Status.INPUT, locate=origin)
        if problems:
            raise InputError(problems)
        return Catalog(rows, self.digest)


def _where(document: Document, base: Path, path: Path) -> str:
    return str(document.place((*base, *path)))


def _resolve(table: Mapping[str, Row], reference: str) -> str | None:
    if reference in table:
        return reference
    return next((key for key, row in table.items() if reference in row.aliases), None)


def merge(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings deeply; a new number replaces the complete old quantity.

    Examples
    --------
    >>> merge({"a": {"value": 1, "low": 0}, "b": 2}, {"a": 5})
    {'a': 5, 'b': 2}
    >>> merge({"k": {"x": 1, "y": 2}}, {"k": {"y": 3}})
    {'k': {'x': 1, 'y': 3}}
    """
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        if both and "value" not in value and "value" not in cast("dict[str, Any]", before):
            result[key] = merge(cast("dict[str, Any]", before), value)
        else:
            result[key] = value
    return result


def load(folders: tuple[File, ...] = ()) -> Catalog:
    """Read the packaged catalogs and then each overlay folder.

    Raises
    ------
    InputError
        With every problem of every file: unknown kind, unknown field, missing source, wrong value,
        duplicate id.
    """
    return _load(tuple(str(folder.resolve()) for folder in folders))


@functools.lru_cache(maxsize=4)
def _load(folders: tuple[str, ...]) -> Catalog:
    packaged = data_dir("catalogs")
    for folder in folders:
        if not File(folder).is_dir():
            cause = "the folder of --catalogs does not exist"
            raise InputError([Problem("DC006", cause, Place(folder))])
    every = (packaged, *map(File, folders))
    return stored(PARSED, files_key(every, SUFFIXES), lambda: _parsed(every))


def _parsed(folders: tuple[File, ...]) -> Catalog:
    """Read folders; the first is the packaged one."""
    digest = hashlib.sha256()
    rows: dict[str, dict[str, Row]] = {kind: {} for kind in KINDS}
    places: dict[tuple[str, str], tuple[Document, Path]] = {}
    problems: list[Problem] = []
    packaged = folders[0]
    for folder in folders:
        entries: dict[tuple[str, str], tuple[dict[str, Any], Document, Path]] = {}
        for document, text in documents_of(folder, problems, ours=folder == packaged):
            digest.update(text.encode())
            problems += _collect(document, entries)
        for (kind, key), (fields, document, path) in entries.items():
            places[kind, key] = (document, path)
            try:
                row = _row(
                    kind, rows[kind].get(key), fields, document, path, overlay=folder != packaged
                )
            except ValidationError as error:
                problems += problems_of(error, document, KINDS[kind], path)
                continue
            rows[kind][key] = row
    problems += _double_names(rows, places)
    if problems:
        raise InputError(problems)
    return Catalog(rows, digest.hexdigest())


def _row(
    kind: str,
    old: Row | None,
    fields: dict[str, Any],
    document: Document,
    path: Path,
    *,
    overlay: bool,
) -> Row:
    """Validate a row; values that an overlay does not change keep their place and source."""
    merged = merge(old.model_dump(exclude_none=True), fields) if old else fields
    row = KINDS[kind].model_validate(merged)
    source = (
        f"overlay {document.path}"
        if overlay and old and "source" not in fields
        else str(row.source)
    )
    sealed_row: Row = sealed(
        row,
        status=Status.CATALOG,
        source=source,
        as_of=None if overlay and old and "source" not in fields else row.source.as_of,
        locate=functools.partial(_where, document, path),
    )
    return sealed_row


def _collect(
    document: Document, entries: dict[tuple[str, str], tuple[dict[str, Any], Document, Path]]
) -> list[Problem]:
    problems: list[Problem] = []
    if not isinstance(document.data, dict):
        return [document.problem("DC004", "expected kinds, such as `systems:`", ())]
    for kind, found in document.data.items():
        if kind not in KINDS or not isinstance(found, list):
            hint = did_you_mean(str(kind), KINDS)
            cause = f"{kind}: this is not a list of a known kind"
            problems.append(document.problem("DC002", cause, (kind,), key=True, hint=hint))
            continue
        for i, fields in enumerate(found):
            path: Path = (kind, i)
            if not isinstance(fields, dict) or not isinstance(fields.get("id"), str):
                problems.append(document.problem("DC003", f"{kind}[{i}]: a row needs an id", path))
                continue
            key = fields["id"]
            if (kind, key) in entries:
                _, other, where = entries[kind, key]
                cause = f"{kind}: the id {key!r} occurs twice in one folder; first at {other.place(where)}"
                problems.append(document.problem("DC011", cause, (*path, "id")))
                continue
            entries[kind, key] = (fields, document, path)
    return problems


def _double_names(
    rows: Mapping[str, Mapping[str, Row]], places: Mapping[tuple[str, str], tuple[Document, Path]]
) -> list[Problem]:
    problems = []
    for kind, table in rows.items():
        owner: dict[str, str] = {}
        for key, row in table.items():
            for name in (key, *row.aliases):
                if owner.setdefault(name, key) != key:
                    document, path = places[kind, key]
                    cause = f"{kind}: {name!r} is a name of both {owner[name]!r} and {key!r}"
                    problems.append(document.problem("DC011", cause, path))
    return problems
