"""Commands made from request classes, and the common output of every answer."""

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
from typer.core import TyperCommand

from dcplan.cli import complete
from dcplan.cli.options import Format
from dcplan.specs.request import CHANGE, Field, Flag, fields_of, made, range_of

if TYPE_CHECKING:
    from typer._click import Context, Parameter

    from dcplan.result import Result


class Once(TyperCommand):
    """A command that refuses an option with one value that is given several times.

    Without it, the last value would count without a message.
    """

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the arguments; a repeated option ends the command with exit code 2."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for each in order:
            if order.count(each) > 1 and _has_one_value(each):
                flag, times = max(each.opts, key=len), order.count(each)
                ctx.fail(f"{flag} takes one value and is given {times} times; give it once")
        return super().parse_args(ctx, args)


def _has_one_value(each: Parameter) -> bool:
    """Whether a parameter is an option with a value that does not add up; a switch has none."""
    return each.param_type_name == "option" and not (
        each.multiple or getattr(each, "is_flag", False) or getattr(each, "count", False)
    )


@dataclass(frozen=True)
class Output:
    """Output flags, common to every verb."""

    fmt: Annotated[Format, Flag("table, json, csv or md", names=("--format", "-f"))] = Format.TABLE
    out: Annotated[
        Path | None,
        Flag(
            "write to this file instead of stdout; NAME.xlsx is a workbook, NAME.parquet a folder",
            names=("--out", "-o"),
        ),
    ] = None
    quiet: Annotated[bool, Flag("hide warnings on stderr", names=("--quiet", "-q"))] = False
    verbose: Annotated[bool, Flag("show every input and every row", names=("--verbose", "-v"))] = (
        False
    )
    no_color: Annotated[bool, Flag("plain text without color (also NO_COLOR)")] = False
    no_progress: Annotated[bool, Flag("hide the progress on stderr, of verbs that show it")] = False

    @property
    def shows_progress(self) -> bool:
        """Whether a verb may show its progress on stderr."""
        return not (self.quiet or self.no_progress)

    def refuse_unwritable(self) -> None:
        """Refuse an output that cannot be written before the computation starts."""
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
    """Flag of every command; ``dcplan.__main__`` reads it after a bug."""

    debug: Annotated[bool, Flag("show the traceback of a bug")] = False


@dataclass(frozen=True)
class Stop:
    """State of Ctrl-C; a command that reads it ends with its results so far."""

    pressed: list[int] = field(default_factory=list)

    def __call__(self) -> bool:
        """Return whether to stop now."""
        return bool(self.pressed)

    def listen(self) -> None:
        """Record Ctrl-C as a stop request instead of an error."""
        signal.signal(signal.SIGINT, lambda number, _: self.pressed.append(number))


def command(run: Callable[..., Result | None]) -> Callable[..., None]:
    """Create a command from a function of request classes.

    Every parameter of ``run`` is annotated with a dataclass whose fields carry a
    :class:`~dcplan.specs.request.Flag`; their fields become the flags of the command. A parameter
    of type :class:`Stop` receives Ctrl-C. :class:`Output` writes the result that ``run`` returns,
    and the command ends with the exit code of the result.
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
        if not output.quiet:
            _name_replaced(fields, given)
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


def _name_replaced(fields: list[Field], given: dict[str, Any]) -> None:
    """Warn of changes of inputs that a later one of the same flag replaces."""
    for each in fields:
        texts = (given.get(each.name) or ()) if each.flag.metavar == CHANGE else ()
        if len(texts) > 1:
            from dcplan.cli.output import note
            from dcplan.scenario.tree import without_effect  # pydantic is slow to import

            flag = _names(each)[0]
            for text, later in without_effect(texts):
                note(f"note: {flag} {text} has no effect: {flag} {later} replaces it")


def _parameters_of(run: Callable[..., Any]) -> dict[str, Any]:
    """Return the classes of the parameters; the class of the result may be unknown here."""
    plain = {k: v for k, v in run.__annotations__.items() if k != "return"}
    holder = type("Parameters", (), {"__annotations__": plain})
    module = inspect.getmodule(run)
    return typing.get_type_hints(holder, vars(module) if module else None)


def _request(kind: type, given: dict[str, Any]) -> Any:
    """Create one request from the flags of the command and check it."""
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
"""Upper bounds from here on only catch typing mistakes; the help does not show them."""


def _help(flag: Flag) -> str:
    choices = f": {', '.join(flag.choices)}" if flag.choices else ""
    shown = replace(flag, high=None) if flag.high is not None and flag.high >= LARGE else flag
    limits = range_of(shown).strip() or flag.unit
    return f"{flag.help}{choices}{f' [{limits}]' if limits else ''}"
