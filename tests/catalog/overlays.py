"""Helper of the catalog tests: write an overlay folder and load it."""

from __future__ import annotations

from pathlib import Path

from dcplan.catalog.loader import Catalog, load

ACCELERATOR = """accelerators:
  - id: test-chip
    name: Test chip
    source: {title: "made up", as_of: 2026-01}
"""


def overlay(folder: Path, name: str = "x.yaml", text: str = ACCELERATOR) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def loaded(folder: Path, text: str) -> Catalog:
    return load((overlay(folder, text=text),))
