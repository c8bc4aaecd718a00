"""``dcplan import``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    VerboseOption,
)


class Kind(StrEnum):
    """What a file holds."""

    PRICES = "prices"
    SPEND = "spend"
    WORKBOOK = "workbook"


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, or an exported workbook")],
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind", help="prices (a list of rented instances), spend (a FOCUS export) or workbook"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="prices: overlay folder for --catalogs; else: file of overrides"
        ),
    ] = None,
    fx: Annotated[
        list[str] | None, typer.Option("--fx", help="repeatable: EUR=1.08, USD for one EUR")
    ] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Read a price list, a cost export or an edited workbook: every row is used, or refused with
    its reason.
    """
    from dcplan.answers.imports.prices import fx_of, import_prices
    from dcplan.answers.imports.spend import import_spend
    from dcplan.answers.imports.workbook import import_book
    from dcplan.cli.output import check_writable, emit
    from dcplan.report.files import write_whole

    target = None
    if out is not None:
        target = out / "cloud" / "imported.yaml" if kind is Kind.PRICES else out
        check_writable(target)
    if kind is Kind.WORKBOOK:
        result, text = import_book(file)
    else:
        answer = import_prices if kind is Kind.PRICES else import_spend
        result, text = answer(
            file, catalogs=tuple(Path(c) for c in catalogs or ()), fx=fx_of(tuple(fx or ()))
        )
    if target is not None and result.exit_code == 0:
        write_whole(target, text)
        use = f"--catalogs {out}" if kind is Kind.PRICES else "copy into a scenario's overrides"
        typer.echo(f"written: {target} ({use})", err=True)
    emit(result, fmt=fmt, out=None, quiet=False, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
