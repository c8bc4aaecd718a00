"""References to answers: a scenario, folder or saved result, also at a git revision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.report.saved import read_result
from dcplan.result import Result
from dcplan.scenario.load import find_file
from dcplan.scenario.revisions import PREFIX, checked_out, split_revision, top_of
from dcplan.study.regression.kept import scenario_files


@dataclass(frozen=True)
class Ref:
    """Target of a reference: scenario files by their name, or one saved result."""

    text: str
    files: dict[str, Path]
    result: Result | None = None
    root: Path | None = None
    """Folder of a checked-out revision."""
    label: str = ""
    """Name in the report; empty for the reference."""

    @property
    def name(self) -> str:
        """The name in the report."""
        return self.label or self.text

    def shown(self, text: str) -> str:
        """Return a place with the revision instead of its folder."""
        if self.root is None:
            return text
        revision = split_revision(self.text)[0]
        return text.replace(f"{self.root}/", f"{PREFIX}{revision}:")

    def labeled(self, error: InputError) -> InputError:
        """Return the problems with the revision instead of its folder."""
        return InputError(
            [
                replace(
                    p, place=replace(p.place, path=self.shown(p.place.path)) if p.place else None
                )
                for p in error.problems
            ]
        )


def resolved(text: str, base_path: str, store: Path) -> Ref:
    """Return the target of a reference.

    Parameters
    ----------
    text : str
        A file, a folder, a result, ``git:REV`` or ``git:REV:path``.
    base_path : str
        The other reference: its path is used if a revision names no path.
    store : Path
        Folder of the checked-out revisions.

    Raises
    ------
    InputError
        DC006 when there is nothing of that name.
    """
    if not text.startswith(PREFIX):
        path = Path(text)
        if path.suffix == ".json" and path.is_file():
            return Ref(text, {}, read_result(path))
        return Ref(text, _files(path if path.exists() else find_file(text), text))
    return _of_revision(text, base_path, store)


def _of_revision(text: str, base_path: str, store: Path) -> Ref:
    """Return the target of a reference to a git revision, checked out in the store."""
    revision, named = split_revision(text)
    root = checked_out(revision, _folder_of(base_path), store)
    inside = named or _path_of(base_path, text)
    target = (root / inside).resolve()
    if not target.is_relative_to(root.resolve()):
        raise InputError([Problem("DC008", f"{inside} is outside the revision", Place(text))])
    if target.suffix == ".json" and target.is_file():
        return Ref(text, {}, read_result(target), root)
    if target.exists():
        return Ref(text, _files(target, text), None, root)
    if named:
        cause, help_text = f"{revision} has no {inside}", f"git ls-tree -r {revision}"
        raise InputError([Problem("DC006", cause, Place(text), help=help_text)])
    return Ref(text, {}, None, root)  # the path comes from the other reference, whose file is new


def _path_of(base_path: str, text: str) -> str:
    """Return the path of the other reference in its repository; ``text`` names a revision alone."""
    if base_path.startswith(PREFIX):
        return split_revision(base_path)[1]
    full = Path(base_path).resolve()
    top = top_of(_folder_of(base_path)).resolve()
    found = str(full.relative_to(top)) if full.is_relative_to(top) else ""
    if not found:
        cause = f"{text} names no file, and {base_path} is not in this repository"
        raise InputError([Problem("DC006", cause, Place(text), help=f"{text}:scenarios/a.yaml")])
    return found


def _folder_of(base_path: str) -> Path:
    """Return the folder of a reference; the working folder for a revision or a new file."""
    path = Path(base_path)
    if base_path.startswith(PREFIX) or not path.exists():
        return Path.cwd()
    return path if path.is_dir() else path.parent


def _files(path: Path, text: str) -> dict[str, Path]:
    """Return the scenario files of a file or folder by their name in it."""
    if path.is_file():
        return {path.name: path}
    found = {str(p.relative_to(path)): p for p in scenario_files(path)}
    if not found:
        cause = "this folder has no scenario: a scenario is a file whose first key is `dcplan: 1`"
        raise InputError(
            [Problem("DC006", cause, Place(text), did_you_mean(path.name, ["scenarios"]))]
        )
    return found
