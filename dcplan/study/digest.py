"""Digest of everything that an answer depends on: inputs, catalogs, files, code and options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcplan.engine.code import code_digest
from dcplan.result import SCHEMA
from dcplan.scenario.load import Question

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
