"""All cooling options at one place, by what the chips get of the site's energy."""

from __future__ import annotations

from dataclasses import asdict

from dcplan.answers.facility.feasibility import holds
from dcplan.answers.facility.resolve import FacilityAsk
from dcplan.answers.facility.tables import metrics_of
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.cooling import Performance, performance
from dcplan.inputs.log import Ledger
from dcplan.result import Cell, Result, Table
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

IN_ROW = ("power.peak_facility_mw", "tue", "cooling.capex_usd", "facility_kw_per_pflops")
COMPARED = (
    "cooling",
    "basis",
    "supply_c",
    "annual_pue",
    "pue_low",
    "pue_high",
    "peak_pue",
    "wue_l_per_kwh",
    "peak_facility_mw",
    "tue",
    "fit_out_usd",
    "usd_per_year",
    "facility_kw_per_pflops",
    "why_not",
)


def compared(ask: FacilityAsk, ledger: Ledger) -> Result:
    """Every option that the catalog has, best first by what the chips get of the site's energy."""
    rows: list[tuple[Cell, ...]] = []
    refused: list[tuple[Cell, ...]] = []
    for option in ledger.catalog.table("cooling", CoolingOption).values():
        why = "; ".join(cause for cause, _ in holds(option, ask, ledger))
        try:
            found = None if why else performance(option, ask.setting(option, ledger), ledger)
        except LookupError as error:
            found, why = None, str(error)
        if found is None:
            refused.append((option.id, *[None] * (len(COMPARED) - 2), why))
            continue
        m = metrics_of(option, ask, found, ledger)
        peak, tue, capex, per_speed = (m[k].value if k in m else None for k in IN_ROW)
        cells = [peak, tue, capex, _per_year(ask, found, float(capex or 0.0), ledger), per_speed]
        water = found.wue_l_per_kwh.value if found.wue_l_per_kwh else None
        rows.append(
            (
                option.id,
                "computed" if found.modelled else "table",
                ask.setting(option, ledger).supply_c if found.modelled else None,
                found.pue.value,
                found.pue.low,
                found.pue.high,
                found.peak_pue,
                water,
                *cells,
                None,
            )
        )
    if not rows:
        raise InputError(
            [Problem("DC061", f"{r[0]}: {r[-1]}", Place("--compare")) for r in refused]
        )
    rows.sort(key=lambda r: float(r[9] or 0.0))
    tables = {"options": Table(COMPARED, (*rows, *refused))}
    best = rows[0]
    warnings = [{"code": "cost", "message": note} for note in _switching(rows, ask)]
    headline = (
        f"{best[0]} gives the chips most at {ask.where.name}: TUE {best[9]:.3f}, PUE {best[3]:.3f}"
    )
    if any(r[1] == "table" for r in rows) and (
        ask.load < 1.0 or ask.supply_c is not None or ask.where.zone is None
    ):
        note = "rows from the table are at full load and know no --load, --supply-c or --epw: not alike to the others"
        warnings.append({"code": "pue", "message": note})
    return Result(
        "facility",
        "ok",
        EXIT_OK,
        headline,
        tables=tables,
        warnings=warnings,
        inputs=[asdict(row) for _, row in sorted(ledger.rows.items())],
    )


def _per_year(
    ask: FacilityAsk, found: Performance, capex_usd: float, ledger: Ledger
) -> float | None:
    """Energy of the whole site and fit-out over the plant's life, undiscounted; None without a
    tariff. [USD]
    """
    site = ask.where.site
    if site is None or site.usd_per_kwh is None:
        return None
    price = ledger.take(f"sites.{site.id}.usd_per_kwh", site.usd_per_kwh)
    kwh = ask.it_mw * ask.load * KW_PER_MW * HOURS_PER_YEAR * found.pue.value
    return kwh * price + capex_usd / ledger.parameter("finance", "cooling-life-years")


def _switching(rows: list[tuple[Cell, ...]], ask: FacilityAsk) -> list[str]:
    """How much dearer the cheapest option's fit-out might be before the next one is cheaper."""
    priced = sorted((float(r[11]), str(r[0])) for r in rows if r[11] is not None)
    if len(priced) < 2 or ask.where.site is None:
        return []
    (least, first), (then, second) = priced[:2]
    each = (then - least) / (ask.it_mw * KW_PER_MW)
    return [
        f"{first} costs least a year; {second} would if {first} cost USD {then - least:,.0f} a year more, "
        f"USD {each:,.1f} for each kW of IT"
    ]
