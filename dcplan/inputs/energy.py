"""Running cost of on-site power from catalog values."""

from __future__ import annotations

from dcplan.catalog.schema import OnsitePower
from dcplan.inputs.log import InputLog

FUELS = {"natural-gas": "natural-gas-usd-per-gj", "diesel": "diesel-usd-per-gj"}


def running_usd_per_mwh(row: OnsitePower, log: InputLog) -> float:
    """Return fuel and variable cost of a plant; PV and wind burn nothing [USD/MWh]."""
    variable = log.take(f"onsite.{row.id}.variable_usd_per_mwh", row.variable_usd_per_mwh)
    if row.fuel is None or row.heat_rate_gj_per_mwh is None:
        return variable
    rate = log.take(f"onsite.{row.id}.heat_rate_gj_per_mwh", row.heat_rate_gj_per_mwh)
    return variable + rate * log.parameter("facility", FUELS[row.fuel])
