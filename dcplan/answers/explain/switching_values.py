"""Which inputs would change a plan's decisions: the nearest value that does, what not knowing it
costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import Input, width
from dcplan.planning.decisions import Decisions, to_table
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.strategy import UnknownDecisionError, solve_menu
from dcplan.result import Cell, Table
from dcplan.scenario.load import Question, load
from dcplan.scenario.set_keys import set_key

Asked = tuple[str | None, Sequence[str], Sequence[str]]
"""Variant, --set changes, catalog folders."""
PRICED = re.compile(r"systems\..+\.price_usd|sites\..+\.energy\.usd_per_kwh")
"""Inputs looked at first where none is named."""
HALVINGS = 5
"""Solves between the plan's value and the first one that flips it: to a 32nd of the way."""
MOST = 6
"""Inputs looked at where none is named: those of the largest money at stake."""
WEIGHTS = (0.3, 0.4, 0.3)
"""Of low, value and high taken as P10, P50 and P90 (Swanson's rule; Keefer and Bodily 1983)."""
COLUMNS = (
    "input",
    "now",
    "low",
    "high",
    "flips_at",
    "decision",
    "before",
    "after",
    "regret_usd",
    "worth_of_knowing_usd",
    "note",
)


@dataclass(frozen=True)
class Ask:
    """What every re-solve of this question needs."""

    scenario: str | Path
    asked: Asked
    gap: float
    left_s: Callable[[], float]
    near: Solved
    question: Question
    stop: Callable[[], bool] | None = None

    def at(self, key: str, value: float) -> tuple[Question, Built]:
        """The question with one input changed."""
        variant, sets, catalogs = self.asked
        question = load(
            str(self.scenario),
            variant=variant,
            sets=(*sets, f"{set_key(key, self.question)}={value!r}"),
            catalogs=catalogs,
        )
        return question, build(question)

    def solved(self, key: str, value: float) -> Solved | None:
        """The best plan with one input changed; None where there is none."""
        question, built = self.at(key, value)
        if presolve(question, built):
            return None
        limit = max(self.left_s() / 4, 1.0)
        found = solve_menu(
            built.menu,
            question,
            SolveRequest(gap=self.gap, time_limit_s=limit, near=self.near.whole, stop=self.stop),
        )
        return found if found.audit is not None else None

    def kept_usd(self, key: str, value: float) -> float | None:
        """What today's decisions cost with one input changed; None where they do not hold any
        more.
        """
        question, built = self.at(key, value)
        if self.near.decisions is None:
            return None
        try:
            found = solve_menu(
                built.menu,
                question,
                SolveRequest(
                    gap=self.gap,
                    time_limit_s=max(self.left_s() / 4, 1.0),
                    fixed=to_table(self.near.decisions),
                    stop=self.stop,
                ),
            )
        except UnknownDecisionError:
            return None
        return found.audit.npv_usd if found.audit is not None and found.audit.passed else None


