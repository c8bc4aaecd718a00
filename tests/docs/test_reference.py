"""docs/reference is what the code says now; mkdocs knows every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.catalog.yaml12 import parse, read_text
from dcplan.errors import CODES
from tests.docs.reference import pages

ROOT = Path(__file__).parents[2]


def test_reference_pages_are_what_the_code_says(request: pytest.FixtureRequest) -> None:
    folder = ROOT / "docs" / "reference"
    made = pages()
    if request.config.getoption("--update-golden"):
        folder.mkdir(exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")
    for name, text in made.items():
        assert (folder / name).read_text(encoding="utf-8") == text, (
            f"{name}: pytest {__file__} --update-golden"
        )
    assert {f.name for f in folder.glob("*.md")} == set(made)


def test_every_code_has_its_anchor() -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"## {code}\n" not in text] == []


def test_every_page_stands_in_the_navigation() -> None:
    file = ROOT / "mkdocs.yml"
    named = set(_paths(parse(read_text(file), str(file)).data["nav"]))
    there = {
        str(p.relative_to(ROOT / "docs"))
        for p in (ROOT / "docs").rglob("*.md")
        if "examples" not in p.parts
    }
    assert named == there


def _paths(node: object) -> list[str]:
    if isinstance(node, str):
        return [node]
    children = node.values() if isinstance(node, dict) else node
    return [path for child in children for path in _paths(child)]  # type: ignore[attr-defined]
