"""Commands made from request classes, and the one frame that every answer is written in."""

from __future__ import annotations

import functools
import inspect
import signal
import typing
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcplan.cli import complete
from dcplan.cli.options import Format
from dcplan.specs.request import Field, Flag, fields_of, made, range_of

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class Output:
    """How an answer is written; every verb takes these flags."""

    fmt: Annotated[Format, Flag("table, json, csv or md", names=("--format", "-f"))] = Format.TABLE
    out: Annotated[
        Path | None, Flag("write to this file instead of stdout", names=("--out", "-o"))
    ] = None
    quiet: Annotated[bool, Flag("no warnings on stderr", names=("--quiet", "-q"))] = False
    verbose: Annotated[bool, Flag("every input and every row", names=("--verbose", "-v"))] = False
    no_color: Annotated[bool, Flag("plain text (also NO_COLOR)")] = False

    def refuse_unwritable(self) -> None:
        """Refuse a file that cannot be written, before anything is computed."""
        from dcplan.cli.output import check_writable

        if self.out is not None:
            check_writable(self.out)

    def write(self, result: Result, *, to_file: bool = True) -> None:
        """Write the document to stdout or to ``--out``, warnings to stderr."""
        from dcplan.cli.output import emit

        emit(
            result,
            fmt=self.fmt,
            out=self.out if to_file else None,
            quiet=self.quiet,
            verbose=self.verbose,
            no_color=self.no_color,
        )


@dataclass(frozen=True)
class Debug:
    """What every command takes; ``dcplan.__main__`` reads it where a bug ends the program."""

    debug: Annotated[bool, Flag("show the traceback of a bug")] = False


@dataclass(frozen=True)
class Progress:
    """Whether a long answer shows how far it is."""

    no_progress: Annotated[bool, Flag("no progress on stderr")] = False


@dataclass(frozen=True)
class Stop:
    """Whether Ctrl-C was pressed; a command that asks for it ends with what it has."""

    pressed: list[int] = field(default_factory=list)

    def __call__(self) -> bool:
        """Return whether to end now."""
        return bool(self.pressed)

    def listen(self) -> None:
        """Take Ctrl-C as a wish to end, not as an error."""
        signal.signal(signal.SIGINT, lambda number, _: self.pressed.append(number))


def command(run: Callable[..., Result | None]) -> Callable[..., None]:
    """Make a command of a function of request classes.

    Every parameter of ``run`` is annotated with a dataclass whose fields carry a
    :class:`~dcplan.specs.request.Flag`; their fields become the flags of the command. A parameter
    of type :class:`Stop` gets Ctrl-C. A result that ``run`` returns is written as :class:`Output`
    says, and its exit code ends the command.
    """
    kinds = _parameters_of(run)
    flags = {name: kind for name, kind in kinds.items() if kind is not Stop}

    @functools.wraps(run)
    def call(**given: Any) -> None:
        parts: dict[str, Any] = {name: _request(kind, given) for name, kind in flags.items()}
        output = next((x for x in parts.values() if isinstance(x, Output)), Output())
        for name, kind in kinds.items():
            if kind is Stop:
                parts[name] = Stop()
                parts[name].listen()
        result = run(**parts)
        if result is not None:
            output.write(result)
            raise typer.Exit(result.exit_code)

    asked = (*flags.values(), Debug)
    fields = [f for kind in asked for f in fields_of(kind) if not f.flag.python_only]
    parameters = [_parameter(f) for f in fields]
    parameters.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _parameters_of(run: Callable[..., Any]) -> dict[str, Any]:
    """Return the classes of a function's parameters; that of its result may be unknown here."""
    plain = {k: v for k, v in run.__annotations__.items() if k != "return"}
    holder = type("Parameters", (), {"__annotations__": plain})
    module = inspect.getmodule(run)
    return typing.get_type_hints(holder, vars(module) if module else None)


def _request(kind: type, given: dict[str, Any]) -> Any:
    """Make one request from the flags of the command and check it."""
    own = [each.name for each in fields_of(kind) if not each.flag.python_only]
    return made(kind, {name: given[name] for name in own}, kind.__name__)


def _parameter(each: Field) -> inspect.Parameter:
    flag = each.flag
    more: dict[str, Any] = {"help": _help(flag)}
    if flag.metavar:
        more["metavar"] = flag.metavar
    if flag.complete:
        more["autocompletion"] = complete.of(flag.complete)
    elif flag.choices:
        more["autocompletion"] = complete.among(flag.choices)
    if flag.panel:
        more["rich_help_panel"] = flag.panel
    hint: Any = list[each.kind] if each.repeated else each.kind  # type: ignore[name-defined]
    default: Any = inspect.Parameter.empty if each.required else each.default
    if each.repeated and not each.required:
        hint, default = hint | None, list(each.default) or None
    elif each.optional:
        hint = hint | None
    info = typer.Argument(**more) if flag.argument else typer.Option(*_names(each), **more)
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, info]
    )


def _names(each: Field) -> tuple[str, ...]:
    if each.flag.names:
        return each.flag.names
    return (f"--{each.name.replace('_', '-')}",)


LARGE = 1e12
"""Upper ends from here on keep out slips alone: the help does not show them."""


def _help(flag: Flag) -> str:
    choices = f": {', '.join(flag.choices)}" if flag.choices else ""
    shown = replace(flag, high=None) if flag.high is not None and flag.high >= LARGE else flag
    limits = range_of(shown).strip() or flag.unit
    return f"{flag.help}{choices}{f' [{limits}]' if limits else ''}"
