"""Registry of the integer decisions of a plan, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dcplan.planning.keys import Key
from dcplan.planning.model.sets import F, Sets
from dcplan.planning.problem.terms import SwitchSteps


class Branch(Enum):
    """Stage in which the search of large models branches on a variable."""

    FIRST = "first"
    """Branch on the variable first, because it determines the rest."""
    LATER = "later"
    """Branch on the variable later, because that improves only the bound."""
    NEVER = "never"


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
        Dictionary of :class:`~dcplan.planning.decisions.Decisions` with the same index; empty if
        the variable follows from others, or is a fabric or a run.
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
LEASED = DecisionSpec(
    "leased",
    lambda s: [
        (h, c, k, x.id, q)
        for h, c, k, q in s.orders
        for x in s.problem.finance.leases
        if x.covers(k)
    ],
    "leased",
    "lease",
    ("hall", "cooling", "item", "lease", "quarter"),
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
POOLED = DecisionSpec("pooled", lambda s: s.pool_steps)
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
        *(BUY, LEASED, FLEET, DISPOSED, FITTED, FABRIC, BLOCKS, LINK_ON, UPGRADED, ONSITE_BUY),
        *(CONTRACT, COMMITTED, RUN),
        *(POOLED, REPLICAS, HOSTED, RACKS, STOPPED, STEP, LEAF_GROUPS, LOAD_STEP, LOAD_GROUPS),
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
"""Continuous variables with the same name in :class:`~dcplan.planning.decisions.Decisions`."""
