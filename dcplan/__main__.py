"""Entry point: every outcome has its exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys


def main() -> None:
    """Run the command line and map the outcome to an exit code."""
    gc.set_threshold(
        200_000, 20, 20
    )  # catalogs and models are many small objects that live until the exit
    for name in ("stdout", "stderr"):
        if (
            getattr(sys, name) is None
        ):  # closed by the caller (2>&-): discard the output instead of failing
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal escapes other characters
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run())


def run() -> int:
    """Run one call and return its exit code: 2 for wrong input, 70 for a bug, 130 for Ctrl-C.

    A closed pipe is no error: the exit code of the answer stays.
    """
    from dcplan.cli.app import app
    from dcplan.errors import EXIT_INTERRUPTED, EXIT_OK, InputError

    try:
        app(standalone_mode=True)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            return _quiet(EXIT_OK)
        return _flushed(stop.code if isinstance(stop.code, int) else int(bool(stop.code)))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _quiet(EXIT_OK)
    except InputError as error:
        sys.stderr.write(f"{_harmless(str(error))}\n")
        count = len(error.problems)
        codes = " or ".join(sorted({problem.code for problem in error.problems})[:3])
        sys.stderr.write(f"{count} error{'s' if count > 1 else ''}; more: dcplan explain {codes}\n")
        return error.exit_code
    except Exception as error:  # last handler: the user never sees a traceback without --debug
        return _other(error)
    return _flushed(0)


def _harmless(text: str) -> str:
    """Escape lines that a CI runner would read as commands, such as those from file names."""
    lines = text.replace("##[", "# #[").split("\n")
    return "\n".join(
        line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines
    )


def _other(error: Exception) -> int:
    """Separate files that cannot be written, an input error, from bugs of dcplan."""
    from dcplan.cli.output import silence
    from dcplan.errors import EXIT_INPUT

    if (
        isinstance(error, OSError)
        and error.filename is None
        and error.errno in (errno.EBADF, errno.ENOSPC, errno.EIO)
    ):
        silence(sys.stdout)
        sys.stderr.write(f"error[DC006]: cannot write to stdout: {error.strerror}\n")
        return EXIT_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        sys.stderr.write(f"error[DC006]: {error.filename}: {error.strerror}\n")
        return EXIT_INPUT
    return _bug(error)


def _bug(error: Exception) -> int:
    from dcplan.errors import EXIT_BUG

    if "--debug" in sys.argv:
        import traceback

        traceback.print_exception(error)
    else:
        sys.stderr.write(f"this is a bug in dcplan: {type(error).__name__}: {error}\n")
        sys.stderr.write(
            "run again with --debug for the traceback, and report it with `dcplan doctor`\n"
        )
    return EXIT_BUG


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet(code)
    except OSError as error:
        return _other(error)
    return code


def _quiet(code: int) -> int:
    """Discard further output after ``| head``, so that the exit reports no error."""
    from dcplan.cli.output import silence

    silence(sys.stdout)
    return code


if __name__ == "__main__":
    main()
