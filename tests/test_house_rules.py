"""Rules of the house that a reader relies on: no circles, small folders, no logic on text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.test_house import FILES, PACKAGE


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def graph() -> dict[str, set[str]]:
    """Every module with the modules it imports, inside functions and for type checkers too."""
    names = {module_of(f) for f in FILES}
    found: dict[str, set[str]] = {}
    for file in FILES:
        own = module_of(file)
        reached = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    reached.add(whole if whole in names else node.module)
        found[own] = (reached & names) - {own, "dcplan"}
    return found


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = [stack.pop()]
            while group[-1] != v:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for v in edges:
        if v not in index:
            visit(v)
    return found


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_no_modules_import_each_other() -> None:
    assert circles(graph()) == []


MOST_MODULES = 15


def test_no_folder_holds_more_modules_than_a_reader_can_hold() -> None:
    counts: dict[str, int] = {}
    for file in FILES:
        if file.name != "__init__.py":
            folder = file.parent.relative_to(PACKAGE.parent).as_posix()
            counts[folder] = counts.get(folder, 0) + 1
    assert {k: n for k, n in counts.items() if n > MOST_MODULES and k != "dcplan/cli"} == {}


WORDS = {"reason", "message", "cause", "headline", "label", "meaning", "note", "words", "line"}
"""Attributes that hold text for people."""
STARTS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split"}


def branches_on_words(tree: ast.AST) -> Iterator[int]:
    """Lines that decide by the text of a message or label."""

    def is_text(node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr in WORDS

    # the first words of a headline may title a picture: that decides nothing
    words = WORDS - {"headline"}

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            constant = any(isinstance(x, ast.Constant) and isinstance(x.value, str) for x in sides)
            if constant and any(is_text(x) for x in sides) and not _empty(sides):
                yield node.lineno
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in STARTS
            and is_text(node.func.value)
            and getattr(node.func.value, "attr", "") in words
        ):
            yield node.lineno


def _empty(sides: list[ast.expr]) -> bool:
    return any(isinstance(x, ast.Constant) and x.value == "" for x in sides)


def test_branches_on_words_are_found() -> None:
    seen = 'if "memory" in x.reason: pass\nif x.line.startswith("racks"): pass\nx.reason == ""\n'
    assert list(branches_on_words(ast.parse(seen))) == [1, 2]


def test_no_branch_reads_the_text_of_a_message_or_label() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in FILES
        for line in branches_on_words(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []


def reads_by_position(tree: ast.AST) -> Iterator[int]:
    """Lines that take a cell of a table's row by a number."""
    rows: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            source = node.iter
            if isinstance(source, ast.Attribute) and source.attr == "rows":
                rows.add(node.target.id)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in rows
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
        ):
            yield node.lineno


def test_reads_by_position_are_found() -> None:
    seen = "for row in table.rows:\n    x = row[4]\n    y = row[name]\n"
    assert list(reads_by_position(ast.parse(seen))) == [2]


def test_no_table_is_read_by_position() -> None:
    found = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in FILES
        for line in reads_by_position(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_names_of_the_model_are_parsed_nowhere() -> None:
    parsing = re.compile(r"""partition\("\["\)|split\("\["\)|startswith\("\w+\["\)""")
    folder = PACKAGE / "planning"
    found = [f.name for f in folder.rglob("*.py") if parsing.search(f.read_text(encoding="utf-8"))]
    assert found == []


def test_no_module_imports_the_solvers_of_pyomo() -> None:
    # pyomo.environ registers some 40 solvers, which takes longer than a small plan
    code = (
        "import sys, dcplan.planning.solve.strategy; "
        "assert 'pyomo.core' in sys.modules; assert 'pyomo.environ' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
