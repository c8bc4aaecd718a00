"""Integer switch counts of networks: their cost by the ports bought, their power by those in service."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyomo.core as pyo

from dcplan.planning.check_ids import COUNTED, Part
from dcplan.planning.model.network.fabric import racks_paid
from dcplan.planning.model.sets import F, P, Sets
from dcplan.planning.problem.terms import LeafGroup, SwitchSteps
from dcplan.units import USD_PER_MUSD


def add_switches(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Constrain cost, power and space of networks with integer switch counts.

    .. math::
       C_{hfgt} \ge \bar c\, Q_{hfgt}, \quad
       C_{hfgt} \ge b\, Q_{hfgt} + s \sum_k l_k n_{hfgkt} + \sum_i a_i \delta_{hfgit}, \\
       W_{hfgt} \ge \bar w\, p_{hfgt}, \quad
       W_{hfgt} \ge b'\, p_{hfgt} + s' \sum_k l_k n'_{hfgkt} + \sum_i a'_i \delta'_{hfgit}

    with the ports bought so far, :math:`Q_t = \sum_{\tau \le t} q_\tau`, the ports in service, p, and
    the leaf switches of each system, :math:`l_k n`, where each has its own.
    The space of switches, in racks, has the rows of W without b'.
    """
    t = list(sets.quarters)
    bought = _Ladder(
        ("", model.step, model.leaf_groups, model.system_ports),
        sets.step_costs,
        sets,
        lambda h, f, c, q: sum(model.ports_bought[h, f, c, x] for x in t if x <= q),
        lambda key, q: sum(racks_paid(model, sets, key, x) for x in t if x <= q),
    )
    bought.add(model, t)
    served = _Ladder(
        ("load_", model.load_step, model.load_groups, model.load_ports),
        sets.step_loads,
        sets,
        lambda h, f, c, q: model.ports_served[h, f, c, q],
        lambda key, q: model.racks[key, q],
    )
    served.add(model, t)
    optics = sets.counted(Part.TRANSCEIVERS)
    for row, variable, ladder, amount, keys in (
        ("network", model.network_musd, bought, "usd", list(bought.steps)),
        (
            "network_switch",
            model.network_switches,
            bought,
            Part.SWITCHES,
            sets.counted(Part.SWITCHES),
        ),
        ("network_optic", model.network_transceivers, bought, Part.TRANSCEIVERS, optics),
        ("network_load", model.network_kw, served, "kw", list(served.steps)),
        ("network_space", model.network_racks, served, "racks", list(served.steps)),
    ):
        unit = USD_PER_MUSD if amount == "usd" else 1.0
        _at_least(model, t, (row, amount), variable, ladder, unit, keys)
    _add_parts(model, sets, t)
    if sets.problem.finance.financing is not None:
        _keep_paid(model, t, list(bought.steps))


def _keep_paid(model: pyo.ConcreteModel, t: list[int], keys: list[F]) -> None:
    r"""Let no network be paid back, :math:`C_{hfgt} \ge C_{hfg,t-1}`.

    After taxes an earlier payment may cost less, since its write-off begins a year earlier. A network
    that is bought before the end of a year and returned after it would then earn money without limit.
    Before taxes a later payment never costs more, so the rows are not needed.
    """
    model.network_stays = pyo.Constraint(
        keys,
        t[1:],
        rule=lambda m, h, f, c, q: m.network_musd[h, f, c, q] >= m.network_musd[h, f, c, q - 1],
    )


