"""YAML 1.2 core with positions: plain data, and the place of each value and key.

PyYAML follows YAML 1.1 (``NO`` is False, ``12:30`` is 750, ``1e3`` is text); editors and planners
expect YAML 1.2. Tags and code are not allowed; size, depth and alias growth are limited, because
files may come from strangers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any, cast

import yaml

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.provenance import Path

MAX_BYTES = 8_000_000
MAX_DEPTH = 40
MAX_NODES = 400_000
MAX_ALIAS_NODES = 20_000
MAX_DIGITS = 100

_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")
_SPECIAL = re.compile(r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")


class _Loader(yaml.CSafeLoader):
    """C parser without implicit types: scalars are read by :func:`_scalar`."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML declares it so


@dataclass(frozen=True)
class Document:
    """Parsed data with the place of each part."""

    path: str
    data: Any
    lines: tuple[str, ...] = ()
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Return the place of a value (or of its key), or of the nearest known ancestor."""
        for length in range(len(path), -1, -1):
            part = path[:length]
            found = (
                self.keys.get(part) if key and length == len(path) else None
            ) or self.values.get(part)
            if found:
                return Place(self.path, *found)
        return Place(self.path, 1, 1)

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
        """Build a problem with the source line and a caret under the key or value."""
        place = self.place(path, key=key)
        excerpt = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        rest = excerpt[place.column - 1 :]
        word = re.match(r"[\w.+-]+|\"[^\"]*\"|'[^']*'|.", rest)
        return Problem(code, cause, place, hint, help, excerpt, len(word.group(0)) if word else 1)


def _scalar(node: yaml.ScalarNode) -> Any:
    text = str(node.value)
    if node.style:  # the C parser says "" for plain scalars
        return text
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text.lower() == "true"
    if _INT.match(text):
        return (
            int(text, 8)
            if text.startswith("0o")
            else int(text, 16)
            if text.startswith("0x")
            else int(text)
        )
    if _FLOAT.match(text):
        return float(text)
    if _SPECIAL.match(text):
        return float(text.replace(".", ""))
    return text


class _Builder:
    def __init__(self, path: str, lines: tuple[str, ...]) -> None:
        self.doc = Document(path, None, lines)
        self.problems: list[Problem] = []
        self.count = 0
        self.repeats = 0
        self.seen: set[int] = set()
        self.open: set[int] = set()

    def _stop(self, node: yaml.Node, cause: str) -> InputError:
        mark = node.start_mark
        return InputError(
            [Problem("DC007", cause, Place(self.doc.path, mark.line + 1, mark.column + 1))]
        )

    def build(self, node: yaml.Node, path: Path) -> Any:
        mark = node.start_mark
        self.doc.values[path] = (mark.line + 1, mark.column + 1)
        self.count += 1
        self.repeats += id(node) in self.seen
        if len(path) > MAX_DEPTH or id(node) in self.open:
            raise self._stop(
                node, f"nested deeper than {MAX_DEPTH} levels, or an alias that contains itself"
            )
        if self.count > MAX_NODES or self.repeats > MAX_ALIAS_NODES:
            raise self._stop(
                node,
                f"more than {MAX_NODES} values, or aliases that expand to more than {MAX_ALIAS_NODES}",
            )
        if isinstance(node, yaml.ScalarNode):
            if len(node.value) > MAX_DIGITS and _INT.match(node.value):
                raise self._stop(node, f"a number of more than {MAX_DIGITS} digits")
            return _scalar(node)
        self.seen.add(id(node))
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.build(child, (*path, i)) for i, child in enumerate(node.value)]
            return self._mapping(cast("yaml.MappingNode", node), path)
        finally:
            self.open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            place = Place(self.doc.path, mark.line + 1, mark.column + 1)
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append(Problem("DC001", "a key must be plain text", place))
                continue
            key = str(key_node.value)
            where = (*path, key)
            if key in result:
                first = self.doc.keys[where]
                cause = f'the key "{key}" occurs twice; first at line {first[0]}, column {first[1]}'
                self.problems.append(
                    Problem(
                        "DC005", cause, place, excerpt=self.doc.lines[mark.line], width=len(key)
                    )
                )
                continue
            self.doc.keys[where] = (place.line, place.column)
            result[key] = self.build(value_node, where)
        return result


def read_text(file: File) -> str:
    """Read a bounded UTF-8 text file.

    Raises
    ------
    InputError
        DC006 if it cannot be read, DC007 if it is larger than 8 MB.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError(
                [Problem("DC007", f"larger than {MAX_BYTES:,} bytes", Place(str(file)))]
            )
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        missing = file.parent.is_dir() and not file.exists()
        near = [p.name for p in file.parent.glob("*.yaml")] if missing else []
        hint = did_you_mean(file.name, near)
        raise InputError(
            [Problem("DC006", f"cannot read the file: {reason}", Place(str(file)), hint)]
        ) from error


