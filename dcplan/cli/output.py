"""Write a result in the requested format to the requested place."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dcplan.cli.options import Format

if TYPE_CHECKING:
    from dcplan.result import Result

STORE = Path(".dcplan")
BOOK_SUFFIX, PARQUET_SUFFIX = ".xlsx", ".parquet"
"""Endings of a workbook and of a folder of Parquet files, which are written instead of text."""


@contextmanager
def until_closed(stream: TextIO) -> Iterator[None]:
    """Discard output after the reader closed the stream, so that the answer keeps its exit code.

    A reader such as ``head`` closes the pipe early. That is no error and does not change the
    answer: a failed expectation still ends with 1.
    """
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except SystemExit as stop:  # rich turns a closed pipe into an exit
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        silence(stream)


def silence(stream: TextIO) -> None:
    """Discard further output to a stream whose reader closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def note(text: str) -> None:
    """Write a line to stderr, which may be a closed pipe, too (``2>&1 | head``)."""
    with until_closed(sys.stderr):
        sys.stderr.write(f"{text}\n")


def emit(  # one argument per output flag
    result: Result,
    *,
    fmt: Format,
    out: Path | None,
    quiet: bool,
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    """Write the document to stdout or a file, warnings to stderr.

    Raises
    ------
    InputError
        When the file is a workbook, and the answer has none, or Parquet, and its package is missing.
    """
    from dcplan.report.files import write_whole
    from dcplan.report.text.numbers import printable
    from dcplan.report.text.tags import tag

    if not quiet:
        for warning in result.warnings:
            note(printable(f"{tag(warning['code'])}: {warning['message']}"))
    color = not no_color and not os.environ.get("NO_COLOR")
    if (
        out is not None
        and out.suffix.lower() in (BOOK_SUFFIX, PARQUET_SUFFIX)
        and fmt is Format.TABLE
    ):
        from dcplan.report.exports import write_export
        from dcplan.specs.export import Target

        write_export(result, Target(out.suffix.lower()[1:]), out)
        return
    if out is not None:
        write_whole(out, document(result, fmt, color=False, verbose=verbose))
        return
    with until_closed(sys.stdout):
        if fmt is Format.TABLE:
            from dcplan.report.text.terminal import write_text

            write_text(result, sys.stdout, color=color, verbose=verbose)
        else:
            sys.stdout.write(document(result, fmt, color=False, verbose=verbose))


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written before the computation starts.

    Raises
    ------
    OSError
        With the path.
    InputError
        When the path is a folder of Parquet files, and their package is not installed.
    """
    if path.suffix.lower() == PARQUET_SUFFIX:
        from dcplan.report.parquet import refuse_without_pyarrow

        refuse_without_pyarrow("--out")
    folder = next((p for p in path.absolute().parents if p.exists()), Path("/"))
    wrong = path.is_dir() and path.suffix.lower() != PARQUET_SUFFIX
    if wrong or not folder.is_dir() or not os.access(folder, os.W_OK):
        reason = "is a folder" if wrong else "cannot be written"
        raise OSError(errno.EACCES, reason, str(path))


def document(result: Result, fmt: Format, *, color: bool, verbose: bool) -> str:
    """Return the whole document as text."""
    if fmt is Format.JSON:
        return result.to_json()
    if fmt is Format.CSV:
        from dcplan.report.csvs import metrics_csv, table_csv

        if result.metrics and result.verb != "frontier":  # a frontier answers with its points
            return metrics_csv(result)
        return table_csv(next(iter(result.tables.values())))
    if fmt is Format.MD:
        from dcplan.report.text.markdown import markdown

        return markdown(result)
    from dcplan.report.text.terminal import write_text

    stream = io.StringIO()
    write_text(result, stream, color=color, verbose=verbose)
    return stream.getvalue()


def keep(result: Result, name: str) -> Path:
    """Save an unfinished or infeasible answer in the store of the project, which git ignores."""
    from dcplan.report.files import write_whole

    path = STORE / f"{name}.json"
    write_whole(path, result.to_json())
    return path
