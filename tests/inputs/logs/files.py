"""Reads the logs of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.errors import InputError
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import ReadJobs, read_jobs
from dcplan.inputs.logs.traps import Trap

DATA = Path(__file__).parent / "data"


def read(*names: str, **options: Any) -> ReadJobs:
    return read_jobs([DATA / name for name in names], LogOptions(**options))


def counts(found: ReadJobs) -> dict[Trap, int]:
    return {f.kind: f.count for f in found.findings}


def refused(*names: str, **options: Any) -> list[tuple[str, int, str]]:
    """Return file, row and cause of every problem; all have the code of logs."""
    with pytest.raises(InputError) as caught:
        read(*names, **options)
    problems = caught.value.problems
    assert {p.code for p in problems} == {"DC057"}
    return [(Path(p.place.path).name, p.place.line, p.cause) for p in problems if p.place]
