"""Raw scenario data: merged files, overrides and ``--set`` changes, with the origin of each
value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcplan.catalog.schema import KINDS
from dcplan.catalog.yaml12 import Document, parse
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.series import FORM, KEYS, SHIFT, START, is_growth
from dcplan.scenario.shift import is_shift, shifted

CATALOG_PREFIXES = frozenset(KINDS)
QUOTED_OR_ELEMENT = re.compile(r"""("[^"]*"|'[^']*')|\[(\d+)\]""")
"""A quoted part of a key, or the number of an element as the inputs of an answer print it."""


@dataclass
class Tree:
    """Data, and for every subtree the document and path of its origin."""

    data: Any
    origins: dict[Path, tuple[Document, Path]] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> Tree:
        """Wrap one parsed file."""
        return cls(document.data, {(): (document, ())})

    def origin(self, path: Path) -> tuple[Document, Path]:
        """Return document and path of a value, from the longest known prefix."""
        for length in range(len(path), -1, -1):
            found = self.origins.get(path[:length])
            if found:
                return found[0], (*found[1], *path[length:])
        return next(iter(self.origins.values()))

    def part(self, path: Path) -> Tree:
        """Return a subtree with the origins of its own parts."""
        node = self.data
        for step in path:
            node = node[step]
        below = {p[len(path) :]: o for p, o in self.origins.items() if p[: len(path)] == path}
        return Tree(node, {(): self.origin(path)} | below)

    def place(self, path: Path) -> Place:
        """Return the place of a value in its file."""
        document, where = self.origin(path)
        return document.place(where)

    def problem(
        self,
        code: str,
        cause: str,
        path: Path,
        *,
        key: bool = False,
        hint: str = "",
        help: str = "",
    ) -> Problem:
        """Return a problem at the place of a value in its file."""
        document, where = self.origin(path)
        return document.problem(code, cause, where, key=key, hint=hint, help=help)

    def _own(self, path: Path, document: Document, where: Path) -> None:
        for known in [p for p in self.origins if p[: len(path)] == path and p != ()]:
            del self.origins[known]
        self.origins[path] = (document, where)


def merged(base: Tree, over: Tree) -> Tree:
    """Merge ``over`` deeply onto ``base``.

    Mappings merge by key, lists of mappings with an ``id`` merge by id, ``{replace: [...]}``
    replaces a list, and every other value is replaced.
    """
    result = Tree(base.data, dict(base.origins))
    result.data = _merge(result, base.data, over, over.data, (), ())
    return result


def _merge(result: Tree, old: Any, over: Tree, new: Any, at: Path, over_at: Path) -> Any:
    if isinstance(new, dict) and set(new) == {"replace"} and isinstance(new["replace"], list):
        result._own(at, *over.origin((*over_at, "replace")))  # same module
        return new["replace"]
    if isinstance(old, dict) and isinstance(new, dict) and not _another_form(old, new):
        merged_map = dict(old)
        for key, value in new.items():
            if key in old:
                merged_map[key] = _merge(result, old[key], over, value, (*at, key), (*over_at, key))
            else:
                result._own((*at, key), *over.origin((*over_at, key)))
                merged_map[key] = _unwrapped(result, over, value, (*at, key), (*over_at, key))
        return merged_map
    if _has_ids(old) and _has_ids(new):
        items = list(old)
        index = {item["id"]: i for i, item in enumerate(items)}
        for j, item in enumerate(new):
            i = index.get(item["id"], len(items))
            if i == len(items):
                items.append(item)
                result._own((*at, i), *over.origin((*over_at, j)))
            else:
                items[i] = _merge(result, items[i], over, item, (*at, i), (*over_at, j))
        return items
    result._own(at, *over.origin(over_at))
    return new


