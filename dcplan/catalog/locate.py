"""Where the packaged data lie: inside the wheel, or beside the package in an editable checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path as File


def data_dir(kind: str) -> File:
    """Folder of ``catalogs`` or ``scenarios``: the wheel's ``_data`` first, then the repository
    root.

    Raises
    ------
    FileNotFoundError
        When neither exists: the installation is broken.
    """
    package = File(str(files("dcplan")))
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    msg = f"dcplan's {kind} are missing: reinstall dcplan"
    raise FileNotFoundError(msg)
