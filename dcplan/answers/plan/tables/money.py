"""Tables of a plan's money: cost by line, cash by quarter, every payment, and public ranges."""

from __future__ import annotations

from collections import defaultdict

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer, Parameter
from dcplan.economics.cash_flow import (
    EQUIPMENT,
    GROUPS,
    AssetClass,
    FlowGroup,
    cash_out_usd,
    debt_usd,
)
from dcplan.planning.audit.accounts import Accounts
from dcplan.planning.problem.terms import Menu
from dcplan.result import Cell, Metric, Table
from dcplan.units import quarter_index, quarter_name


def cost(books: Accounts) -> Table:
    """Undiscounted sum of every line."""
    sums: dict[tuple[FlowGroup, str], float] = defaultdict(float)
    for f in books.flows:
        sums[f.group, f.line] += f.usd
    ordered = sorted(
        sums.items(), key=lambda item: (GROUPS.index(item[0][0]), -abs(item[1]), item[0][1])
    )
    return Table(
        ("group", "line", "usd"), tuple((g.value, line, usd) for (g, line), usd in ordered)
    )


def cashflow(menu: Menu, books: Accounts) -> Table:
    """Groups and debt by quarter of the horizon; what commitments cost after it falls in none of
    them.
    """
    groups = [g for g in GROUPS if g is not FlowGroup.AFTER]
    by: dict[tuple[int, FlowGroup], float] = defaultdict(float)
    for f in books.flows:
        by[f.quarter, f.group] += f.usd
    finance, paid = menu.finance, cash_out_usd(books.flows, menu.quarters)
    drawn, served = debt_usd(
        books.flows, menu.quarters, finance.debt_share_frac, finance.debt_service_frac
    )
    first = quarter_index(menu.start)
    rows: list[tuple[Cell, ...]] = [
        (
            quarter_name(first + t),
            *(by[t, g] for g in groups),
            drawn[t],
            served[t],
            paid[t] - drawn[t] + served[t],
        )
        for t in range(menu.quarters)
    ]
    money = (*(f"{g}_usd" for g in groups), "debt_drawn_usd", "debt_service_usd", "cash_out_usd")
    return Table(("quarter", *money), tuple(rows))


def bands(books: Accounts, metrics: dict[str, Metric], catalog: Catalog) -> Table:
    """Unit figures beside public ranges; what falls outside is flagged, never hidden."""
    accelerators = float(metrics["accelerators.total"].value or 0)
    capex = float(metrics["cost.capex_usd"].value or 0)
    facility = float(metrics["power.peak_facility_mw"].value or 0)
    if not accelerators or not facility:
        return Table(("figure", "value", "low", "high", "inside", "source"), ())
    equipment = [f for f in books.flows if f.group is FlowGroup.CAPEX and f.asset in EQUIPMENT]
    compute = sum(f.usd for f in equipment)
    network = sum(f.usd for f in equipment if f.asset is AssetClass.NETWORK)
    figures = {
        "band-usd-per-accelerator": capex / accelerators,
        "band-usd-per-mw": capex / facility,
        "band-w-per-accelerator": facility * 1e6 / accelerators,
        "band-network-share-frac": network / compute if compute else 0.0,
    }
    rows = []
    for key, value in figures.items():
        row = catalog.get("finance", key, Parameter)
        low, high = row.value.bounds
        rows.append(
            (
                row.name,
                value,
                low,
                high,
                "inside" if low <= value <= high else "OUTSIDE",
                str(row.source),
            )
        )
    return Table(("figure", "value", "low", "high", "inside", "source"), tuple(rows))


def flows(menu: Menu, books: Accounts, catalog: Catalog) -> Table:
    """Sum every payment by quarter, group, line and site, undiscounted.

    Workbooks and cost tools read this table.
    """
    sums: dict[tuple[int, int, str, AssetClass, str, str, bool], float] = defaultdict(float)
    for f in books.flows:
        group = GROUPS.index(f.group)
        sums[f.quarter, group, f.line, f.asset, f.site, f.offer, f.at_end] += f.usd
    first = quarter_index(menu.start)
    maker = {f.offer: catalog.get("cloud", f.offer, Offer).provider for f in books.flows if f.offer}
    rows = tuple(
        (
            quarter_name(first + t),
            GROUPS[g].value,
            line,
            asset.value,
            site,
            maker.get(offer, ""),
            "end" if at_end else "middle",
            usd,
        )
        for (t, g, line, asset, site, offer, at_end), usd in sorted(sums.items())
        if usd
    )
    return Table(("quarter", "group", "line", "asset", "site", "provider", "falls", "usd"), rows)
