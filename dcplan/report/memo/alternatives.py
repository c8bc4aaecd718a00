"""Alternatives to a plan, and what would change it, as far as the results have them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from dcplan.answers.explain.bounds import Origin
from dcplan.answers.plan.summary import basis_of
from dcplan.answers.plan.waiting import WAITING
from dcplan.economics.cash_flow import Unit
from dcplan.report.html.figures import ranked
from dcplan.report.memo.blocks import Block, Grid, Items, Note, change, counted, usd
from dcplan.report.text.next_steps import scenario_words
from dcplan.report.text.numbers import plain
from dcplan.result import Result, Table
from dcplan.specs.explain import SWITCHING_VALUES, WHY_NOT, SwitchingValueRow
from dcplan.specs.plan.metrics import WAITING_SAVES
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow
from dcplan.specs.tco.offers import RENTED, SOURCING, SourcingRow

GIVEN = Origin.GIVEN.value
MOST_ITEMS, MOST_FLIPS, MOST_INPUTS, MOST_SOURCES = 3, 4, 3, 4
"""Rows of each part, so that the memo stays on one page."""


def _table(answers: Sequence[Result], name: str) -> Table | None:
    """Return the first table of a name that has rows."""
    found = (x.tables[name] for x in answers if name in x.tables)
    return next((t for t in found if t.rows), None)


def alternatives(answers: Sequence[Result]) -> Iterator[Block]:
    """Yield the next best purchases, other systems in the plan, and owning or renting."""
    plan = answers[0]
    bought = PURCHASES.rows(plan.tables[PURCHASES.name])
    largest: dict[tuple[str, str], PurchaseRow] = {}
    for row in sorted(bought, key=lambda x: -(x.amount_usd or 0.0)):
        if row.alternative:
            largest.setdefault((row.item, row.place), row)
    rows = [
        (
            f"{counted(x.quantity, x.unit)} {x.item}, {x.order_month}",
            x.alternative,
            x.alternative_vendor,
            change(x.alternative_difference_usd),
        )
        for x in list(largest.values())[:MOST_ITEMS]
    ]
    if rows:
        heads = ("In place of", "Alternative", "Vendor", "Price difference")
        yield Grid(heads, tuple(rows), (False, False, False, True))
        yield Note(
            "Price of the hardware alone; racks at the same rate of large matrix products; power, "
            "space and delivery not counted."
        )
    yield Items((*_systems(answers), *_sources(answers), *_later(plan)))


def _later(plan: Result) -> Iterator[str]:
    """Yield what later starts of runs would save, where the plan's answer names it."""
    if not any(w["code"] == WAITING for w in plan.warnings):
        return
    saved = plan.metrics[WAITING_SAVES.key].value
    if saved is None:
        command = f"dcplan plan {scenario_words(plan)}"
        yield f"Later starts of runs: not computed. Run `{command}` with a higher `--time-limit`."
        return
    yield (
        f"Later starts of runs without a deadline: at least {usd(saved)} less net present "
        f"cost{basis_of(plan)}. Set `may_wait: true` for a run to let it wait."
    )


def _systems(answers: Sequence[Result]) -> Iterator[str]:
    """Yield the cost of other systems in the whole plan."""
    found = _table(answers, WHY_NOT.name)
    if found is not None:
        basis = basis_of(answers[0])
        for row in WHY_NOT.rows(found):
            cost = "" if row.npv_usd is None else f"{change(row.npv_usd)} net present cost{basis}; "
            yield f"One rack of {row.system} in the plan: {cost}{row.note}."
        return
    file = scenario_words(answers[0])
    others = {x.alternative for x in PURCHASES.rows(answers[0].tables[PURCHASES.name])}
    systems = sorted(others & _systems_of(answers[0]))
    flags = "".join(f" --why-not {shlex.quote(x)}" for x in systems) or " --why-not SYSTEM"
    yield f"Another system in the whole plan: not computed. Run `dcplan explain {file}{flags}`."


def _systems_of(plan: Result) -> set[str]:
    """Return the alternatives to racks, which are systems."""
    rows = PURCHASES.rows(plan.tables[PURCHASES.name])
    return {x.alternative for x in rows if x.unit == Unit.RACK and x.alternative}


def _sources(answers: Sequence[Result]) -> Iterator[str]:
    """Yield the cost of owning everything, renting everything, and both."""
    rents = _table(answers, RENTED.name)
    if rents is not None:
        for rent in sorted(RENTED.rows(rents), key=lambda x: x.npv_usd)[:MOST_SOURCES]:
            over = change(rent.over_owned_usd)
            yield f"Rent of {rent.offer}, {rent.term}: {usd(rent.npv_usd)} present cost, {over} against owning."
        return
    found = _table(answers, SOURCING.name)
    if found is None:
        file = scenario_words(answers[0])
        if not any(str(row["key"]).startswith("cloud.") for row in answers[0].inputs):
            yield (
                "Rent: not computed, because the scenario has no cloud offers. Add `cloud:` and run "
                f"`dcplan tco {file}`."
            )
            return
        yield f"All owned, all rented or both: not computed. Run `dcplan tco {file}`."
        return
    for row in SOURCING.rows(found)[:MOST_SOURCES]:
        yield _source(row)


def _source(row: SourcingRow) -> str:
    if row.npv_usd is None:
        return f"{row.option}: no plan; {row.note}."
    more = f", {usd(row.above_hybrid_usd)} above the best mix" if row.above_hybrid_usd else ""
    return f"{row.option}: {usd(row.npv_usd)} present cost after tax and debt{more}."


def flips(answers: Sequence[Result]) -> Iterator[Block]:
    """Yield computed switching values, and the inputs that move the cost most."""
    lines = []
    found = _table(answers, SWITCHING_VALUES.name)
    if found is None:
        command = f"dcplan explain {scenario_words(answers[0])} --switching-values"
        lines.append(f"Values that change a decision: not computed. Run `{command}`.")
    else:
        rows = SWITCHING_VALUES.rows(found)
        changing = [x for x in rows if x.switches_at is not None]
        lines += [_flip(x) for x in changing[:MOST_FLIPS]]
        kept = [x.input for x in rows if x.switches_at is None and not x.note]
        if kept:
            lines.append(f"No decision changes within the bounds of {', '.join(kept)}.")
    before = " before taxes and debt" if basis_of(answers[0]) else ""
    for x in ranked(answers[0])[:MOST_INPUTS]:
        lines.append(
            f"{x.key} from {plain(x.low)} to {plain(x.high)}: net present cost{before} of the same "
            f"decisions from {usd(x.at_low_usd)} to {usd(x.at_high_usd)}."
        )
    yield Items(tuple(lines))


def _flip(row: SwitchingValueRow) -> str:
    now = plain(row.now) if isinstance(row.now, int | float) else row.now
    regret = (
        "" if row.regret_usd is None else f"; keeping the plan costs up to {usd(row.regret_usd)}"
    )
    at = row.switches_at if isinstance(row.switches_at, str) else plain(row.switches_at or 0.0)
    bounds = f", {row.bounds} bounds" if row.bounds != GIVEN else ""
    return (
        f"{row.input} at {at} (now {now}{bounds}): {row.decision} changes from {row.before} to "
        f"{row.after}{regret}."
    )
