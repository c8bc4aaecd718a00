"""Notes on valid but unlikely values.

Examples are a price in thousands, MW instead of kW, or an overlay without use.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.catalog.lint import quantities
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Accelerator, Model, Offer, Parameter, System
from dcplan.catalog.schema import Site as SiteRow
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.units import KW_PER_MW, MICRO, MILLI

REMARK_RATIO = 4.0
"""Ratio of a user's value to the catalog value, or its inverse, from which dcplan adds a note."""
REMARK_UTILITY_RATIO = 100.0
"""Ratio of a site's utility power to the IT power of its halls from which dcplan adds a note. A site
that keeps power for later halls stays below it."""
REMARK_PUE = 3.0
"""Annual PUE from which dcplan adds a note; surveys of existing halls stay below it."""
REMARK_QUOTE_RATIO = 6.0
"""The same ratio for cloud quotes: published ones differ by 5, the price of one accelerator of 8 by 8."""
REMARK_LIGHT_FRAC = 0.65
"""Share of the round trip of light in the fiber of a link below which dcplan adds a note; hollow fiber needs 0.68."""
REMARK_LINK_GBPS = 1e8
"""Capacity of a link from which dcplan adds a note: more than the NICs of 100,000 accelerators at 800 Gb/s."""
REMARK_RATE_PER_YEAR = 0.5
"""Yearly rate of interest or of a price change above which dcplan adds a note."""
REMARK_FLOPS_PER_PARAM_TOKEN = 2.0
"""Operations of one parameter for one token: a multiplication and an addition."""


def sanity_notes(question: Question) -> list[str]:
    """Return one sentence for each value of a scenario that is probably wrong."""
    return [
        *_prices(question),
        *_energy(question),
        *_halls(question),
        *_links(question),
        *_budget(question),
        *_rates(question),
        *_leases(question),
        *_quotes(question),
        *_throughput(question),
        *_unused(question),
    ]


def _energy(question: Question) -> Iterator[str]:
    """Find energy prices far from those of the location, and utility power far above the halls."""
    for site in question.scenario.sites:
        row = question.catalog.find("sites", site.location, SiteRow)
        usual = row.usd_per_kwh if row is not None else None
        for now in (site.energy.usd_per_kwh or ())[:1] if usual is not None else ():
            if usual is not None and _far(now, usual):
                yield (
                    f"{site.id}: energy.usd_per_kwh = {now.value:g} is {now.value / usual.value:.3g} times "
                    f"the catalog price of {site.location}, {usual.value:g} USD/kWh ({now.at}); check the "
                    "unit (83 USD/MWh is 0.083 USD/kWh)"
                )
        most = max(site.utility_mw, key=lambda u: u.value)
        it_mw = sum(hall.it_mw.value * hall.count for hall in site.halls)
        if it_mw > 0 and most.value > REMARK_UTILITY_RATIO * it_mw:
            yield (
                f"{site.id}: utility_mw = {most.value:g} is {most.value / it_mw:,.0f} times the IT power of "
                f"its halls, {it_mw:g} MW ({most.at}); check the unit"
            )


def _links(question: Question) -> Iterator[str]:
    """Find links faster than light in their fiber, and capacities in Mb/s or bit/s."""
    us_per_km = question.catalog.get("network", "fibre-us-per-km", Parameter).value.value
    for link in question.scenario.links:
        light_ms = 2.0 * link.km.value * us_per_km * MICRO / MILLI
        given = link.rtt_ms
        if given is not None and given.value < REMARK_LIGHT_FRAC * light_ms:
            yield (
                f"{link.id}: rtt_ms = {given.value:g} is less than light needs for {link.km.value:g} km of fiber "
                f"and back, {light_ms:.3g} ms ({given.at}); check the unit"
            )
        if link.gbps.value > REMARK_LINK_GBPS:
            yield (
                f"{link.id}: gbps = {link.gbps.value:g} is more than the network ports of 100,000 accelerators "
                f"have ({link.gbps.at}); check the unit"
            )


def _budget(question: Question) -> Iterator[str]:
    """Find a budget below the price of every named system, which no lessor pays."""
    scenario, catalog = question.scenario, question.catalog
    finance = scenario.finance
    if finance.budget_usd is None or finance.leases or scenario.systems == "all":
        return
    prices = [catalog.get("systems", name, System).price_usd for name in scenario.systems]
    known = [price.value for price in prices if price is not None]
    most = max(finance.budget_usd, key=lambda q: q.value)
    if known and 0 < most.value < min(known):
        yield (
            f"finance.budget_usd = {most.value:,.0f} USD is below the price of one unit of the cheapest "
            f"system, {min(known):,.0f} USD ({most.at}); check the unit"
        )


