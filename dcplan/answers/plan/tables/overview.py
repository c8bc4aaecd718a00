"""Tables of an audited plan."""

from __future__ import annotations

from collections import defaultdict

from dcplan.answers.plan.tables import money as plan_money
from dcplan.answers.plan.tables.entry_price import with_entry_prices
from dcplan.answers.plan.tables.runs import ends, storage
from dcplan.catalog.loader import Catalog
from dcplan.inputs.left_out import LeftOut
from dcplan.planning.audit.accounts import Accounts
from dcplan.planning.audit.cloud import covered, in_force, use_by_month
from dcplan.planning.audit.measures import served
from dcplan.planning.audit.onsite import drawn, plants_mw
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions, to_table
from dcplan.planning.problem.terms import HeldTerms, Menu, Placement
from dcplan.planning.solve.solved import Solved
from dcplan.result import Cell, Metric, Table
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    MONTHS_PER_QUARTER,
    quarter_index,
    quarter_name,
)


def tables_of(solved: Solved, metrics: dict[str, Metric], catalog: Catalog) -> dict[str, Table]:
    """All tables of a plan."""
    if solved.audit is None or solved.decisions is None:
        return {"left_out": left_out(solved.menu)}
    menu, d, books = solved.menu, solved.decisions, solved.audit.books
    return {
        "racks": _racks(menu, d),
        "halls": _halls(menu, d, books),
        "power": _power(menu, d, books),
        "onsite": _onsite(menu, d),
        "network": _network(menu, d, books),
        "jobs": _jobs(menu, d),
        "ends": ends(menu, d),
        "demand": _demand(menu, d),
        "storage": storage(menu, d),
        "cost": plan_money.cost(books),
        "cashflow": plan_money.cashflow(menu, books),
        "flows": plan_money.flows(menu, books, catalog),
        "bands": plan_money.bands(books, metrics, catalog),
        "checks": _checks(menu, solved.audit),
        "decisions": to_table(d),
        "cloud": _cloud(menu, d),
        "commitments": _commitments(menu, d),
        "left_out": left_out(menu, with_entry_prices(menu.left_out, solved, catalog)),
    }


def _q(menu: Menu, t: int) -> str:
    return quarter_name(quarter_index(menu.start) + t)


