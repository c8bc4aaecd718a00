"""``dcplan explain``."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from dcplan.cli import complete
from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    SetOption,
    VariantOption,
    VerboseOption,
)


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="scenario file or packaged example; or a field, a metric, a column or an error code",
            autocompletion=complete.explainable,
        ),
    ],
    key: Annotated[
        str | None,
        typer.Argument(metavar="[KEY]", help="a value of that scenario: where it comes from"),
    ] = None,
    why_not: Annotated[
        list[str] | None,
        typer.Option("--why-not", metavar="SYSTEM", help="what buying one rack of it would cost"),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="K=V", help="the plan with a changed input; repeatable"),
    ] = None,
    flips: Annotated[
        bool,
        typer.Option("--flips", help="which value of each uncertain input would change a decision"),
    ] = False,
    flip: Annotated[
        list[str] | None,
        typer.Option("--flip", metavar="KEY", help="the same for one input; repeatable"),
    ] = None,
    exact: Annotated[
        int | None,
        typer.Option(
            "--exact", help="binding limits whose next unit is re-solved (4, or none)", min=0
        ),
    ] = None,
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    gap: Annotated[
        float, typer.Option("--gap", help="relative gap at which each solve may stop", min=0.0)
    ] = 0.005,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of all solves", min=1.0)
    ] = 300.0,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Why this plan: binding limits and their prices, why not X, what if, or why there is none;
    what a name means.
    """
    from dcplan.cli.output import check_writable, emit

    if out is not None:
        check_writable(out)
    if key is not None or _is_name(what):
        from dcplan.answers.reference.names import documented, value_of

        if key is None:
            found = documented(what)
        else:
            found = value_of(what, key, variant=variant, sets=sets or (), catalogs=catalogs or ())
        emit(found, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
        raise typer.Exit(found.exit_code)
    from dcplan.answers.explain.answer import explain as answer

    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    result = answer(
        what,
        why_not=why_not or (),
        what_if=what_if or (),
        flip=flip or (() if flips else None),
        exact=exact,
        variant=variant,
        sets=sets or (),
        catalogs=catalogs or (),
        gap=gap,
        time_limit_s=time_limit,
        stop=lambda: bool(stopped),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)


def _is_name(word: str) -> bool:
    """Whether a word can be no scenario: no file, no packaged example, no path of one."""
    from pathlib import Path

    from dcplan.catalog.locate import data_dir

    packaged = data_dir("scenarios") / f"{word}.yaml"
    return not (
        Path(word).exists() or packaged.exists() or word.endswith((".yaml", ".yml")) or "/" in word
    )
