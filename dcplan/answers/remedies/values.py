"""New values of a field of a scenario that gives more of a limit, and the change in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.answers.remedies.change import Change
from dcplan.planning.edits import Edit, Spread
from dcplan.provenance import Path, Quantity
from dcplan.scenario.load import Question
from dcplan.scenario.series import START, is_growth
from dcplan.scenario.set_keys import key_of, value_at
from dcplan.units import quarter_index, quarter_name

ROUNDING = 1e-9


@dataclass(frozen=True)
class Field:
    """A field of a scenario and what it lacks.

    Parameters
    ----------
    edit : Edit
        How the field gives more.
    path : tuple
        Path of the field.
    ids : tuple
        Ids of the limit, for its words.
    needs : mapping
        Amount that is missing by quarter, in the unit of the field; the quarter is None for a
        value that does not vary in time. For a demand: the share that is too much.
    """

    edit: Edit
    path: Path
    ids: tuple[Any, ...]
    needs: Mapping[int | None, float]

    def scaled(self, factor: float) -> Field:
        """Return the field with its needs times a factor."""
        needs = {t: factor * x for t, x in self.needs.items()}
        return Field(self.edit, self.path, self.ids, needs)


def base_of(path: Path, edit: Edit, question: Question) -> list[float] | None:
    """Return the value of a field by quarter, or its only value; None if it has no number."""
    value = value_at(path, question.scenario)
    if value is None and edit.default is not None:
        kind, row = edit.default
        value = getattr(question.catalog.rows[kind][row], "value", None)
    if isinstance(value, Quantity):
        return [value.value]
    if isinstance(value, int | float):
        return [float(value)]
    if isinstance(value, list) and value:
        return [x.value for x in value]
    return None


def change_of(field: Field, question: Question) -> Change | None:
    """Return the change that gives a field what it needs; None if it cannot."""
    given = base_of(field.path, field.edit, question)
    if given is None or not any(x > 0 for x in field.needs.values()):
        return None
    if field.edit.less:
        return _less(field, given, question)
    key = key_of(field.path, question.scenario)
    what = _what(field)
    if None in field.needs:
        old, new = given[0], _up(given[0], max(field.needs.values()), field.edit.step)
        new = min(new, field.edit.most)
        if new <= old:
            return None
        text = f"{what}: {_instead(field.edit, new, old)}"
        return Change((f"{key}={_number(new)}",), text, (field.path,), (new - old,))
    olds = _by_quarter(given, question)
    news = _more(field, olds)
    text = f"{what}: {_difference(field.edit, olds, news, question)}"
    most = max(new - old for old, new in zip(olds, news, strict=True))
    return Change((f"{key}={_series(news)}",), text, (field.path,), (most,))


def _more(field: Field, olds: Sequence[float]) -> list[float]:
    """Return the values by quarter that give a field what it needs."""
    edit = field.edit
    need = [field.needs.get(t, 0.0) for t in range(len(olds))]
    if edit.spread is Spread.EACH:
        return [_up(old, x, edit.step) for old, x in zip(olds, need, strict=True)]
    if edit.spread is Spread.SUMS:
        news, most = [], 0.0
        for old, x in zip(olds, need, strict=True):
            news.append(_up(old, max(x - most, 0.0), edit.step))
            most = max(most, x)
        return news
    first = next(t for t, x in enumerate(need) if x > 0)
    if len(set(olds[first:])) == 1:  # one step, not one per quarter
        need = [0.0] * first + [max(need)] * (len(olds) - first)
    news, level = [], 0.0
    for old, x in zip(olds, need, strict=True):
        level = max(level, _up(old, x, edit.step)) if x > 0 else level
        news.append(max(old, level))
    return news


def _less(field: Field, given: Sequence[float], question: Question) -> Change | None:
    """Return a demand that is smaller by one share in the quarters that lack something."""
    edit, olds = field.edit, _by_quarter(given, question)
    share = _up(0.0, max(field.needs.values()), edit.step)
    if share >= 1.0:
        return None
    cut = {t for t, x in field.needs.items() if x > 0}
    asked = {t for t, old in enumerate(olds) if old}
    key = key_of(field.path, question.scenario)
    start = _growth_start(field.path, question)
    if start is not None and cut >= asked:
        edits = (f"{key}.{START}={_number(start * (1.0 - share))}",)
    else:
        news = [old * (1.0 - share) if t in cut else old for t, old in enumerate(olds)]
        edits = (f"{key}={_series(news)}",)
    quarters = sorted(t for t in cut if t is not None)
    when = "" if cut >= asked else _when(quarters, olds, question)
    return Change(edits, f"{100 * share:.0f} % less {_what(field)}{when}", (field.path,), (share,))


def _growth_start(path: Path, question: Question) -> float | None:
    """Return the start of a growth if the scenario gives it as a number."""
    node: Any = question.tree.data
    for part in path:
        node = node[part]
    start = node.get(START) if is_growth(node) else None
    return float(start) if isinstance(start, int | float) else None


def _by_quarter(values: Sequence[float], question: Question) -> list[float]:
    quarters = question.scenario.horizon.quarters
    return list(values) if len(values) > 1 else [values[0]] * quarters


def _up(old: float, more: float, step: float) -> float:
    """Return a value with at least ``more``, on the grid of the step; the same value for 0.

    Examples
    --------
    >>> _up(4.0, 2.83, 0.1), _up(1000.0, 24.65e6, 1e6), _up(4.0, 0.0, 0.1)
    (6.9, 25000000.0, 4.0)
    """
    if more <= 0:
        return old
    steps = max(math.ceil(more / step - ROUNDING), 1) + math.floor(old / step + ROUNDING)
    return round(steps * step, 10)


def _what(field: Field) -> str:
    return field.edit.words.format(*field.ids, "", "", field=field.path[-1])


def _number(value: float) -> str:
    return f"{value:.9g}" if abs(value) < 1e9 else f"{value:.0f}"


def _series(values: Sequence[float]) -> str:
    if len(set(values)) == 1:
        return _number(values[0])
    return f"[{','.join(_number(x) for x in values)}]"


def _amount(edit: Edit, value: float) -> str:
    return f"{value / edit.shown:,.6g} {edit.unit}".strip()


def _instead(edit: Edit, new: float, old: float) -> str:
    return f"{_amount(edit, new)} instead of {_amount(edit, old)}"


def _difference(
    edit: Edit, olds: Sequence[float], news: Sequence[float], question: Question
) -> str:
    moved = [t for t, (old, new) in enumerate(zip(olds, news, strict=True)) if new != old]
    pairs = {(olds[t], news[t]) for t in moved}
    when = _when(moved, olds, question, lasts=edit.spread is Spread.LASTS)
    if len(pairs) == 1:
        old, new = pairs.pop()
        return f"{_instead(edit, new, old)}{when}"
    most = max(news[t] - olds[t] for t in moved)
    upto = "" if len({round(news[t] - olds[t], 9) for t in moved}) == 1 else "up to "
    return f"{upto}{_amount(edit, most)} more{when}"


def _when(
    quarters: Sequence[int], whole: Sequence[float], question: Question, *, lasts: bool = False
) -> str:
    """Return the quarters of a change in words; empty for the complete horizon."""
    first = quarter_index(question.scenario.horizon.start)
    names = [quarter_name(first + t) for t in quarters]
    if len(quarters) == len(whole):
        return ""
    if lasts and quarters[-1] == len(whole) - 1:
        return f" from {names[0]}"
    if len(quarters) == 1:
        return f" in {names[0]}"
    if quarters[-1] - quarters[0] + 1 > len(quarters):
        return f" in {', '.join(names)}"
    if quarters[-1] == len(whole) - 1:
        return f" from {names[0]}"
    return f" from {names[0]} to {names[-1]}"