def _rates(question: Question) -> Iterator[str]:
    """Find yearly rates that look like percent."""
    finance, cloud = question.scenario.finance, question.scenario.cloud
    given = {
        "finance.discount_rate": finance.discount_rate,
        "finance.inflation_frac_per_year": finance.inflation_frac_per_year,
        "finance.hardware_price_change_frac_per_year": finance.hardware_price_change_frac_per_year,
        "finance.debt.rate": finance.debt.rate if finance.debt else None,
        "cloud.price_change_frac_per_year": cloud.price_change_frac_per_year if cloud else None,
        **{
            f"sites.{site.id}.lease.escalator_frac_per_year": site.lease.escalator_frac_per_year
            for site in question.scenario.sites
            if site.lease is not None
        },
    }
    for key, rate in given.items():
        if rate is not None and rate.value > REMARK_RATE_PER_YEAR:
            yield f"{key} = {rate.value:g} is {rate.value:.0%} a year ({rate.at}); 3 % a year is 0.03"


def _leases(question: Question) -> Iterator[str]:
    """Find rents of space far from the market's."""
    usual = question.catalog.get("finance", "colo-usd-per-kw-month", Parameter).value
    for site in question.scenario.sites:
        if site.lease is not None and _far(site.lease.usd_per_kw_month, usual):
            now = site.lease.usd_per_kw_month
            yield (
                f"{site.id}: lease.usd_per_kw_month = {now.value:g} is {now.value / usual.value:.3g} times "
                f"the usual rent, {usual.value:g} USD per kW and month ({now.at}); check the unit"
            )


def _quotes(question: Question) -> Iterator[str]:
    """Find cloud quotes far from every catalog price of the same instance and term."""
    cloud = question.scenario.cloud
    for reference, quotes in (cloud.prices if cloud is not None else {}).items():
        row = question.catalog.find("cloud", reference, Offer)
        for key, now in quotes.items() if row is not None else ():
            term = key.removesuffix("_usd_per_h").replace("_", "-")
            listed = [p.usd_per_h for p in row.prices if p.term == term] if row is not None else []
            if (
                row is None
                or not listed
                or not all(_far(now, old, REMARK_QUOTE_RATIO) for old in listed)
            ):
                continue
            near = min(listed, key=lambda old: abs(old.value - now.value))
            yield (
                f"cloud.prices.{reference}.{key} = {now.value:g} is {now.value / near.value:.3g} times the "
                f"catalog price, {near.value:g} USD/h of one instance of {row.accelerators} accelerators "
                f"({now.at}); check the unit"
            )


def _throughput(question: Question) -> Iterator[str]:
    """Find throughput of services beyond the fastest arithmetic of the accelerator.

    A token needs at least two operations of each active parameter.
    """
    for service in question.scenario.workloads.inference:
        model = question.catalog.find("models", service.model, Model) if service.model else None
        params = (model.active_params_b or model.params_b) if model is not None else None
        for name, rate in service.tokens_per_s_per_accelerator.items() if params else ():
            peak = _peak_tflops(question, name)
            if params is None or peak is None:
                continue
            most = peak * 1e12 / (REMARK_FLOPS_PER_PARAM_TOKEN * params.value * 1e9)
            if rate.value > most:
                yield (
                    f"{service.id}: {rate.value:,.0f} tokens/s of one accelerator of {name} is above "
                    f"{most:,.0f}, its peak arithmetic over two operations for each active parameter of "
                    f"{service.model} ({rate.at}); check whether the value is that of a node or a replica"
                )


def _peak_tflops(question: Question, name: str) -> float | None:
    """Return the highest dense peak of the accelerator of a system, an offer or itself."""
    find = question.catalog.find
    holder = find("systems", name, System) or find("cloud", name, Offer)
    row = find("accelerators", holder.accelerator if holder is not None else name, Accelerator)
    if row is None:
        return None
    peaks = (row.bf16_tflops, row.fp16_tflops, row.fp8_tflops, row.fp6_tflops, row.fp4_tflops)
    return max((peak.value for peak in peaks if peak is not None), default=None)


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


def _far(now: Quantity, old: Quantity, most: float = REMARK_RATIO) -> bool:
    if now.value <= 0 or old.value <= 0 or now.value == old.value:
        return False
    return not 1 / most <= now.value / old.value <= most


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
            if hall.pue is not None and hall.pue.value > REMARK_PUE:
                yield (
                    f"{site.id}/{hall.id}: pue = {hall.pue.value:g} is above {REMARK_PUE:g} ({hall.pue.at}); "
                    "check the decimal point"
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
