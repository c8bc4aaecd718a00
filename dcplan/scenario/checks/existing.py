"""Checks of existing and on-order hardware: its place, its number of units, and its dates."""

from __future__ import annotations

from dcplan.catalog.schema import Fabric, System
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Asset, Existing, Hall, Order, Scenario
from dcplan.units import quarter_index


def hall_of(entry: Existing, scenario: Scenario) -> tuple[str, Hall] | None:
    """Site id and hall of hardware; None if the names do not define them."""
    sites = [s for s in scenario.sites if entry.site is None or s.id == entry.site]
    if len(sites) != 1:
        return None
    halls = [h for h in sites[0].halls if entry.hall is None or h.id == entry.hall]
    return (sites[0].id, halls[0]) if len(halls) == 1 else None


def check_existing(check: Checker) -> None:
    """Check ``assets:`` and ``orders:``."""
    scenario = check.scenario
    named: list[tuple[str, tuple[Existing, ...]]] = [
        ("assets", scenario.assets),
        ("orders", scenario.orders),
    ]
    seen: set[str] = set()
    per_rack: dict[tuple[str, str, str], int | None] = {}
    for kind, entries in named:
        for i, entry in enumerate(entries):
            path: Path = (kind, i)
            if entry.id in seen:
                check.add("DC011", f"the id {entry.id!r} occurs twice", (*path, "id"))
            seen.add(entry.id)
            _check_place(check, entry, path)
            _check_units(check, entry, path)
            found = hall_of(entry, scenario)
            if found:
                key = (found[0], found[1].id, entry.system)
                if per_rack.setdefault(key, entry.nodes_per_rack) != entry.nodes_per_rack:
                    cause = f"{entry.id}: nodes_per_rack differs from other {entry.system} in {found[0]}/{found[1].id}"
                    check.add(
                        "DC015",
                        cause,
                        (*path, "nodes_per_rack"),
                        help="use the same value for all of them",
                    )
    for i, asset in enumerate(scenario.assets):
        _check_asset(check, asset, ("assets", i))
    _one_fabric(check)
    for i, order in enumerate(scenario.orders):
        _check_order(check, order, ("orders", i))


def _check_place(check: Checker, entry: Existing, path: Path) -> None:
    scenario = check.scenario
    if entry.site is not None and entry.site not in [s.id for s in scenario.sites]:
        check.one_of(entry.site, [s.id for s in scenario.sites], "site", (*path, "site"))
        return
    if entry.site is None and len(scenario.sites) > 1:
        check.add("DC003", f"{entry.id}: name the site; the scenario has several", path)
        return
    site = next(s for s in scenario.sites if entry.site in (None, s.id))
    halls = {h.id: h for h in site.halls}
    if entry.hall is not None:
        check.one_of(entry.hall, halls, "hall", (*path, "hall"))
    elif len(halls) > 1:
        check.add("DC003", f"{entry.id}: name the hall; the site has several", path)
    hall = halls.get(entry.hall or "") or (site.halls[0] if len(halls) == 1 else None)
    if hall is None:
        return
    if entry.cooling is not None and entry.cooling not in hall.cooling:
        check.one_of(entry.cooling, hall.cooling, f"cooling of hall {hall.id}", (*path, "cooling"))
    elif entry.cooling is None and len(hall.cooling) > 1:
        check.add("DC003", f"{entry.id}: name the cooling; {hall.id} has several", path)
    if isinstance(entry, Asset) and not hall.existing:
        cause = f"{entry.id}: is in {hall.id}, which is not marked existing: true"
        check.add("DC015", cause, (*path, "hall") if entry.hall else path)


def _check_units(check: Checker, entry: Existing, path: Path) -> None:
    system = check.catalog.find("systems", entry.system, System)
    if system is None:
        return
    if entry.accelerators % system.accelerators:
        cause = f"{entry.id}: {entry.accelerators} accelerators are not a multiple of {system.accelerators}"
        check.add("DC015", cause, (*path, "accelerators"))
    for field, value in (
        ("rated_kw", system.rated_kw),
        ("price_usd", entry.price_usd or system.price_usd),
    ):
        if value is None:
            cause = f"{entry.id}: {system.id} has no {field}; give it under prices"
            check.add("DC003", cause, (*path, "system"))


def _check_asset(check: Checker, asset: Asset, path: Path) -> None:
    start = check.scenario.horizon.start
    if quarter_index(asset.in_service) >= quarter_index(start):
        cause = f"{asset.id}: in service from {asset.in_service}, not before the start of the horizon {start}"
        check.add("DC015", cause, (*path, "in_service"), help="list later hardware under orders")
    known = check.scenario.fabrics
    if asset.fabric is not None and known != "all" and check.scenario.fabric is None:
        names = {_family(check, x) for x in known}
        if _family(check, asset.fabric) not in names:
            check.one_of(asset.fabric, list(known), "fabric", (*path, "fabric"))
    several = check.scenario.fabric is None and len(check.scenario.fabrics) != 1
    if asset.fabric is None and several:
        check.add(
            "DC003", f"{asset.id}: name the fabric that connects it; the scenario has several", path
        )


def _family(check: Checker, name: str) -> str:
    row = check.catalog.find("fabrics", name, Fabric)
    return row.id if row is not None else name


def _one_fabric(check: Checker) -> None:
    """Check that all assets of a hall use one fabric."""
    seen: dict[tuple[str, str], str] = {}
    for i, asset in enumerate(check.scenario.assets):
        place = hall_of(asset, check.scenario)
        if place is None or asset.fabric is None:
            continue
        own = _family(check, asset.fabric)
        if seen.setdefault((place[0], place[1].id), own) != own:
            cause = f"{asset.id}: other assets of {place[0]}/{place[1].id} use {seen[place[0], place[1].id]}"
            check.add("DC015", cause, ("assets", i, "fabric"))


def _check_order(check: Checker, order: Order, path: Path) -> None:
    horizon = check.scenario.horizon
    start = quarter_index(horizon.start)
    at = quarter_index(order.expected)
    if not start <= at < start + horizon.quarters:
        cause = f"{order.id}: expected {order.expected}, which is outside the horizon"
        help_text = "list hardware in service before the horizon under assets" if at < start else ""
        check.add("DC015", cause, (*path, "expected"), help=help_text)
    if order.placed and quarter_index(order.placed) > at:
        check.add("DC015", f"{order.id}: placed after its expected delivery", (*path, "placed"))
    if order.placed and quarter_index(order.placed) >= start:
        cause = f"{order.id}: placed {order.placed}, not before the start of the horizon; the plan orders from then on"
        check.add("DC015", cause, (*path, "placed"))
