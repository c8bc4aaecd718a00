"""Cache of the parsed catalogs in the user's cache folder.

A command reads some 90 YAML files, which takes longer than many answers. The parsed rows are kept as
one file for each content, so that an entry never becomes wrong: its name is a hash of the catalog
files, of the code that reads them and of the Python version. A file that is missing, broken or not
the user's own is ignored. ``DCPLAN_CACHE`` names another folder; ``DCPLAN_CACHE=off`` uses none.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
VARIABLE = "DCPLAN_CACHE"
OFF = "off"
MOST_FILES = 8
"""Entries that stay in the folder; the oldest are removed first."""
PRIVATE = 0o700
"""Permissions of the folder: pickled files run code when they are read, so only the user writes."""


def stored(key: str, make: Callable[[], T]) -> T:
    """Return what an earlier process made for this key, or make and store it."""
    folder = _folder()
    if folder is None:
        return make()
    file = folder / f"{key}.pickle"
    found: list[T] = []
    with contextlib.suppress(Exception):  # a broken file is made again
        found.append(_read(file))
    if found:
        return found[0]
    made = make()
    with contextlib.suppress(OSError):  # a folder that cannot be written, or a full disk
        _write(file, made)
    return made


def key_of(folders: Iterable[Path], suffixes: Iterable[str]) -> str:
    """Return the hash of the files of some folders, of the code of dcplan and of Python.

    The code counts by the size and time of its files, the data by their bytes.
    """
    digest = hashlib.sha256(sys.version.encode())
    package = Path(str(files("dcplan")))
    for file in sorted(package.rglob("*.py")):
        state = file.stat()
        digest.update(f"{file}:{state.st_size}:{state.st_mtime_ns};".encode())
    wanted = set(suffixes)
    for folder in folders:
        for file in sorted(f for f in folder.rglob("*") if f.suffix in wanted):
            content = file.read_bytes()
            digest.update(f"{file}:{len(content)};".encode())
            digest.update(content)
    return digest.hexdigest()


def _folder() -> Path | None:
    """Return the folder of the cache, or None if it is off or belongs to somebody else."""
    asked = os.environ.get(VARIABLE, "")
    if asked.lower() == OFF:
        return None
    folder = Path(asked) if asked else _user_folder() / "dcplan"
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        state = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid"):
        others_write = state.st_mode & 0o022
        return None if state.st_uid != os.getuid() or others_write else folder
    return folder


def _user_folder() -> Path:
    """Return the cache folder of the operating system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _read(file: Path) -> Any:
    """Read one entry; without garbage collection it takes half the time."""
    content = file.read_bytes()
    was_on = gc.isenabled()
    gc.disable()
    try:
        return pickle.loads(content)  # noqa: S301 - the folder is the user's own
    finally:
        if was_on:
            gc.enable()


def _write(file: Path, made: object) -> None:
    """Write one entry at once, and remove the oldest ones."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix="part-")
    try:
        with os.fdopen(handle, "wb") as part:
            pickle.dump(made, part, protocol=pickle.HIGHEST_PROTOCOL)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    kept = sorted(file.parent.glob("*.pickle"), key=lambda f: f.stat().st_mtime, reverse=True)
    for old in kept[MOST_FILES:]:
        old.unlink(missing_ok=True)
