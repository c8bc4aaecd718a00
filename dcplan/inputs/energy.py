"""Running cost of on-site power from catalog values."""

from __future__ import annotations

from dcplan.catalog.schema import OnsitePower
from dcplan.inputs.log import InputLog

FUELS = {"natural-gas": "natural-gas-usd-per-gj", "diesel": "diesel-usd-per-gj"}


def running_usd_per_mwh(row: OnsitePower, log: InputLog) -> float:
    """Return fuel and variable cost of a plant [USD/MWh]."""
    variable, rate = (
        log.take(f"onsite.{row.id}.{name}", getattr(row, name))
        for name in ("variable_usd_per_mwh", "heat_rate_gj_per_mwh")
    )
    return float(variable + rate * log.parameter("facility", FUELS[str(row.fuel)]))
