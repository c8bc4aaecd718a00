"""All verbs on one application."""

from __future__ import annotations

from typing import Annotated

import typer

from dcplan.cli.calibrate import calibrate
from dcplan.cli.catalog import app as catalog
from dcplan.cli.check import check
from dcplan.cli.diff import diff
from dcplan.cli.doctor import doctor
from dcplan.cli.explain import explain
from dcplan.cli.export import export
from dcplan.cli.fabric import fabric
from dcplan.cli.facility import facility
from dcplan.cli.frontier import frontier
from dcplan.cli.import_ import import_
from dcplan.cli.init import init
from dcplan.cli.plan import plan
from dcplan.cli.schema import schema
from dcplan.cli.show import show
from dcplan.cli.sweep import sweep
from dcplan.cli.tco import tco
from dcplan.cli.test import gate
from dcplan.cli.train import train
from dcplan.cli.validate import validate

EPILOG = (
    "Exit codes: 0 done; 1 an expectation failed; 2 wrong input; 3 proved infeasible; "
    "4 incomplete; 70 a bug in dcplan; 130 interrupted."
)

app = typer.Typer(
    name="dcplan",
    help=(
        "Plan AI data centers: what to buy, where and when; how long training takes; what it costs."
    ),
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=True,
)


def _version(value: bool) -> None:
    if value:
        from dcplan import __version__

        typer.echo(f"dcplan {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Plan AI data centers: what to buy, where and when; how long training takes; what it costs."""


app.command()(init)
app.command()(plan)
app.command()(explain)
app.command()(diff)
app.command("test")(gate)
app.command()(sweep)
app.command()(frontier)
app.command()(check)
app.command()(tco)
app.command()(train)
app.command()(fabric)
app.command()(facility)
app.command()(validate)
app.command()(calibrate)
app.command()(show)
app.command()(export)
app.command("import")(import_)
app.command()(schema)
app.command()(doctor)
app.add_typer(catalog, name="catalog")
