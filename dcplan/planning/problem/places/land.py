"""Land of a site that the plan buys when it first uses the site: its price, and its value later."""

from __future__ import annotations

from dcplan.inputs.log import InputLog
from dcplan.scenario.schema import Site
from dcplan.units import QUARTERS_PER_YEAR


def land_price_usd(site: Site, log: InputLog) -> float:
    """Return the price of the land that a plan buys for a site; 0 without such land. [USD]."""
    land, key = site.land, f"sites.{site.id}.land"
    if land is None:
        return 0.0
    if land.usd is not None:
        return log.take(f"{key}.usd", land.usd)
    if land.area_m2 is None or land.usd_per_m2 is None:
        return 0.0
    area = log.take(f"{key}.area_m2", land.area_m2)
    return area * log.take(f"{key}.usd_per_m2", land.usd_per_m2)


def land_left_frac(site: Site, quarters: int, log: InputLog) -> tuple[float, ...]:
    """Return the value of land at the end of the horizon over its price, by quarter of the purchase.

    It is (1 + g)^((T - t) / 4), with g the yearly change of its value; empty without land.
    """
    if site.land is None:
        return ()
    given = site.land.growth_frac_per_year
    rate = log.take(f"sites.{site.id}.land.growth_frac_per_year", given) if given else 0.0
    return tuple((1.0 + rate) ** ((quarters - t) / QUARTERS_PER_YEAR) for t in range(quarters))
