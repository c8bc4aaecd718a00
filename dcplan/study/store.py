"""Stored answers, by the digest of their inputs, in a folder of the project that git ignores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcplan.report.files import write_whole
from dcplan.scenario.load import project_root

FOLDER = ".dcplan"


class Store:
    """Documents by key, one file each; each write is atomic, so no reader sees a partial file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Return the path of a document."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a document, or None if there is no readable one."""
        try:
            found = json.loads(self.path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Store a document.

        Raises
        ------
        OSError
            When the folder cannot be written.
        """
        text = json.dumps(document, sort_keys=True, allow_nan=False, ensure_ascii=False)
        write_whole(self.path(key), text + "\n")


class Memory(Store):
    """A store in memory for one call: nothing is written to disk."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.documents: dict[str, dict[str, Any]] = {}

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a document of this call."""
        return self.documents.get(key)

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Store a document for this call."""
        self.documents[key] = dict(document)


def home(folder: Path | None = None) -> Path:
    """Return the folder of the project for stored answers; git ignores it.

    Raises
    ------
    OSError
        When the folder cannot be created.
    """
    found = project_root((folder or Path.cwd()) / "any") / FOLDER
    found.mkdir(parents=True, exist_ok=True)
    ignore = found / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return found
