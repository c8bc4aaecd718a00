"""Fenced blocks of a Markdown page: files it shows, commands and Python it runs, and what they
should print."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^( *)```(\w+)?(?: +(.*))?$")
TITLE = re.compile(r'title="([^"]+)"')
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
SECONDS = re.compile(r"\b\d[\d,.]* (m?s|seconds)\b")
BARS = re.compile("[▁▂▃▄▅▆▇█]([ ▁▂▃▄▅▆▇█]*[▁▂▃▄▅▆▇█])?")
"""A time series as block characters; their heights follow the numbers."""
SKIP = "…"
"""A line of an expected output that stands for any lines."""
CLOSE = 0.02
"""Numbers may differ by this share: machines and solver versions end searches elsewhere inside the
gap."""
WHOLE = 100
"""Below this, whole numbers are counts and must be equal."""


@dataclass
class Block:
    """One fenced block; ``first`` and ``end`` are the lines between its fences."""

    language: str
    title: str
    indent: str
    first: int
    end: int
    lines: list[str]


@dataclass
class Command:
    """One shell command of a console block, and what follows it."""

    text: str
    expected: list[str] = field(default_factory=list)


def blocks(page: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    found: list[Block] = []
    start: tuple[int, str, str, str] | None = None
    lines = page.split("\n")
    for i, line in enumerate(lines):
        if start is None and (fence := FENCE.match(line)):
            title = TITLE.search(fence[3] or "")
            start = (i, fence[1], fence[2] or "", title[1] if title else "")
        elif start is not None and line.strip() == "```":
            first, indent, language, title_text = start
            body = [x.removeprefix(indent) for x in lines[first + 1 : i]]
            found.append(Block(language, title_text, indent, first + 1, i, body))
            start = None
    assert start is None, "a fence is not closed"
    return found


def commands(block: Block) -> list[Command]:
    """Commands of a console block; a line that begins with ``$`` is one, a backslash at its end
    continues it."""
    found: list[Command] = []
    continues = False
    for line in block.lines:
        if continues:
            found[-1].text += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(line[2:]))
        else:
            assert found, f"a console block begins with `$ command`, not {line!r}"
            found[-1].expected.append(line)
            continue
        continues = line.endswith("\\")
    return found


def same(expected: list[str], got: list[str], close: float = CLOSE) -> bool:
    """Whether an output is as written: text to the letter, numbers within ``close``, seconds and
    heights of bars any, ``…`` any lines.

    >>> same(["a  1,000 kW in 3.2 s", "…", "end"], ["a 1,010 kW in 9.9 s", "x", "y", "end"])
    True
    >>> same(["32 leaves"], ["33 leaves"]), same(["a"], ["b"]), same(["a"], ["a", "b"])
    (False, False, False)
    >>> same(["cash ▁▂ █ USD 9.0"], ["cash ▁▃▁█ USD 9.1"])
    True
    """
    expected, got = _stripped(expected), _stripped(got)
    if SKIP not in expected:
        return len(expected) == len(got) and all(
            _same_line(a, b, close) for a, b in zip(expected, got, strict=True)
        )
    at = expected.index(SKIP)
    before, after = expected[:at], expected[at + 1 :]
    if not same(before, got[:at], close):
        return False
    return any(same(after, got[k:], close) for k in range(at, len(got) + 1))


def _stripped(lines: list[str]) -> list[str]:
    lines = [" ".join(line.split()) for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same_line(a: str, b: str, close: float) -> bool:
    a, b = (BARS.sub("█", SECONDS.sub("N s", line)) for line in (a, b))
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    numbers = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(_close(x, y, close) for x, y in numbers)


def _close(a: str, b: str, close: float) -> bool:
    x, y = (float(t.replace(",", "")) for t in (a, b))
    counts = "." not in a + b and "e" not in (a + b).lower() and max(abs(x), abs(y)) < WHOLE
    return x == y if counts else abs(x - y) <= close * max(abs(x), abs(y))
