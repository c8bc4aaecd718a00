"""Terms of the work: jobs, run options and demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.units import DAYS_PER_MONTH

PFLOPS, HOURS, H100, TOKENS = "PFLOP/s", "busy accelerators", "H100-equivalents", "1,000 tokens/s"
"""Units of a demand."""


@dataclass(frozen=True)
class JobTerms:
    """A training job: the time in which it may run."""

    id: str
    first_month: int
    end_day: float
    deadline_days: float | None
    confidence: float
    sites: tuple[str, ...]
    cloud: bool = True
    """Whether it may run in the cloud; a job with named sites may not."""
    extra_days: tuple[float, ...] = ()
    """Additional durations to try, in addition to the usual months."""
    dated: bool = True
    """Whether it has a deadline, so that delays of its start count. Otherwise its planned end is
    inside the horizon."""


@dataclass(frozen=True)
class RunOption:
    """One way to run a job: place, system, count, duration. Times are at the required confidence."""

    job: str
    place: str
    """Hall id, or ``cloud:<offer>``."""
    system: str
    accelerator: str
    accelerators: int
    link: LinkSpeed
    precision: str
    days: float
    days_p50: float
    start_month: int
    layout: Mapping[str, int | str]
    mfu_frac: float
    step_time_s: float
    spares: int = 0
    """Part of ``accelerators``: spares for failed ones."""
    used: int = 0
    """Part of ``accelerators`` that full replicas of the layout use; each may hold several
    ranks."""
    end_days: float = 0.0
    """Days from the planned start to the end, including possible delays of the start, at the
    required confidence."""
    ahead_days: float = 0.0
    """The same if the hardware is in service one quarter before the start, which absorbs that much
    delay."""
    lead_months: int = 0
    """Months before the start in which its accelerators must already be in service."""
    outlook: Mapping[str, float] = field(default_factory=dict)
    """Goodput, stops, checkpoint interval, median end, and shares of the end's variance."""
    ahead_outlook: Mapping[str, float] = field(default_factory=dict)
    """The same if the hardware is in service one quarter before the start."""

    @property
    def finish_days(self) -> float:
        """Return days from the planned start to the end, at the required confidence."""
        return max(self.days, self.end_days)

    @property
    def serving_quarter(self) -> int:
        """Return the first quarter in which its accelerators must be in service."""
        return (self.start_month - self.lead_months) // 3

    @property
    def months(self) -> int:
        """Return the number of months in which its accelerators are reserved."""
        return max(1, -int(-self.days // DAYS_PER_MONTH))

    @property
    def on_cloud(self) -> bool:
        """Return whether it runs on rented accelerators."""
        return is_cloud(self.place)


@dataclass(frozen=True)
class DemandTerms:
    """Demand that any suitable accelerator may serve: research capacity or inference."""

    id: str
    wanted: tuple[float, ...]
    """Demand by quarter, in ``unit``."""
    each: Mapping[tuple[str, str], float]
    """(hall or ``cloud:<offer>``, system or accelerator) -> amount that one accelerator serves,
    including utilization."""
    unit: str = PFLOPS
    load_frac: float = 1.0
    """Average load divided by the load that sizes the accelerators; energy follows the average."""
    unmet_usd: float | None = None
    """Cost of one unserved unit per quarter; None if all demand must be served."""
    scenario_unit: tuple[str, float] = ("pflops_delivered", 1.0)
    """Field of the scenario that gives the demand, and the number of its units in one ``unit``."""
