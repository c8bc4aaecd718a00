"""Checks of halls: prices, lead times and power chains that fit what the hall is, and upgrades."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.provenance import Path, Quantity
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Hall, Site, Upgrade

CAPACITIES = ("it_mw", "racks", "air_mw", "liquid_mw")
CHANGES = ("cooling", *CAPACITIES)
"""Fields of which an upgrade gives at least one."""


def check_hall(check: Checker, site: Site, hall: Hall, path: Path) -> None:
    """Check that a hall has no price of what it does not buy, and that its use begins in the plan."""
    what = "is leased" if site.lease is not None else "exists" if hall.existing else ""
    for name, given in (
        ("building_usd_per_kw", hall.building_usd_per_kw is not None),
        ("power_included", hall.power_included),
    ):
        if given and what:
            cause = (
                f"{hall.id}: the hall {what}, so that the plan pays for no building and no power"
            )
            check.add("DC015", cause, (*path, name), help=f"remove {name}")
    quarters = check.scenario.horizon.quarters
    if hall.lead_quarters is not None and hall.lead_quarters >= quarters:
        cause = (
            f"{hall.id}: it is in use {hall.lead_quarters} quarters after its order, and the horizon "
            f"has {quarters}"
        )
        check.add("DC015", cause, (*path, "lead_quarters"), help="extend horizon.quarters")
    _check_power(check, site, hall, path)
    _check_upgrades(check, site, hall, path)


def _check_upgrades(check: Checker, site: Site, hall: Hall, path: Path) -> None:
    """Check that a hall can have upgrades, and that each of them changes something."""
    if not hall.upgrades:
        return
    for wrong, cause, step in (
        (not hall.existing, "is new", "give `existing: true`, or the final size of the new hall"),
        (
            site.lease is not None,
            "is leased, and its owner pays for its works",
            "remove upgrades, or the lease",
        ),
        (
            hall.count * hall.modules > 1,
            "has several units",
            "give each hall or module with upgrades as a hall of its own",
        ),
        (
            len(hall.cooling) > 1,
            "has several cooling options",
            "name the one option that the hall has now",
        ),
    ):
        if wrong:
            text = f"{hall.id}: upgrades are those of one existing hall, but {hall.id} {cause}"
            check.add("DC015", text, (*path, "upgrades"), help=step)
    check.unique((x.id for x in hall.upgrades), (*path, "upgrades"))
    options = list(hall.cooling)
    before = {x: _number(getattr(hall, x)) for x in CAPACITIES}
    for i, upgrade in enumerate(hall.upgrades):
        at = (*path, "upgrades", i)
        _check_upgrade(check, upgrade, options, at)
        after = {x: _number(getattr(upgrade, x)) for x in CAPACITIES}
        _check_adds(check, upgrade, before, after, at)
        before |= {x: value for x, value in after.items() if value is not None}
        options += [upgrade.cooling] if upgrade.cooling else []


def _number(value: Quantity | float | None) -> float | None:
    """Return the number of a field, with or without its source; None without one."""
    return value.value if isinstance(value, Quantity) else value


def _check_adds(
    check: Checker,
    upgrade: Upgrade,
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    path: Path,
) -> None:
    """Report an upgrade that lowers what the hall has and adds nothing for it.

    A cooling option may take power or positions; a capacity may rise while another falls.
    """
    less = {}
    for name, value in after.items():
        own = before[name]
        if value is not None and (own is None or value > own):
            return
        if value is not None and own is not None and value < own:
            less[name] = (own, value)
    if upgrade.cooling is not None or not less:
        return
    for name, (own, value) in less.items():
        cause = f"{upgrade.id}: it lowers {name} from {own:g} to {value:g} and adds nothing"
        check.add("DC015", cause, (*path, name), help=f"give more than {own:g}, or remove it")


def _check_upgrade(check: Checker, upgrade: Upgrade, options: list[str], path: Path) -> None:
    name = upgrade.id
    if all(getattr(upgrade, x) is None for x in CHANGES):
        cause = f"{name}: the upgrade changes nothing"
        check.add("DC015", cause, (*path, "id"), help=f"give one of {', '.join(CHANGES)}")
    if upgrade.cooling in options:
        cause = f"{name}: the hall already has the cooling option {upgrade.cooling!r}"
        check.add("DC011", cause, (*path, "cooling"), help="name another one, or remove it")
    if upgrade.rack_kw_max is not None and upgrade.cooling is None:
        cause = f"{name}: rack_kw_max is that of racks under its cooling option, and it has none"
        check.add("DC015", cause, (*path, "rack_kw_max"), help="add `cooling`, or remove it")
    if upgrade.out_of_service_frac is not None and not upgrade.works_quarters:
        cause = f"{name}: out_of_service_frac holds during the works, which take no quarter"
        step = "give works_quarters, or remove out_of_service_frac"
        check.add("DC015", cause, (*path, "out_of_service_frac"), help=step)
    quarters = check.scenario.horizon.quarters
    if upgrade.lead_quarters + upgrade.works_quarters >= quarters:
        cause = (
            f"{name}: it serves {upgrade.lead_quarters + upgrade.works_quarters} quarters after its "
            f"order, and the horizon has {quarters}"
        )
        check.add("DC015", cause, (*path, "id"), help="extend horizon.quarters, or remove it")


def _check_power(check: Checker, site: Site, hall: Hall, path: Path) -> None:
    """Report a chain of a hall that has the blocks of its site, and a UPS that changes nothing."""
    if hall.power is None:
        return
    if not hall.existing and site.lease is None:
        cause = f"{hall.id}: a new hall has the power blocks of its site"
        step = f"give sites.{site.id}.power, or existing: true for a hall that is built"
        check.add("DC015", cause, (*path, "power"), help=step)
    if hall.pue is None or hall.peak_pue is None:
        return
    for field in ("ups", "block_mw"):
        if getattr(hall.power, field) is not None:
            cause = (
                f"{hall.id}: power.{field} has no effect on a hall with its own pue and peak_pue"
            )
            step = f"leave {field} out, or pue and peak_pue"
            check.add("DC015", cause, (*path, "power", field), help=step)
