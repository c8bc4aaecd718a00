"""What a solution of the linear program says of halls: its choices alone, and its halls rounded up.

A plan of the rounded halls takes seconds and is often close to the bound. The program of only the
fabrics and systems that the linear program uses is a tenth of a very large one.
"""

from __future__ import annotations

import math

from dcplan.planning.decision_specs import FABRIC, FITTED, RACKS, RUN
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix, Vector

TINY = 1e-6

HALL_AND_SYSTEM = {
    "buy": (0, 2), "leased": (0, 2), "racks": (0, 2), "fleet": (0, 2), "training": (0, 2),
    "paused": (0, 2), "pooled": (0, 1), "work": (1, 2), "serving": (1, 3), "replicas": (1, 3), "hosted": (1, 3),
}  # fmt: skip
"""Places of the hall and the system in the ids of columns."""
OF_FABRIC = ("fabric", "ports_bought", "ports_served", "reused")
"""Columns whose ids begin with a hall and its fabric."""


def unused(program: Matrix, problem: PlanningProblem, relaxed: Matrix, values: Vector) -> list[int]:
    """Return the columns of systems of halls and of fabrics that a solution does not use."""
    systems = {
        (key.ids[0], key.ids[2])
        for key, v in zip(relaxed.columns, values, strict=True)
        if key.name == RACKS.variable and v > TINY
    }
    fabrics = {
        key.ids
        for key, v in zip(relaxed.columns, values, strict=True)
        if key.name == FABRIC.variable and v > TINY
    }
    found = []
    for i, key in enumerate(program.columns):
        if key.name == RUN.variable:
            run = problem.run_options[key.ids[0]]
            other = not run.on_cloud and (run.place, run.system) not in systems
        elif key.name in HALL_AND_SYSTEM:
            hall, system = HALL_AND_SYSTEM[key.name]
            other = (key.ids[hall], key.ids[system]) not in systems
        else:
            other = key.name in OF_FABRIC and key.ids[:2] not in fabrics
        if other and program.lower[i] <= 0:
            found.append(i)
    return found


def rounded_up(problem: PlanningProblem, relaxed: Matrix, values: Vector) -> dict[Key, float]:
    """Return the halls of a solution rounded up, with the fabric that serves most classes of NICs.

    Of these it has the largest reach. It is an expensive plan, but a plan.
    """
    chosen = {
        key: math.ceil(v - TINY) if key.name == FITTED.variable else 0.0
        for key, v in zip(relaxed.columns, values, strict=True)
    }
    taken = {FABRIC.key(o.hall, o.id): o for o in problem.fabrics}
    widest: dict[str, tuple[int, int, float, Key]] = {}
    for key, v in zip(relaxed.columns, values, strict=True):
        if key in taken and v > TINY:
            option = taken[key]
            found = (len(option.reach), option.least_reach, float(v), key)
            widest[option.hall] = max(widest.get(option.hall, found), found)
    return chosen | {key: 1.0 for *_, key in widest.values()}
