"""The cache of the parsed catalogs: equal rows, and never an entry of another content."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcplan.catalog import cache, loader
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import System

ROW = """systems:
  - id: dgx-h100
    rated_kw: 11.5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache of the test, and loaders that remember nothing."""
    there = tmp_path / "cache"
    monkeypatch.setenv(cache.VARIABLE, str(there))
    loader._load.cache_clear()
    yield there
    loader._load.cache_clear()


def again() -> Catalog:
    """Load as a new process would."""
    loader._load.cache_clear()
    return loader.load()


def no_parsing(*_: object) -> int:
    """Stand in for the parser where the cache must answer."""
    msg = "parsed"
    raise AssertionError(msg)


def test_the_second_process_parses_nothing_and_has_equal_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = again()
    monkeypatch.setattr(loader, "_parsed", no_parsing)
    second = again()
    assert second is not first
    assert second == first
    power, same = (c.get("systems", "dgx-h100", System).rated_kw for c in (first, second))
    assert power is not None
    assert same is not None
    assert same.at == power.at
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps(1)[:-1]])
def test_a_broken_entry_is_made_again(folder: Path, content: bytes) -> None:
    first = again()
    [entry] = folder.iterdir()
    entry.write_bytes(content)
    assert again() == first
    assert len(entry.read_bytes()) > len(content)


def test_a_change_of_an_overlay_is_another_entry(folder: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    found = []
    for text in (ROW, ROW.replace("11.5", "12.5")):
        (overlay / "own.yaml").write_text(text, encoding="utf-8")
        loader._load.cache_clear()
        power = loader.load((overlay,)).get("systems", "dgx-h100", System).rated_kw
        found.append(power.value if power else None)
    assert found == [11.5, 12.5]
    assert len(list(folder.iterdir())) == 2


def test_code_python_and_data_are_in_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, data = tmp_path / "package", tmp_path / "data"
    for made in (package, data):
        made.mkdir()
    code, row = package / "a.py", data / "a.yaml"
    code.write_text("1")
    row.write_text("1")
    monkeypatch.setattr(cache, "files", lambda _: package)
    keys = [cache.key_of([data], [".yaml"])]
    row.write_text("2")
    keys.append(cache.key_of([data], [".yaml"]))
    code.write_text("11")
    keys.append(cache.key_of([data], [".yaml"]))
    monkeypatch.setattr("sys.version", "another Python")
    keys.append(cache.key_of([data], [".yaml"]))
    assert len(set(keys)) == 4
    (data / "other.txt").write_text("no catalog file")
    assert cache.key_of([data], [".yaml"]) == keys[-1]


def test_only_the_newest_entries_stay(folder: Path) -> None:
    for i in range(cache.MOST_FILES + 3):
        cache.stored(f"{i:064d}", functools.partial(int, i))
        os.utime(folder / f"{i:064d}.pickle", (i, i))
    assert len(list(folder.iterdir())) == cache.MOST_FILES
    assert cache.stored(f"{cache.MOST_FILES + 2:064d}", no_parsing) == cache.MOST_FILES + 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_folder_that_others_may_write_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert cache.stored("a", lambda: 1) == 1
    assert cache.stored("a", lambda: 2) == 2
    assert not list(folder.iterdir())


@pytest.mark.parametrize("asked", ["off", "OFF", "/dev/null/cache"])
def test_no_cache_is_used_where_none_can_be(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, asked)
    assert [cache.stored("a", functools.partial(int, i)) for i in range(2)] == [0, 1]
