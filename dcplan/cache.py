"""Results that later processes use again, as files in the user's cache folder.

The name of a file is a hash of everything that its content depends on: the inputs, the code of dcplan,
and the versions of Python and of the packages whose objects are kept. So an entry never becomes
wrong, and a change only makes a new one. A file that is missing, broken or not the user's own is
ignored. ``DCPLAN_CACHE`` names another folder; ``DCPLAN_CACHE=off`` uses none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from dcplan import garbage

T = TypeVar("T")
VARIABLE = "DCPLAN_CACHE"
OFF = "off"
PRIVATE = 0o700
"""Permissions of the folder: pickled files run code when they are read, so only the user writes."""
OTHERS_WRITE = 0o022
KEPT_OBJECTS = ("numpy", "pydantic")
"""Packages whose objects are in the files; another version may not read them."""


@dataclass(frozen=True)
class Shelf:
    """One kind of results: the name of its folder, and how many files stay in it."""

    name: str
    most_files: int


def stored(shelf: Shelf, key: str, make: Callable[[], T]) -> T:
    """Return what an earlier process made for this key, or make and store it.

    ``key`` holds everything that the result depends on, except for the code and Python.
    """
    return stored_all(shelf, [key], lambda _: [make()])[0]


def stored_all(
    shelf: Shelf, keys: Sequence[str], make: Callable[[list[int]], Sequence[T]]
) -> list[T]:
    """Return what earlier processes made for some keys; make and store all others at once.

    Parameters
    ----------
    shelf : Shelf
        Where the results are.
    keys : sequence of str
        Everything that each result depends on, except for the code and Python.
    make : callable
        Makes the results of some of the keys, given by their places.
    """
    folder = _folder(shelf.name)
    if folder is None:
        return list(make(list(range(len(keys)))))
    names = (hashlib.sha256(f"{code_key()};{key}".encode()).hexdigest() for key in keys)
    places = [folder / f"{name}.pickle" for name in names]
    found: dict[int, T] = {}
    for i, file in enumerate(places):
        with contextlib.suppress(Exception):  # a missing or broken file is made again
            found[i] = _read(file)
    missing = [i for i in range(len(keys)) if i not in found]
    if missing:
        made = make(missing)
        found |= zip(missing, made, strict=True)
        with contextlib.suppress(OSError):  # a folder that cannot be written, or a full disk
            _trim(folder, shelf.most_files)
            for i in missing:
                _write(places[i], found[i])
    return [found[i] for i in range(len(keys))]


@functools.cache
def code_key() -> str:
    """Return the hash of the versions, and of the size and time of every file of dcplan."""
    versions = [sys.version, *(f"{name} {version(name)}" for name in KEPT_OBJECTS)]
    digest = hashlib.sha256(";".join(versions).encode())
    for file in sorted(Path(str(files("dcplan"))).rglob("*.py")):
        state = file.stat()
        digest.update(f"{file}:{state.st_size}:{state.st_mtime_ns};".encode())
    return digest.hexdigest()


def files_key(folders: Iterable[Path], suffixes: Iterable[str]) -> str:
    """Return the hash of the paths and bytes of the files of some folders."""
    digest, wanted = hashlib.sha256(), set(suffixes)
    for folder in folders:
        for file in sorted(f for f in folder.rglob("*") if f.suffix in wanted):
            content = file.read_bytes()
            digest.update(f"{file}:{len(content)};".encode())
            digest.update(content)
    return digest.hexdigest()


def _folder(name: str) -> Path | None:
    """Return a folder of the cache, or None if it is off or others may write there."""
    asked = os.environ.get(VARIABLE, "")
    if asked.lower() == OFF:
        return None
    top = Path(asked) if asked else _user_folder() / "dcplan"
    folder = top / name
    try:
        top.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
        states = [top.stat(), folder.stat()]
    except OSError:
        return None
    if hasattr(os, "getuid") and any(
        s.st_uid != os.getuid() or s.st_mode & OTHERS_WRITE for s in states
    ):
        return None
    return folder


def _user_folder() -> Path:
    """Return the cache folder of the operating system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _read(file: Path) -> Any:
    content = file.read_bytes()
    with garbage.paused():
        return pickle.loads(content)  # noqa: S301 - the folder is the user's own


def _write(file: Path, made: object) -> None:
    """Write one file at once, so that another process never reads half of it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix="part-")
    try:
        with os.fdopen(handle, "wb") as part:
            pickle.dump(made, part, protocol=pickle.HIGHEST_PROTOCOL)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@functools.cache
def _trim(folder: Path, most_files: int) -> None:
    """Remove the oldest files of a folder, once in a process."""
    ages = sorted(((f.stat().st_mtime, f) for f in folder.iterdir()), reverse=True)
    for _, old in ages[most_files:]:
        old.unlink(missing_ok=True)
