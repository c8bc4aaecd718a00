"""Notes on valid but unlikely values.

Examples are a price in thousands, MW instead of kW, or an overlay without use.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.catalog.lint import quantities
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import System
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.units import KW_PER_MW

REMARK_RATIO = 4.0
"""Ratio of a user's value to the catalog value, or its inverse, from which dcplan adds a note."""


def sanity_notes(question: Question) -> list[str]:
    """Return one sentence for each value of a scenario that is probably wrong."""
    return [*_prices(question), *_halls(question), *_unused(question)]


def _prices(question: Question) -> Iterator[str]:
    base = load_catalog()
    for reference in question.scenario.prices:
        for kind in question.catalog.kinds_of(reference):
            row = next(
                r for k, r in question.catalog.rows[kind].items() if reference in (k, *r.aliases)
            )
            before = base.rows[kind].get(row.id)
            old = dict(quantities(before)) if before else {}
            for field, now in quantities(row):
                if now.status is Status.CATALOG or field not in old:
                    continue
                if _far(now, old[field]):
                    ratio = now.value / old[field].value
                    times = f"{ratio:,.0f}" if ratio >= REMARK_RATIO else f"{ratio:.3g}"
                    yield (
                        f"{row.id}.{field} = {now.value:g} is {times} times the catalog value "
                        f"{old[field].value:g} ({now.at}); check the unit"
                    )


def _far(now: Quantity, old: Quantity) -> bool:
    if now.value <= 0 or old.value <= 0 or now.value == old.value:
        return False
    return not 1 / REMARK_RATIO <= now.value / old.value <= REMARK_RATIO


def _halls(question: Question) -> Iterator[str]:
    for site in question.scenario.sites:
        most = max(u.value for u in site.utility_mw)
        for hall in site.halls:
            it_mw = hall.it_mw.value
            if most > 0 and it_mw > REMARK_RATIO * most:
                place = f"{site.id}/{hall.id}"
                yield (
                    f"{place}: it_mw = {it_mw:g} is far above utility_mw, at most {most:g} "
                    f"({hall.it_mw.at}); check the unit"
                )
            if hall.rack_kw_max.value > it_mw * KW_PER_MW:
                rack_kw = hall.rack_kw_max.value
                yield f"{site.id}/{hall.id}: one rack of {rack_kw:g} kW needs more than the hall's {it_mw:g} MW"


def _unused(question: Question) -> Iterator[str]:
    scenario, catalog = question.scenario, question.catalog
    if scenario.systems == "all":
        return
    named = {catalog.get("systems", s, System).id for s in scenario.systems}
    named |= {catalog.get("systems", scenario.fleet.system, System).id} if scenario.fleet else set()
    for reference in scenario.prices:
        row = catalog.find("systems", reference, System)
        if row is not None and row.id not in named:
            at = question.at("prices", reference)
            yield f"prices.{reference}: this system is not in `systems`, so the price is not used ({at})"