def flips(
    names: Sequence[str],
    scenario: str | Path,
    asked: Asked,
    question: Question,
    built: Built,
    solved: Solved,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> Table:
    """For each input the nearest value within its bounds that changes a decision, re-solved there.

    The regret is what the plan of today costs more than the best one at the far bound; the worth of
    knowing is the mean regret over the bounds by Swanson's weights.
    """
    ask = Ask(scenario, asked, gap, left_s, solved, question, stop)
    rows = []
    for key in _inputs(names, question, built, solved):
        if stop is not None and stop():
            break
        rows += _of_input(ask, key, built.ledger.rows[key])
    return Table(COLUMNS, tuple(rows))


def _inputs(names: Sequence[str], question: Question, built: Built, solved: Solved) -> list[str]:
    """Inputs named, or those of the scenario's ``sensitivity``, or prices, energy and the discount
    rate.
    """
    rows = built.ledger.rows
    problems = [
        Problem(
            "DC010",
            f"{key}: no input of this plan",
            Place("--flip"),
            did_you_mean(key, rows),
            help="dcplan plan FILE -v lists the inputs",
        )
        for key in names
        if key not in rows
    ]
    if problems:
        raise InputError(problems)
    asked = question.scenario.sensitivity
    given = list(names) or [key for key in (asked.inputs if asked else ()) if key in rows]
    if given:
        return given
    bought = {k for _, _, k, _ in solved.decisions.ordered} if solved.decisions else set()
    first = [f"systems.{k}.price_usd" for k in sorted(bought)]
    rest = [key for key in rows if PRICED.fullmatch(key)]
    wide = sorted((key for key in rest if key not in first), key=lambda k: (-width(rows[k]), k))
    chosen = [*first, *(k for k in wide if k.startswith("sites")), "finance.discount-rate", *wide]
    return [key for key in dict.fromkeys(chosen) if key in rows and width(rows[key]) > 0][:MOST]


def _of_input(ask: Ask, key: str, row: Input) -> list[tuple[Cell, ...]]:
    now = row.value
    if (
        not isinstance(now, int | float)
        or row.low is None
        or row.high is None
        or row.high <= row.low
    ):
        return [(key, now, row.low, row.high, *[None] * 6, "no bounds: give low and high")]
    base = ask.near.audit.npv_usd if ask.near.audit else 0.0
    rows: list[tuple[Cell, ...]] = []
    regrets = []
    for bound in (row.low, row.high):
        if bound == now:
            regrets.append(0.0)
            continue
        try:
            other = ask.solved(key, bound)
        except InputError:
            return [(key, now, row.low, row.high, *[None] * 6, "cannot be changed by --set alone")]
        if other is None:
            rows.append(
                (
                    key,
                    now,
                    row.low,
                    row.high,
                    bound,
                    "a plan exists",
                    "yes",
                    "no",
                    None,
                    None,
                    "no plan there",
                )
            )
            continue
        changed = differences(ask.near.menu, ask.near.decisions, other.decisions)
        if not changed:
            regrets.append(0.0)
            continue
        at, first = _nearest(ask, key, float(now), bound, other)
        kept = ask.kept_usd(key, bound)
        regret = max(kept - other.audit.npv_usd, 0.0) if kept is not None and other.audit else None
        regrets.append(regret or 0.0)
        what, before, after = (first or changed)[0]
        more = len(first or changed) - 1
        note = (
            "today's decisions do not hold there"
            if kept is None
            else f"and {more} more"
            if more
            else ""
        )
        rows.append((key, now, row.low, row.high, at, what, before, after, regret, None, note))
    if not rows:
        return [
            (key, now, row.low, row.high, None, "none within its bounds", None, None, 0.0, 0.0, "")
        ]
    worth = WEIGHTS[0] * regrets[0] + WEIGHTS[2] * regrets[1] if len(regrets) == 2 else None
    small = worth is not None and worth < ask.near.gap_frac * abs(base)
    return [
        (*r[:9], worth, f"{r[10]}; less than the plan's own gap".lstrip("; ") if small else r[10])
        for r in rows
    ]


Change = tuple[str, str, str]


def _nearest(
    ask: Ask, key: str, now: float, far: float, other: Solved
) -> tuple[float, list[Change]]:
    """Halve between a value that keeps the plan and one that changes it; the changing end, and its
    changes.
    """
    found = differences(ask.near.menu, ask.near.decisions, other.decisions)
    keeps, flips_at = now, far
    for _ in range(HALVINGS):
        if ask.left_s() <= 1.0 or (ask.stop is not None and ask.stop()):
            break
        middle = (keeps + flips_at) / 2
        tried = ask.solved(key, middle)
        changed = (
            differences(ask.near.menu, ask.near.decisions, tried.decisions) if tried else found
        )
        if changed and not _better(ask, key, middle, tried):
            changed = []  # another plan of the same cost is no flip
        if changed:
            flips_at, found = middle, changed
        else:
            keeps = middle
    return flips_at, found


def _better(ask: Ask, key: str, value: float, tried: Solved | None) -> bool:
    """Whether another plan there is cheaper than today's decisions by more than the gap of the
    search.
    """
    kept = ask.kept_usd(key, value)
    if kept is None or tried is None or tried.audit is None:
        return True
    return kept - tried.audit.npv_usd > ask.gap * abs(kept)


def differences(menu: Menu, one: Decisions | None, two: Decisions | None) -> list[Change]:
    """Decisions that differ in kind: systems by hall, fabrics, where each job runs, what is rented
    or committed to.
    """
    if one is None or two is None:
        return []
    before, after = summary(menu, one), summary(menu, two)
    return [
        (key, before.get(key, "none"), after.get(key, "none"))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def summary(menu: Menu, d: Decisions) -> dict[str, str]:
    """A plan in the decisions that one signs, whatever their exact numbers: in words."""
    found: dict[str, str] = {}
    racks: dict[str, int] = {}
    for (h, _, k, _), n in d.ordered.items():
        racks[f"order {k} for {h}"] = racks.get(f"order {k} for {h}", 0) + n
    found |= dict.fromkeys(racks, "yes")
    found |= {f"fabric of {h}": f for h, f in d.fabric.items()}
    found |= {f"{r.job} runs on": f"{r.system} in {r.place}" for r in d.runs}
    found |= {f"rent {o}": "yes" for o in {o for _, o, _ in d.rented}}
    found |= {f"commit to {o} {c}": "yes" for o, c, _ in d.committed}
    found |= {f"part with {i}": "yes" for i, _ in d.dropped}
    fitted = {
        (h, c)
        for (h, c, _), n in d.fitted.items()
        if n and any(x.id == h and not x.existing for x in menu.halls)
    }
    return found | {f"build {h} with {c}": "yes" for h, c in fitted}
