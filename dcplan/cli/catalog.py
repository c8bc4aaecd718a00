"""``dcplan catalog list | show | check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dcplan.answers.reference.request import CheckRequest, ListRequest, ShowRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result

app = typer.Typer(
    rich_markup_mode=None,
    help="List, show and check catalog rows and their sources.",
    no_args_is_help=True,
)


@app.command("list")
@command
def list_(request: ListRequest, output: Output) -> Result:
    """List the kinds, or the rows of one kind."""
    from dcplan.answers.reference.catalog import catalog_list

    return catalog_list(request.kind, request.catalogs)


@app.command()
@command
def show(request: ShowRequest, output: Output) -> Result:
    """Show every value of a row with unit, status, bounds, source and date."""
    from dcplan.answers.reference.catalog import catalog_show

    return catalog_show(request.kind, request.key, request.catalogs)


@app.command()
@command
def check(request: CheckRequest, output: Output) -> Result:
    """Check units, sources, ranges, ratios and references; exit with 1 if there are findings."""
    from dcplan.answers.reference.catalog import catalog_check

    return catalog_check(request.catalogs, request.stale_after)
