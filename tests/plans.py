"""Plans of packaged scenarios, solved once in a test session whatever worker asks first."""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import dcplan
from dcplan.result import Result

FOLDER = "DCPLAN_TEST_PLANS"
"""Environment variable that names the session's folder; ``tests/conftest.py`` sets it."""


def planned(name: str, *, sets: Sequence[str] = (), gap: float = 0.005) -> Result:
    """Return the plan of a packaged scenario as its own copy; a test may change it."""
    return copy.deepcopy(_planned(name, tuple(sets), gap))


@functools.cache
def _planned(name: str, sets: tuple[str, ...], gap: float) -> Result:
    folder = Path(os.environ[FOLDER])
    key = hashlib.sha256(repr((name, sets, gap)).encode()).hexdigest()[:16]
    file = folder / f"{key}.pickle"
    if file.is_file():
        found = pickle.loads(file.read_bytes())  # noqa: S301 - written by this session
        assert isinstance(found, Result)
        return found
    result = dcplan.plan(name, sets=list(sets), gap=gap)
    part = folder / f"{key}.{os.getpid()}"
    part.write_bytes(pickle.dumps(result))
    part.replace(file)
    return result
