"""docs/method against the code: places exist, no formula and no constraint is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.test_reach import AWAITED

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs" / "method").glob("*.md")), ROOT / "docs" / "architecture.md"]
PLACE = re.compile(r"`((?:[a-z_]+/)+[a-z_0-9]+\.py): ([A-Za-z_0-9]+(?:, [A-Za-z_0-9]+)*)`")
PLUMBING = {
    "economics/ranges.py": "checks of arguments",
    "economics/sampling.py": "draws samples; docs/method/planning.md says how",
    "serving/queue/draws.py": "quantiles of distributions at fixed points",
    "serving/tables.py": "rows as arrays",
    "training/many/layouts.py": "rows as arrays",
    "training/many/requests.py": "groups of requests that one search answers",
}
"""Files whose functions compute no figure of the subject."""
NOT_FORMULAS = {"as_array", "months", "total"}


def defined(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_place_in_the_code_exists(page: Path) -> None:
    missing = []
    for file, names in PLACE.findall(page.read_text(encoding="utf-8")):
        path = ROOT / "dcplan" / file
        known = defined(path) if path.is_file() else set()
        missing += [f"{file}: {name}" for name in names.split(", ") if name not in known]
    assert missing == []


@pytest.mark.parametrize(
    "room",
    [
        *("demand", "energy", "facility", "economics", "fabric", "llm", "reliability", "serving"),
        "training",
    ],
)
def test_every_public_function_of_a_room_is_explained(room: str) -> None:
    pages = ("training", "serving") if room == "llm" else (room,)
    files = [ROOT / "docs" / "method" / f"{page}.md" for page in pages]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    named = {(file, name) for file, names in PLACE.findall(text) for name in names.split(", ")}
    missing = []
    for file in sorted((ROOT / "dcplan" / room).rglob("*.py")):
        place = file.relative_to(ROOT / "dcplan").as_posix()
        if place in PLUMBING:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        public = [
            n.name
            for n in tree.body
            if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")
        ]
        module = place.removesuffix(".py").replace("/", ".")
        missing += [
            f"{place}: {n}"
            for n in public
            if (place, n) not in named and n not in NOT_FORMULAS and f"{module}.{n}" not in AWAITED
        ]
    assert missing == []


def test_every_constraint_and_objective_is_in_the_table() -> None:
    text = (ROOT / "docs" / "method" / "planning.md").read_text(encoding="utf-8")
    made: set[str] = set()
    for file in (ROOT / "dcplan" / "planning" / "model").rglob("*.py"):
        made |= set(
            re.findall(
                r"model\.(\w+) = pyo\.(?:Constraint|Objective)\(", file.read_text(encoding="utf-8")
            )
        )
    assert len(made) > 40
    assert {name for name in made if f"`{name}`" not in text} == set()
