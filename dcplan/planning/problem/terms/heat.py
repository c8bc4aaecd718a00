"""Sale of waste heat of a site: prices, hours of the buyer, and the heat pump."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.energy.heat import Lifted, lifted
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW, MONTHS_PER_QUARTER


@dataclass(frozen=True)
class HeatTerms:
    """Sale of waste heat of a site: price and share of hours by quarter, and the temperature it needs."""

    needed_c: float
    usd_per_mwh: tuple[float, ...]
    hours_frac: tuple[float, ...]
    """Share of the hours with demand; 0 before the first quarter of the sale."""
    carnot_frac: float
    approach_k: float
    """Temperature that the heat exchanger to the buyer takes."""
    connection_usd: float = 0.0
    first: int = 0
    """Quarter in which the connection is paid."""
    demand_usd_per_kw_month: tuple[float, ...] = ()
    """Charge on the billed peak by quarter; empty without one."""
    own_grid_connection: bool = False
    """Whether the heat pump has a connection of its own: the site does not carry its power."""

    def lifted(self, heat_c: float) -> Lifted:
        """Return heat at the needed temperature and electricity of the pump, for one MWh of waste heat."""
        return lifted(heat_c - self.approach_k, self.needed_c, self.carnot_frac)

    def pump_mw_per_mw(self, heat_c: float, usd_per_kwh: float, t: int) -> float:
        """Return the power of the pump that the site carries, for one MW of waste heat; 0 without a sale."""
        if self.own_grid_connection or self.net_usd_per_mwh(heat_c, usd_per_kwh, t) <= 0.0:
            return 0.0
        return self.lifted(heat_c).electricity

    def net_usd_per_mwh(self, heat_c: float, usd_per_kwh: float, t: int) -> float:
        """Return the margin of one MWh of waste heat in a quarter: price less electricity, at least 0.

        Heat whose electricity costs more than the price is not sold. The demand charge of the pump counts
        in this comparison as racks at rated power would pay it; it is not part of the margin.
        """
        x = self.lifted(heat_c)
        margin = x.delivered * self.usd_per_mwh[t] - x.electricity * usd_per_kwh * KW_PER_MW
        sold = margin * self.hours_frac[t] * HOURS_PER_QUARTER
        return margin if sold > self._demand_usd_per_mw(x, t) else 0.0

    def _demand_usd_per_mw(self, x: Lifted, t: int) -> float:
        """Return the demand charge of a quarter for the pump of one MW of waste heat [USD]."""
        if self.own_grid_connection or not self.demand_usd_per_kw_month:
            return 0.0
        return x.electricity * KW_PER_MW * MONTHS_PER_QUARTER * self.demand_usd_per_kw_month[t]
