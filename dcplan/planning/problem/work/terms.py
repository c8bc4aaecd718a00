"""Terms of the work: jobs and ways to run them, demands, rentable offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.inputs.cloud_prices import is_cloud
from dcplan.units import DAYS_PER_MONTH

PFLOPS, HOURS, H100, TOKENS = "PFLOP/s", "busy accelerators", "H100-equivalents", "1,000 tokens/s"
"""Units of a demand."""


@dataclass(frozen=True)
class JobTerms:
    """A training job: when it may run."""

    id: str
    first_month: int
    end_day: float
    deadline_days: float | None
    confidence: float
    sites: tuple[str, ...]
    cloud: bool = True
    """Rented hardware may run it; a job that names its sites stays there."""
    extra_days: tuple[float, ...] = ()
    """Lengths that the menu offers besides the usual months."""
    dated: bool = True
    """It has a deadline: what may delay its start counts. Else its planned end lies inside the
    horizon."""


@dataclass(frozen=True)
class RunOption:
    """One way to run a job: where, on what, how many, how long. Times at the asked confidence."""

    job: str
    place: str
    """Hall id, or ``cloud:<offer>``."""
    system: str
    accelerator: str
    accelerators: int
    link_gbps: float
    precision: str
    days: float
    days_p50: float
    start_month: int
    layout: Mapping[str, int | str]
    mfu_frac: float
    step_time_s: float
    spares: int = 0
    """Of ``accelerators``, those that stand by for failed ones."""
    used: int = 0
    """Of ``accelerators``, those that fill whole replicas of the layout; each may hold several
    ranks."""
    end_days: float = 0.0
    """From the planned start to the end, what may delay the start counted in; at the asked
    confidence."""
    ahead_days: float = 0.0
    """The same where the hardware serves a quarter before the start, which takes up that much of a
    delay."""
    lead_months: int = 0
    """Months before the start from which its accelerators must be in service."""
    outlook: Mapping[str, float] = field(default_factory=dict)
    """Goodput, stops, checkpoint interval, median end, and shares of the end's variance."""
    ahead_outlook: Mapping[str, float] = field(default_factory=dict)
    """The same where the hardware serves a quarter before the start."""

    @property
    def finish_days(self) -> float:
        """Days from the planned start to the end at the asked confidence."""
        return max(self.days, self.end_days)

    @property
    def serving_quarter(self) -> int:
        """Quarter from which its accelerators must be in service."""
        return (self.start_month - self.lead_months) // 3

    @property
    def months(self) -> int:
        """Whole months in which its accelerators are reserved."""
        return max(1, -int(-self.days // DAYS_PER_MONTH))

    @property
    def on_cloud(self) -> bool:
        """Whether it runs on rented accelerators."""
        return is_cloud(self.place)


@dataclass(frozen=True)
class DemandTerms:
    """Work that any fitting accelerator may serve: research capacity or inference."""

    id: str
    wanted: tuple[float, ...]
    """By quarter, in ``unit``."""
    each: Mapping[tuple[str, str], float]
    """(hall or ``cloud:<offer>``, system or accelerator) -> what one accelerator serves,
    utilization counted."""
    unit: str = PFLOPS
    load_frac: float = 1.0
    """Average load over the load that accelerators are held for; energy follows the average."""
    unmet_usd: float | None = None
    """What a unit not served for a quarter costs; None where all of it must be served."""
    scenario_unit: tuple[str, float] = ("pflops_delivered", 1.0)
    """Field of the scenario that it is given in, and how many of its units one of ``unit`` is."""
