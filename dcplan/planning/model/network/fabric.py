"""Fabrics: one option per hall, its ports ordered and in service, its reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.money.leases import returned
from dcplan.planning.model.racks import kept
from dcplan.planning.model.sets import Sets


def add_fabric(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Constrain the choice of fabrics.

    .. math::
       \sum_f y_{hf} \le 1, \qquad \sum_f q_{hfgt} = \sum_{k \in g, c} r_k b_{hkct}, \qquad
       \sum_f p_{hfgt} = \sum_{k \in g, c} r_k n_{hkct}, \\
       \sum_{t\ in\ a\ life} q_{hfgt} - \sum_{k \in g, c} r_k z_{hkct} \le
         \big(\min(P_{hf}, \text{what the hall can hold} + s_{hg}) + e_{hgt}\big)\, y_{hf}, \qquad
       \sum_t p_{hfgt} \le T \cdot \text{what the hall can hold} \cdot y_{hf}

    Ports are bought with the racks (q) and use power while the racks are in service (p). Ports of
    assets (s) count as bought in the first quarter until their end of life (e: ended by then), also
    if the asset is sold. Ports of leased racks end with their return (z).
    """
    halls = [h for h, fs in sets.options.items() if fs]
    model.one_fabric = pyo.Constraint(
        halls, rule=lambda m, h: sum(m.fabric[h, f] for f in sets.options[h]) <= 1
    )
    _add_ports(model, sets, halls)
    _add_reach(model, sets, halls)
    _add_reuse(model, sets)


def _add_ports(model: pyo.ConcreteModel, sets: Sets, halls: Sequence[str]) -> None:
    """Buy ports with the racks, and have them in service with the racks."""
    t = list(sets.quarters)
    classes = [(h, c.id) for h in halls for c in sets.classes[h]]

    def on_fabrics(var: pyo.Var, h: str, c: str, q: int) -> Any:
        return sum(var[h, f, c, q] for f, ports in sets.served[h] if ports == c)

    def bought(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        keys = [k for k in sets.in_hall[h] if sets.places[k].port_class.id == c]
        racks = sum(sets.places[k].ports * racks_paid(m, sets, k, q) for k in keys)
        return on_fabrics(m.ports_bought, h, c, q) == racks

    def served(m: pyo.ConcreteModel, h: str, c: str, q: int) -> Any:
        keys = [k for k in sets.in_hall[h] if sets.places[k].port_class.id == c]
        return on_fabrics(m.ports_served, h, c, q) == sum(
            sets.places[k].ports * m.racks[k, q] for k in keys
        )

    model.ports_on_order = pyo.Constraint(classes, t, rule=bought)
    model.ports_in_service = pyo.Constraint(classes, t, rule=served)


def _add_reach(model: pyo.ConcreteModel, sets: Sets, halls: Sequence[str]) -> None:
    """Keep the ports of a fabric within its reach and its hall, and at 0 if it is not chosen."""
    t = list(sets.quarters)
    keys = [(h, f, c) for h in halls for f, c in sets.served[h]]

    def reach(m: pyo.ConcreteModel, h: str, f: str, c: str, end: int) -> Any:
        connected = sum(m.ports_bought[h, f, c, q] for q in t if end - life < q <= end)
        ended = sum(
            sets.existing_ports(h, c, last) for last in sets.ended(h, c) if last <= end < life
        )
        most = min(
            sets.option[h, f].reach[sets.class_of[c]],
            sets.ports_cap(h, sets.class_of[c]) + sets.existing_ports(h, c),
        )
        back = _returned_ports(m, sets, h, c, end)
        return connected - back <= (most + ended) * m.fabric[h, f]

    def chosen(m: pyo.ConcreteModel, h: str, f: str, c: str) -> Any:
        most = sets.ports_cap(h, sets.class_of[c]) + sets.existing_ports(h, c)
        return sum(m.ports_bought[h, f, c, q] for q in t) <= len(t) * most * m.fabric[h, f]

    def service(m: pyo.ConcreteModel, h: str, f: str, c: str) -> Any:
        most = len(t) * sets.ports_cap(h, sets.class_of[c])
        return sum(m.ports_served[h, f, c, q] for q in t) <= most * m.fabric[h, f]

    life = sets.problem.finance.life_quarters
    # one window unless hardware reaches its end of life, or goes back, inside the horizon
    ends = {q for q in t if q >= min(life, len(t), sets.first_return) - 1}
    windows = [
        (*key, end)
        for key in keys
        for end in sorted(ends | {q - 1 for q in sets.ended(key[0], key[2])})
    ]
    model.fabric_reach = pyo.Constraint(windows, rule=reach)
    # ports of returned leases leave the windows, so that those alone do not bind them to the fabric
    again = keys if sets.first_return < len(t) else []
    model.fabric_chosen = pyo.Constraint(again, rule=chosen)
    model.fabric_service = pyo.Constraint(keys, rule=service)


def _add_reuse(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the new ports that replace ended ports on their switches.

    They are at most the ended ports, and each ended port is replaced once.

    .. math::
       u_{hfgt} \le q_{hfgt}, \qquad
       \sum_{\tau \le t} u_{hfg\tau} \le e_{hgt}\, y_{hf} + \sum_{\tau \le t - E} q_{hfg\tau}
         + \sum_{k \in g, c} r_k z_{hkct}

    Exact networks round up: with one node less all switches may remain, so the next node needs
    none.
    """
    life = sets.problem.finance.life_quarters

    def new(m: pyo.ConcreteModel, h: str, f: str, c: str, t: int) -> Any:
        return m.reused[h, f, c, t] <= m.ports_bought[h, f, c, t]

    def free(m: pyo.ConcreteModel, h: str, f: str, c: str, t: int) -> Any:
        taken = sum(
            m.reused[h, f, c, q] for q in sets.quarters if (h, f, c, q) in m.reused and q <= t
        )
        assets = sum(sets.existing_ports(h, c, last) for last in sets.ended(h, c) if last <= t)
        ended = sum(m.ports_bought[h, f, c, q] for q in sets.quarters if q <= t - life)
        back = _returned_ports(m, sets, h, c, t)
        return taken <= assets * m.fabric[h, f] + ended + back

    model.reused_new = pyo.Constraint(sets.renewed, rule=new)
    model.reused_free = pyo.Constraint(sets.renewed, rule=free)


def _returned_ports(model: pyo.ConcreteModel, sets: Sets, hall: str, ports: str, t: int) -> Any:
    """Return the ports of a NIC class whose leased racks went back by a quarter [ports]."""
    keys = [k for k in sets.in_hall[hall] if sets.places[k].port_class.id == ports]
    return sum(sets.places[k].ports * returned(model, sets, k, t) for k in keys)


def racks_paid(model: pyo.ConcreteModel, sets: Sets, key: tuple[str, str, str], t: int) -> Any:
    """Return the racks ordered in a quarter; fleet, assets and orders count in the first."""
    given: Any = model.fleet[key] if key in sets.fleet and t == 0 else 0
    if t == 0:
        given += sum(x.racks if x.in_service else kept(model, x, 0) for x in sets.existing(key))
    if (*key, t) in model.buy:
        return given + model.buy[(*key, t)]
    return given
