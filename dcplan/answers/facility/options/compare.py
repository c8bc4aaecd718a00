"""Comparison of all cooling options at one site, by total usage effectiveness (TUE)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from dcplan.answers.facility.feasibility import holds
from dcplan.answers.facility.metrics import metrics_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.cooling.performance import performance
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Result
from dcplan.specs.facility import cooling as specs
from dcplan.specs.metric import MetricSpec
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

COMPUTED, TABLE = "computed", "table"


def compared(resolved: ResolvedFacility, log: InputLog) -> Result:
    """Answer with every option of the catalog.

    The option with the lowest TUE comes first.

    Raises
    ------
    InputError
        When no option fits the hall; the error has every reason.
    """
    rows: list[specs.OptionRow] = []
    reasons: dict[str, str] = {}
    plates: list[float] = []
    for option in log.catalog.table("cooling", CoolingOption).values():
        why = "; ".join(cause for cause, _ in holds(option, resolved, log))
        try:
            own = resolved if why else resolved.under(option, log)
            found = None if why else performance(option, own.setting(option, log), log)
        except LookupError as error:
            found, why = None, str(error)
        if found is None:
            reasons[option.id] = why
        else:
            rows.append(_row(option, own, found, log))
            supply = rows[-1].supply_c
            plates += [supply] if supply is not None and "liquid" in option.accepts else []
    if not rows:
        raise InputError(
            [
                Problem("DC061", f"{name}: {why}", Place("--compare"))
                for name, why in reasons.items()
            ]
        )
    rows.sort(key=lambda row: row.tue or 0.0)
    rejected = [specs.OptionRow(name, why_not=why) for name, why in reasons.items()]
    tables = {"options": specs.OPTIONS.table([*rows, *rejected])}
    best = rows[0]
    warnings = [{"code": "cost", "message": note} for note in _switching(rows, resolved)]
    warnings += [{"code": "pue", "message": note} for note in _temperatures(plates, resolved)]
    headline = (
        f"{best.cooling} has the lowest TUE at {resolved.where.name} ({best.tue:.3f}), with PUE "
        f"{best.annual_pue:.3f}"
    )
    if any(row.basis == TABLE for row in rows) and (
        resolved.load < 1.0 or resolved.request.supply_c is not None or resolved.where.zone is None
    ):
        note = (
            "options from the table are at full load and ignore --load-frac, --supply-c and --epw: not "
            "comparable with the others"
        )
        warnings.append({"code": "pue", "message": note})
    return Result(
        "facility",
        "ok",
        EXIT_OK,
        headline,
        tables=tables,
        warnings=warnings,
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
    )


def _temperatures(supply_c: Sequence[float], resolved: ResolvedFacility) -> list[str]:
    """Report that options with cold plates are compared at different temperatures of facility water."""
    if resolved.request.supply_c is not None or not supply_c or min(supply_c) == max(supply_c):
        return []
    return [
        f"facility water of cold plates has {min(supply_c):g} to {max(supply_c):g} °C, the usual "
        f"temperature of each option; --supply-c {max(supply_c):g} compares all at one"
    ]


def _row(
    option: CoolingOption, resolved: ResolvedFacility, found: Performance, log: InputLog
) -> specs.OptionRow:
    metrics = metrics_of(option, resolved, found, log)
    peak, tue, capex, per_speed = (
        _number(metrics, spec)
        for spec in (specs.PEAK_FACILITY, specs.TUE, specs.FIT_OUT_USD, specs.KW_PER_PFLOPS)
    )
    return specs.OptionRow(
        cooling=option.id,
        basis=COMPUTED if found.modeled else TABLE,
        supply_c=resolved.setting(option, log).supply_c if found.modeled else None,
        annual_pue=found.pue.value,
        pue_low=found.pue.low,
        pue_high=found.pue.high,
        peak_pue=found.peak_pue,
        wue_l_per_kwh=found.wue_l_per_kwh.value if found.wue_l_per_kwh else None,
        peak_facility_mw=peak,
        tue=tue,
        fit_out_usd=capex,
        usd_per_year=_per_year(resolved, found, capex or 0.0, log),
        facility_kw_per_pflops=per_speed,
    )


def _number(metrics: Mapping[str, Metric], spec: MetricSpec) -> float | None:
    """Return the value of a metric without ids, or None."""
    metric = metrics.get(spec.key)
    return None if metric is None or metric.value is None else float(metric.value)


def _per_year(
    resolved: ResolvedFacility, found: Performance, capex_usd: float, log: InputLog
) -> float | None:
    """Return the annual cost of site energy and of fit-out over its life [USD/year].

    The cost is undiscounted, and None without a tariff.
    """
    site = resolved.where.site
    if site is None or site.usd_per_kwh is None:
        return None
    price = log.take(f"sites.{site.id}.usd_per_kwh", site.usd_per_kwh)
    kwh = resolved.it_mw * resolved.load * KW_PER_MW * HOURS_PER_YEAR * found.pue.value
    return kwh * price + capex_usd / log.parameter("finance", "cooling-life-years")


def _switching(rows: Iterable[specs.OptionRow], resolved: ResolvedFacility) -> list[str]:
    """Report the cost increase of the cheapest option at which the next one is cheaper."""
    priced = sorted((r.usd_per_year, r.cooling) for r in rows if r.usd_per_year is not None)
    if len(priced) < 2 or resolved.where.site is None:
        return []
    (least, first), (then, second) = priced[:2]
    each = (then - least) / (resolved.it_mw * KW_PER_MW)
    return [
        f"{first} has the lowest annual cost; {second} would be cheaper if {first} cost USD "
        f"{then - least:,.0f} per year more (USD {each:,.1f} per kW of IT)"
    ]
