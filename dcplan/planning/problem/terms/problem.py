"""The planning problem: all candidates with their coefficients and limits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.power.embodied import Footprints
from dcplan.planning.goal import EarlierPlan, Goal
from dcplan.planning.problem.terms.finance import FinanceTerms
from dcplan.planning.problem.terms.hardware import (
    ExistingTerms,
    FleetTerms,
    PartsTerms,
    Placement,
    SupplyTerms,
)
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.terms.network import FabricOption
from dcplan.planning.problem.terms.site import Cooled, HallTerms, SiteTerms
from dcplan.planning.problem.terms.storage import StorageChoice, StorageShare
from dcplan.planning.problem.work.terms import (
    DemandTerms,
    JobTerms,
    NearestLatency,
    PoolPair,
    RunOption,
)
from dcplan.reliability.spares import PoolRule
from dcplan.units import QUARTERS_PER_YEAR, quarter_index


@dataclass(frozen=True)
class PlanningProblem:
    """All candidates of the optimization, with their coefficients and limits."""

    start: str
    quarters: int
    sites: tuple[SiteTerms, ...]
    halls: tuple[HallTerms, ...]
    placements: tuple[Placement, ...]
    fabrics: tuple[FabricOption, ...]
    jobs: tuple[JobTerms, ...]
    run_options: tuple[RunOption, ...]
    """Ways to run the jobs."""
    demands: tuple[DemandTerms, ...]
    """Demands; those with a row of another demand follow it."""
    offers: tuple[OfferTerms, ...]
    supply: tuple[SupplyTerms, ...]
    finance: FinanceTerms
    orderable: frozenset[str]
    """Systems that may be ordered; the system of a given fleet only if ``systems`` names it."""
    closed: frozenset[tuple[str, str]] = frozenset()
    """Pairs of hall and system without orders."""
    fleet: FleetTerms | None = None
    parts: tuple[PartsTerms, ...] = ()
    vendor_share: Mapping[str, float] = field(default_factory=dict)
    """Maximum share of the spending on ordered racks, by maker."""
    sites_max: int | None = None
    """Most sites with a hall in use; None without a limit."""
    sites_min: int | None = None
    """Fewest sites with a rack in service in the last quarter; None without a limit."""
    links: tuple[LinkTerms, ...] = ()
    """Links between halls, over which a run may spread."""
    existing: tuple[ExistingTerms, ...] = ()
    """Existing and on-order hardware: assets and orders."""
    cloud_max_accelerators: int | None = None
    margin_factor: float = 1.0
    """Number of rounding margins in the limits. 0 is the true relaxation: every limit uses ideal
    shares, so its bound and its infeasibility also hold for integer switch counts."""
    goal: Goal = field(default_factory=Goal)
    carbon_known: bool = False
    """Whether only offers with known carbon may be rented."""
    earlier: EarlierPlan | None = None
    forced: tuple[str, ...] = ()
    """Systems with at least one ordered rack."""
    forced_sites: tuple[str, ...] = ()
    """Sites with at least one ordered rack."""
    integer_switches: bool = False
    """Whether the model has step costs of leaf switches in addition to shares; only in small
    problems."""
    storage: tuple[StorageShare, ...] = ()
    """Storage of each accelerator by tier; empty if the scenario gives the capacity."""
    storage_choices: tuple[StorageChoice, ...] = ()
    """Tiers and pairs that the plan compared, by cost; empty if the tier is given."""
    excluded: tuple[ExcludedOption, ...] = ()
    warnings: tuple[str, ...] = ()
    periods: tuple[float, ...] = (1.0,)
    """Shares of the hours of the week; loads are constant in each period."""
    period_of_hour: tuple[int, ...] = ()
    """Period of each hour of the week from Monday 00:00 UTC; empty for one period."""
    pairs: tuple[PoolPair, ...] = ()
    """Pools of disaggregated services."""
    later: tuple[RunOption, ...] = ()
    """Starts of runs without a deadline after their hardware can serve, which are left out."""
    footprints: Footprints = field(default_factory=Footprints)
    """Embodied carbon of what the plan may buy."""
    nearest: tuple[NearestLatency, ...] = ()
    """Nearest hardware of services whose latency limits no hardware meets."""

    def season(self, t: int) -> int:
        """Return the calendar quarter of a quarter of the plan, counted from 0."""
        return (quarter_index(self.start) + t) % QUARTERS_PER_YEAR

    def with_runs(self, allowed: Callable[[RunOption], bool]) -> PlanningProblem:
        """Return the problem with the allowed run options only."""
        kept = tuple(run for run in self.run_options if allowed(run))
        return replace(self, run_options=kept, later=tuple(filter(allowed, self.later)))

    @functools.cached_property
    def training_kw_over_idle(self) -> Mapping[tuple[str, str, str], float]:
        """Return the most power of a rack over idle, of the placements that may train [kW].

        A run may begin or end within a quarter, whose mean then hides the load of its days.
        """
        able = {(c.place, c.system) for c in self.run_options if not c.on_cloud}
        return {
            p.key: max(
                p.training_kw - p.idle_average_kw,
                *(p.accelerators * p.serving_kw(d) for d in self.demands),
                0.0,
            )
            for p in self.placements
            if (p.hall, p.system) in able
        }

    @functools.cached_property
    def placed(self) -> Mapping[tuple[str, str, str], Placement]:
        """Return the placements by hall, cooling and system."""
        return {p.key: p for p in self.placements}

    @property
    def rent_fixed_usd_per_month(self) -> tuple[float, ...]:
        """Return the different costs of a month with rent, whatever its size, lowest first."""
        return tuple(sorted({x for o in self.offers if (x := o.extras.fixed_usd_per_month)}))

    @functools.cached_property
    def spans(self) -> Mapping[str, tuple[int, ...]]:
        """Return the run options of the parts of each run over several halls, the leading part first.

        A run of which a part is missing has an empty tuple.
        """
        found: dict[str, dict[str, int]] = {}
        for i, run in enumerate(self.run_options):
            if run.part is not None:
                found.setdefault(run.part.run, {})[run.place] = i
        result = {}
        for name, parts in found.items():
            places = self._places_of(next(iter(parts.values())))
            whole = all(place in parts for place in places)
            result[name] = tuple(parts[place] for place in places) if whole else ()
        return result

    @functools.cached_property
    def pools(self) -> Mapping[tuple[str, str], PoolRule]:
        """Return the rule of the spare nodes that runs share, by hall and system.

        Nodes are in repair for the largest share of time of all run options there.
        """
        found: dict[tuple[str, str], PoolRule] = {}
        for run in self.run_options:
            key, rule = (run.place, run.system), run.pool
            if rule is not None and (key not in found or rule.down_frac > found[key].down_frac):
                found[key] = rule
        return found

    def _places_of(self, run: int) -> tuple[str, ...]:
        part = self.run_options[run].part
        return () if part is None else part.places

    @property
    def has_work(self) -> bool:
        """Return whether demands or runs need accelerators; a given fleet may have none."""
        return bool(self.demands or self.run_options)

    def peak_quarter(self, demand: DemandTerms) -> int:
        """Return the last quarter in which a demand is largest."""
        wanted = self.demand(demand.row_id).wanted
        return max(range(len(wanted)), key=lambda t: (wanted[t], t))

    @functools.cached_property
    def accelerator_kw(self) -> dict[tuple[str, str], float]:
        """Return the rated power of an accelerator by hall and system, largest of the coolings."""
        found: dict[tuple[str, str], float] = {}
        for p in self.placements:
            each, key = p.rated_kw / p.accelerators, (p.hall, p.system)
            found[key] = max(found.get(key, 0.0), each)
        return found

    @property
    def required(self) -> tuple[DemandTerms, ...]:
        """Return the demands with a row of their own."""
        return tuple(d for d in self.demands if d.row_id == d.id)

    def demand_parts(self, row: str) -> tuple[DemandTerms, ...]:
        """Return the demands whose amounts count for a row."""
        return tuple(d for d in self.demands if d.row_id == row)

    def demand(self, key: str) -> DemandTerms:
        """Return a demand by id."""
        return next(d for d in self.demands if d.id == key)

    def hall(self, key: str) -> HallTerms:
        """Return a hall by id."""
        return next(h for h in self.halls if h.id == key)

    def cooled(self, place: tuple[str, str, str]) -> Cooled:
        """Return PUE and WUE of the racks of a placement: hall, cooling option and system.

        Network and storage have no system: its name is empty.
        """
        hall, cooling, system = place
        return self.hall(hall).cooling(cooling).cooled(system)

    def site(self, key: str) -> SiteTerms:
        """Return a site by id."""
        return next(s for s in self.sites if s.id == key)
