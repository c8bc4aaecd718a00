"""Checks of the power chain that a hall states for itself."""

from __future__ import annotations

from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Hall, Site


def check_hall_power(check: Checker, hall: Hall, site: Site, path: Path) -> None:
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
