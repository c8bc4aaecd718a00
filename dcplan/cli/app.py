"""All verbs on one application; the module of a verb is imported when the verb is called."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from dcplan.cli.command import Once

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer._click import Command, Context, HelpFormatter

EPILOG = (
    "Exit codes: 0 done; 1 an expectation failed; 2 invalid input; 3 proved infeasible; "
    "4 incomplete; 70 a bug in dcplan; 130 interrupted."
)

SUMMARIES = {
    "init": "Write a first scenario, its JSON Schema for editors and a CI workflow.",
    "plan": "Find the cheapest plan of a scenario: what to buy or rent, where and when.",
    "explain": "Explain a plan: binding limits, the value of relaxing them, why not X.",
    "diff": "Compare two results or scenarios: inputs, decisions and figures.",
    "test": "Check the expectations of scenarios; the exit code is for CI.",
    "sweep": "Plan many variants of a scenario: a grid, pairs or random samples.",
    "frontier": "Show the trade-off between two metrics.",
    "check": "Check scenarios for errors and implausible values without solving.",
    "tco": "Compare the cost of owning, renting and combining both over the horizon.",
    "train": "Estimate time, memory, energy and cost of training a model.",
    "serve": "Estimate throughput, latency, power and cost of serving a model.",
    "demand": "Read logs of jobs: what they waited for, and the accelerators that keep their waits.",
    "fabric": "Design one network: switches, links, optics, cables, power and price.",
    "facility": "Size one data hall: PUE, water, cooling plant and power chain.",
    "validate": "Compare predictions with published measurements and print the errors.",
    "calibrate": "Turn your own runs or measured kernels into a catalog overlay; read training logs.",
    "show": "Show a saved result, or one table of it.",
    "report": "Write one result, or two side by side, as a page for a browser.",
    "export": "Export a saved result to a workbook, CSV, Parquet, memo, NetBox or FOCUS.",
    "import": "Import a price list, a cost export or an edited workbook.",
    "schema": "Print the JSON Schema of scenarios, catalogs or results.",
    "doctor": "Print versions, solver and paths for a bug report.",
    "catalog": "List, show and check catalog rows and their sources.",
}
"""Verb -> first line of its help, in the order of ``dcplan --help``."""

FUNCTIONS = {"test": "gate", "import": "import_"}
"""Verb -> function, if its name differs from the verb."""


def load(verb: str) -> Command:
    """Import the module of a verb and create its command.

    Examples
    --------
    >>> load("doctor").name
    'doctor'
    """
    module = importlib.import_module(f"dcplan.cli.{'import_' if verb == 'import' else verb}")
    made: Any
    if isinstance(getattr(module, "app", None), typer.Typer):
        for each in module.app.registered_commands:
            each.cls = Once
        made = typer.main.get_group(module.app)
    else:
        run: Callable[..., None] = getattr(module, FUNCTIONS.get(verb, verb))
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(verb, cls=Once)(run)
        made = typer.main.get_command(alone)
    made.name = verb
    return made  # type: ignore[no-any-return]


class Verbs(TyperGroup):
    """The group of all verbs; listing them imports none of their modules."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the verbs in the order of the help."""
        return list(SUMMARIES)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return the command of a verb, or None if there is no such verb."""
        return load(cmd_name) if cmd_name in SUMMARIES else None

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Return the command of the arguments; an unknown verb is refused with the nearest one."""
        if args and args[0] not in SUMMARIES and not args[0].startswith("-"):
            from dcplan.errors import did_you_mean

            hint = did_you_mean(args[0], SUMMARIES)
            ctx.fail(f"no verb {args[0]!r}; {hint or 'dcplan --help lists the verbs'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write every verb with its summary."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


app = typer.Typer(
    name="dcplan",
    cls=Verbs,
    help=(
        "Plan AI data centers: what to buy, where and when; how long training takes; what it costs."
    ),
    epilog=EPILOG,
    no_args_is_help=True,
    invoke_without_command=False,
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
