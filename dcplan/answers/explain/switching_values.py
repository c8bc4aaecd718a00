"""Inputs that would change a plan's decisions: the nearest such value and its cost."""

from __future__ import annotations

import re
from dataclasses import replace

from dcplan.answers.explain.bounds import Bounds, Origin, bounds_of
from dcplan.answers.explain.resolve import Base
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import Input
from dcplan.inputs.stand_ins import RESIDUAL, SHARE_OF_WORK, THROUGHPUT
from dcplan.planning.decision_table import to_table
from dcplan.planning.explain.differences import Change, differences
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.exact import UnknownDecisionError
from dcplan.planning.solve.request import LEAST_S
from dcplan.planning.solve.solved import Solved
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import FIELDS, set_key
from dcplan.specs import explain as specs

PRICED = re.compile(r"systems\..+\.price_usd|sites\..+\.energy\.usd_per_kwh")
"""Inputs examined first if none is named."""
RATE = "finance.discount-rate"
"""Catalog parameter of the discount rate; the scenario's own rate has the key of its field."""
HALVINGS = 5
"""Bisection steps between the plan's value and the bound: to 1/32 of the interval."""
MOST, MOST_PRICES = 8, 2
"""Number of inputs examined if none is named; number of bought systems and of energy prices before
the inputs that every tornado moves."""
WEIGHTS = (0.3, 0.4, 0.3)
"""Weights of low, value and high as P10, P50 and P90 (Swanson's rule; Keefer and Bodily 1983)."""
SHARE = 0.25
"""Share of the remaining time for one solve."""


def switching_values(base: Base) -> Table:
    """Return for each input the nearest value within its bounds that changes a decision.

    The plan is re-solved at the bounds. The regret is the extra cost of the present decisions over
    the best plan at the far bound; the expected value of perfect information is the mean regret
    over the bounds with Swanson's weights.
    """
    rows = []
    for key in _inputs(base):
        if base.asked.stopped:
            break
        rows += _of_input(base, key, base.asked.built.log.rows[key])
    return specs.SWITCHING_VALUES.table(rows)


def _inputs(base: Base) -> list[str]:
    """Return the named inputs, or those of ``sensitivity``, or the ones with most cost at stake.

    These are prices of systems and energy, and the inputs that every tornado moves: discount rate,
    residual value, utilization and tokens per second.
    """
    rows, names = base.asked.built.log.rows, base.asked.request.switching_value_of
    problems = [
        Problem(
            "DC010",
            f"{key} is not an input of this plan",
            Place("--switching-value-of"),
            did_you_mean(key, rows),
            help="dcplan plan FILE -v lists the inputs",
        )
        for key in names
        if key not in rows
    ]
    if problems:
        raise InputError(problems)
    asked = base.asked.question.scenario.sensitivity
    varied = (asked.inputs or ()) if asked else ()
    given = list(names) or [key for key in varied if key in rows]
    if given:
        return given
    question = base.asked.question
    spans = {key: bounds_of(row, question) for key, row in rows.items()}
    bought = {k for _, _, k, _ in base.decisions.ordered}
    first = [f"systems.{k}.price_usd" for k in sorted(bought)]
    rest = [key for key in rows if PRICED.fullmatch(key)]
    wide = sorted(
        (key for key in rest if key not in first), key=lambda k: _order(rows[k], spans[k])
    )
    energy = [k for k in wide if k.startswith("sites")]
    standard = [RATE, FIELDS[RATE], RESIDUAL]
    standard += [k for k in rows if SHARE_OF_WORK.fullmatch(k) or THROUGHPUT.fullmatch(k)]
    chosen = [*first[:MOST_PRICES], *energy[:MOST_PRICES], *standard, *first, *energy, *wide]
    return [key for key in dict.fromkeys(chosen) if spans.get(key) is not None][:MOST]


def _order(row: Input, span: Bounds | None) -> tuple[bool, float, str]:
    """Return the rank of an input: sourced bounds first, the widest first."""
    now = float(row.value) if isinstance(row.value, int | float) else 0.0
    width = span.width(now) if span is not None and now else 0.0
    return span is None or span.origin is Origin.DEFAULT, -width, row.key


def _of_input(base: Base, key: str, row: Input) -> list[specs.SwitchingValueRow]:
    """Return the decision changes at the bounds of one input."""
    now, span = row.value, bounds_of(row, base.asked.question)
    plain = _plain(key, row, span)
    if now is None or span is None:
        return [replace(plain, note="no bounds: set low and high")]
    rows, regrets = [], []
    for bound in (span.low, span.high):
        if bound == now:
            regrets.append(0.0)
            continue
        try:
            other = _solved(base, key, bound)
        except InputError:
            return [replace(plain, note="--set cannot change this input")]
        if other is None:
            rows.append(
                replace(
                    plain,
                    switches_at=bound,
                    decision="a plan exists",
                    before="yes",
                    after="no",
                    note="no plan at this value",
                )
            )
            continue
        found = _switching_value(base, plain, now, bound, other)
        regrets.append((found.regret_usd or 0.0) if found else 0.0)
        rows += [found] if found else []
    if not rows:
        none = "none within the bounds"
        return [replace(plain, decision=none, regret_usd=0.0, evpi_usd=0.0)]
    return _with_evpi(base, rows, regrets)


