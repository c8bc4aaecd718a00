"""The house: floors, rooms, circles, folder sizes and file lengths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "dcplan"
FLOORS: list[set[str]] = [
    {"units", "provenance", "errors", "result", "specs", "cache", "garbage", "__init__"},
    {"catalog"},
    {"engine"},
    {"scenario"},
    {"facility", "economics", "energy"},
    {"fabric"},
    {"llm"},
    {"training", "serving"},
    {"reliability"},
    {"demand"},
    {"inputs"},
    {"planning"},
    {"answers"},
    {"report", "study"},
    {"api"},
    {"cli", "__main__"},
]
PHYSICS = {
    *("llm", "training", "serving", "reliability", "demand", "fabric", "facility", "economics"),
    "energy",
}
ALLOWED_IN_PHYSICS = {
    *("__future__", "numpy", "dcplan", "math", "statistics", "psychrolib", "scipy"),
    *("dataclasses", "collections", "typing", "functools", "enum", "heapq"),
    *("bisect", "itertools"),
}
ONLY_IN = {
    "pyomo": {"planning/model", "planning/solve"},
    "highspy": {"planning/solve"},
    "rich": {"report", "cli"},
    "yaml": {"catalog/yaml12.py"},
    "psychrolib": {"facility/moist.py"},
    "scipy": {
        *("energy", "planning", "training", "llm", "study"),
        *("economics/sampling.py", "demand/state_space.py"),
    },
    "pandas": {"result.py"},
}
LIGHT = re.compile(
    r"dcplan\.(cli|specs)\b|dcplan\.(answers|study)\.\w+\.request$|dcplan\.engine\.request$"
)
"""What commands may import before they run: declarations alone."""
FILES = sorted(PACKAGE.rglob("*.py"))


def floor_of(room: str) -> int:
    return next(i for i, rooms in enumerate(FLOORS) if room in rooms)


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"relative import in {file}"
            yield node.module


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_all_rooms_stand_on_a_floor() -> None:
    rooms = {room_of(f) for f in FILES}
    assert rooms <= set().union(*FLOORS)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_no_import_goes_up(file: Path) -> None:
    own = floor_of(room_of(file))
    for module in imports(file):
        parts = module.split(".")
        if parts[0] != "dcplan" or len(parts) == 1 or room_of(file) == "__init__":
            continue  # dcplan/__init__ names the answers for type checkers only
        assert floor_of(parts[1]) <= own, f"{file}: {module} is above"


def test_facility_and_economics_import_no_physics_room() -> None:
    for file in FILES:
        if room_of(file) in {"facility", "economics", "energy"}:
            seen = {m.split(".")[1] for m in imports(file) if m.startswith("dcplan.")}
            assert not (seen & PHYSICS - {room_of(file)}), file


def test_serving_imports_only_its_own_room_llm_and_units() -> None:
    for file in FILES:
        if room_of(file) == "serving":
            seen = {m.split(".")[1] for m in imports(file) if m.startswith("dcplan.")}
            assert seen <= {"serving", "llm", "units"}, file


def test_physics_rooms_know_only_numbers() -> None:
    for file in FILES:
        if room_of(file) in PHYSICS:
            foreign = {m.split(".")[0] for m in imports(file)} - ALLOWED_IN_PHYSICS
            assert not foreign, f"{file} imports {foreign}"


PLANLESS = {"train", "fabric", "facility", "tco", "validation", "calibrate"}
"""Verbs that make no plan themselves: tco asks the room of ``plan`` for its plans."""


def test_verbs_without_a_plan_import_no_planning() -> None:
    seen = set()
    for file in FILES:
        verb = file.relative_to(PACKAGE).parts[1:2]
        if room_of(file) == "answers" and verb and verb[0] in PLANLESS:
            seen.add(verb[0])
            found = [m for m in imports(file) if m.split(".")[:2] == ["dcplan", "planning"]]
            assert not found, f"{file}: {found}"
    assert seen == PLANLESS


@pytest.mark.parametrize("package", list(ONLY_IN))
def test_packages_stay_in_their_rooms(package: str) -> None:
    for file in FILES:
        if any(m.split(".")[0] == package for m in imports(file)):
            where = str(file.relative_to(PACKAGE))
            assert any(
                where == room or where.startswith(room + "/") for room in ONLY_IN[package]
            ), f"{where}: {package}"


def test_cli_modules_import_only_typer_and_the_standard_library_at_the_top() -> None:
    heavy = {"numpy", "pandas", "pyomo", "highspy", "pydantic", "yaml", "rich", "scipy"}
    for file in FILES:
        if room_of(file) != "cli":
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in names:
                assert name.split(".")[0] not in heavy, f"{file}: {name}"
                assert not name.startswith("dcplan.") or LIGHT.match(name), f"{file}: {name}"


MOST_LINES = 400


@pytest.mark.parametrize("folder", ["dcplan", "tests"])
def test_no_file_over_400_lines(folder: str) -> None:
    lengths = {
        file.relative_to(PACKAGE.parent).as_posix(): len(file.read_text("utf-8").splitlines())
        for file in (PACKAGE.parent / folder).rglob("*.py")
    }
    assert {file: n for file, n in lengths.items() if n > MOST_LINES} == {}


def test_no_registry_host_is_named() -> None:
    lock = (PACKAGE.parent / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert "--hash=sha256:" in lock


LABELS = {"line", "label"}
"""Fields of text that tables and sheets show."""
READERS = {"startswith", "endswith", "split", "partition", "rpartition", "find", "index"}


def reads_of_labels(tree: ast.AST) -> Iterator[int]:
    """Line numbers at which the text of a label is searched or compared."""

    def is_label(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr in LABELS

    def has_text(node: ast.AST) -> bool:
        return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node))

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in READERS and is_label(node.func.value):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_label, sides)) and any(map(has_text, sides)):
                yield node.lineno


def test_no_code_branches_on_the_text_of_a_label() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in FILES
        for line in reads_of_labels(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not found, "use FlowGroup, AssetClass or another typed field"


@pytest.mark.parametrize(
    "code", ["f.line.split()[0]", 'row.label in ("capital", "energy")', 'f.line == "network"']
)
def test_a_read_of_a_label_is_found(code: str) -> None:
    assert list(reads_of_labels(ast.parse(code))) == [1]
