"""Facts of sites, rent and finance."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.economics.cash_flow import Unit
from dcplan.inputs.cloud_prices import row_of
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.measures import used_accelerators
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import FinanceTerms, PlanningProblem, SiteTerms
from dcplan.report.book.data.facts import Facts, Frozen, Place
from dcplan.report.book.data.term import Term, power
from dcplan.specs.plan.book import AmountRow
from dcplan.units import DAYS_PER_QUARTER, KW_PER_MW, QUARTERS_PER_YEAR


def site_facts(facts: Facts, site: SiteTerms, finance: FinanceTerms, quarters: int) -> None:
    """Write the tariffs and fixed costs of a site, by quarter if they vary."""
    key, at = f"sites.{site.id}", Place(facts, (site.id, "", ""))
    for name, unit, group in (
        ("demand_usd_per_kw_month", "USD/kW/month", "energy"),
        ("minimum_take_frac", "", "energy"),
        ("grid_g_per_kwh", "g/kWh", "carbon"),
    ):
        at.write(name, unit, getattr(site, name), facts.given(f"{key}.{group}.{name}"))
    size = facts.input(f"{key}.power.block_mw", "power.block-mw-default")
    block_mw = at.write("block_mw", "MW", site.block_mw, size)
    each = facts.input(f"{key}.power.usd_per_kw", "power.power-blocks-usd-per-kw")
    at.write("block_usd", "USD", site.block_usd, each * block_mw * KW_PER_MW)
    at.write("staff_usd", "USD", site.staff_usd_per_quarter, _staff(facts, key))
    if site.land_usd:
        at.write("land_price_usd", "USD", site.land_usd, _land_price(facts, key))
    at.write("land_tax_usd", "USD", site.land_tax_usd_per_quarter, _land_tax(facts, key, site))
    opex = site.opex_usd_per_kw_quarter
    at.write("opex_usd_per_kw", "USD/kW", opex, _opex(facts, key, site))
    for t in range(quarters):
        now = Place(facts, at.where, t)
        price = f"{key}.energy.usd_per_kwh"
        tariff: Term | Frozen = Frozen.BY_QUARTER
        if facts.knows(price):
            tariff = facts.input(price)
            tariff = tariff * _level(facts, t) if finance.price_level else tariff
        now.write("usd_per_kwh", "USD/kWh", site.usd_per_kwh[t], tariff)
        now.write("utility_mw", "MW", site.utility_mw[t], Frozen.CAPACITY)
        rent = site.lease_usd_per_kw_month[t] if site.lease_usd_per_kw_month else 0.0
        now.write("lease_usd_per_kw_month", "USD/kW/month", rent, _lease(facts, key, t))


def _land_price(facts: Facts, key: str) -> Term:
    """Return the price of the land that the plan buys, as a formula of its price or its area."""
    if facts.knows(f"{key}.land.usd"):
        return facts.input(f"{key}.land.usd")
    return facts.input(f"{key}.land.area_m2") * facts.input(f"{key}.land.usd_per_m2")


def _land_tax(facts: Facts, key: str, site: SiteTerms) -> Term | Frozen:
    """Return the property tax of a quarter on the assessed value of the land, or on its price."""
    if not site.land_tax_usd_per_quarter:
        return Frozen.NOT_GIVEN
    known = facts.knows(f"{key}.land_usd")
    base = facts.input(f"{key}.land_usd") if known else _land_price(facts, key)
    name = "land_property_tax_frac_per_year"
    rate = facts.input(f"{key}.tax.{name}", f"finance.tax.{name}")
    return rate * base / QUARTERS_PER_YEAR


def _level(facts: Facts, t: int) -> Term:
    """Return the running costs of a quarter over those of today, as a formula of inflation."""
    return power(1 + facts.input("finance.inflation_frac_per_year"), t / QUARTERS_PER_YEAR)


def _staff(facts: Facts, key: str) -> Term | Frozen:
    if not facts.knows(f"{key}.staff.people"):
        return Frozen.NOT_GIVEN
    pay = facts.input(f"{key}.staff.usd_per_person_year", "finance.staff-usd-per-person-year")
    return facts.input(f"{key}.staff.people") * pay / QUARTERS_PER_YEAR


def _opex(facts: Facts, key: str, site: SiteTerms) -> Term | Frozen:
    """Return the fixed cost per kW: none in a lease, only maintenance if staff is given."""
    if site.lease_usd_per_kw_month is not None:
        return Frozen.NOT_PAID
    staffed = facts.knows(f"{key}.staff.people")
    kind = "facility-maintenance-usd-per-kw-year" if staffed else "fixed-opex-usd-per-kw-year"
    return facts.input(f"finance.{kind}") / QUARTERS_PER_YEAR


def _lease(facts: Facts, key: str, t: int) -> Term | Frozen:
    if not facts.knows(f"{key}.lease.usd_per_kw_month"):
        return Frozen.NOT_GIVEN
    own, usual = f"{key}.lease.escalator_frac_per_year", "finance.lease-escalator-frac-per-year"
    rise = power(1 + facts.input(own, usual), t // QUARTERS_PER_YEAR)
    return facts.input(f"{key}.lease.usd_per_kw_month") * rise


def finance_facts(facts: Facts, problem: PlanningProblem, d: Decisions) -> None:
    """Write the facts of the whole plan."""
    at, unit = Place(facts, ("", "", "")), "fraction per year"
    rate = facts.input("finance.discount_rate", "finance.discount-rate")
    at.write("discount_rate", unit, problem.finance.discount_rate, rate)
    for t, level in enumerate(problem.finance.price_level):
        Place(facts, at.where, t).write("price_level", "", level, _level(facts, t))
    used = used_accelerators(problem, d) * DAYS_PER_QUARTER
    at.write("used_accelerator_days", "days", used, Frozen.COUNTED)


def rent_facts(facts: Facts, problem: PlanningProblem, books: Accounts) -> Iterator[AmountRow]:
    """Write the hourly price of every offer in use; yield each line's hours at that price."""
    paid = [f for f in books.flows if f.goods and f.goods.unit is Unit.ACCELERATOR_HOUR]
    for offer in problem.offers:
        terms = {offer.term: offer.usd_per_accelerator_hour[0]} if offer.on_demand else {}
        terms |= {c.term: c.usd_per_accelerator_hour[0] for c in offer.committed}
        for term, usd in terms.items():
            own = [f for f in paid if (f.offer, f.term) == (offer.id, term)]
            if not own or not usd:
                continue
            name = term.replace("-", "_")
            at = Place(facts, (offer.id, name, ""))
            node = at.write("node", "", float(offer.node_accelerators), Frozen.COUNTED)
            hour = facts.input(f"cloud.{row_of(offer.id)}.{name}_usd_per_h")
            at.write("usd_per_h", "USD", usd, hour / node)
            for f in own:
                line, hours = f"{f.group} {f.line}", f.usd / usd
                yield AmountRow("rented hours", offer.id, name, line, f.quarter, hours)


def lease_facts(facts: Facts, problem: PlanningProblem, d: Decisions) -> None:
    """Write the payment of a month of each lease that a plan takes, as a share of the price."""
    taken = {lease for _, _, _, lease, _ in d.leased}
    for lease in (x for x in problem.finance.leases if x.id in taken):
        key = f"finance.leases.{lease.id}.payment_frac_per_month"
        how = facts.input(key) if facts.knows(key) else Frozen.DERIVED
        Place(facts, (lease.id, "", "")).write("lease_frac", "", lease.usd_frac_per_month, how)
