"""Lists of nodes as schedulers write them, and names of nodes of two systems as one."""

from __future__ import annotations

import functools
import re
from itertools import product

MOST_NODES = 100_000
"""Nodes of one list."""
ADDRESS = re.compile(r"\d+(\.\d+){3}")
PART = re.compile(r"\[([^\]]*)\]")
LIST = re.compile(r"(?:[^,\[\]]|\[[^\]]*\])+")
"""One entry of a list: commas in brackets do not end it."""


@functools.cache
def expanded(text: str) -> tuple[str, ...]:
    """Return the nodes of a list; an unreadable range stays as it is.

    Examples
    --------
    >>> expanded("gpu[08-10,12],login1")
    ('gpu08', 'gpu09', 'gpu10', 'gpu12', 'login1')
    """
    found: list[str] = []
    for entry in LIST.findall(text):
        name = entry.strip()
        pieces = PART.split(name)  # text, range, text, range, ..., text
        parts = [[p] if i % 2 == 0 else _numbers(p) for i, p in enumerate(pieces)]
        size = 1
        for part in parts:
            size *= len(part)
        if name and size <= MOST_NODES:
            found += ["".join(x) for x in product(*parts)]
    return tuple(found)


def _numbers(text: str) -> list[str]:
    """Return the numbers of ``08-10,12`` with their zeros."""
    found = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if dash and first.isdigit() and last.isdigit() and int(last) - int(first) < MOST_NODES:
            found += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
        else:
            found.append(part.strip())
    return found


def short(name: str) -> str:
    """Return a name of a node without port and domain, in lower case; an address stays whole.

    Examples
    --------
    >>> short("GPU07.dc.example:9400"), short("10.0.0.7:9400")
    ('gpu07', '10.0.0.7')
    """
    host = name.strip().lower().partition(":")[0]
    return host if ADDRESS.fullmatch(host) else host.partition(".")[0]
