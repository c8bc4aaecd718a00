"""Decisions of a plan in plain Python: read from a solution, written to and read from a result's
table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dcplan.planning.model.sets import P, make_sets
from dcplan.planning.problem.terms import HeldTerms, Menu
from dcplan.planning.problem.work.terms import JobConfig
from dcplan.result import Table

COLUMNS = (
    "decision",
    "hall",
    "cooling",
    "item",
    "quarter",
    "amount",
    "accelerators",
    "precision",
    "start_month",
)
TINY = 1e-7
MOST = 1_000_000
"""More of anything than this is a slip of the pen, not a decision."""


@dataclass
class Decisions:
    """What a plan decides; racks and units are whole numbers."""

    ordered: dict[tuple[str, str, str, int], int] = field(default_factory=dict)
    fleet: dict[P, int] = field(default_factory=dict)
    dropped: dict[tuple[str, int], int] = field(default_factory=dict)
    """Racks of assets and orders sold or cancelled, by quarter."""
    fitted: dict[tuple[str, str, int], int] = field(default_factory=dict)
    fabric: dict[str, str] = field(default_factory=dict)
    blocks: dict[tuple[str, int], int] = field(default_factory=dict)
    runs: list[JobConfig] = field(default_factory=list)
    training: dict[tuple[str, str, str, int], float] = field(default_factory=dict)
    serving: dict[tuple[str, str, str, str, int], float] = field(default_factory=dict)
    """Accelerators that serve a demand, quarter average."""
    rented: dict[tuple[str, str, int], float] = field(default_factory=dict)
    unmet: dict[tuple[str, int], float] = field(default_factory=dict)
    """Demand not served, in its unit."""
    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Rented nodes by offer, term and first quarter."""
    onsite: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Units of plants on the site, by order quarter."""
    onsite_mw: dict[tuple[str, str, int], float] = field(default_factory=dict)
    onsite_mwh: dict[tuple[str, str, int], float] = field(default_factory=dict)
    paused: dict[tuple[str, str, str, int], float] = field(default_factory=dict)
    """Accelerators that rest while interruptible power is cut, quarter average."""

    def racks(self, menu: Menu, key: P, t: int) -> int:
        """Racks in service in a quarter: delivered and not at the end of life."""
        place = next(p for p in menu.placements if p.key == key)
        life = menu.finance.life_quarters
        fleet = self.fleet.get(key, 0) if t < life else 0
        held = sum(self.held_racks(x, t) for x in menu.held if x.key == key and x.serves(t))
        return (
            fleet
            + held
            + sum(
                n
                for (*k, q), n in self.ordered.items()
                if tuple(k) == key and q + place.lead <= t < q + place.lead + life
            )
        )

    def racks_kept(self, menu: Menu, key: P, t: int) -> int:
        """Racks ordered before a quarter that have not reached their end of life in it."""
        lead = next(p.lead for p in menu.placements if p.key == key)
        life = menu.finance.life_quarters
        fleet = self.fleet.get(key, 0) if 0 < t < life else 0
        held = sum(
            self._connected(x, t)
            for x in menu.held
            if x.key == key and (x.standing or t > 0) and t < x.last
        )
        return (
            fleet
            + held
            + sum(
                n
                for (*k, q), n in self.ordered.items()
                if tuple(k) == key and q < t < q + lead + life
            )
        )

    def held_racks(self, held: HeldTerms, t: int) -> int:
        """Racks of an asset or order that are neither sold nor cancelled by a quarter."""
        return held.racks - sum(n for (k, q), n in self.dropped.items() if k == held.id and q <= t)

    def _connected(self, held: HeldTerms, t: int) -> int:
        """Racks whose network is bought: that of sold ones stays."""
        return held.racks if held.standing else self.held_racks(held, t)

    def racks_new(self, menu: Menu, key: P, t: int) -> int:
        """Racks whose network a quarter buys; a fleet and what is on order count in the first."""
        if t > 0:
            return self.ordered.get((*key, t), 0)
        on_order = sum(self.held_racks(x, 0) for x in menu.held if x.key == key and not x.standing)
        return self.fleet.get(key, 0) + on_order + self.ordered.get((*key, 0), 0)

    def racks_ordered(self, key: P, t: int) -> int:
        """Racks ordered up to and including a quarter, the fleet included."""
        return self.fleet.get(key, 0) + sum(
            n for (*k, q), n in self.ordered.items() if tuple(k) == key and q <= t
        )


WHOLE = {name: name for name in ("fleet", "fitted", "blocks", "committed", "dropped")} | {
    "buy": "ordered",
    "onsite_buy": "onsite",
}
PARTS = {
    name: name
    for name in ("training", "serving", "rented", "unmet", "onsite_mw", "onsite_mwh", "paused")
}
"""Model variable -> field of :class:`Decisions` with the same index."""


def from_solution(menu: Menu, names: Sequence[str], values: Sequence[float]) -> Decisions:
    """Read decisions from column names such as ``buy[hall,cooling,system,3]``."""
    d = Decisions()
    for name, value in zip(names, values, strict=True):
        variable, _, rest = name.partition("[")
        if abs(value) <= TINY:
            continue
        index = tuple(int(x) if x.isdigit() else x for x in rest.rstrip("]").split(","))
        if variable in PARTS:
            getattr(d, PARTS[variable])[index] = value
        elif round(value) and variable in WHOLE:
            getattr(d, WHOLE[variable])[index] = round(value)
        elif round(value) and variable == "fabric":
            d.fabric[str(index[0])] = str(index[1])
        elif round(value) and variable == "run":
            d.runs.append(menu.configs[int(index[0])])
    used = {
        (h, f)
        for h, f in d.fabric.items()
        if any(k[0] == h for k in (*d.ordered, *d.fleet, *(x.key for x in menu.held)))
    }
    d.fabric = dict(sorted(used))
    return d


def to_table(d: Decisions) -> Table:
    """Integer decisions as a tidy table; ``plan --fix-decisions`` reads it back."""
    rows: list[tuple[str | int | float | None, ...]] = []
    rows += [("fleet", h, c, k, 0, n, None, None, None) for (h, c, k), n in sorted(d.fleet.items())]
    rows += [
        ("order", h, c, k, t, n, None, None, None) for (h, c, k, t), n in sorted(d.ordered.items())
    ]
    rows += [
        ("drop", None, None, i, t, n, None, None, None) for (i, t), n in sorted(d.dropped.items())
    ]
    rows += [
        ("fit", h, c, None, t, n, None, None, None) for (h, c, t), n in sorted(d.fitted.items())
    ]
    rows += [("fabric", h, None, f, None, 1, None, None, None) for h, f in sorted(d.fabric.items())]
    rows += [
        ("blocks", s, None, None, t, n, None, None, None) for (s, t), n in sorted(d.blocks.items())
    ]
    rows += [
        ("onsite", s, None, o, t, n, None, None, None) for (s, o, t), n in sorted(d.onsite.items())
    ]
    rows += [
        ("commit", o, None, c, t, n, None, None, None)
        for (o, c, t), n in sorted(d.committed.items())
    ]
    rows += [
        (
            "run",
            r.place,
            None,
            f"{r.job} on {r.system}",
            r.serving_quarter,
            1,
            r.accelerators,
            r.precision,
            r.start_month,
        )
        for r in sorted(d.runs, key=lambda r: r.job)
    ]
    return Table(COLUMNS, tuple(rows))


def offered(menu: Menu) -> set[str]:
    """Columns that a decisions table may name, whole menu."""
    sets, t = make_sets(menu), range(menu.quarters)
    names = {f"buy[{h},{c},{k},{q}]" for h, c, k, q in sets.orders}
    names |= {f"fleet[{h},{c},{k}]" for h, c, k in sets.fleet}
    names |= {f"fitted[{h.id},{c.id},{q}]" for h in menu.halls for c in h.coolings for q in t}
    names |= {f"fabric[{o.hall},{o.id}]" for o in menu.fabrics}
    names |= {f"blocks[{s.id},{q}]" for s in menu.sites for q in t}
    names |= {f"onsite_buy[{s.id},{o.id},{q}]" for s in menu.sites for o in s.onsite for q in t}
    names |= {f"dropped[{x.id},{q}]" for x in menu.held for q in x.may_go}
    names |= {
        f"committed[{o.id},{c.term},{q}]" for o in menu.offers for c in o.committed for q in t
    }
    return names | {f"run[{i}]" for i in range(len(menu.configs))}


def columns_of(menu: Menu, table: Table) -> tuple[dict[str, float], list[str]]:
    """Model columns of a decisions table with their amounts; and the rows that are wrong or no
    longer in the menu.
    """
    wanted: dict[str, float] = {}
    wrong: list[str] = []
    known = offered(menu)
    for row in table.rows:
        cell = dict(zip(table.columns, row, strict=False))
        name = _column(menu, cell)
        amount = cell.get("amount")
        whole = (
            _int(amount) is not None
            and 0 <= float(str(amount)) <= MOST
            and float(str(amount)).is_integer()
        )
        if name is None or name not in known or not whole:
            wrong.append(" ".join(str(v) for v in row if v is not None))
        else:
            wanted[name] = float(str(amount))
    return wanted, wrong


def fixed_columns(
    menu: Menu, names: Sequence[str], integer: Sequence[bool], table: Table
) -> dict[int, float] | list[str]:
    """Column values that repeat the decisions of a table; or the rows that are wrong or no longer
    in the menu.
    """
    wanted, wrong = columns_of(menu, table)
    known = set(names)
    wrong += [name for name in wanted if name not in known]
    if wrong:
        return wrong
    # follow from orders, fitted halls and blocks
    free = {"used", "used_new", "racks", "block_pairs", "onsite_on", "step"}
    return {
        i: wanted.get(name, 0.0)
        for i, (name, is_whole) in enumerate(zip(names, integer, strict=True))
        if is_whole and name.partition("[")[0] not in free
    }


def _column(menu: Menu, cell: Mapping[str, object]) -> str | None:
    """Model column of a decision row; None when the row is none of ours."""
    hall, cooling, item, t = (cell.get(k) for k in ("hall", "cooling", "item", "quarter"))
    columns = {
        "order": f"buy[{hall},{cooling},{item},{_int(t)}]",
        "fleet": f"fleet[{hall},{cooling},{item}]",
        "fit": f"fitted[{hall},{cooling},{_int(t)}]",
        "fabric": f"fabric[{hall},{item}]",
        "blocks": f"blocks[{hall},{_int(t)}]",
        "drop": f"dropped[{item},{_int(t)}]",
        "commit": f"committed[{hall},{item},{_int(t)}]",
        "onsite": f"onsite_buy[{hall},{item},{_int(t)}]",
    }
    kind = str(cell.get("decision"))
    if kind != "run":
        return columns.get(kind)
    job, _, system = str(item).partition(" on ")
    want = (
        job,
        hall,
        system,
        _int(cell.get("accelerators")),
        cell.get("precision"),
        _int(cell.get("start_month")),
    )
    for i, c in enumerate(menu.configs):
        same = (c.job, c.place, c.system, c.accelerators, c.precision, c.start_month) == want
        if same and _int(t) in (None, c.serving_quarter):
            return f"run[{i}]"
    return None


def _int(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value)
