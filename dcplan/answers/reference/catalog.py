"""``dcplan catalog list | show | check``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from dcplan.catalog.lint import lint, quantities
from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.schema import KINDS, Row
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.result import Cell, Result
from dcplan.specs.reference import catalog as specs
from dcplan.units import unit_of

KEY_FIELDS = {
    "accelerators": ("bf16_tflops", "fp8_tflops", "hbm_gb", "tdp_kw"),
    "systems": ("accelerators", "rated_kw", "price_usd", "release"),
    "switches": ("throughput_tbps", "typical_kw", "price_usd"),
    "fabrics": ("protocol", "rate_gbps", "leaf"),
    "cooling": ("air_rack_kw_max", "liquid_rack_kw_max", "fit_out_usd_per_kw"),
    "sites": ("country", "climate_zone", "usd_per_kwh", "grid_g_per_kwh"),
    "cloud": ("provider", "accelerator", "accelerators", "kind"),
    "models": ("params_b", "active_params_b"),
}


def catalog_list(kind: str | None, catalogs: Sequence[str] = ()) -> Result:
    """Return the kinds with their row counts, or the rows of one kind with their main figures."""
    catalog = load(tuple(Path(c) for c in catalogs))
    if kind is None:
        rows = [specs.KindRow(kind, len(table)) for kind, table in catalog.rows.items()]
        total = sum(row.rows for row in rows)
        return Result(
            "catalog",
            "ok",
            EXIT_OK,
            f"{total} rows of {len(rows)} kinds",
            tables={specs.KINDS.name: specs.KINDS.table(rows)},
        )
    table = _table(catalog, kind)
    fields = KEY_FIELDS.get(kind, ("value", "unit"))
    fields = tuple(f for f in fields if f in KINDS[kind].model_fields)
    found = [
        (specs.ItemRow(row.id, row.name), {f: _cell(getattr(row, f)) for f in fields})
        for row in table.values()
    ]
    return Result(
        "catalog",
        "ok",
        EXIT_OK,
        f"{len(found)} {kind}",
        tables={specs.ITEMS.name: specs.ITEMS.wide_table(found, fields)},
    )


def _table(catalog: Catalog, kind: str) -> dict[str, Row]:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise InputError(
            [
                Problem(
                    "DC010",
                    f"no catalog kind {kind!r}: one of {', '.join(KINDS)}",
                    Place("catalog"),
                    hint,
                )
            ]
        )
    return dict(catalog.rows[kind])


def _cell(value: object) -> Cell:
    number = getattr(value, "value", value)
    return number if isinstance(number, str | int | float | bool) or number is None else str(number)


def _find(catalog: Catalog, kind: str, key: str | None) -> tuple[str, Row]:
    """Return the kind and row of a name; a single name is the id."""
    if key is None:
        kinds = catalog.kinds_of(kind)
        if not kinds:
            hint = did_you_mean(kind, [k for table in catalog.rows.values() for k in table])
            cause = f"no catalog row {kind!r}"
            raise InputError(
                [Problem("DC010", cause, Place("catalog"), hint, "dcplan catalog list KIND")]
            )
        kind, key = kinds[0], kind
    table = _table(catalog, kind)
    row = catalog.find(kind, key, KINDS[kind])
    if row is None:
        hint = did_you_mean(key, table)
        cause = f"no {kind} row {key!r}"
        raise InputError(
            [Problem("DC010", cause, Place("catalog"), hint, f"dcplan catalog list {kind}")]
        )
    return kind, row


def catalog_show(kind: str, key: str | None, catalogs: Sequence[str] = ()) -> Result:
    """Return every value of a row with unit, status, bounds, source and date.

    With ``key`` left out, ``kind`` is the id.
    """
    kind, row = _find(load(tuple(Path(c) for c in catalogs)), kind, key)
    numbers = dict(quantities(row))
    values: list[specs.ValueRow] = []
    for name, value in row:
        nested = isinstance(value, BaseModel) or any(n.startswith(f"{name}[") for n in numbers)
        if name in {"id", "source", "note"} or value is None or value == () or nested:
            continue
        shown = (
            value
            if isinstance(value, int | float) and not isinstance(value, bool)
            else _words(value)
        )
        source = str(row.source)
        values.append(
            specs.ValueRow(
                name, shown, "", "catalog", None, None, source, row.source.as_of, note=None
            )
        )
    for name, q in numbers.items():
        derived = f" from {', '.join(q.derived_from)}" if q.derived_from else ""
        values.append(
            specs.ValueRow(
                field=name,
                value=q.value,
                unit=unit_of(name),
                status=str(q.status),
                low=q.low,
                high=q.high,
                source=q.source,
                as_of=q.as_of,
                note=(q.note or "") + derived or None,
            )
        )
    note = f". {row.note}" if row.note else ""
    return Result(
        "catalog",
        "ok",
        EXIT_OK,
        f"{kind} {row.id}: {row.name}{note}",
        tables={specs.VALUES.name: specs.VALUES.table(values)},
    )


def _words(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(str(v) for v in value)
    if isinstance(value, dict):
        return ", ".join(f"{k}: {v}" for k, v in value.items())
    return "yes" if value is True else "no" if value is False else str(value)


def catalog_check(catalogs: Sequence[str] = (), stale_after_days: int | None = None) -> Result:
    """Check all rows; the exit code is 1 if there are findings."""
    catalog = load(tuple(Path(c) for c in catalogs))
    found = lint(catalog, dt.datetime.now(tz=dt.UTC).date().isoformat(), stale_after_days)
    rows = (specs.FindingRow(f.code, f.kind, f.id, f.field, f.message, f.at) for f in found)
    count = sum(len(t) for t in catalog.rows.values())
    headline = (
        f"{count} rows checked: {len(found)} findings"
        if found
        else f"{count} rows checked: no findings"
    )
    return Result(
        "catalog",
        "findings" if found else "ok",
        EXIT_NO if found else EXIT_OK,
        headline,
        tables={specs.FINDINGS.name: specs.FINDINGS.table(rows)},
    )