def _add_parts(model: pyo.ConcreteModel, sets: Sets, t: list[int]) -> None:
    r"""Limit the integer parts bought so far, and those of the first ports, without networks of assets.

    .. math::
       \sum_{hfg} N_{hfgt} - \sum_{hf} n_{hf}\, y_{hf} \le \sum_{\tau \le t} U^{part}_\tau, \qquad
       \sum_{hfg} N^0_{hfg} (\delta_{hfg0t} - \delta_{hfg0,t-1}) - [t = 0] \sum_{hf} n_{hf}\, y_{hf} \le U^{part}_t

    The smallest network, :math:`N^0`, comes in one quarter.
    """
    most = {p.part: p.most for p in sets.problem.parts}
    bought = {Part.SWITCHES: model.network_switches, Part.TRANSCEIVERS: model.network_transceivers}
    parts = [x for x in COUNTED if sets.counted(x)]

    def there(m: pyo.ConcreteModel, part: Part) -> Any:
        return sum(
            n * m.fabric[h.id, f]
            for h in sets.problem.halls
            for f, n in h.existing_parts.get(part, {}).items()
            if (h.id, f) in m.fabric
        )

    def so_far(m: pyo.ConcreteModel, part: Part, q: int) -> Any:
        used = sum(bought[part][*key, q] for key in sets.counted(part))
        return used - there(m, part) <= sum(most[part][: q + 1])

    def first(m: pyo.ConcreteModel, part: Part, q: int) -> Any:
        used: Any = 0.0 if q else -there(m, part)
        for key in sets.counted(part):
            before = m.step[*key, 0, q - 1] if q else 0
            used += _smallest(sets.step_costs[key], part) * (m.step[*key, 0, q] - before)
        return used <= most[part][q]

    model.parts_so_far = pyo.Constraint(parts, t, rule=so_far)
    model.parts_at_first = pyo.Constraint(parts, t, rule=first)


def _smallest(steps: SwitchSteps, part: Part) -> float:
    """Return the parts of the smallest network."""
    leaves = min((g.leaves for g in steps.groups.values()), default=1)
    begins = itertools.accumulate(steps.widths, initial=0)
    begun = [x for x, begin in zip(steps.jumps[part], begins, strict=False) if begin < leaves]
    return sum(begun) + steps.per_leaf.get(part, 0.0) * leaves


def _at_least(
    model: pyo.ConcreteModel,
    t: list[int],
    names: tuple[str, str],
    variable: pyo.Var,
    ladder: _Ladder,
    unit: float,
    keys: list[F],
) -> None:
    """Constrain an amount of each network to at least its share by port, and its steps."""
    row, what = names

    def share(m: pyo.ConcreteModel, h: str, f: str, c: str, q: int) -> Any:
        each = ladder.sets.share(h, f, c, what) / unit
        return variable[h, f, c, q] >= each * ladder.ports(h, f, c, q)

    def steps(m: pyo.ConcreteModel, h: str, f: str, c: str, q: int) -> Any:
        found = ladder.steps[h, f, c]
        jumps = sum(x / unit * ladder.step[h, f, c, i, q] for i, x in enumerate(found.jumps[what]))
        each, leaf = found.per_port.get(what, 0.0) / unit, found.per_leaf.get(what, 0.0) / unit
        if leaf:
            jumps += leaf * ladder.leaves(h, f, c, q)
        return variable[h, f, c, q] >= each * ladder.ports(h, f, c, q) + jumps

    setattr(model, f"{row}_share", pyo.Constraint(keys, t, rule=share))
    setattr(model, f"{row}_steps", pyo.Constraint(keys, t, rule=steps))


