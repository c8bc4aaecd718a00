"""Location of the packaged data: inside the wheel, or in the repository of an editable install."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path as File


def data_dir(kind: str) -> File:
    """Return the folder of ``catalogs`` or ``scenarios``: the wheel's ``_data``, or the repository
    root.

    Raises
    ------
    FileNotFoundError
        If neither exists: the installation is broken.
    """
    package = File(str(files("dcplan")))
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    msg = f"the packaged {kind} are missing; reinstall dcplan"
    raise FileNotFoundError(msg)
