"""Replanning: frozen decisions of an earlier plan stay, and changes of the rest are limited."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyomo.core as pyo

from dcplan.planning.decision_specs import BUY, FABRIC, QUARTERLY_DECISIONS, RUN
from dcplan.planning.goal import EarlierPlan
from dcplan.planning.keys import Key
from dcplan.planning.model.sets import Sets


def add_changes(model: pyo.ConcreteModel, sets: Sets) -> None:
    r"""Limit the differences between a plan and an earlier one, :math:`x^0`.

    .. math::
       x_i = x^0_i \ (t_i \le t_{freeze}), \quad -x^0_i c_i \le x_i - x^0_i \le (u_i - x^0_i)\, c_i,
       \quad \sum_i c_i + \sum_j (1 - x_{j m^0}) + \sum_h (1 - y_{h f^0}) \le N

    A change is another amount of one order (hall, cooling, system and quarter), another run option
    of a job, or another fabric of a hall that had one. Halls and power blocks follow and do not
    count.
    """
    earlier = sets.problem.earlier
    if earlier is None:
        return
    _freeze(model, sets, earlier)
    if earlier.most_changes is None:
        return
    loose = [o for o in sets.orders if o[3] > earlier.freeze_through]
    before = {o: round(earlier.values.get(BUY.key(*o), 0.0)) for o in loose}
    model.changed = pyo.Var(loose, domain=pyo.Binary)
    most = {o: max(int(model.buy[o].ub or 0), before[o]) for o in loose}
    model.more_ordered = pyo.Constraint(
        loose, rule=lambda m, *o: m.buy[o] - before[o] <= (most[o] - before[o]) * m.changed[o]
    )
    had = [o for o in loose if before[o]]
    model.less_ordered = pyo.Constraint(
        had, rule=lambda m, *o: before[o] - m.buy[o] <= before[o] * m.changed[o]
    )
    model.most_changes = pyo.Constraint(expr=_count(model, sets, earlier) <= earlier.most_changes)


def _count(model: pyo.ConcreteModel, sets: Sets, earlier: EarlierPlan) -> Any:
    count: Any = sum(model.changed.values()) + 0.0 * sum(model.fabric.values())
    kept: dict[str, list[int]] = defaultdict(list)
    for i, config in enumerate(sets.problem.run_options):
        if config.leads and earlier.values.get(RUN.key(i)):
            kept[config.job].append(i)
    for job in sets.problem.jobs:  # a job whose run option no longer exists changes in any case
        count += 1 - sum(model.run[i] for i in kept[job.id])
    for key in model.fabric:
        if earlier.values.get(FABRIC.key(*key)):
            count += 1 - model.fabric[key]
    return count


def _freeze(model: pyo.ConcreteModel, sets: Sets, earlier: EarlierPlan) -> None:
    last = earlier.freeze_through
    for spec in QUARTERLY_DECISIONS:
        for index, column in getattr(model, spec.variable).items():
            if index[-1] <= last:
                _fix(column, earlier, spec.key(*index))
    for i, config in enumerate(sets.problem.run_options):
        if config.serving_quarter <= last:
            _fix(model.run[i], earlier, RUN.key(i))
    bought = {
        index[0] for index in model.buy if index[-1] <= last and earlier.values.get(BUY.key(*index))
    }
    for index, column in model.fabric.items():
        if index[0] in bought:
            _fix(column, earlier, FABRIC.key(*index))


def _fix(column: Any, earlier: EarlierPlan, key: Key) -> None:
    value = earlier.values.get(key, 0.0)
    column.setlb(value)
    column.setub(value)
