"""Encodings of files that are not the text that readers take."""

from __future__ import annotations

from pathlib import Path

from dcplan.errors import InputError, Place, Problem

MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""First bytes of a file that tell its encoding, the longest first."""


def refuse_wide(file: Path, code: str) -> None:
    """Refuse a file whose first bytes say that it is UTF-16 or UTF-32.

    A shell on Windows writes UTF-16 where the output of a command goes to a file. A file that cannot
    be opened passes: its reader says why.

    Raises
    ------
    InputError
        When the file is one, with the command that converts it.
    """
    try:
        with file.open("rb") as stream:
            head = stream.read(4)
    except OSError:
        return
    name = next((MARKS[mark] for mark in MARKS if head.startswith(mark)), "")
    if name:
        step = f"save it as UTF-8, such as with iconv -f {name} -t UTF-8 {file.name} > utf8-{file.name}"
        raise InputError(
            [Problem(code, f"the text is {name}, not UTF-8", Place(str(file)), help=step)]
        )
