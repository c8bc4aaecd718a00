"""Waste heat that a site sells and water that it buys, recomputed from the energy of its racks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.problem.terms import SiteTerms
from dcplan.units import KW_PER_MW

HEAT, PUMP, CONNECTION, WATER = (
    "sale of heat",
    "electricity of the heat pump",
    "heat connection",
    "water",
)
"""Lines of the payments."""

Sources = Iterable[tuple[float, float]]
"""Temperature and energy of waste heat of the cooling options. [C], [MWh]"""


@dataclass(frozen=True)
class HeatSold:
    """Waste heat that a site sells in some quarters."""

    reused_mwh: float = 0.0
    """Waste heat that leaves the data center."""
    delivered_mwh: float = 0.0
    """Heat at the needed temperature: with the electricity of the heat pump."""
    electricity_mwh: float = 0.0
    degree_mwh: float = 0.0
    """Waste heat times its temperature."""

    @property
    def mean_c(self) -> float | None:
        """Return the mean temperature of the waste heat, weighted by energy."""
        return self.degree_mwh / self.reused_mwh if self.reused_mwh else None

    def plus(self, other: HeatSold) -> HeatSold:
        """Return the sum of both."""
        return HeatSold(
            self.reused_mwh + other.reused_mwh,
            self.delivered_mwh + other.delivered_mwh,
            self.electricity_mwh + other.electricity_mwh,
            self.degree_mwh + other.degree_mwh,
        )


def heat_sold(site: SiteTerms, sources: Sources, t: int) -> HeatSold:
    """Return what a site sells in a quarter: in the hours with demand, where the price pays the pump."""
    total = HeatSold()
    if site.heat is None:
        return total
    for heat_c, mwh in sources:
        if site.heat.net_usd_per_mwh(heat_c, site.usd_per_kwh[t], t) <= 0.0:
            continue
        reused, each = mwh * site.heat.hours_frac[t], site.heat.lifted(heat_c)
        total = total.plus(
            HeatSold(reused, reused * each.delivered, reused * each.electricity, reused * heat_c)
        )
    return total


def heat_flows(site: SiteTerms, sources: Mapping[int, Sources]) -> Iterable[Flow]:
    """Yield the payments for sold heat: connection, sale, and electricity of the heat pump."""
    if site.heat is None:
        return
    shared, other, energy = Sharing(Driver.ENERGY), AssetClass.OTHER, FlowGroup.ENERGY
    for t, found in sources.items():
        if t == site.heat.first and site.heat.connection_usd:
            goods = Goods("heat-connection", 1, Unit.LOT)
            usd = site.heat.connection_usd
            opex = FlowGroup.OPEX
            yield Flow(t, opex, CONNECTION, usd, site.id, asset=other, shared=shared, goods=goods)
        sold = heat_sold(site, found, t)
        for line, mwh, usd_per_mwh in (
            (HEAT, sold.delivered_mwh, -site.heat.usd_per_mwh[t]),
            (PUMP, sold.electricity_mwh, site.usd_per_kwh[t] * KW_PER_MW),
        ):
            if mwh:
                kwh = Goods("heat" if line == HEAT else "grid", mwh * KW_PER_MW, Unit.KWH)
                usd = mwh * usd_per_mwh
                yield Flow(t, energy, line, usd, site.id, asset=other, shared=shared, goods=kwh)


def water_flows(site: SiteTerms, water_m3: Mapping[int, float]) -> Iterable[Flow]:
    """Yield the payments for site water."""
    if not site.water_usd_per_m3:
        return
    shared, other, opex = Sharing(Driver.ENERGY), AssetClass.OTHER, FlowGroup.OPEX
    for t, amount in water_m3.items():
        usd = amount * site.water_usd_per_m3[t]
        if usd:
            goods = Goods("water", amount, Unit.M3)
            yield Flow(t, opex, WATER, usd, site.id, asset=other, shared=shared, goods=goods)
