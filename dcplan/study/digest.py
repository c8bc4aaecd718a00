"""Digest of everything that an answer depends on: inputs, catalogs, files, code and options."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import dcplan
from dcplan.catalog.locate import data_dir
from dcplan.result import SCHEMA
from dcplan.scenario.load import Question

ENGINES = ("highspy", "numpy", "scipy", "pyomo")
UNSOLVED = ("catalogs", "description", "expect", "extends", "overrides", "scenarios", "sweep")
"""Parts of a scenario that no plan depends on: they are already merged, or are evaluated
after the solve."""


def content_key(question: Question, options: Mapping[str, Any]) -> str:
    """Compute the digest of everything that the answer to a question depends on.

    The location of the file, its comments and the order of its keys do not count.

    Parameters
    ----------
    question : Question
        Resolved and checked.
    options : mapping
        Flags that change the answer: verb, gap, time limit.
    """
    data = {k: v for k, v in question.tree.data.items() if k not in UNSOLVED}
    return key_of(
        {
            "inputs": data,
            "catalogs": question.catalog.digest,
            "files": {name: _digest(path) for name, path in sorted(_named(data, question.folder))},
            "options": dict(options),
        }
    )


def key_of(content: Mapping[str, Any]) -> str:
    """Compute the digest of a JSON document and of the code that reads it."""
    text = json.dumps(
        {**content, "schema": SCHEMA, "code": code_digest()}, sort_keys=True, default=str
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _named(node: Any, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the model files that a scenario names."""
    if isinstance(node, str) and node.endswith(".json") and (folder / node).is_file():
        yield node, folder / node
    children = (
        node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    )
    for child in children:
        yield from _named(child, folder)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def code_digest() -> str:
    """Return the digest of the code and tables of dcplan and of the versions of the solvers."""
    root = Path(dcplan.__file__).parent
    found = hashlib.sha256(dcplan.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        found.update(str(path.relative_to(root)).encode())
        found.update(path.read_bytes())
    tables = data_dir("catalogs")
    for path in sorted(
        p for p in tables.rglob("*") if p.is_file()
    ):  # the digest of the catalog does not cover tables
        found.update(str(path.relative_to(tables)).encode())
        found.update(path.read_bytes())
    for package in ENGINES:
        found.update(f"{package} {metadata.version(package)}".encode())
    return found.hexdigest()
