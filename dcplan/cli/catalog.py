"""``dcplan catalog list | show | check``."""

from __future__ import annotations

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
    VerboseOption,
)

app = typer.Typer(
    help="What can be bought and used, with sources: list, show, check.", no_args_is_help=True
)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="such as systems; left out: all kinds",
            autocompletion=complete.kinds,
        ),
    ] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """List the kinds, or the rows of one kind."""
    from dcplan.answers.reference.catalog import catalog_list
    from dcplan.cli.output import emit

    emit(catalog_list(kind, catalogs or ()), fmt=fmt, out=out, quiet=True, no_color=no_color)


@app.command()
def show(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="kind, or an id when it is the only argument",
            autocompletion=complete.rows,
        ),
    ],
    key: Annotated[str | None, typer.Argument(metavar="[ID]", help="id or alias")] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Show every value of a row with unit, status, bounds, source and date."""
    from dcplan.answers.reference.catalog import catalog_show
    from dcplan.cli.output import emit

    emit(
        catalog_show(kind, key, catalogs or ()),
        fmt=fmt,
        out=out,
        quiet=True,
        verbose=verbose,
        no_color=no_color,
    )


@app.command()
def check(
    catalogs: CatalogsOption = None,
    stale_after: Annotated[
        int | None,
        typer.Option("--stale-after", metavar="DAYS", help="find values older than this"),
    ] = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Lint units, sources, ranges, ratios and references; exit 1 when something is found."""
    from dcplan.answers.reference.catalog import catalog_check
    from dcplan.cli.output import emit

    result = catalog_check(catalogs or (), stale_after)
    emit(result, fmt=fmt, out=out, quiet=True, no_color=no_color)
    raise typer.Exit(result.exit_code)
