"""Every metric of every verb, read from where the code makes it: a key that is not made is not
documented.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dcplan
from dcplan.specs import registry

VERBS = {
    "plan": "plan",
    "train": "train",
    "fabric": "fabric",
    "facility": "facility",
    "tco": "tco",
    "validation": "validate",
    "imports": "import",
    "frontier": "frontier",
    "check": "check",
}
"""Folder of ``answers`` or ``study`` -> the verb whose metrics it makes."""
PATTERNS = {
    "<name>.<key>": (
        "racks.<system>, accelerators.<system>, switches.<model>",
        "Of one system, or one switch",
    ),
    "unmet.<j>": ("unmet.<job>", "Runs not done: every job must run"),
}
"""Keys whose names or texts are put together at run time, as a reader writes them."""


@dataclass(frozen=True)
class MetricDoc:
    """One metric key with its unit and meaning; ``<…>`` stands for an id."""

    key: str
    unit: str
    meaning: str
    verb: str


@functools.cache
def metrics() -> tuple[MetricDoc, ...]:
    """All metrics by verb, in the order in which the code makes them.

    Examples
    --------
    >>> next(m for m in metrics() if m.key == "cost.npv_usd").meaning
    'Net present cost'
    """
    root = Path(dcplan.__file__).parent
    found: dict[tuple[str, str], MetricDoc] = {
        (verb, m.key): MetricDoc(m.key, m.unit, m.meaning, verb)
        for verb in registry.VERBS
        for m in registry.metrics(verb)
    }
    for file in sorted((*root.glob("answers/**/*.py"), *root.glob("study/**/*.py"))):
        verb = VERBS.get(file.relative_to(root).parts[1])
        if verb is None:
            continue
        for key, unit, text in _made(ast.parse(file.read_text(encoding="utf-8"))):
            name, words = PATTERNS.get(key, (key, ""))
            found.setdefault((verb, name), MetricDoc(name, unit, words or text, verb))
    return tuple(sorted(found.values(), key=lambda m: list(VERBS.values()).index(m.verb)))


def _made(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Key, unit and label of each ``Metric(...)`` that is stored under a key."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        names: dict[str, str] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.JoinedStr):
                names[getattr(node.targets[0], "id", "")] = _text(node.value, names)
        for node in ast.walk(function):
            for key, call in _pairs(node):
                unit, label = (*[_text(a, {}) for a in call.args[1:3]], "", "")[:2]
                yield _text(key, names), unit, label


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    if isinstance(node, ast.Dict):
        pairs = list(zip(node.keys, node.values, strict=True))
    elif isinstance(node, ast.DictComp):
        pairs = [(node.key, node.value)]
    elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
        pairs = [(target.slice, node.value)]
    for key, value in pairs:
        if (
            key is not None
            and isinstance(value, ast.Call)
            and getattr(value.func, "id", "") == "Metric"
        ):
            yield key, value


def _text(node: ast.expr, names: dict[str, str]) -> str:
    """An expression as text, what is known at run time alone as ``<name>``."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(v.value if isinstance(v, ast.FormattedValue) else v, names) for v in node.values
        )
    if isinstance(node, ast.Name):
        return names.get(node.id, f"<{node.id}>")
    if isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else node.attr
        return f"<{owner if node.attr in ('id', 'name') else node.attr}>"
    return "<?>"


def fits(key: str, word: str) -> bool:
    """Whether a word is a documented key; what stands in ``<…>`` is any text.

    Examples
    --------
    >>> fits("train.<job>.days", "train.flagship.days"), fits("train.<job>.days", "train.days")
    (True, False)
    """
    parts = re.split(r"(<[^>]*>)", key)
    return (
        re.fullmatch("".join(".+" if p.startswith("<") else re.escape(p) for p in parts), word)
        is not None
    )
