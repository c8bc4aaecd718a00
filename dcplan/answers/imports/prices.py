"""``dcplan import --kind prices``: a price list of rented instances as a catalog overlay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dcplan.answers.imports.csv_rows import read_lines
from dcplan.answers.imports.price_overlay import distinct, latest, offers_of
from dcplan.answers.imports.price_rows import COLUMNS, NEEDED, Priced, price_row
from dcplan.answers.imports.refused import rejected_tables
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_INPUT, EXIT_OK, InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs import imports as specs
from dcplan.specs.imports import RejectedRow

MOST_OVERLAY = 8_000_000
"""Maximum bytes of a catalog file for the loader."""


def import_prices(
    path: Path, *, catalogs: tuple[Path, ...] = (), fx: Mapping[str, float] | None = None
) -> tuple[Result, str]:
    """Read a price list; return the outcome of every row, and the YAML of the overlay.

    Each row is imported, or rejected with a reason. Prices of an instance in the catalog replace
    the catalog prices of the same term; prices of other terms stay.

    Raises
    ------
    InputError
        When the file cannot be read, or lacks a column.
    """
    catalog = load_catalog(catalogs)
    taken: list[Priced] = []
    refused: list[RejectedRow] = []
    for line in read_lines(path, NEEDED, COLUMNS):
        found = price_row(line, catalog, path, fx or {})
        if isinstance(found, Priced):
            taken.append(found)
        else:
            what = " ".join(x for x in (line.text("provider"), line.text("instance_sku")) if x)
            refused.append(found.row(line.number, what))
    taken = distinct(taken, catalog)
    taken, double = latest(taken)
    refused = sorted((*refused, *double), key=lambda r: r.line)
    text = dump({"cloud": offers_of(taken, catalog)})
    if len(text.encode()) > MOST_OVERLAY:
        cause = (
            f"the overlay has {len(text) / 1e6:.0f} MB, but dcplan reads at most "
            f"{MOST_OVERLAY / 1e6:.0f} MB; split the list"
        )
        raise InputError([Problem("DC006", cause, Place(str(path)))])
    serves = {row["id"]: row.get("kind") for row in offers_of(taken, catalog)}
    rows = (
        specs.PriceRow(
            line=p.line,
            offer=p.offer,
            region=p.region,
            accelerator=p.accelerator,
            accelerators=p.count,
            term=term,
            usd_per_h=usd,
            usd_per_accelerator_hour=usd / p.count,
            as_of=p.as_of,
            serves_plans="no: not a full node with a network rate"
            if serves.get(p.offer) == "partial"
            else "yes",
        )
        for p in taken
        for term, usd in p.usd_per_h.items()
    )
    out = len({r.line for r in refused} - {p.line for p in taken})
    code = EXIT_OK if taken else EXIT_INPUT
    result = Result(
        "import",
        "ok" if taken else "refused",
        code,
        f"{path.name}: {len(taken):,} rows imported, {out:,} rejected",
        metrics=specs.ROWS_USED(len(taken)) | specs.ROWS_REJECTED(out),
        tables={specs.PRICES.name: specs.PRICES.table(rows), **rejected_tables(refused)},
    )
    return result, text
