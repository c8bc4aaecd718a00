"""Pictures that show two plans by quarter: cash, fleet, and power against the utility limit."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.report.html import quarterly
from dcplan.report.html.canvas import Chart
from dcplan.result import Result
from dcplan.specs.regression.compared import QUARTERS_COMPARED, QuarterCompared
from dcplan.units import USD_PER_MUSD


def pictures(labels: tuple[str, str], changes: Result) -> dict[str, tuple[Chart, ...]]:
    """Return the pictures by their subject; none where a table has no amounts."""
    rows = QUARTERS_COMPARED.rows(changes.tables[QUARTERS_COMPARED.name])
    if not rows:
        return {}
    found: dict[str, tuple[Chart, ...]] = {
        "fleet": (_fleet(labels, rows),),
        "power": (_power(labels, rows),),
    }
    if any(x.paid_before_usd is not None or x.paid_after_usd is not None for x in rows):
        found["cash"] = (_cash(labels, rows),)
    return found


def _millions(values: Sequence[float | None]) -> list[float]:
    return [(x or 0.0) / USD_PER_MUSD for x in values]


def _cash(labels: tuple[str, str], rows: Sequence[QuarterCompared]) -> Chart:
    sums = [
        _millions([x.paid_to_date_before_usd for x in rows]),
        _millions([x.paid_to_date_after_usd for x in rows]),
    ]
    paid = [
        _millions([x.paid_before_usd for x in rows]),
        _millions([x.paid_after_usd for x in rows]),
    ]
    words = "Cash paid by quarter before tax and financing, and its sum to date: " + ", ".join(
        f"{label} {total[-1]:,.1f} million USD" for label, total in zip(labels, sums, strict=True)
    )
    lines = {f"{label}, sum": x for label, x in zip(labels, sums, strict=True)}
    return quarterly.paired(
        "both-cash",
        "Cash by quarter",
        [x.quarter for x in rows],
        dict(zip(labels, paid, strict=True)),
        lines,
        "M USD",
        words,
    )


def _fleet(labels: tuple[str, str], rows: Sequence[QuarterCompared]) -> Chart:
    counts = [
        [x.accelerators_before or 0.0 for x in rows],
        [x.accelerators_after or 0.0 for x in rows],
    ]
    words = "Accelerators in service by quarter, in the last one: " + ", ".join(
        f"{label} {values[-1]:,.0f}" for label, values in zip(labels, counts, strict=True)
    )
    return quarterly.paired(
        "both-fleet",
        "Fleet by quarter",
        [x.quarter for x in rows],
        dict(zip(labels, counts, strict=True)),
        {},
        "accelerators",
        words,
    )


def _power(labels: tuple[str, str], rows: Sequence[QuarterCompared]) -> Chart:
    used = [[x.facility_before_mw or 0.0 for x in rows], [x.facility_after_mw or 0.0 for x in rows]]
    limits = [[x.utility_before_mw or 0.0 for x in rows], [x.utility_after_mw or 0.0 for x in rows]]
    lines = {f"{label}, limit": x for label, x in zip(labels, limits, strict=True)}
    if limits[0] == limits[1]:
        lines = {"utility limit of both": limits[0]}
    words = "Facility power on the design day by quarter, at most: " + ", ".join(
        f"{label} {max(x):.1f} MW of {max(limit):.1f} MW from the utility"
        for label, x, limit in zip(labels, used, limits, strict=True)
    )
    return quarterly.paired(
        "both-power",
        "Power against the utility limit",
        [x.quarter for x in rows],
        dict(zip(labels, used, strict=True)),
        lines,
        "MW",
        words,
    )
