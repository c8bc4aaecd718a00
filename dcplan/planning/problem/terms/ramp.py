"""Ramp limit of a site's grid connection, and the battery that keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.energy.duties import Cells, Duty, rating
from dcplan.facility.swings import Step, events, stored
from dcplan.units import KW_PER_MW


@dataclass(frozen=True)
class RampTerms:
    """Ramp limit, what a run does at its events, and the battery of the site; None without one."""

    limit_mw_per_s: float
    low_frac: float
    """Power in synchronous waits over training power."""
    edge_s: float
    pause_s: float
    """Pause for a checkpoint."""
    restart_s: float
    battery: str | None = None
    hours: float = 0.0
    cells: Cells | None = None

    def falls(self, high_mw: float, idle_mw: float) -> bool:
        """Return whether the load of a run may fall faster than the limit."""
        most = max(high_mw - idle_mw, high_mw * (1.0 - self.low_frac))
        return most > self.limit_mw_per_s * self.edge_s

    def rated_mw(self, high_mw: float, idle_mw: float, step_s: float) -> float:
        """Return the rated power of the battery for a run: of its largest power and energy at any event.

        Its rated capacity is this power times the hours of the battery.

        Parameters
        ----------
        high_mw, idle_mw : float
            Rated and idle power of the run's accelerators, without cooling. [MW]
        step_s : float
            Its step; all of it counts as synchronous wait. [s]

        Raises
        ------
        ValueError
            If the site has no battery and the run needs one.
        """
        step = Step(step_s, 1.0, high_mw, high_mw * self.low_frac, self.edge_s)
        found = [
            stored(x, self.limit_mw_per_s, self.edge_s)
            for x in events(step, idle_mw, self.pause_s, self.restart_s)
        ]
        mw = max(x.mw for x in found)
        mwh = max(x.kwh or 0.0 for x in found) / KW_PER_MW
        if mw == 0.0:
            return 0.0
        if self.cells is None:
            msg = f"a fall of {mw:g} MW needs a battery"
            raise ValueError(msg)
        rated = rating(Duty(mw, mwh), self.cells)
        return max(rated.mw, rated.mwh / self.hours)
