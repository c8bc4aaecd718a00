"""The reliability of a cluster in a YAML file, as ``dcplan demand`` writes it from incidents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcplan.catalog.yaml12 import parse, read_text
from dcplan.errors import InputError
from dcplan.scenario.schema.reliability import Reliability

BLOCK = "reliability"
ALSO = ("overrides", "scenarios")
"""Parts of such a file that only scenarios use: the variant without lemon nodes."""


def read_reliability(file: Path) -> Mapping[str, Any]:
    """Return the fields of the block ``reliability`` of a YAML file, with the place of each quantity.

    Raises
    ------
    InputError
        When the file cannot be read (DC001, DC006, DC007), has no such block (DC003), or has other
        parts or unknown fields (DC002).
    """
    document = parse(read_text(file), str(file))
    data = document.data if isinstance(document.data, Mapping) else {}
    block = data.get(BLOCK)
    if not isinstance(block, Mapping):
        step = "dcplan demand incidents.csv -o FILE writes one"
        raise InputError([document.problem("DC003", f"no {BLOCK}: in the file", (), help=step)])
    problems = [
        document.problem("DC002", f"{key!r} is not read here", (key,), key=True, help="omit it")
        for key in data
        if key not in (BLOCK, *ALSO)
    ]
    problems += [
        document.problem("DC002", f"unknown field {key!r}", (BLOCK, key), key=True)
        for key in block
        if key not in Reliability.model_fields
    ]
    if problems:
        raise InputError(problems)
    return {
        key: {**value, "at": str(document.place((BLOCK, key)))}
        if isinstance(value, Mapping)
        else value
        for key, value in block.items()
    }
