"""What the tests of tables of runs share."""

from __future__ import annotations

import pytest

from dcplan.answers.validation.runs.rows import Reader
from dcplan.catalog.loader import load


@pytest.fixture(scope="module")
def reader() -> Reader:
    """Reads against the packaged catalog."""
    return Reader(load())
