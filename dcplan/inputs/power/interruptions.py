"""What a run does while the grid interrupts its power, as a scenario states it."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.reliability.power_cuts import PowerCuts


@dataclass(frozen=True)
class OnInterruption:
    """What a run does while the grid interrupts its power, as a scenario states it."""

    key: str
    """Place of the fields in the scenario."""
    power_frac: float | None
    speed_frac: float | None

    def over(self, hours_per_year: float, each_h: float, log: InputLog) -> PowerCuts:
        """Return its interruptions of some hours a year; without a speed, it has that of its power."""
        power = log.assumed(f"{self.key}.interrupted_power_frac", self.power_frac, 0.0)
        speed = log.assumed(f"{self.key}.interrupted_speed_frac", self.speed_frac, power)
        return PowerCuts(hours_per_year, each_h, power, speed)


def interruption_h(key: str, given: Quantity | None, log: InputLog) -> float:
    """Return the length of one interruption, or that of the catalog."""
    return log.chosen(f"{key}.interruption_h", given, "power", "interruption-h")
