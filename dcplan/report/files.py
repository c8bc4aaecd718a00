"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Write text, or pieces of it as they come.

    Through a temporary file in the same folder and rename it into place.

    Raises
    ------
    OSError
        When the folder cannot be written; the old file is untouched then.
    """
    chunks = [text] if isinstance(text, str) else text
    _write(path, (part.encode("utf-8") for part in chunks))


def write_bytes(path: Path, data: bytes) -> None:
    """Return the same for bytes."""
    _write(path, [data])


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
        try:
            with path.open("wb") as stream:
                stream.writelines(chunks)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(chunks)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