def _racks(menu: Menu, d: Decisions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    placed = {p.key: p for p in menu.placements}
    entries = [(0, key, n, True) for key, n in d.fleet.items()]
    entries += [(t, (h, c, k), n, False) for (h, c, k, t), n in d.ordered.items()]
    for t, key, n, given in sorted(entries, key=lambda e: (e[0], e[1])):
        p = placed[key]
        serves = t if given else t + p.lead
        usd = n * p.rack_usd(t)
        rows.append(
            (
                _q(menu, t),
                _q(menu, serves),
                p.hall,
                p.cooling,
                p.system,
                n,
                p.nodes,
                n * p.accelerators,
                round(n * p.rated_kw, 6),
                usd,
                "given" if given else "ordered",
                p.fit_reason,
            )
        )
    rows += [_held(menu, d, x, placed[x.key]) for x in menu.held]
    columns = (
        "ordered",
        "serves_from",
        "hall",
        "cooling",
        "system",
        "racks",
        "nodes_per_rack",
        "accelerators",
        "rated_kw",
        "price_usd",
        "decision",
        "limit",
    )
    return Table(columns, tuple(rows))


def _held(menu: Menu, d: Decisions, x: HeldTerms, p: Placement) -> tuple[Cell, ...]:
    """An asset or order among the racks: those that stay, and what becomes of the others."""
    gone = {t: n for (i, t), n in sorted(d.dropped.items()) if i == x.id}
    word = "cancelled" if x.cancel_usd is not None else "sold"
    fate = "".join(f", {n} {word} {_q(menu, t)}" for t, n in gone.items())
    kind = "in service" if x.standing else "on order"
    kept = x.racks - sum(gone.values())
    serves = _q(menu, x.first) if not x.standing else None
    return (
        None,
        serves,
        p.hall,
        p.cooling,
        p.system,
        kept,
        p.nodes,
        kept * p.accelerators,
        round(kept * p.rated_kw, 6),
        kept * x.due_usd,
        f"{kind}{fate}",
        f"{x.id}, until {_q(menu, x.last)}",
    )


def _halls(menu: Menu, d: Decisions, books: Accounts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    last = menu.quarters - 1
    for h in menu.halls:
        a = books.halls[h.id, last]
        fitted = {c.id: d.fitted.get((h.id, c.id, last), 0) for c in h.coolings}
        text = ", ".join(f"{n} x {c}" for c, n in fitted.items() if n) or "not used"
        rows.append(
            (
                h.id,
                text,
                a.racks,
                h.racks * a.units,
                a.hall_kw / KW_PER_MW,
                h.it_mw * a.units,
                a.liquid_kw / KW_PER_MW,
                a.air_kw / KW_PER_MW,
            )
        )
    columns = (
        "hall",
        "units_fitted",
        "racks",
        "positions",
        "hall_mw",
        "limit_mw",
        "liquid_mw",
        "air_mw",
    )
    return Table(columns, tuple(rows))


def _power(menu: Menu, d: Decisions, books: Accounts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for s in menu.sites:
        for t in range(menu.quarters):
            it = books.site(menu, s.id, t, "rated_kw") / KW_PER_MW
            peak = books.site(menu, s.id, t, "facility_mw")
            breakers = books.site(menu, s.id, t, "peak_kw") / KW_PER_MW
            mwh = books.site(menu, s.id, t, "facility_mwh")
            blocks = d.blocks.get((s.id, t), 0)
            cut = sum(drawn(d, s, peak, t).values())
            own = plants_mw(d, s, t)
            rows.append(
                (s.id, _q(menu, t), it, peak, s.utility_mw[t], cut, own, breakers, mwh, blocks)
            )
    columns = (
        "site",
        "quarter",
        "it_mw",
        "facility_mw",
        "utility_mw",
        "interruptible_mw",
        "onsite_mw",
        "breakers_mw",
        "energy_mwh",
        "power_blocks",
    )
    return Table(columns, tuple(rows))


def _onsite(menu: Menu, d: Decisions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for s in menu.sites:
        for o in s.onsite:
            for t in range(menu.quarters):
                n, mwh = d.onsite.get((s.id, o.id, t), 0), d.onsite_mwh.get((s.id, o.id, t), 0.0)
                if n or mwh:
                    serves = _q(menu, t + o.lead) if n else None
                    rows.append(
                        (
                            s.id,
                            o.id,
                            _q(menu, t),
                            n,
                            serves,
                            n * o.unit_mw,
                            n * o.usd,
                            mwh,
                            mwh * o.usd_per_mwh,
                        )
                    )
    columns = (
        "site",
        "source",
        "quarter",
        "units_ordered",
        "serve_from",
        "ordered_mw",
        "capex_usd",
        "made_mwh",
        "energy_usd",
    )
    return Table(columns, tuple(rows))


def _network(menu: Menu, d: Decisions, books: Accounts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for h in menu.halls:
        n = books.ordered_networks[h.id, menu.quarters - 1]
        if n.ports:
            c = n.counts
            rows.append(
                (
                    h.id,
                    d.fabric.get(h.id),
                    n.ports,
                    c.leaf,
                    c.spine,
                    c.core,
                    c.leaf_spine_links,
                    c.spine_core_links,
                    n.transceivers,
                    n.kw,
                    n.usd,
                )
            )
    columns = (
        "hall",
        "fabric",
        "nic_ports",
        "leaf",
        "spine",
        "core",
        "leaf_spine_links",
        "spine_core_links",
        "transceivers",
        "power_kw",
        "capex_usd",
    )
    return Table(columns, tuple(rows))


def _jobs(menu: Menu, d: Decisions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for r in sorted(d.runs, key=lambda r: (r.start_month, r.job)):
        layout = " ".join(f"{k}={v}" for k, v in r.layout.items())
        day = r.start_month * DAYS_PER_MONTH
        rows.append(
            (
                r.job,
                r.place,
                r.system,
                r.accelerators,
                r.used,
                r.spares,
                r.accelerators - r.used - r.spares,
                r.precision,
                _q(menu, int(day // DAYS_PER_QUARTER)),
                r.days_p50,
                r.days,
                r.mfu_frac,
                r.outlook["goodput_frac"],
                r.step_time_s,
                layout,
            )
        )
    columns = (
        "job",
        "place",
        "system",
        "accelerators",
        "used",
        "spares",
        "idle",
        "precision",
        "starts",
        "p50_days",
        "days",
        "mfu_frac",
        "goodput_frac",
        "step_time_s",
        "layout",
    )
    return Table(columns, tuple(rows))


def _checks(menu: Menu, audit: Audit) -> Table:
    rows = [
        (c.name, c.where, _q(menu, c.quarter), c.used, c.limit, "given" if not c.holds else "ok")
        for c in audit.checks
    ]
    return Table(("check", "where", "quarter", "used", "limit", "result"), tuple(rows))


def _demand(menu: Menu, d: Decisions) -> Table:
    """What was asked and what serves it, in the scenario's units."""
    rows: list[tuple[Cell, ...]] = []
    for t in range(menu.quarters):
        for demand in menu.demands:
            unit, each = demand.said
            owned, rented = served(menu, d, demand, t)
            missed = d.unmet.get((demand.id, t), 0.0)
            amounts = (x * each for x in (demand.wanted[t], owned, rented, missed))
            rows.append((_q(menu, t), demand.id, unit, *amounts))
    return Table(
        ("quarter", "demand", "unit", "asked", "owned", "rented", "not_served"), tuple(rows)
    )


def _cloud(menu: Menu, d: Decisions) -> Table:
    offer = {o.id: o for o in menu.offers}
    rows: list[tuple[Cell, ...]] = [
        (
            _q(menu, t),
            name,
            offer[name].region,
            accelerators,
            offer[name].usd_per_accelerator_hour[t],
            demand,
        )
        for (demand, name, t), accelerators in sorted(
            d.rented.items(), key=lambda item: (item[0][2], item[0][1])
        )
    ]
    for r in d.runs:
        if r.on_cloud:
            name = r.place.removeprefix("cloud:")
            t = r.start_month // MONTHS_PER_QUARTER
            price = offer[name].usd_per_accelerator_hour[t]
            rows.append(
                (
                    _q(menu, t),
                    name,
                    offer[name].region,
                    float(r.accelerators),
                    price,
                    f"{r.job}, {r.days:.0f} days",
                )
            )
    columns = (
        "quarter",
        "offer",
        "region",
        "average_accelerators",
        "usd_per_accelerator_hour",
        "for",
    )
    return Table(columns, tuple(rows))


def _commitments(menu: Menu, d: Decisions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for offer in menu.offers:
        share, use = covered(menu, d, offer), use_by_month(menu, d, offer)
        for commit in offer.committed:
            for t, nodes in sorted(
                (q, n) for (o, c, q), n in d.committed.items() if (o, c) == (offer.id, commit.term)
            ):
                n, price = nodes * offer.node_accelerators, commit.usd_per_accelerator_hour[t]
                months = range(
                    t * MONTHS_PER_QUARTER,
                    min(t + commit.quarters, menu.quarters) * MONTHS_PER_QUARTER,
                )
                busy = sum(share.get(m, 0.0) * use.get(m, 0.0) for m in months)
                held = sum(in_force(d, offer, m // MONTHS_PER_QUARTER) for m in months)
                paid = n * price * HOURS_PER_QUARTER * commit.quarters
                rows.append(
                    (
                        offer.id,
                        commit.term,
                        _q(menu, t),
                        nodes,
                        n,
                        price,
                        paid,
                        busy / held if held else 0.0,
                    )
                )
    columns = (
        "offer",
        "term",
        "begins",
        "nodes",
        "accelerators",
        "usd_per_accelerator_hour",
        "paid_usd",
        "used_frac",
    )
    return Table(columns, tuple(rows))


def left_out(menu: Menu, entries: tuple[LeftOut, ...] | None = None) -> Table:
    """What was named or possible and is not in the menu, with the reason; like reasons are merged."""
    merged: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for x in menu.left_out if entries is None else entries:
        merged[x.kind, x.id, x.reason].append(x.where)
    rows = [
        (kind, key, ", ".join(_places(where)), reason)
        for (kind, key, reason), where in merged.items()
    ]
    return Table(("kind", "id", "where", "reason"), tuple(sorted(rows)))


def _places(where: list[str]) -> list[str]:
    return [w for w in dict.fromkeys(where) if w]
