"""``dcplan import --kind prices``: a price list of rented instances as a catalog overlay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from datetime import UTC, datetime
from pathlib import Path

from dcplan.answers.imports.csv_rows import read_lines
from dcplan.answers.imports.price_overlay import distinct, latest, offers_of, on_demand_usd_per_h
from dcplan.answers.imports.price_rows import COLUMNS, NEEDED, Priced, Reading, price_row
from dcplan.answers.imports.refused import imported_text, rejected_tables
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema.market import COMMITTED
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_INPUT, EXIT_OK, InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs import imports as specs
from dcplan.specs.imports import RejectedRow

MOST_OVERLAY = 8_000_000
"""Maximum bytes of a catalog file for the loader."""


def import_prices(
    path: Path,
    *,
    catalogs: tuple[Path, ...] = (),
    fx: Mapping[str, float] | None = None,
    today: str | None = None,
) -> tuple[Result, str]:
    """Read a price list; return the outcome of every row, and the YAML of the overlay.

    Each row is imported, or rejected with a reason. Prices of an instance in the catalog replace
    the catalog prices of the same term; prices of other terms stay. A commitment above the
    on-demand price of its offer and region is imported with a note.

    Parameters
    ----------
    path
        CSV of the price list.
    catalogs
        Overlay folders.
    fx
        USD for one unit of other currencies.
    today
        Latest date of a price, YYYY-MM-DD. Default: the day of the clock, in UTC.

    Raises
    ------
    InputError
        When the file cannot be read, or lacks a column.
    """
    catalog = load_catalog(catalogs)
    reading = Reading(path, catalog, fx or {}, today or str(datetime.now(tz=UTC).date()))
    taken: list[Priced] = []
    refused: list[RejectedRow] = []
    for line in read_lines(path, NEEDED, COLUMNS):
        found = price_row(line, reading)
        if isinstance(found, Priced):
            taken.append(found)
        else:
            what = " ".join(x for x in (line.text("provider"), line.text("instance_sku")) if x)
            refused.append(found.row(line.number, what))
    taken = distinct(taken, catalog)
    taken, double = latest(taken)
    refused = sorted((*refused, *double), key=lambda r: r.line)
    offers = offers_of(taken, catalog)
    text = dump({"cloud": offers})
    _refuse_large(text, path)
    partial = {str(row["id"]) for row in offers if row.get("kind") == "partial"}
    rows = _table_rows(taken, partial, on_demand_usd_per_h(taken, catalog))
    out = len({r.line for r in refused} - {p.line for p in taken})
    result = Result(
        "import",
        "ok" if taken else "refused",
        EXIT_OK if taken else EXIT_INPUT,
        imported_text(path.name, len(taken), out),
        metrics=specs.ROWS_USED(len(taken)) | specs.ROWS_REJECTED(out),
        tables={specs.PRICES.name: specs.PRICES.table(rows), **rejected_tables(refused)},
        warnings=_above_on_demand(rows),
    )
    return result, text


def _refuse_large(text: str, path: Path) -> None:
    """Refuse an overlay that dcplan would not read again.

    Raises
    ------
    InputError
        When the overlay is too large.
    """
    if len(text.encode()) > MOST_OVERLAY:
        cause = (
            f"the overlay has {len(text) / 1e6:.0f} MB, but dcplan reads at most "
            f"{MOST_OVERLAY / 1e6:.0f} MB; split the list"
        )
        raise InputError([Problem("DC006", cause, Place(str(path)))])


def _table_rows(
    taken: list[Priced], partial: Set[str], on_demand: Mapping[tuple[str, str], float]
) -> list[specs.PriceRow]:
    """Return a row for each imported price; a commitment above on demand has a note."""
    found = []
    for p in taken:
        by_use = on_demand.get((p.offer, p.region), math.inf)
        found += [
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
                if p.offer in partial
                else "yes",
                note=f"above on demand, {by_use:,.6g} USD/h"
                if term in COMMITTED and usd > by_use
                else "",
            )
            for term, usd in p.usd_per_h.items()
        ]
    return found


def _above_on_demand(rows: list[specs.PriceRow]) -> list[dict[str, str]]:
    """Warn once of the commitments that cost more than on demand."""
    noted = [row for row in rows if row.note]
    if not noted:
        return []
    first = noted[0]
    text = (
        f"commitments above the on-demand price of the same offer and region: {len(noted):,}, the "
        f"first in line {first.line}, {first.term} of {first.offer}: {first.usd_per_h:,.6g} USD/h is "
        f"{first.note}; they are imported, check the columns"
    )
    return [{"code": "above-on-demand", "message": text}]
