"""Published prices of tokens on several systems, compared with ``dcplan serve`` at the same point."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.serve.answer import serve
from dcplan.answers.validation.price_cells import PACKAGED, Cell, read_cells
from dcplan.answers.validation.request import ValidateRequest
from dcplan.catalog.locate import data_dir
from dcplan.errors import EXIT_OK, InputError
from dcplan.result import Metric, Result
from dcplan.specs.serve import service
from dcplan.specs.validation import prices as specs
from dcplan.specs.validation.prices import PriceGroupRow, PriceRow


def predicted_prices(request: ValidateRequest) -> Result:
    """Ask ``serve`` for the price of tokens at every published operating point and compare.

    Raises
    ------
    InputError
        When the file cannot be read, lacks a column or has a cell that is not a number above 0.
    """
    began = time.perf_counter()
    packaged = data_dir("catalogs").joinpath(*PACKAGED)
    cells = read_cells(Path(request.runs) if request.runs else packaged)
    rows = [compared(cell, request.catalogs) for cell in cells]
    metrics = _metrics(rows)
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(rows, metrics),
        metrics=metrics,
        tables={
            specs.PRICE_GROUPS.name: specs.PRICE_GROUPS.table(_groups(rows)),
            specs.PRICES.name: specs.PRICES.table(rows),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def compared(cell: Cell, folders: tuple[str, ...] = ()) -> PriceRow:
    """Return a published price with dcplan's answer, or with the reason why it has none.

    ``serve`` prices output tokens; the publishers divide by input and output tokens.
    """
    price, layout = None, ""
    try:
        found = serve(**cell.ask, catalogs=folders)
    except InputError as error:
        layout = f"no answer: {error.problems[0].cause}"
    else:
        price = found.metrics[service.RENTED_COST.key]
        layout = "; ".join(
            f"{p['pool']} {p['replicas']} x {p['layout']}" for p in found.tables["pools"].records()
        )
    numbers = cell.numbers
    share = numbers["output_tokens"] / (numbers["input_tokens"] + numbers["output_tokens"])
    value, low, high = (
        float(x) * share if isinstance(x, int | float) else None
        for x in ((price.value, price.low, price.high) if price else (None, None, None))
    )
    said = cell.said_usd
    inside = low is not None and high is not None and low <= said <= high
    return PriceRow(
        id=cell.row["id"],
        model=cell.row["model"],
        system=cell.row["system"],
        precision=cell.row["precision"],
        input_tokens=numbers["input_tokens"],
        output_tokens=numbers["output_tokens"],
        tokens_per_s_per_user=numbers["tokens_per_s_per_user"],
        published_usd_per_million_tokens=cell.numbers.get("usd_per_million_tokens"),
        throughput_usd_per_million_tokens=cell.throughput_usd,
        usd_per_million_tokens=value,
        ratio=None if value is None else value / said,
        low=low,
        high=high,
        inside="yes" if inside else "no",
        basis=cell.basis,
        layout=layout,
        asked=", ".join(f"{k}={v}" for k, v in cell.ask.items()),
        source=cell.row.get("source", ""),
        url=cell.row.get("url", ""),
        note=cell.row.get("notes", ""),
    )


def _inside(rows: Sequence[PriceRow]) -> int:
    return sum(row.inside == "yes" for row in rows)


def _median_ratio(rows: Sequence[PriceRow]) -> float | None:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    return float(np.median(ratios)) if ratios else None


def _groups(rows: Sequence[PriceRow]) -> list[PriceGroupRow]:
    """Count the cells of each model and system, in the order of the table."""
    groups: dict[tuple[str, str, str], list[PriceRow]] = defaultdict(list)
    for row in rows:
        groups[row.model, row.system, row.basis].append(row)
    return [
        PriceGroupRow(
            *key,
            cells=len(members),
            answered=sum(row.ratio is not None for row in members),
            inside=_inside(members),
            median_ratio=_median_ratio(members),
        )
        for key, members in groups.items()
    ]


def _metrics(rows: Sequence[PriceRow]) -> dict[str, Metric]:
    alone = [row for row in rows if row.basis == "independent"]
    metrics = {
        **specs.CELLS_TOTAL(len(rows)),
        **specs.CELLS_ANSWERED(sum(row.ratio is not None for row in rows)),
        **specs.CELLS_INSIDE(_inside(rows)),
        **specs.CELLS_INDEPENDENT(len(alone)),
        **specs.CELLS_INDEPENDENT_INSIDE(_inside(alone)),
    }
    middle = _median_ratio(rows)
    return metrics if middle is None else metrics | specs.RATIO_MEDIAN(middle)


def _headline(rows: Sequence[PriceRow], metrics: Mapping[str, Metric]) -> str:
    inside, answered, alone, alone_inside = (
        metrics[spec.key].value
        for spec in (
            specs.CELLS_INSIDE,
            specs.CELLS_ANSWERED,
            specs.CELLS_INDEPENDENT,
            specs.CELLS_INDEPENDENT_INSIDE,
        )
    )
    return (
        f"price-performance: {inside} of {len(rows)} published prices of tokens inside dcplan's "
        f"80 % interval, {answered} answered; {alone_inside} of {alone} independent ones inside"
    )