@dataclass(frozen=True)
class _Ladder:
    """Steps of the networks of all halls, and the ports that need them."""

    names: tuple[str, pyo.Var, pyo.Var, pyo.Var]
    """Prefix of the rows; variables of steps, of leaf groups, and of the ports of a system."""
    steps: Mapping[F, SwitchSteps]
    sets: Sets
    ports: Callable[[str, str, str, int], Any]
    """Ports of a NIC class on a fabric of a hall in a quarter."""
    racks: Callable[[P, int], Any]
    """Racks of a placement whose ports count in a quarter."""

    @property
    def step(self) -> pyo.Var:
        """Return the variable of begun steps."""
        return self.names[1]

    def leaves(self, hall: str, fabric: str, ports: str, t: int) -> Any:
        """Return the leaf switches of one plane of a network whose systems have their own."""
        groups = self.steps[hall, fabric, ports].groups
        counts = self.names[2]
        return sum(x.leaves * counts[hall, fabric, ports, k, t] for k, x in groups.items())

    def add(self, model: pyo.ConcreteModel, t: list[int]) -> None:
        r"""Add the rows of the steps.

        .. math:: Q \le \sum_i w_i \delta_i, \qquad \delta_{i+1} \le \delta_i \le y_{hf}

        Where systems have their own leaf switches, the steps count these instead of ports.
        """
        prefix, step, _, _ = self.names

        def room(m: pyo.ConcreteModel, h: str, f: str, c: str, q: int) -> Any:
            steps = self.steps[h, f, c]
            used = self.leaves(h, f, c, q) if steps.groups else self.ports(h, f, c, q)
            return used <= sum(w * step[h, f, c, i, q] for i, w in enumerate(steps.widths))

        def order(m: pyo.ConcreteModel, h: str, f: str, c: str, i: int, q: int) -> Any:
            above = step[h, f, c, i - 1, q] if i else m.fabric[h, f]
            return step[h, f, c, i, q] <= above

        begun = [(*key, i) for key, steps in self.steps.items() for i in range(len(steps.widths))]
        setattr(model, f"{prefix}step_ports", pyo.Constraint(list(self.steps), t, rule=room))
        setattr(model, f"{prefix}step_order", pyo.Constraint(begun, t, rule=order))
        self._add_groups(model, t)

    def _add_groups(self, model: pyo.ConcreteModel, t: list[int]) -> None:
        r"""Add the rows of the leaf switches of each system, which no other system uses.

        .. math::
           \sum_f P_{hfgkt} \le \sum_{\tau \le t} r_k b_{hk\tau}, \qquad \sum_k P_{hfgkt} = Q_{hfgt},
           \qquad P_{hfgkt} \le p_k n_{hfgkt}, \qquad \sum_k l_k n_{hfgkt} \le \sum_i w_i \delta_{hfgit}

        with the ports of a system (P), its groups of leaf switches (n), the ports (p) and leaf
        switches (l) of a group. The first row holds with equality on a fabric with groups, and
        leaves the choice of a fabric without them.
        """
        prefix, _, groups, ports = self.names
        found: dict[tuple[str, str, str, str], LeafGroup] = {
            (*key, k): group for key, x in self.steps.items() for k, group in x.groups.items()
        }
        fabrics: dict[tuple[str, str, str], list[str]] = {}
        for h, f, c, k in found:
            fabrics.setdefault((h, c, k), []).append(f)

        def of_system(m: pyo.ConcreteModel, h: str, c: str, k: str, q: int) -> Any:
            own = [p for p in self.sets.same_system[h, k] if self._class(p) == c]
            racks = sum(self.sets.places[p].ports * self.racks(p, q) for p in own)
            return sum(ports[h, f, c, k, q] for f in fabrics[h, c, k]) <= racks

        def on_fabric(m: pyo.ConcreteModel, h: str, f: str, c: str, q: int) -> Any:
            own = sum(ports[h, f, c, k, q] for k in self.steps[h, f, c].groups)
            return own == self.ports(h, f, c, q)

        def grouped(m: pyo.ConcreteModel, h: str, f: str, c: str, k: str, q: int) -> Any:
            return ports[h, f, c, k, q] <= found[h, f, c, k].ports * groups[h, f, c, k, q]

        several = [key for key, steps in self.steps.items() if steps.groups]
        rows = (
            ("ports_of_system", list(fabrics), of_system),
            ("ports_on_fabric", several, on_fabric),
            ("group_ports", list(found), grouped),
        )
        for name, keys, rule in rows:
            setattr(model, f"{prefix}{name}", pyo.Constraint(keys, t, rule=rule))

    def _class(self, key: P) -> str:
        return self.sets.places[key].port_class.id
