"""Fixtures that every test may use: the repository root and golden texts."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan import cache
from tests.plans import FOLDER

REPO = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--update-golden``, which writes the golden texts anew."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="rewrite tests/golden/* from what dcplan says now (read the diff before you commit)",
    )


@pytest.fixture(scope="session", autouse=True)
def plans(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Name the folders in which the workers of a session share solved plans and the cache."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = shared / "plans"
    folder.mkdir(exist_ok=True)
    os.environ[FOLDER] = str(folder)
    os.environ[cache.VARIABLE] = str(shared / "cache")


@pytest.fixture(scope="session")
def repo() -> Path:
    """Root of the repository."""
    return REPO


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, str], None]:
    """Compare a text with ``tests/golden/NAME``; ``--update-golden`` rewrites the file instead.

    The test's own temporary folder shows as ``TMP`` and the repository as ``REPO``.
    """

    def check(name: str, text: str) -> None:
        for folder, shown in ((tmp_path, "TMP"), (REPO, "REPO")):
            for form in {str(folder.resolve()), str(folder)}:
                text = text.replace(form, shown)
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
            return
        if not path.is_file():
            pytest.fail(f"no golden text {path}; run pytest --update-golden and read what it wrote")
        expected = path.read_bytes().decode("utf-8")
        if text != expected:
            diff = difflib.unified_diff(
                expected.splitlines(keepends=True),
                text.splitlines(keepends=True),
                f"golden/{name}",
                "now",
            )
            pytest.fail(
                "the text differs from its golden one (--update-golden rewrites it):\n"
                + "".join(diff)
            )

    return check
