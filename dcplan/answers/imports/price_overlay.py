"""Imported prices as offers of a catalog overlay."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from dcplan.answers.imports.price_rows import Priced
from dcplan.answers.imports.refused import Refusal
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.schema.market import TERMS
from dcplan.inputs.cloud_prices import ON_DEMAND
from dcplan.provenance import Status, first_day
from dcplan.specs.imports import RejectedRow

SUPERSEDED = "superseded by another line"
IN_PART = "some prices superseded by another line"
WHOLE_NODE = 4
"""Minimum accelerators of a new instance with a network rate to count as a full node."""


def distinct(taken: list[Priced], catalog: Catalog) -> list[Priced]:
    """Give separate ids to new instances with one id but different names or accelerators."""
    kinds: dict[str, set[tuple[str, int]]] = defaultdict(set)
    names: dict[str, list[str]] = defaultdict(list)
    for row in taken:
        kinds[row.offer].add((row.accelerator, row.count))
        if row.sku not in names[row.offer]:
            names[row.offer].append(row.sku)

    def named(row: Priced) -> Priced:
        if catalog.find("cloud", row.offer, Offer) is not None:
            return row
        key = (
            row.offer
            if len(kinds[row.offer]) == 1
            else f"{row.offer}-{row.accelerator}-{row.count}"
        )
        which = names[row.offer].index(row.sku)  # names that differ in punctuation only
        return replace(row, offer=f"{key}-{which + 1}" if which else key)

    return [named(row) for row in taken]


def latest(taken: list[Priced]) -> tuple[list[Priced], list[RejectedRow]]:
    """Keep the latest price of an offer, region and term; reject older ones."""
    best: dict[tuple[str, str, str], Priced] = {}
    for row in taken:
        for term in row.usd_per_h:
            key = (row.offer, row.region, term)
            if key not in best or first_day(row.as_of) > first_day(best[key].as_of):
                best[key] = row
    kept, refused = [], []
    for row in taken:
        mine = {t: usd for t, usd in row.usd_per_h.items() if best[row.offer, row.region, t] is row}
        if mine:
            kept.append(replace(row, usd_per_h=mine))
        by: dict[int, list[str]] = defaultdict(list)
        others = {}
        for term in sorted(row.usd_per_h.keys() - mine.keys()):
            other = best[row.offer, row.region, term]
            by[other.line].append(term)
            others[other.line] = other
        for number, terms in by.items():
            same = (
                "another price of the same day"
                if others[number].as_of == row.as_of
                else f"the price of {others[number].as_of}"
            )
            reason = f"superseded by line {number}: {', '.join(terms)} in {row.region}, {same}"
            refusal = Refusal(reason, IN_PART if mine else SUPERSEDED)
            refused.append(refusal.row(row.line, row.offer))
    return kept, refused


def on_demand_usd_per_h(taken: list[Priced], catalog: Catalog) -> dict[tuple[str, str], float]:
    """Return the hourly on-demand price of the offers by region, imported or else the catalog's.

    Imported prices of a term replace the catalog's in every region. [USD/h of an instance]
    """
    found = {
        (row.offer, row.region): row.usd_per_h[ON_DEMAND]
        for row in taken
        if ON_DEMAND in row.usd_per_h
    }
    imported = {offer for offer, _ in found}
    for key in {row.offer for row in taken} - imported:
        old = catalog.find("cloud", key, Offer)
        dated = sorted(old.prices, key=lambda p: first_day(p.as_of)) if old is not None else []
        found |= {(key, p.region): p.usd_per_h.value for p in dated if p.term == ON_DEMAND}
    return found


def offers_of(taken: list[Priced], catalog: Catalog) -> list[dict[str, Any]]:
    """Return the rows of the overlay, one per offer."""
    by: dict[str, list[Priced]] = defaultdict(list)
    for row in taken:
        by[row.offer].append(row)
    found = []
    for key, rows in sorted(by.items()):
        old, first = catalog.find("cloud", key, Offer), rows[0]
        prices = [
            {
                "region": r.region,
                "term": term,
                "usd_per_h": usd,
                "as_of": r.as_of,
                "source": dict(r.source),
                "status": Status.QUOTE.value,
            }
            for r in rows
            for term, usd in sorted(r.usd_per_h.items(), key=lambda item: TERMS.index(item[0]))
        ]
        terms = {str(p["term"]) for p in prices}
        kept = (
            [
                p.model_dump(mode="json", exclude_none=True)
                for p in old.prices
                if p.term not in terms
            ]
            if old
            else []
        )
        entry: dict[str, Any] = {"id": key}
        if old is None:
            whole = first.count >= WHOLE_NODE and first.network_gbps is not None
            entry |= {
                "name": f"{first.provider} {first.sku}",
                "provider": first.provider,
                "accelerator": first.accelerator,
                "accelerators": first.count,
                "kind": "node" if whole else "partial",
                "source": dict(first.source),
            }
        if first.network_gbps is not None:
            entry["scaleout_gbps"] = first.network_gbps
        found.append(entry | {"prices": [*prices, *kept]})
    return found
