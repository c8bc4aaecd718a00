"""The catalog tests load the shipped catalog many times under small overlays: its files are parsed
once."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from dcplan.catalog import documents


@pytest.fixture(scope="package", autouse=True)
def parsed_once() -> Iterator[None]:
    """Keep parsed documents by text and name; what is parsed is never changed by the loader."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "parse", functools.lru_cache(maxsize=256)(documents.parse))
        yield
