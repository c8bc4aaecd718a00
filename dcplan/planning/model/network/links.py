"""Links between halls: the runs that use them, their cost and their power."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

import pyomo.core as pyo

from dcplan.planning.model.sets import Sets
from dcplan.units import MONTHS_PER_QUARTER, USD_PER_MUSD

M = USD_PER_MUSD


def add_links(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Add the runs over several halls, and the ends of links that they use.

    .. math::
       x_{i} = x_{i_0}, \qquad \sum_{i\ active} x_{i} \le y_{lht}, \qquad y_{lht} \ge y_{lh,t-1}

    All parts i of a run are chosen with its first part. At most one run at a time uses the end of
    link l in hall h, in the quarters t in which the end is in service.
    """
    problem = sets.problem
    followers = {i: parts[0] for parts in problem.spans.values() for i in parts[1:]}
    model.run_parts = pyo.Constraint(
        list(followers), rule=lambda m, i: m.run[i] == m.run[followers[i]]
    )
    kept = {i for parts in problem.spans.values() for i in parts}
    for i, run in enumerate(problem.run_options):
        if run.part is not None and i not in kept:
            model.run[i].setub(0)  # another part of it is not among the options
    for link in problem.links:
        for hall in link.ends:
            for t in range(min(link.first, len(sets.quarters))):
                model.link_on[link.id, hall, t].setub(0)
    users: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for i in sorted(kept):
        run = problem.run_options[i]
        for name in run.part.links if run.part is not None else ():
            for month in sets.active_months(run):
                users[name, run.place, month].append(i)
    model.link_used = pyo.Constraint(
        list(users),
        rule=lambda m, name, h, month: (
            sum(m.run[i] for i in users[name, h, month])
            <= m.link_on[name, h, month // MONTHS_PER_QUARTER]
        ),
    )
    ends = [(link.id, hall) for link in problem.links for hall in link.ends]
    model.link_stays = pyo.Constraint(
        ends,
        list(sets.quarters)[1:],
        rule=lambda m, name, h, t: m.link_on[name, h, t] >= m.link_on[name, h, t - 1],
    )


def link_kw(model: pyo.ConcreteModel, sets: Sets, hall: str, t: int) -> Any:
    """Return the power of the equipment of links in a hall [kW]."""
    return sum(
        link.kw * model.link_on[link.id, hall, t]
        for link in sets.problem.links
        if hall in link.ends
    )


def links_musd(
    model: pyo.ConcreteModel, sets: Sets, t: int, sites: Collection[str] | None = None
) -> Any:
    """Return the price of the ends of links at some sites that begin to serve in a quarter [M$]."""
    return sum(
        link.usd
        / M
        * (model.link_on[link.id, hall, t] - (model.link_on[link.id, hall, t - 1] if t else 0))
        for link in sets.problem.links
        for hall in link.ends
        if sites is None or sets.problem.hall(hall).site in sites
    )


def links_lease_musd(model: pyo.ConcreteModel, sets: Sets, t: int) -> Any:
    """Return the lease of links in service in a quarter, without inflation [M$]."""
    return sum(
        link.usd_per_quarter / M * model.link_on[link.id, hall, t]
        for link in sets.problem.links
        for hall in link.ends
    )
