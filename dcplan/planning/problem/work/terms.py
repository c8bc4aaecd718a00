"""Terms of the work: jobs, run options and demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.planning.problem.work.parts import SPAN_MARK, RunPart
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from dcplan.reliability.spares import PoolRule
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER

PFLOPS, HOURS, H100, TOKENS = "PFLOP/s", "busy accelerators", "H100-equivalents", "1,000 tokens/s"
QUEUE = "accelerators of the queue"
"""Units of a demand."""
PART = "@"
"""Separates a workload from its part in the id of a demand; no id of a scenario has it."""


def part_id(workload: str, part: str) -> str:
    """Return the id of a part of a workload.

    Examples
    --------
    >>> part_id("chat", "p1"), part_id("chat@eu", "p1"), workload_of("chat@eu.p1")
    ('chat@p1', 'chat@eu.p1', 'chat')
    """
    return f"{workload}{'.' if PART in workload else PART}{part}"


def workload_of(demand: str) -> str:
    """Return the workload of the id of a demand."""
    return demand.partition(PART)[0]


@dataclass(frozen=True)
class JobTerms:
    """A job: the time in which it may run."""

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
    every_month: bool = False
    """Whether the durations to try are all months of the first two years; few jobs and places."""
    dated: bool = True
    """Whether it has a deadline, so that delays of its start count. Otherwise its planned end is
    inside the horizon."""
    may_wait: bool = True
    """Whether it may start later than its planned month: with a deadline, or if asked for."""
    planned_month: int = 0
    """First month in which own hardware that can run it can serve; its first month without one."""


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
    mfu_frac: float | None
    """None for post-training, whose accelerators also generate."""
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
    cuts: PowerCuts = NO_CUTS
    """Interruptions of power in which it pauses or slows; without any, it keeps its power."""
    lost_days: float = 0.0
    """Part of ``days`` that it loses to these interruptions."""
    ramp_mw: float = 0.0
    """Rated power of the battery that a ramp limit of its site needs for it; in one part of a run only."""
    pooled_nodes: int = 0
    """Nodes of a run that shares its spare nodes, which are not in ``accelerators``; 0: it has its own."""
    pool: PoolRule | None = None
    """Size of that pool."""
    part: RunPart | None = None
    """Part of a run over several halls, whose amounts are those of this hall; None for a complete run."""

    def starting(self, month: int, lead_months: int = 0) -> RunOption:
        """Return the option with a start month, and the months before it in which its hardware serves.

        Hardware that serves earlier has the earlier end.
        """
        if not lead_months:
            return self.changed({"start_month": month})
        early = {"end_days": self.ahead_days, "outlook": self.ahead_outlook}
        return self.changed({"start_month": month, "lead_months": lead_months} | early)

    def changed(self, values: Mapping[str, object]) -> RunOption:
        """Return the option with other values of some fields.

        A plan has hundreds of thousands of options; ``dataclasses.replace`` takes ten times as long.
        """
        run = object.__new__(type(self))
        run.__dict__.update(self.__dict__)
        run.__dict__.update(values)
        return run

    @property
    def leads(self) -> bool:
        """Return whether its run is counted here: a complete run, or the first part of one."""
        return self.part is None or self.part.leads

    @property
    def parts(self) -> int:
        """Return the number of halls of the complete run."""
        return 1 if self.part is None else len(self.part.places)

    @property
    def whole(self) -> RunOption:
        """Return the complete run, with all its halls as its place."""
        if self.part is None:
            return self
        n = self.parts
        return replace(
            self,
            place=SPAN_MARK.join(self.part.places),
            accelerators=n * self.accelerators,
            used=n * self.used,
            spares=n * self.spares,
        )

    @property
    def training_frac(self) -> float:
        """Return the mean share of its accelerators that train in its days; the others pause."""
        return 1.0 - self.cuts.freed_frac

    @property
    def kept_frac(self) -> float:
        """Return the share of its power that goes on in an interruption of its site."""
        return self.cuts.power_frac if self.cuts.hours_per_year else 1.0

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
    def peak_use(self) -> float:
        """Return the accelerators in use on average over a quarter, in the quarter of most use.

        A demand counts in the same way. A larger cluster for fewer days does the same work.
        """
        return self.accelerators * min(self.days / DAYS_PER_QUARTER, 1.0)

    @property
    def on_cloud(self) -> bool:
        """Return whether it runs on rented accelerators."""
        return is_cloud(self.place)


@dataclass(frozen=True)
class ReplicaTerms:
    """A replica of a service on one system: what it is, and what it serves at most."""

    accelerators: int
    layout: str
    engine: str
    precision: str
    requests_per_s: float
    """Highest request rate within the latency limits."""
    pool: str = ""
    """``prefill`` or ``decode`` for a replica of a disaggregated service."""
    nic_gb_per_s: float | None = None
    """Scale-out rate of one accelerator, one way; None: a replica stays in one instance."""
    rtt_s: float = 0.0
    """Network time between the users and the place."""


@dataclass(frozen=True)
class NearestLatency:
    """Hardware whose latency with one request is nearest to the limits of a service."""

    workload: str
    system: str
    precision: str
    ttft_ms: float
    tpot_ms: float


@dataclass(frozen=True)
class PoolPair:
    """Pools of a disaggregated service: the prefill pool takes each request of the decode pool."""

    prefill: str
    """Id of the demand that the prefill pool serves."""
    decode: str


@dataclass(frozen=True)
class DemandTerms:
    """Demand that any suitable accelerator may serve: research capacity, inference or a queue.

    A workload whose load varies over the week has one demand for each period of the week.
    """

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
    load: str = ""
    """Id of its load: the workload with the region of the users; empty: the workload."""
    period: int | None = None
    """Period of the week in which it is served; None: all hours."""
    hours_frac: float = 1.0
    """Share of the hours of the week in which it is served."""
    rent_frac: float = 1.0
    """Mean over highest load of the period: rented accelerators follow the load by the hour."""
    row: str = ""
    """Id of the demand that its amount counts for; empty: ``id``."""
    share: float = 1.0
    """Weight of its amount in that demand: the share of the hours if the demand is an average."""
    replica: Mapping[tuple[str, str], ReplicaTerms] = field(default_factory=dict)
    """Replica by hall or offer, and system; only a computed service has replicas."""
    peak_part: str = ""
    """Id of the part with the highest load of the week, whose replicas serve this part too; empty:
    it is this part."""
    spare_replicas: int = 0
    """Idle replicas in each hall and system that serves."""
    below_rated_kw: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Rated power less the power at the highest load, of one accelerator, by hall and system;
    without it, serving takes research power."""
    kept_frac_without_site: float = 0.0
    """Share of the demand that must be served without any one site."""

    @property
    def workload_id(self) -> str:
        """Return the id of the workload in the scenario."""
        return workload_of(self.id)

    @property
    def rented_hours_frac(self) -> float:
        """Return the share of the hours of the week in which a rented accelerator is paid."""
        return self.hours_frac * self.rent_frac

    @property
    def load_id(self) -> str:
        """Return the id of its load: the workload, with the region of the users if there is one."""
        return self.load or self.workload_id

    @property
    def always_on(self) -> bool:
        """Return whether its accelerators keep their power in interruptions: those of a service."""
        return self.unit == TOKENS

    @property
    def row_id(self) -> str:
        """Return the id of the demand that its amount counts for."""
        return self.row or self.id

    @property
    def peak_id(self) -> str:
        """Return the id of the part whose replicas serve it."""
        return self.peak_part or self.id

    def active(self, period: int) -> bool:
        """Return whether it is served in a period of the week."""
        return self.period in (None, period)
