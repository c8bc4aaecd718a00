"""Lint of the catalog: references, ratios, order of the three kW, plausible ranges, dates, class
values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import (
    Accelerator,
    CoolingOption,
    Curve,
    DepreciationTable,
    Fabric,
    Nic,
    Offer,
    Optic,
    PueRow,
    ReportedSite,
    Row,
    Switch,
    System,
)
from dcplan.errors import did_you_mean
from dcplan.provenance import Quantity, Status, first_day
from dcplan.units import MOST_USD_PER_INSTANCE_HOUR, unit_of

FP8_OVER_BF16 = 2.0
FP8_TOLERANCE = 0.03
RANGES: dict[str, tuple[float, float]] = {
    "tflops": (1, 500_000),
    "gb": (0.1, 5_000),
    "dram_gb": (1, 5_000_000),
    "tb_per_s": (0.1, 50_000),
    "gb_per_s": (1, 5_000),
    "kw": (0, 50_000),
    "usd_per_kwh": (0.01, 0.6),
    "usd_per_h": (0.1, MOST_USD_PER_INSTANCE_HOUR),
    "usd_per_kw_month": (0.5, 500),
    "g_per_kwh": (0, 1_500),
    "l_per_kwh": (0, 6),
    "frac": (0, 1),
    "gbps": (0.5, 500_000),
    "kg": (1, 500_000),
    "c": (-60, 80),
}
"""Plausible range by unit suffix: a value outside it has a wrong decimal point or a wrong unit."""


@dataclass(frozen=True)
class Finding:
    """One problem of a catalog."""

    code: str
    kind: str
    id: str
    field: str
    message: str
    at: str = ""


def last_day(as_of: str) -> str:
    """Return a last day of a date for comparison as text, in months of 31 days.

    Examples
    --------
    >>> last_day("2026"), last_day("2026-Q3"), last_day("2026-09")
    ('2026-12-31', '2026-09-31', '2026-09-31')
    """
    if "-Q" in as_of:
        return f"{as_of[:4]}-{3 * int(as_of[-1]):02d}-31"
    return (as_of + "-12-31")[:10] if len(as_of) == 4 else (as_of + "-31")[:10]


def quantities(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Quantity]]:
    """Yield every quantity of a row with its dotted field name."""
    for name, value in model:
        field = f"{prefix}{name}"
        if isinstance(value, Quantity):
            yield field, value
        elif isinstance(value, BaseModel):
            yield from quantities(value, f"{field}.")
        elif isinstance(value, tuple | list):
            for i, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from quantities(item, f"{field}[{i}].")


def lint(catalog: Catalog, today: str, stale_days: int | None = None) -> list[Finding]:
    """Return all findings; an empty list means a correct catalog.

    ``today`` (YYYY-MM-DD) is the latest valid date; with ``stale_days`` an older value is a finding
    too.
    """
    findings: list[Finding] = []
    for kind, table in catalog.rows.items():
        for row in table.values():
            findings += _values(kind, row, today)
            if stale_days is not None:
                findings += _stale(kind, row, today, stale_days)
    findings += _references(catalog)
    findings += _accelerators(catalog.table("accelerators", Accelerator).values())
    findings += _systems(catalog)
    findings += _places(catalog)
    findings += _curves(catalog)
    return findings


def _values(kind: str, row: Row, today: str) -> Iterator[Finding]:
    for field, q in quantities(row):
        at = q.at or ""
        name = field.rpartition(".")[2]
        if field.startswith("average_kw."):
            name = "kw"
        suffix = next(
            (
                s
                for s in sorted(RANGES, key=len, reverse=True)
                if name == s or name.endswith("_" + s)
            ),
            None,
        )
        if suffix is not None:
            low, high = RANGES[suffix]
            if not low <= q.value <= high:
                yield Finding(
                    "DC021",
                    kind,
                    row.id,
                    field,
                    f"{q.value:g} is outside {low:g} to {high:g} {unit_of(field)}",
                    at,
                )
        if q.status is Status.ESTIMATE and (q.low is None or q.high is None):
            yield Finding("DC022", kind, row.id, field, "an estimate needs low and high", at)
        if not q.source:
            yield Finding("DC020", kind, row.id, field, "no source", at)
        if q.as_of and first_day(q.as_of) > today:
            yield Finding("DC022", kind, row.id, field, f"the date is in the future: {q.as_of}", at)


def _stale(kind: str, row: Row, today: str, days: int) -> Iterator[Finding]:
    import datetime as dt

    limit = (dt.date.fromisoformat(today) - dt.timedelta(days=days)).isoformat()
    for field, q in quantities(row):
        if q.as_of and last_day(q.as_of) < limit:
            yield Finding(
                "DC022", kind, row.id, field, f"older than {days} days: {q.as_of}", q.at or ""
            )


def _references(catalog: Catalog) -> Iterator[Finding]:
    def need(
        kind: str, row: Row, field: str, target: str, reference: str | None
    ) -> Iterator[Finding]:
        if reference and catalog.find(target, reference, Row) is None:
            hint = did_you_mean(reference, catalog.rows[target])
            yield Finding(
                "DC010", kind, row.id, field, f"unknown {target} row {reference!r} {hint}".rstrip()
            )

    for system in catalog.table("systems", System).values():
        yield from need("systems", system, "accelerator", "accelerators", system.accelerator)
        yield from need("systems", system, "nic", "nics", system.nic)
    for offer in catalog.table("cloud", Offer).values():
        yield from need("cloud", offer, "accelerator", "accelerators", offer.accelerator)
    for fabric in catalog.table("fabrics", Fabric).values():
        for name in ("leaf", "spine", "core"):
            yield from need("fabrics", fabric, name, "switches", getattr(fabric, name))
        for name in ("node_optic", "leaf_optic", "fiber"):
            yield from need("fabrics", fabric, name, "optics", getattr(fabric, name))
    for pue in catalog.table("pue", PueRow).values():
        yield from need("pue", pue, "cooling", "cooling", pue.cooling)
    for real in catalog.table("reported", ReportedSite).values():
        yield from need("reported", real, "site", "sites", real.site)


def _accelerators(rows: Iterable[Accelerator]) -> Iterator[Finding]:
    for row in rows:
        if row.bf16_tflops and row.fp8_tflops and not row.fp8_ratio_reason:
            ratio = row.fp8_tflops.value / row.bf16_tflops.value
            if abs(ratio / FP8_OVER_BF16 - 1) > FP8_TOLERANCE:
                message = f"dense FP8 : BF16 is {ratio:.3g}, not 2; check for a sparse figure, or give fp8_ratio_reason"
                yield Finding(
                    "DC022", "accelerators", row.id, "fp8_tflops", message, row.fp8_tflops.at or ""
                )


def _systems(catalog: Catalog) -> Iterator[Finding]:
    for row in catalog.table("systems", System).values():
        rated, peak = row.rated_kw, row.peak_kw
        if rated and peak and peak.value < rated.value:
            yield Finding(
                "DC022",
                "systems",
                row.id,
                "peak_kw",
                f"{peak.value:g} kW is below rated {rated.value:g} kW",
            )
        for state, q in row.average_kw:
            if rated and q and q.value > rated.value:
                yield Finding(
                    "DC022",
                    "systems",
                    row.id,
                    f"average_kw.{state}",
                    f"{q.value:g} kW is above rated {rated.value:g} kW",
                )
        if row.form != "server" and row.racks < 1:
            yield Finding(
                "DC022",
                "systems",
                row.id,
                "racks",
                "a rack or pod needs at least one rack position",
            )
        chip = catalog.find("accelerators", row.accelerator, Accelerator)
        if (
            rated
            and chip
            and chip.tdp_kw
            and rated.value < row.accelerators * chip.tdp_kw.value * 0.95
        ):
            total = row.accelerators * chip.tdp_kw.value
            yield Finding(
                "DC022",
                "systems",
                row.id,
                "rated_kw",
                f"{rated.value:g} kW is below the sum of the accelerators ({total:g} kW)",
            )
        if "liquid" in row.cooling_modes and row.liquid_frac is None and row.sold and row.price_usd:
            yield Finding(
                "DC022",
                "systems",
                row.id,
                "liquid_frac",
                "liquid cooling without a liquid heat fraction",
            )


def _places(catalog: Catalog) -> Iterator[Finding]:
    rows = catalog.table("pue", PueRow).values()
    have = {(r.cooling, r.size) for r in rows if r.zone == "all"}
    for cooling in catalog.table("cooling", CoolingOption):
        for size in ("large", "midsize", "small"):
            if (cooling, size) not in have:
                yield Finding(
                    "DC022",
                    "cooling",
                    cooling,
                    "pue",
                    f"the PUE row of all zones for a {size} hall is missing",
                )
    for r in rows:
        if not 1.0 <= r.pue.value <= r.peak_pue.value:
            yield Finding("DC022", "pue", r.id, "peak_pue", "must satisfy 1 <= pue <= peak_pue")
    for kind, model in (("switches", Switch), ("nics", Nic), ("optics", Optic)):
        for part in catalog.table(kind, model).values():
            typical, most = getattr(part, "typical_kw", None), getattr(part, "max_kw", None)
            if typical and most and typical.value > most.value:
                yield Finding(
                    "DC022", kind, part.id, "max_kw", "typical power is above the maximum"
                )


def _curves(catalog: Catalog) -> Iterator[Finding]:
    for curve in catalog.table("residuals", Curve).values():
        falling = all(a >= b for a, b in zip(curve.value_frac, curve.value_frac[1:], strict=False))
        if curve.value_frac[0] != 1.0 or not falling:
            yield Finding(
                "DC022",
                "residuals",
                curve.id,
                "value_frac",
                "must start at 1 and must not increase",
            )
    for table in catalog.table("depreciation", DepreciationTable).values():
        if abs(sum(table.share_frac) - 1) > 1e-6:
            yield Finding(
                "DC022",
                "depreciation",
                table.id,
                "share_frac",
                f"the sum is {sum(table.share_frac):g}, not 1",
            )