def _plain(key: str, row: Input, span: Bounds | None) -> specs.SwitchingValueRow:
    """Return the row of an input without results."""
    low, high = (span.low, span.high) if span is not None else (row.low, row.high)
    origin = span.origin.value if span is not None else ""
    return specs.SwitchingValueRow(
        key, row.value, low, high, origin, None, None, None, None, None, None, note=""
    )


def _switching_value(
    base: Base, plain: specs.SwitchingValueRow, now: float | str, bound: float | str, other: Solved
) -> specs.SwitchingValueRow | None:
    """Return the decision change towards a bound; None if the best plan keeps all decisions."""
    changed = _changes(base, other)
    if not changed:
        return None
    at, nearest = (
        (bound, changed)
        if isinstance(now, str) or isinstance(bound, str)
        else _nearest(base, plain.input, now, bound, other)
    )
    kept = _kept_usd(base, plain.input, bound)
    regret = None if kept is None else max(kept - other.cost_usd, 0.0)
    (what, before, after), *more = nearest or changed
    note = f"and {len(more)} more" if more else ""
    return replace(
        plain,
        switches_at=at,
        decision=what,
        before=before,
        after=after,
        regret_usd=regret,
        note="the present decisions are infeasible at this bound" if kept is None else note,
    )


def _with_evpi(
    base: Base, rows: list[specs.SwitchingValueRow], regrets: list[float]
) -> list[specs.SwitchingValueRow]:
    """Return the rows with the value of perfect information, if both bounds have a plan."""
    if len(regrets) < 2:
        return rows
    evpi = WEIGHTS[0] * regrets[0] + WEIGHTS[2] * regrets[1]
    small = evpi < base.solved.gap_frac * abs(base.cost_usd)
    words = "EVPI below the plan's gap"
    return [
        replace(
            row, evpi_usd=evpi, note="; ".join(filter(None, (row.note, words if small else "")))
        )
        for row in rows
    ]


def _nearest(
    base: Base, key: str, now: float, far: float, other: Solved
) -> tuple[float, list[Change]]:
    """Bisect between a value that keeps the plan and one that changes it.

    A value between them is screened: an audited plan that costs less than the present decisions by
    more than the gap shows a switch, whatever its own gap. A switch that screening misses puts the
    nearest value further from the present one, never nearer.

    Returns
    -------
    tuple
        The nearest value with a change, and its changes.
    """
    found = _changes(base, other)
    keeps, changes_at = now, far
    for _ in range(HALVINGS):
        if base.asked.left_s() <= LEAST_S or base.asked.stopped:
            break
        middle = (keeps + changes_at) / 2
        tried = _solved(base, key, middle, screen=True)
        changed = _changes(base, tried) if tried else found
        if changed and not _better(base, key, middle, tried):
            changed = []  # another plan of equal cost is not a switch
        if changed:
            changes_at, found = middle, changed
        else:
            keeps = middle
    return changes_at, found


def _better(base: Base, key: str, value: float, tried: Solved | None) -> bool:
    """Whether another plan at this value beats the present decisions by more than the gap."""
    kept = _kept_usd(base, key, value)
    if kept is None or tried is None or tried.audit is None:
        return True
    return kept - tried.cost_usd > base.asked.request.gap * abs(kept)


def _at(base: Base, key: str, value: float | str) -> tuple[Question, Built]:
    """Return the question with one input changed, and its planning problem."""
    return base.asked.changed(f"{set_key(key, base.asked.question)}={value!r}")


def _solved(base: Base, key: str, value: float | str, *, screen: bool = False) -> Solved | None:
    """Return the best plan with one input changed, or None; with ``screen`` any audited plan."""
    question, built = _at(base, key, value)
    if presolve(question, built):
        return None
    found = base.asked.solve(
        built.problem, question, share=SHARE, near=base.solved.integer_values, screen=screen
    )
    return found if found.audit is not None else None


def _kept_usd(base: Base, key: str, value: float | str) -> float | None:
    """Return the cost of the present decisions with one input changed; None if infeasible."""
    question, built = _at(base, key, value)
    try:
        found = base.asked.solve(
            built.problem, question, share=SHARE, fixed=to_table(base.decisions)
        )
    except UnknownDecisionError:
        return None
    return found.cost_usd if found.audit is not None and found.audit.passed else None


def _changes(base: Base, other: Solved) -> list[Change]:
    """Return the decisions that differ in kind from the plan."""
    return differences(base.solved.problem, base.decisions, other.decisions)
