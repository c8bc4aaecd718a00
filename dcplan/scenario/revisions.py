"""Files of a git revision (``git:REV`` or ``git:REV:path``), read with read-only git commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dcplan.catalog.yaml12 import MAX_BYTES
from dcplan.errors import InputError, Place, Problem

PREFIX = "git:"
SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".toml")
"""File types that a scenario can name."""
MOST_FILES = 20_000
MARK = "dcplan.toml"
"""File that marks a folder as a project; files of a project cannot name files outside it."""


def split_revision(text: str) -> tuple[str, str]:
    """Split a reference into revision and path; the path is empty if none is given.

    Examples
    --------
    >>> split_revision("git:origin/main"), split_revision("git:v1:scenarios/a.yaml")
    (('origin/main', ''), ('v1', 'scenarios/a.yaml'))
    """
    revision, _, path = text.removeprefix(PREFIX).partition(":")
    return revision, path


def top_of(folder: Path) -> Path:
    """Return the root of the git repository of a folder.

    Raises
    ------
    InputError
        DC006 if there is none.
    """
    return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())


def checked_out(revision: str, folder: Path, store: Path) -> Path:
    """Return a folder with the scenario and catalog files of a revision, written once per commit.

    Parameters
    ----------
    revision : str
        A branch, a tag or a hash.
    folder : Path
        A folder inside the repository.
    store : Path
        Folder that stores the revisions.

    Raises
    ------
    InputError
        DC006 if git does not know the revision, or it has too many files.
    """
    top = top_of(folder)
    commit = _git(
        top,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{revision}^{{commit}}",
        name=revision,
    )
    target = store / "revisions" / commit.decode().strip()
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=".making."))
    try:
        for path, data in _blobs(top, target.name):
            file = work / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        if not (work / MARK).exists():
            (work / MARK).write_text("", encoding="utf-8")
        try:
            work.replace(target)
        except OSError:  # another process has already written it
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _blobs(top: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files that a scenario can name; links and submodules are ignored."""
    wanted: list[tuple[str, str]] = []
    for entry in _git(top, "ls-tree", "-r", "-z", "--long", "--full-tree", commit).split(b"\0"):
        if not entry:
            continue
        head, _, name = entry.partition(b"\t")
        mode, kind, blob, size = head.decode().split()
        path = os.fsdecode(name)
        parts = path.split("/")
        if path.startswith("/") or any(p in ("", ".", "..", ".git") or "\\" in p for p in parts):
            raise _problem(
                f"the revision has a path that leaves the repository: {path[:80]!r}", commit
            )
        if (
            kind == "blob"
            and mode.startswith("100")
            and path.endswith(SUFFIXES)
            and int(size) <= MAX_BYTES
        ):
            wanted.append((path, blob))
    if len(wanted) > MOST_FILES:
        raise _problem(f"more than {MOST_FILES:,} scenario and catalog files", commit)
    data = _git(top, "cat-file", "--batch", text="".join(f"{blob}\n" for _, blob in wanted))
    at = 0
    for path, _ in wanted:
        end = data.index(b"\n", at)
        length = int(data[at:end].split()[2])
        yield path, data[end + 1 : end + 1 + length]
        at = end + length + 2


def _git(folder: Path, *arguments: str, text: str = "", name: str = "") -> bytes:
    """Run a read-only git command.

    Raises
    ------
    InputError
        DC006 with the message of git.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - arguments are a list, revisions come after --end-of-options
            command,
            input=text.encode(),
            capture_output=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError as error:
        raise _problem(f"git cannot be run: {error.strerror}", name) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise _problem(said[-1] if said else "git does not know this revision", name)
    return done.stdout


def _problem(cause: str, name: str) -> InputError:
    help_text = "fetch the revision first (in CI, check out the full history), or name a commit of this repository"
    return InputError(
        [Problem("DC006", cause, Place(f"{PREFIX}{name}" if name else "git"), help=help_text)]
    )
