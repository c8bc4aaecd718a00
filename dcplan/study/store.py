"""Answers kept by what they depend on, in the project's own folder that git ignores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcplan.report.files import write_whole
from dcplan.scenario.load import project_root

FOLDER = ".dcplan"


class Store:
    """Documents by their key, one file each; written whole, so that a reader never sees a half."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Return where a document is kept."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a document, or None where there is none that can be read."""
        try:
            found = json.loads(self.path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Keep a document.

        Raises
        ------
        OSError
            When the folder cannot be written.
        """
        text = json.dumps(document, sort_keys=True, allow_nan=False, ensure_ascii=False)
        write_whole(self.path(key), text + "\n")


class Memory(Store):
    """The same for one call: nothing is written."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.documents: dict[str, dict[str, Any]] = {}

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a document of this call."""
        return self.documents.get(key)

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Keep a document for this call."""
        self.documents[key] = dict(document)


def home(folder: Path | None = None) -> Path:
    """Return the project's own folder for what dcplan keeps; git ignores it.

    Raises
    ------
    OSError
        When it cannot be made.
    """
    found = project_root((folder or Path.cwd()) / "any") / FOLDER
    found.mkdir(parents=True, exist_ok=True)
    ignore = found / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return found
