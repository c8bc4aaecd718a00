"""The cache between processes: equal results, and never an entry of another content."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dcplan import cache
from dcplan.catalog import loader
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import System
from dcplan.demand.classes import JobClass
from dcplan.inputs.training import layout_cache
from dcplan.planning.problem.queue import sizing
from dcplan.training.estimate import Hardware
from tests.training.tiny import BF16, COEFFICIENTS, DENSE, DEVICE, STACK

FEW = cache.Shelf("few", 3)
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
    assert len(list(folder.rglob("*.pickle"))) == 1


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps(1)[:-1]])
def test_a_broken_entry_is_made_again(folder: Path, content: bytes) -> None:
    first = again()
    [entry] = folder.rglob("*.pickle")
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
    assert len(list(folder.rglob("*.pickle"))) == 2


def test_code_and_versions_are_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        cache.code_key.cache_clear()
        return cache.code_key()

    code = tmp_path / "a.py"
    code.write_text("1")
    monkeypatch.setattr(cache, "files", lambda _: tmp_path)
    keys = [key()]
    code.write_text("11")
    keys.append(key())
    monkeypatch.setattr("sys.version", "another Python")
    keys.append(key())
    monkeypatch.setattr(cache, "version", lambda name: f"another {name}")
    keys.append(key())
    assert len(set(keys)) == 4
    monkeypatch.undo()
    cache.code_key.cache_clear()


def test_paths_and_bytes_of_data_are_in_the_key(tmp_path: Path) -> None:
    row = tmp_path / "a.yaml"
    row.write_text("1")
    keys = [cache.files_key([tmp_path], [".yaml"])]
    row.write_text("2")
    keys.append(cache.files_key([tmp_path], [".yaml"]))
    row.rename(tmp_path / "b.yaml")
    keys.append(cache.files_key([tmp_path], [".yaml"]))
    assert len(set(keys)) == 3
    (tmp_path / "other.txt").write_text("no catalog file")
    assert cache.files_key([tmp_path], [".yaml"]) == keys[-1]


def test_only_the_newest_entries_stay(folder: Path) -> None:
    for i in range(5):
        cache.stored(FEW, str(i), functools.partial(int, i))
        entry = max((folder / FEW.name).iterdir(), key=lambda f: f.stat().st_mtime)
        os.utime(entry, (i + 1, i + 1))
    cache._trim.cache_clear()
    cache.stored(FEW, "5", functools.partial(int, 5))
    assert len(list((folder / FEW.name).iterdir())) == FEW.most_files + 1
    assert cache.stored(FEW, "4", no_parsing) == 4


def test_a_search_of_layouts_is_read_and_not_repeated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Hardware(DEVICE, STACK, BF16, COEFFICIENTS, 0.1)
    asked = (DENSE, 1024, 65536.0, case, (4.0, 8.0))
    first = layout_cache.searched(*asked)
    layout_cache.searched.cache_clear()
    monkeypatch.setattr("dcplan.training.by_count.sweep.sweep", no_parsing)
    again = layout_cache.searched(*asked)
    assert again is not first
    for name in ("accelerators", "step_time_s", "memory_gb"):
        assert (getattr(again, name) == getattr(first, name)).all()
        assert not getattr(again, name).flags.writeable
    layout_cache.searched.cache_clear()
    with pytest.raises(AssertionError, match="parsed"):
        layout_cache.searched(DENSE, 1024, 65536.000000000015, *asked[3:])


def test_the_size_of_a_pool_is_read_and_not_simulated_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = (JobClass("a", 4, hours=2.0, jobs_per_h=3.0, wait_h=1.0),)
    asked = (frozenset[str](), (1.0,))
    sizing.pool_size.cache_clear()
    first = sizing.pool_size(jobs, *asked)
    assert first.always >= 24
    sizing.pool_size.cache_clear()
    monkeypatch.setattr(sizing, "_sized", no_parsing)
    assert sizing.pool_size(jobs, *asked) == first
    with pytest.raises(AssertionError, match="parsed"):
        sizing.pool_size((replace(jobs[0], wait_h=1.0000000000000002),), *asked)
    sizing.pool_size.cache_clear()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_folder_that_others_may_write_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert cache.stored(FEW, "a", lambda: 1) == 1
    assert cache.stored(FEW, "a", lambda: 2) == 2
    assert not list(folder.rglob("*.pickle"))


@pytest.mark.parametrize("asked", ["off", "OFF", "/dev/null/cache"])
def test_no_cache_is_used_where_none_can_be(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, asked)
    assert [cache.stored(FEW, "a", functools.partial(int, i)) for i in range(2)] == [0, 1]
