"""``dcplan demand`` of a bill: rented accelerators by day and month, idle commitments, and a demand."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from dcplan.answers.demand.ahead import lead_of
from dcplan.answers.demand.bills.read import KIND, Bill, Charge, is_bill, read_bills
from dcplan.answers.demand.bills.use import Use, Window, by_day, mean_of, peak_of, window_of
from dcplan.answers.demand.digits import short
from dcplan.answers.demand.refusals import all_or_none, refuse_flags
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.requests import refuse
from dcplan.answers.imports.currencies import fx_of
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_OK
from dcplan.result import Metric, Result
from dcplan.specs.demand import bills as spec
from dcplan.specs.demand.log import FILES, FINDINGS, FileRow, FindingRow
from dcplan.specs.request import fields_of
from dcplan.units import HOURS_PER_QUARTER

OWN = frozenset(("fx", "catalogs"))
"""Fields of the request that only bills use."""
USED = frozenset(("files", "kind", "start", "quarters", "growth_frac_per_quarter")) | OWN
"""Fields of the request that a bill uses."""
NO_GROWTH = "a bill shows no growth: the demand of coming quarters needs --growth-frac-per-quarter"


def are_bills(request: DemandRequest) -> bool:
    """Return whether the files are bills.

    Raises
    ------
    InputError
        When only some of them are (DC050).
    """
    if request.kind is not None:
        return request.kind == KIND
    cause = "a bill next to logs of another kind: read them one after the other"
    return all_or_none(request.files, is_bill, cause)


def refuse_bills_only(request: DemandRequest) -> None:
    """Refuse flags that only bills use.

    Raises
    ------
    InputError
        With every such flag (DC050).
    """
    refuse(request, OWN, "only for bills")


def bills_answer(request: DemandRequest) -> tuple[Result, str, str]:
    """Return the answer, the demand of a scenario, and why there is none if it is empty.

    Raises
    ------
    InputError
        When a flag is of another kind of log, or a charge cannot be used.
    """
    refuse_flags(request)
    others = {f.name for f in fields_of(DemandRequest)} - USED
    refuse(request, frozenset(others), "not for bills")
    rates = fx_of(request.fx)
    bill = read_bills(request.files, catalogs=[Path(c) for c in request.catalogs], fx=rates)
    rates.refuse_unused("charge for accelerators")
    window, days = window_of(bill.charges), by_day(bill.charges)
    saved: dict[str, object] = {"files": [str(f) for f in request.files]}
    if request.fx:
        saved["fx"] = list(request.fx)
    if request.catalogs:
        saved["catalogs"] = list(request.catalogs)
    result = Result(
        verb="demand",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(bill, window, days),
        scenario={"demand": saved},
        metrics=_metrics(bill, window, days),
        tables={
            FILES.name: FILES.table(_file_rows(bill, window)),
            FINDINGS.name: FINDINGS.table(
                FindingRow(str(f.kind), f.count, str(f.place), f.what, f.effect)
                for f in bill.findings
            ),
            spec.MONTHS.name: spec.MONTHS.table(_month_rows(days, window)),
            spec.SKUS.name: spec.SKUS.table(_sku_rows(bill, window)),
            spec.DAYS.name: spec.DAYS.table(
                _period_row(f"{day:%Y-%m-%d}", {day: use}, window) for day, use in days.items()
            ),
        },
        warnings=[{"code": "demand", "message": text} for text in _warnings(days)],
    )
    if request.growth_frac_per_quarter is None:
        return result, "", NO_GROWTH
    return result, _block(request, bill, window), "the bill has no used hour"


def _total(bill: Bill) -> Use:
    whole = Use()
    for charge in bill.charges:
        whole.add(charge)
    return whole


def _metrics(bill: Bill, window: Window, days: Mapping[datetime, Use]) -> dict[str, Metric]:
    whole = _total(bill)
    price = whole.usd / whole.used_h if whole.used_h > 0 else None
    metrics = spec.HOURS(whole.used_h) | spec.MEAN(mean_of(whole, window.hours))
    metrics |= spec.PEAK(peak_of(days, window)) | spec.IDLE_HOURS(whole.idle_h)
    return metrics | spec.IDLE_USD(whole.idle_usd) | spec.COST(whole.usd) | spec.PRICE(price)


def _headline(bill: Bill, window: Window, days: Mapping[datetime, Use]) -> str:
    whole = _total(bill)
    idle = (
        f"{whole.idle_h:,.0f} hours of commitments for USD {whole.idle_usd:,.0f} were not used"
        if whole.idle_h or whole.idle_usd
        else "no unused commitment of accelerators"
    )
    return (
        f"{mean_of(whole, window.hours):,.3g} rented accelerators in use on average "
        f"({whole.used_h:,.0f} hours), {peak_of(days, window):,.3g} on the busiest day; {idle}"
    )


def _warnings(days: Mapping[datetime, Use]) -> Iterator[str]:
    used = sum(u.used_h for u in days.values())
    spread = sum(u.spread_h for u in days.values())
    if used > 0 and spread > 0:
        yield (
            f"{spread / used:.0%} of the hours are from charges longer than a day and spread evenly "
            "over them: the busiest day had more; export the bill by day or hour"
        )


def _file_rows(bill: Bill, window: Window) -> Iterator[FileRow]:
    first, last = (f"{t:%Y-%m-%dT%H:%M:%SZ}" for t in (window.start, window.end))
    for f in bill.files:
        yield FileRow(f.path, KIND, f.rows, first, last, f.sha256)


def _month_rows(days: Mapping[datetime, Use], window: Window) -> Iterator[spec.PeriodRow]:
    months: dict[str, dict[datetime, Use]] = defaultdict(dict)
    for day, use in days.items():
        months[f"{day:%Y-%m}"][day] = use
    for month, own in months.items():
        yield _period_row(month, own, window)


def _period_row(name: str, days: Mapping[datetime, Use], window: Window) -> spec.PeriodRow:
    whole = Use()
    for use in days.values():
        whole.merge(use)
    return spec.PeriodRow(
        name,
        whole.used_h,
        mean_of(whole, sum(map(window.covered_h, days))),
        peak_of(days, window),
        whole.idle_h,
        whole.idle_usd,
        whole.usd,
        whole.spread_h / whole.used_h if whole.used_h > 0 else None,
    )


def _sku_rows(bill: Bill, window: Window) -> Iterator[spec.SkuRow]:
    """Return the use of each article, the most used first."""
    by: dict[tuple[str, str, str, str, str], Use] = defaultdict(Use)
    for charge in bill.charges:
        offer, term = charge.use.offer, charge.use.term
        by[offer.accelerator, offer.id, charge.sku, charge.region, term].add(charge)
    for key, use in sorted(by.items(), key=lambda item: (-item[1].used_h, item[0])):
        accelerator, offer_id, sku, region, term = key
        mean = mean_of(use, window.hours)
        yield spec.SkuRow(
            accelerator, offer_id, sku or None, region or None, term,
            use.used_h, mean, use.idle_h, use.idle_usd, use.usd,
        )  # fmt: skip


def _block(request: DemandRequest, bill: Bill, window: Window) -> str:
    """Return the demand of a scenario: an entry for each accelerator, at its use on the busiest day."""
    growth = 1.0 + (request.growth_frac_per_quarter or 0.0)
    lead = lead_of(request, window.start.timestamp(), window.end.timestamp())
    by: dict[str, list[Charge]] = defaultdict(list)
    for charge in bill.charges:
        by[charge.use.offer.accelerator].append(charge)
    entries: list[dict[str, Any]] = []
    for accelerator, own in sorted(by.items()):
        days, used = by_day(own), sum(c.use.hours for c in own if not c.use.unused)
        mean, peak = used / window.hours, peak_of(days, window)
        if mean <= 0:
            continue
        first = mean * HOURS_PER_QUARTER * growth**lead
        hours = [short(first * growth**q) for q in range(request.quarters)]
        name = re.sub(r"[^A-Za-z0-9]+", "-", accelerator)
        entries.append(
            {
                "id": f"rented-{name}",
                "accelerator_hours": hours,
                "utilization_frac": short(min(mean / peak, 1.0)),
            }
        )
    if not entries:
        return ""
    lines = ["# Demand from a bill, written by dcplan demand; a scenario takes it with extends:"]
    lines += [f"# {f.path.rpartition('/')[2]}, sha256 {f.sha256}" for f in bill.files]
    lines.append("# utilization_frac is the mean use over that of the busiest day.")
    return "\n".join(lines) + "\n" + dump({"workloads": {"capacity": entries}})