def _another_form(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether a number is replaced rather than merged: by a quantity, or by growth."""
    return "value" in new or ("value" in old and START in new)


def _unwrapped(result: Tree, over: Tree, new: Any, at: Path, over_at: Path) -> Any:
    """Turn ``{replace: [...]}`` into its list if there is nothing to replace."""
    if not isinstance(new, dict):
        return new
    if set(new) == {"replace"} and isinstance(new["replace"], list):
        result._own(at, *over.origin((*over_at, "replace")))
        return new["replace"]
    return {
        key: _unwrapped(result, over, value, (*at, key), (*over_at, key))
        for key, value in new.items()
    }


def _has_ids(node: Any) -> bool:
    return (
        isinstance(node, list)
        and bool(node)
        and all(isinstance(x, dict) and isinstance(x.get("id"), str) for x in node)
    )


def dotted(key: str) -> str:
    """Return a key whose elements of lists are printed as ``[7]`` with ``.7``.

    Examples
    --------
    >>> dotted("sites.a.energy.tiers[0].usd_per_kwh"), dotted('models."a[1]".note')
    ('sites.a.energy.tiers.0.usd_per_kwh', 'models."a[1]".note')
    """
    return QUOTED_OR_ELEMENT.sub(lambda found: found[1] or f".{found[2]}", key)


def split_key(key: str) -> list[str]:
    """Split a dotted key; parts with dots are quoted.

    Examples
    --------
    >>> split_key('models."llama-3.1-405b".tokens'), split_key("sites.a.utility_mw[7]")
    (['models', 'llama-3.1-405b', 'tokens'], ['sites', 'a', 'utility_mw', '7'])
    """
    parts: list[str] = []
    word, quote = "", ""
    for char in dotted(key):
        if quote:
            quote, word = ("", word) if char == quote else (quote, word + char)
        elif char in "\"'":
            quote = char
        elif char == ".":
            parts.append(word)
            word = ""
        else:
            word += char
    return [*parts, word]


def changed(tree: Tree, key: str, given: Tree) -> Tree:
    """Set the value at a dotted key: list elements by ``id``, catalog rows by kind and id.

    Each part of the value keeps its own origin, because files that extend one another may give an
    override in parts. A value ``shift(n)`` moves the value that is there by n quarters.

    Raises
    ------
    InputError
        DC014 if the key does not exist, DC004 if a value does not move in time.
    """
    parts = _parts(tree, key)
    result = Tree(tree.data, dict(tree.origins))
    document, where = given.origin(())
    problem, value = document.problem, given.data

    def refused(code: str, cause: str, *, help: str) -> Problem:
        return problem(code, cause, where, help=help)

    def descend(node: Any, rest: list[str], at: Path) -> Any:
        if not rest:
            moved = is_shift(value)
            top = (*at, SHIFT) if moved and is_growth(node) else at
            result._own(top, document, where)
            result.origins.update({(*top, *p): origin for p, origin in given.origins.items() if p})
            return shifted(node, at, value, refused) if moved else value
        head = rest[0]
        if isinstance(node, list):
            index = _list_index(node, head)
            if index is None:
                known = [
                    str(item["id"]) for item in node if isinstance(item, dict) and "id" in item
                ]
                cause = f"{key}: element {head!r} is not in {'.'.join(map(str, at)) or 'the list'}"
                hint, help_text = did_you_mean(head, known), f"give {FORM}" if head in KEYS else ""
                raise InputError(
                    [problem("DC014", cause, where, key=True, hint=hint, help=help_text)]
                )
            return [descend(x, rest[1:], (*at, i)) if i == index else x for i, x in enumerate(node)]
        if node is None or (isinstance(node, dict) and "value" not in node):
            copy = dict(node or {})
            if head not in copy:
                result._own((*at, head), document, where)
            copy[head] = descend(copy.get(head), rest[1:], (*at, head))
            return copy
        cause = f"{key}: {'.'.join(map(str, at))} is a value and has no {head!r}"
        help_text = f"give {FORM}" if head in KEYS else ""
        raise InputError([problem("DC014", cause, where, key=True, help=help_text)])

    result.data = descend(tree.data, parts, ())
    return result


def _parts(tree: Tree, key: str) -> list[str]:
    """Return the parts of a key; one of a catalog row begins with ``prices``."""
    parts = split_key(key)
    catalog = len(parts) >= 3 and parts[0] in CATALOG_PREFIXES
    if catalog and not _addresses_scenario(tree.data, parts):
        return ["prices", *parts[1:]]
    return parts


def _addresses_scenario(data: Any, parts: list[str]) -> bool:
    node = data.get(parts[0]) if isinstance(data, dict) else None
    if isinstance(node, dict):
        return True
    return _has_ids(node)


def canonical_key(tree: Tree, key: str) -> tuple[str, ...]:
    """Return the address of a key, independent of quotes and of id or position in lists.

    Examples
    --------
    >>> tree = Tree({"sites": [{"id": "a"}]})
    >>> canonical_key(tree, 'sites."a".utility_mw') == canonical_key(tree, "sites.0.utility_mw")
    True
    """
    parts, found = _parts(tree, key), list[str]()
    node = tree.data
    for part in parts:
        index = _list_index(node, part) if isinstance(node, list) else None
        if index is not None:
            own = node[index].get("id") if isinstance(node[index], dict) else None
            found.append(str(own) if own is not None else str(index))
            node = node[index]
        else:
            found.append(part)
            node = node.get(part) if isinstance(node, dict) else None
    return tuple(found[:-1] if found[-1] == "value" and len(found) > 1 else found)


def without_effect(sets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each change that a later one replaces, and that later one.

    A later ``shift(n)`` moves the value of the change before it, so both have an effect.

    Examples
    --------
    >>> list(without_effect(["sites.a.utility_mw=3", "sites.a={id: a}", "finance.x=1"]))
    [('sites.a.utility_mw=3', 'sites.a={id: a}')]
    >>> list(without_effect(["horizon.start=2027-Q1", "horizon.start=shift(1)"]))
    []
    """
    keys = [split_key(text.partition("=")[0].strip()) for text in sets]
    for i, text in enumerate(sets):
        for key, later in zip(keys[i + 1 :], sets[i + 1 :], strict=True):
            if keys[i][: len(key)] == key and not is_shift(later.partition("=")[2]):
                yield text, later
                break


def _list_index(node: list[Any], head: str) -> int | None:
    for i, item in enumerate(node):
        if isinstance(item, dict) and str(item.get("id")) == head:
            return i
    return int(head) if head.isdecimal() and head.isascii() and int(head) < len(node) else None


def set_document(text: str) -> tuple[str, Document]:
    """Read one ``--set key=value``; the value is a YAML 1.2 scalar, list or mapping.

    Raises
    ------
    InputError
        DC014 if there is no ``=``.
    """
    key, mark, value = text.partition("=")
    if not mark or not key.strip():
        cause = f"--set {text}: expected key=value"
        raise InputError(
            [
                Problem(
                    "DC014",
                    cause,
                    Place("--set"),
                    help="dcplan plan FILE --set finance.discount_rate=0.08",
                )
            ]
        )
    document = parse(value if value.strip() else "~", f"--set {key.strip()}")
    return key.strip(), document
