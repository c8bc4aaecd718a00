"""``dcplan import --kind spend``: a FOCUS cost export as user rates and accelerator use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcplan.answers.imports.csv_rows import read_lines
from dcplan.answers.imports.refused import imported_text, rejected_tables
from dcplan.answers.imports.spend_rows import (
    COMMITTED,
    NAMES,
    Use,
    cell,
    commitment_years,
    offers_by_name,
    use_of,
)
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_INPUT, EXIT_OK
from dcplan.inputs.cloud_prices import ON_DEMAND, SPOT
from dcplan.result import Metric, Result
from dcplan.specs import imports as specs
from dcplan.units import SECONDS_PER_HOUR

NEEDED = (
    "BilledCost",
    "BillingCurrency",
    "ChargeCategory",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "EffectiveCost",
)
USUAL = ("ConsumedQuantity", "ConsumedUnit", "CommitmentDiscountStatus")
OVERRIDE = "own-spend"
Rate = tuple[str, str, str, str]
"""Offer, term, type and basis of the commitment."""


def import_spend(
    path: Path, *, catalogs: tuple[Path, ...] = (), fx: Mapping[str, float] | None = None
) -> tuple[Result, str]:
    """Read a FOCUS export.

    Return the outcome of every row, and the YAML of overrides with the user's rates, which is empty
    without a rate. The rate of an offer is the effective cost, including unused commitments, over
    the used accelerator-hours. Utilization is used over paid hours. Purchases, credits and taxes
    have no hours: they are rejected with their category, because EffectiveCost covers them. Equal
    rows all count, with a warning: FOCUS has no id of a row, so that they may be separate charges.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a column.

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification 1.0 to 1.2: ChargeCategory, EffectiveCost,
       ConsumedQuantity, CommitmentDiscountStatus.
    """
    offers = offers_by_name(load_catalog(catalogs))
    read = _read(path, offers, fx or {})
    uses, refused = read.uses, read.refused
    by: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        by[use.offer.id].append(use)
    rates = _rates(uses)
    overrides = _overrides(rates, path)
    why = _no_rate(uses, read.unusable)
    result = Result(
        "import",
        "refused" if why else "ok",
        EXIT_INPUT if why else EXIT_OK,
        imported_text(path.name, len(uses), len(refused)) + why,
        metrics={
            **specs.ROWS_USED(len(uses), label="Imported rows with accelerator use"),
            **specs.ROWS_REJECTED(len(refused), label="Rejected rows, each with its reason"),
            **specs.EFFECTIVE(sum(u.effective_usd for u in uses)),
            **_totals(uses),
        },
        tables={
            specs.SPEND.name: specs.SPEND.table(_row(own) for _, own in sorted(by.items())),
            specs.RATES.name: specs.RATES.table(
                _rate_row(rate, own) for rate, own in rates.items()
            ),
            **rejected_tables(refused),
        },
        warnings=_repeated(read.repeated),
    )
    return result, dump({"overrides": {OVERRIDE: overrides}}) if overrides else ""


@dataclass
class _Read:
    """Rows of an export: with accelerator use, and rejected."""

    uses: list[Use] = field(default_factory=list)
    repeated: list[Use] = field(default_factory=list)
    """Uses whose row equals an earlier one."""
    refused: list[specs.RejectedRow] = field(default_factory=list)
    unusable: Counter[str] = field(default_factory=Counter)
    """Reasons for the rejection of rows that may have use of accelerators."""


def _read(path: Path, offers: Mapping[str, Offer], fx: Mapping[str, float]) -> _Read:
    """Read the rows of an export.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a column.
    """
    read = _Read()
    seen: set[tuple[str, ...]] = set()
    lines = read_lines(path, NEEDED, (*NEEDED, *USUAL))
    years = commitment_years(lines)
    for line in lines:
        found = use_of(line, offers, fx, years)
        if isinstance(found, Use):
            read.uses.append(found)
            cells = tuple(line.cells.values())
            if cells in seen:
                read.repeated.append(found)
            seen.add(cells)
            continue
        what = next((cell(line, c) for c in ("ChargeDescription", *NAMES) if cell(line, c)), "")
        read.refused.append(found.row(line.number, what[:80]))
        read.unusable.update([] if found.instead else [found.reason])
    return read


def _repeated(uses: list[Use]) -> list[dict[str, str]]:
    """Warn of rows that are equal to an earlier row: separate charges, or an export counted twice."""
    if not uses:
        return []
    usd = sum(u.effective_usd for u in uses)
    text = (
        f"rows equal to an earlier row in every column: {len(uses):,} with USD {usd:,.2f} of "
        f"EffectiveCost, the first in line {uses[0].line}; they count, because FOCUS has no id of a "
        "row: check that the file does not have the same export twice"
    )
    return [{"code": "repeated-rows", "message": text}]


def _no_rate(uses: list[Use], unusable: Counter[str]) -> str:
    """Return why there is no rate at all; empty if there is one.

    ``unusable`` counts the reasons of rows that look like use of accelerators and cannot be used.
    """
    if not uses and unusable:
        ((reason, count),) = unusable.most_common(1)
        return f"; no rate: {reason} ({count:,} {'row' if count == 1 else 'rows'})"
    if not uses:
        return "; no rate: no row has hours of an instance of the catalog"
    if sum(u.effective_usd for u in uses) <= 0:
        rows = f"{len(uses):,} imported rows"
        return f"; no rate: EffectiveCost is not above 0 in the {rows}, ask for an export with it"
    if not any(u.hours > 0 and not u.unused for u in uses):
        return "; no rate: no imported row has used hours"
    return ""


def _rates(uses: list[Use]) -> dict[Rate, list[Use]]:
    by: dict[Rate, list[Use]] = defaultdict(list)
    for use in uses:
        by[use.offer.id, use.term, use.commitment, use.basis].append(use)
    return dict(sorted(by.items()))


def _totals(uses: list[Use]) -> dict[str, Metric]:
    used = sum(u.hours for u in uses if not u.unused)
    paid, usd = sum(u.hours for u in uses), sum(u.effective_usd for u in uses)
    if used <= 0 or paid <= 0 or usd <= 0:
        return {}
    return {**specs.HOURS(used), **specs.USD_PER_HOUR(usd / used), **specs.UTILIZATION(used / paid)}


def _row(uses: list[Use]) -> specs.SpendRow:
    """Return the use and the rate of one offer."""
    paid, unused = sum(u.hours for u in uses), sum(u.hours for u in uses if u.unused)
    used, cost = paid - unused, sum(u.effective_usd for u in uses)
    first, last = min(u.start for u in uses), max(u.end for u in uses)
    full = sum(u.list_usd for u in uses)
    offer = uses[0].offer
    return specs.SpendRow(
        offer=offer.id,
        accelerator=offer.accelerator,
        first=str(first.date()),
        last=str(last.date()),
        used_accelerator_hours=used,
        unused_accelerator_hours=unused,
        utilization_frac=used / paid if paid > 0 else None,
        average_accelerators=used / ((last - first).total_seconds() / SECONDS_PER_HOUR),
        effective_usd=cost,
        usd_per_accelerator_hour=cost / used if used > 0 and cost > 0 else None,
        below_list_frac=1.0 - cost / full if full > 0 and cost > 0 else None,
    )


def _rate_row(rate: Rate, uses: list[Use]) -> specs.RateRow:
    offer, term, commitment, basis = rate
    paid, unused = sum(u.hours for u in uses), sum(u.hours for u in uses if u.unused)
    usd = sum(u.effective_usd for u in uses)
    key, why = _key(rate, uses)
    return specs.RateRow(
        offer=offer,
        term=term,
        commitment=commitment,
        basis=basis,
        used_accelerator_hours=paid - unused,
        unused_accelerator_hours=unused,
        effective_usd=usd,
        usd_per_used_hour=usd / (paid - unused) if paid > unused and usd > 0 else None,
        usd_per_paid_hour=usd / paid if paid > 0 and usd > 0 else None,
        override=key or why,
    )


def _key(rate: Rate, uses: list[Use]) -> tuple[str, str]:
    """Return the price that a rate overrides; empty, and why, if there is none."""
    offer, term, _, _ = rate
    if sum(u.effective_usd for u in uses) <= 0:
        return "", "none: EffectiveCost is not above 0"
    if not _hours_of(term, uses) > 0:
        return "", "none: no hours"
    if term == COMMITTED:
        return "", "none: the file has no length of the commitment"
    return f"cloud.prices.{offer}.{term.replace('-', '_')}_usd_per_h", ""


def _hours_of(term: str, uses: list[Use]) -> float:
    """Return the hours that share the cost: of a commitment all paid ones, otherwise the used."""
    by_use = term in (ON_DEMAND, SPOT)
    return sum(u.hours for u in uses if not (by_use and u.unused))


def _overrides(rates: Mapping[Rate, list[Use]], path: Path) -> dict[str, Any]:
    """Return the rates as overrides of a scenario, each for the whole instance.

    Commitments of one length share a price, whatever their type.
    """
    by: dict[str, list[Use]] = defaultdict(list)
    for rate, own in rates.items():
        key, _ = _key(rate, own)
        if key:
            by[key] += own
    overrides = {}
    for key, own in sorted(by.items()):
        term, offer = own[0].term, own[0].offer
        hours = _hours_of(term, own)
        words = "used" if term in (ON_DEMAND, SPOT) else "used and unused"
        overrides[key] = {
            "value": sum(u.effective_usd for u in own) / hours * offer.accelerators,
            "source": f"{path.name}: effective cost of {term} over {words} hours",
            "as_of": str(max(u.end for u in own).date()),
        }
    return overrides
