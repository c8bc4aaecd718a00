"""Decisions of a plan in plain Python, and how a solution becomes decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dcplan.planning.decision_specs import AMOUNTS, DECISIONS, FABRIC, RUN
from dcplan.planning.keys import Key
from dcplan.planning.model.sets import P
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, RunOption

TINY = 1e-7


@dataclass
class Decisions:
    """Decisions of a plan; racks and units are integers."""

    ordered: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
    leased: dict[tuple[str, str, str, str, int], int] = field(default_factory=dict)
    """Racks of an order that are leased, by hall, cooling, system, lease and order quarter."""
    fleet: dict[P, int] = field(default_factory=dict)
    disposed: dict[tuple[str, int], int] = field(default_factory=dict)
    """Racks of assets and orders that are sold or cancelled, by quarter."""
    fitted: dict[tuple[str, str, int], int] = field(default_factory=dict)
    fabric: dict[str, str] = field(default_factory=dict)
    blocks: dict[tuple[str, int], int] = field(default_factory=dict)
    links: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """1 where the end of a link in a hall is in service, by link, hall and quarter."""
    upgrades: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """1 where the works of an upgrade have begun, by hall, upgrade and quarter."""
    stopped: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
    """Racks that are out of service during the works of an upgrade."""
    runs: list[RunOption] = field(default_factory=list)
    training: dict[tuple[str, str, str, int], float] = field(default_factory=dict)
    serving: dict[tuple[str, str, str, str, int], float] = field(default_factory=dict)
    """Accelerators that serve a demand, average of its hours in the quarter."""
    replicas: dict[tuple[str, str, str, str, int], int] = field(default_factory=dict)
    """Replicas of a service with spares at its highest load, by its part with that load, placement
    and quarter."""
    rented: dict[tuple[str, str, int], float] = field(default_factory=dict)
    unmet: dict[tuple[str, int], float] = field(default_factory=dict)
    """Unserved demand, in its unit."""
    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Rented nodes by offer, term and first quarter."""
    onsite: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Units of on-site plants, by order quarter."""
    onsite_mw: dict[tuple[str, str, int], float] = field(default_factory=dict)
    onsite_mwh: dict[tuple[str, str, int], float] = field(default_factory=dict)
    contracted: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Steps of contracts for power through the grid, by first quarter."""
    contract_mwh: dict[tuple[str, str, int], float] = field(default_factory=dict)
    """Energy of contracts that the load uses, by quarter."""
    enrolled: dict[tuple[str, int], float] = field(default_factory=dict)
    """Load enrolled for demand response, by site and quarter [MW]."""
    bridged: dict[tuple[str, str, str, int], float] = field(default_factory=dict)
    """Interruptible power that a battery carries, by site, battery, tranche and quarter."""
    paused: dict[tuple[str, str, str, int], float] = field(default_factory=dict)
    """Accelerators that pause while interruptible power is cut, quarterly average."""

    @property
    def whole_runs(self) -> list[RunOption]:
        """Return the runs; one over several halls once, with all its accelerators."""
        return [run.whole for run in self.runs if run.leads]

    def racks(self, problem: PlanningProblem, key: P, t: int) -> int:
        """Return the racks in service in a quarter: delivered and not at the end of life."""
        place = problem.placed[key]
        life = problem.finance.life_quarters
        fleet = self.fleet.get(key, 0) if t < life else 0
        existing = sum(
            self.existing_racks(x, t) for x in problem.existing if x.key == key and x.serves(t)
        )
        return (
            fleet
            + existing
            + sum(
                n
                for (*k, q), n in self.ordered.items()
                if tuple(k) == key and q + place.lead <= t < q + place.lead + life
            )
            - self.returned(problem, key, t)
        )

    def returned(self, problem: PlanningProblem, key: P, t: int) -> int:
        """Return the leased racks that went back by a quarter, and would serve if they were bought."""
        if not self.leased:
            return 0
        terms = {x.id: x.quarters for x in problem.finance.leases}
        lead, life = problem.placed[key].lead, problem.finance.life_quarters
        return sum(
            n
            for (*k, lease, q), n in self.leased.items()
            if tuple(k) == key and q + lead + terms[lease] <= t < q + lead + life
        )

    def leased_racks(self, order: tuple[str, str, str, int]) -> int:
        """Return the racks of an order that are leased."""
        *key, t = order
        return sum(n for (*k, _, q), n in self.leased.items() if k == key and q == t)

    def powered(self, problem: PlanningProblem, key: P, t: int) -> int:
        """Return the racks in service in a quarter that are on: not out of service during works."""
        return self.racks(problem, key, t) - self.stopped.get((*key, t), 0)

    def reserved(self, demand: DemandTerms, key: P, t: int) -> float:
        """Return the accelerators that a demand takes in its hours: complete replicas with spares."""
        replica = demand.replica.get((key[0], key[2]))
        used = self.serving.get((demand.id, *key, t), 0.0)
        if replica is None:
            return used
        most = self.replicas.get((demand.peak_id, *key, t), 0)
        if demand.peak_part:
            need = math.ceil(used / replica.accelerators - TINY) if used else 0
            most = min(need + demand.spare_replicas, most) if need else 0
        return float(most * replica.accelerators)

    def racks_kept(self, problem: PlanningProblem, key: P, t: int) -> int:
        """Return the racks ordered before a quarter that have not reached their end of life in it."""
        lead = problem.placed[key].lead
        life = problem.finance.life_quarters
        fleet = self.fleet.get(key, 0) if 0 < t < life else 0
        existing = sum(
            self._connected(x, t)
            for x in problem.existing
            if x.key == key and (x.in_service or t > 0) and t < x.last
        )
        return (
            fleet
            + existing
            + sum(
                n
                for (*k, q), n in self.ordered.items()
                if tuple(k) == key and q < t < q + lead + life
            )
            - self.returned(problem, key, t)
        )

    def existing_racks(self, existing: ExistingTerms, t: int) -> int:
        """Return the racks of an asset or order that are not sold or cancelled by a quarter."""
        return existing.racks - sum(
            n for (k, q), n in self.disposed.items() if k == existing.id and q <= t
        )

    def _connected(self, existing: ExistingTerms, t: int) -> int:
        """Return the racks with a bought network; the network of sold racks stays."""
        return existing.racks if existing.in_service else self.existing_racks(existing, t)

    def racks_new(self, problem: PlanningProblem, key: P, t: int) -> int:
        """Return the racks whose network a quarter buys; quarter 0 includes fleet and orders."""
        if t > 0:
            return self.ordered.get((*key, t), 0)
        on_order = sum(
            self.existing_racks(x, 0) for x in problem.existing if x.key == key and not x.in_service
        )
        return self.fleet.get(key, 0) + on_order + self.ordered.get((*key, 0), 0)

    def racks_ordered(self, key: P, t: int) -> int:
        """Return the racks ordered up to and including a quarter, with the fleet."""
        return self.fleet.get(key, 0) + sum(
            n for (*k, q), n in self.ordered.items() if tuple(k) == key and q <= t
        )


def from_solution(
    problem: PlanningProblem, keys: Sequence[Key], values: Sequence[float]
) -> Decisions:
    """Read decisions from the columns of a solution."""
    d = Decisions()
    for (variable, index), value in zip(keys, values, strict=True):
        if abs(value) <= TINY:
            continue
        if variable in AMOUNTS:
            getattr(d, variable)[index] = value
            continue
        spec = DECISIONS.get(variable)
        if spec is None or not round(value):
            continue
        if spec.field:
            getattr(d, spec.field)[index] = round(value)
        elif spec is FABRIC:
            d.fabric[index[0]] = index[1]
        elif spec is RUN:
            d.runs.append(problem.run_options[index[0]])
    taken = {k[0] for k in (*d.ordered, *d.fleet, *(x.key for x in problem.existing))}
    d.fabric = dict(sorted((h, f) for h, f in d.fabric.items() if h in taken))
    return d
