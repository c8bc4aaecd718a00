"""Halls and networks that assets already paid for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from dcplan.planning.exact_network import EMPTY, Network, P, exact_network
from dcplan.planning.problem.terms import PlanningProblem


def with_existing_fit_out(problem: PlanningProblem) -> PlanningProblem:
    """Return halls with the parts that assets already paid for.

    They are the fitted hall units, and the network of the racks by fabric option.
    """
    most = {p.key: p.max_racks_unit for p in problem.placements}
    share: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    racks: dict[P, int] = defaultdict(int)
    for h in problem.existing:
        if h.in_service:
            share[h.key[0]][h.key[1]] += h.racks / most[h.key]
            racks[h.key] += h.racks
    halls = []
    for hall in problem.halls:
        if hall.id not in share:
            halls.append(hall)
            continue
        units = {c: min(math.ceil(x - 1e-9), hall.count) for c, x in share[hall.id].items()}
        nets = {
            o.id: _network(problem, hall.id, o.id, racks)
            for o in problem.fabrics
            if o.hall == hall.id
        }
        parts = {
            "switches": {f: sum(n.switches.values()) for f, n in nets.items()},
            "transceivers": {f: n.transceivers for f, n in nets.items()},
        }
        paid = {f: n.usd for f, n in nets.items()}
        halls.append(
            replace(hall, existing_units=units, existing_units_usd=paid, existing_parts=parts)
        )
    return replace(problem, halls=tuple(halls))


def _network(problem: PlanningProblem, hall: str, option: str, racks: Mapping[P, int]) -> Network:
    try:
        return exact_network(problem, hall, option, racks)
    except ValueError:  # the option does not reach all racks and cannot be chosen
        return EMPTY