def _walk_events(text: str, path: str, lines: tuple[str, ...]) -> list[Problem]:
    """Limit the nesting before recursive parsing, and find every explicit tag.

    Raises
    ------
    InputError
        DC001 for a syntax error, DC007 for nesting beyond the limit.
    """
    problems: list[Problem] = []
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            mark: Any = event.start_mark
            place = Place(path, mark.line + 1, mark.column + 1)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH + 1:
                    raise InputError(
                        [Problem("DC007", f"nested deeper than {MAX_DEPTH} levels", place)]
                    )
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            tag = getattr(event, "tag", None)
            if tag and tag != "!":
                problems.append(Problem("DC001", f"tags are not allowed ({tag})", place))
    except yaml.YAMLError as error:
        raise InputError([_syntax(error, path, lines)]) from error
    return problems


def _syntax(error: yaml.YAMLError, path: str, lines: tuple[str, ...]) -> Problem:
    mark = getattr(error, "problem_mark", None)
    place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
    excerpt = lines[mark.line] if mark and mark.line < len(lines) else ""
    cause = str(getattr(error, "problem", None) or error).strip()
    near = (
        enumerate(lines[max(mark.line - 1, 0) : mark.line + 1], max(mark.line, 1)) if mark else ()
    )
    wrong = next((n for n, line in near if _spaced_wrongly(line)), None)
    help_text = (
        f"write plain spaces on line {wrong}, not a tab or a non-breaking space" if wrong else ""
    )
    return Problem("DC001", cause, place, help=help_text, excerpt=excerpt)


def _spaced_wrongly(line: str) -> bool:
    """Whether a line is indented with a tab, or has a space that YAML reads as text."""
    return "\t" in line[: len(line) - len(line.lstrip())] or "\u00a0" in line


def parse(text: str, path: str, *, ours: bool = False) -> Document:
    r"""Parse YAML 1.2 core text; all duplicate keys and tags are reported at once.

    Packaged files (``ours``) are not checked for tags and depth first: that check takes a third of
    the time, and the tests run it.

    Examples
    --------
    >>> parse("a: NO\nb: 12:30\nc: 1e3\nd: 010\ne: [1, x]", "x.yaml").data
    {'a': 'NO', 'b': '12:30', 'c': 1000.0, 'd': 10, 'e': [1, 'x']}
    """
    lines = tuple(text.splitlines())
    tags = [] if ours else _walk_events(text, path, lines)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        raise InputError([_syntax(error, path, lines)]) from error
    finally:
        loader.dispose()
    if node is None:
        raise InputError([Problem("DC001", "the file is empty", Place(path))])
    builder = _Builder(path, lines)
    builder.problems += tags
    data = builder.build(node, ())
    if builder.problems:
        raise InputError(builder.problems)
    return Document(path, data, lines, builder.doc.values, builder.doc.keys)


class _Quoting(yaml.SafeDumper):
    """Dumper that quotes text that YAML 1.2 or 1.1 could read as another type."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if PLAIN.fullmatch(text) else '"'
    )


PLAIN = re.compile(r"[A-Za-z_][A-Za-z_.-]*[A-Za-z_]|[A-Za-z_][A-Za-z0-9_.-]*-[A-Za-z0-9_.-]+")
"""Words and ids that cannot be read as a number."""
_Quoting.add_representer(str, _quoted)


def dump(data: Any) -> str:
    """Write data as a YAML document with keys in order; text remains text when it is read again.

    Examples
    --------
    >>> dump({"rows": ["1e3", "word"]}).split()
    ['rows:', '-', '"1e3"', '-', 'word']
    """
    return str(yaml.dump(data, Dumper=_Quoting, sort_keys=False, allow_unicode=True, width=120))
