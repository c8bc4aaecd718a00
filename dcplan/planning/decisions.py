"""Decisions of a plan: the registry of integer decisions, and the decisions in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dcplan.planning.keys import Key
from dcplan.planning.model.sets import F, P, Sets
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem, SwitchSteps
from dcplan.planning.problem.work.terms import DemandTerms, RunOption

TINY = 1e-7


class Branch(Enum):
    """Stage in which the search of large models branches on a variable."""

    FIRST = "first"
    """Branch on the variable first, because it determines the rest."""
    LATER = "later"
    """Branch on the variable later, because that improves only the bound."""
    NEVER = "never"


@dataclass
class Decisions:
    """Decisions of a plan; racks and units are integers."""

    ordered: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
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
        )

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


@dataclass(frozen=True)
class DecisionSpec:
    """One integer variable of the model, declared once.

    Parameters
    ----------
    variable : str
        Name of the Pyomo variable.
    index : callable
        Index tuples that a problem offers, in their order.
    field : str
        Dictionary of :class:`Decisions` with the same index; empty if the variable follows from
        others, or is a fabric or a run.
    row : str
        First cell of its rows in the table of decisions; empty if the variable follows from
        others.
    cells : tuple of str
        Cells of a row with the index, in the order of the index.
    branch : Branch
        Stage of the variable in the search of large models.
    """

    variable: str
    index: Callable[[Sets], Iterable[tuple[Any, ...]]]
    field: str = ""
    row: str = ""
    cells: tuple[str, ...] = ()
    branch: Branch = Branch.NEVER

    @property
    def follows(self) -> bool:
        """Return whether the variable follows from others, so that a given plan does not fix it."""
        return not self.row

    @property
    def by_quarter(self) -> bool:
        """Return whether the decision belongs to a quarter, the last part of its index."""
        return self.cells[-1:] == ("quarter",)

    def key(self, *index: Any) -> Key:
        """Return the column of an index."""
        return Key(self.variable, index)


def _quarters(sets: Sets, keys: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(*key, t) for key in keys for t in sets.quarters]


def _steps(found: Mapping[F, SwitchSteps]) -> list[tuple[Any, ...]]:
    return [(*key, i) for key, steps in found.items() for i in range(len(steps.widths))]


def _groups(found: Mapping[F, SwitchSteps]) -> list[tuple[Any, ...]]:
    return [(*key, system) for key, steps in found.items() for system in steps.groups]


BUY = DecisionSpec(
    "buy", lambda s: s.orders, "ordered", "order", ("hall", "cooling", "item", "quarter")
)
FLEET = DecisionSpec("fleet", lambda s: s.fleet, "fleet", "fleet", ("hall", "cooling", "item"))
DISPOSED = DecisionSpec(
    "disposed",
    lambda s: [(x.id, q) for x in s.problem.existing for q in x.disposal_window],
    "disposed",
    "dispose",
    ("item", "quarter"),
)
FITTED = DecisionSpec(
    "fitted",
    lambda s: _quarters(s, [(h.id, c.id) for h in s.problem.halls for c in h.coolings]),
    "fitted",
    "fit",
    ("hall", "cooling", "quarter"),
    Branch.FIRST,
)
FABRIC = DecisionSpec(
    "fabric",
    lambda s: [(h, f) for h, options in s.options.items() for f in options],
    "",
    "fabric",
    ("hall", "item"),
    Branch.FIRST,
)
BLOCKS = DecisionSpec(
    "blocks",
    lambda s: _quarters(s, [(x,) for x in s.backed]),
    "blocks",
    "blocks",
    ("hall", "quarter"),
    Branch.LATER,
)
LINK_ON = DecisionSpec(
    "link_on",
    lambda s: _quarters(s, [(x.id, hall) for x in s.problem.links for hall in x.ends]),
    "links",
    "link",
    ("item", "hall", "quarter"),
    Branch.FIRST,
)
UPGRADED = DecisionSpec(
    "upgraded",
    lambda s: _quarters(s, [(h.id, x.id) for h in s.problem.halls for x in h.upgrades]),
    "upgrades",
    "upgrade",
    ("hall", "item", "quarter"),
    Branch.FIRST,
)
ONSITE_BUY = DecisionSpec(
    "onsite_buy",
    lambda s: [
        (site.id, o.id, q)
        for site in s.problem.sites
        for o in site.onsite
        for q in s.quarters
        if q + o.lead < len(s.quarters)
    ],
    "onsite",
    "onsite",
    ("hall", "item", "quarter"),
)
CONTRACT = DecisionSpec(
    "contract_buy",
    lambda s: [
        (site.id, x.id, q)
        for site in s.problem.sites
        for x in site.contracts
        for q in s.quarters
        if q >= x.first
    ],
    "contracted",
    "contract",
    ("hall", "item", "quarter"),
)
COMMITTED = DecisionSpec(
    "committed",
    lambda s: _quarters(s, [(o.id, c.term) for o in s.problem.offers for c in o.committed]),
    "committed",
    "commit",
    ("hall", "item", "quarter"),
)
RUN = DecisionSpec(
    "run", lambda s: [(i,) for i in range(len(s.problem.run_options))], "", "run", ("config",)
)
REPLICAS = DecisionSpec(
    "replicas",
    lambda s: _quarters(
        s,
        [
            (d.id, *key)
            for d in s.problem.demands
            if not d.peak_part
            for key in s.places
            if (key[0], key[2]) in d.replica
        ],
    ),
    "replicas",
)
HOSTED = DecisionSpec("hosted", REPLICAS.index)
RACKS = DecisionSpec("racks", lambda s: _quarters(s, s.places))
STOPPED = DecisionSpec(
    "stopped",
    lambda s: _quarters(
        s,
        [
            key
            for h in s.problem.halls
            if any(x.out_frac and x.works for x in h.upgrades)
            for key in s.in_hall[h.id]
        ],
    ),
    "stopped",
)
STEP = DecisionSpec("step", lambda s: _quarters(s, _steps(s.step_costs)))
LEAF_GROUPS = DecisionSpec("leaf_groups", lambda s: _quarters(s, _groups(s.step_costs)))
LOAD_STEP = DecisionSpec("load_step", lambda s: _quarters(s, _steps(s.step_loads)))
LOAD_GROUPS = DecisionSpec("load_groups", lambda s: _quarters(s, _groups(s.step_loads)))
ONSITE_ON = DecisionSpec(
    "onsite_on",
    lambda s: _quarters(s, [(x.id, o.id) for x in s.problem.sites for o in x.onsite if o.firm]),
)
USED = DecisionSpec(
    "used", lambda s: _quarters(s, [(x.id,) for x in s.problem.sites]), branch=Branch.FIRST
)
USED_NEW = DecisionSpec(
    "used_new", lambda s: _quarters(s, [(x,) for x in s.backed]), branch=Branch.FIRST
)
BLOCK_PAIRS = DecisionSpec("block_pairs", lambda s: _quarters(s, [(x,) for x in s.two_sided]))
CHANGED = DecisionSpec("changed", lambda s: s.orders)
RENTING = DecisionSpec(
    "renting",
    lambda s: _quarters(s, [(i,) for i in range(len(s.problem.rent_fixed_usd_per_month))]),
)

DECISIONS: dict[str, DecisionSpec] = {
    x.variable: x
    for x in (
        *(BUY, FLEET, DISPOSED, FITTED, FABRIC, BLOCKS, LINK_ON, UPGRADED, ONSITE_BUY),
        *(CONTRACT, COMMITTED, RUN),
        *(REPLICAS, HOSTED, RACKS, STOPPED, STEP, LEAF_GROUPS, LOAD_STEP, LOAD_GROUPS),
        *(ONSITE_ON, USED, USED_NEW, BLOCK_PAIRS, CHANGED, RENTING),
    )
}
"""Every integer variable of the model; decisions of a plan come first."""
QUARTERLY_DECISIONS = tuple(x for x in DECISIONS.values() if x.by_quarter)
"""Decisions by quarter: frozen in replanning, and made before the variant of a hedge is known."""
AMOUNTS = (
    *("training", "serving", "rented", "unmet", "onsite_mw", "onsite_mwh", "contract_mwh"),
    *("enrolled", "bridged", "paused"),
)
"""Continuous variables with the same name in :class:`Decisions`."""


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
