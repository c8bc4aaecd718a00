"""Tables of a comparison: cost lines, the bridge from the plan's cost, cash flow by year."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dcplan.economics.monthly.side import Side, by_year
from dcplan.economics.ranges import Array
from dcplan.result import Cell, Table
from dcplan.specs.tco import costs, offers

TOTAL = "total"


def _valued_lines(side: Side, rate: float) -> list[tuple[str, float, float]]:
    """Return label, sum and present value of every line, including residual value [USD]."""
    paid = [(x.label, side.sum_usd(x), npv) for x, npv in side.npvs_usd(rate).items()]
    kept = [
        (f"residual {x.label}", -side.end_usd[x], npv) for x, npv in side.end_npvs_usd(rate).items()
    ]
    return paid + kept


def lines_table(
    sides: Mapping[str, Side],
    rate: float,
    debt: Mapping[str, Sequence[tuple[str, float, float]]],
    in_full: Collection[str] = (),
) -> Table:
    """List the undiscounted sum and the present value of every cost line of every side.

    The lines of a side add up to its total. ``debt`` has the lines of debt by side: label, sum and
    present value [USD]. Lines of 0 are left out, except for the sides in ``in_full``.
    """
    rows: list[costs.LineRow] = []
    for name, side in sides.items():
        line_values = [*_valued_lines(side, rate), *debt.get(name, ())]
        rows += [
            costs.LineRow(name, label, plain, npv)
            for label, plain, npv in line_values
            if plain or npv or name in in_full
        ]
        total = sum(usd for _, usd, _ in line_values), sum(npv for _, _, npv in line_values)
        rows.append(costs.LineRow(name, TOTAL, *total))
    return costs.LINES.table(rows)


def bridge_table(plan_npv_usd: float, steps: Mapping[str, float], owned_npv_usd: float) -> Table:
    """List the steps from the plan's net present cost to the cost of owning."""
    return costs.BRIDGE.table(
        [
            costs.BridgeRow("cost.npv_usd of the plan's payments", plan_npv_usd),
            *(costs.BridgeRow(name, usd) for name, usd in steps.items()),
            costs.BridgeRow("owned.npv_usd", owned_npv_usd),
        ]
    )


def pair_table(
    owned: Side,
    rented: Side | None,
    name: str,
    rate: float,
    debt: Sequence[tuple[str, float, float]],
) -> Table:
    """List the present value of every cost line of both sides; ``debt`` has those of owned debt."""
    column = f"{name or 'rented'}_npv_usd"
    own = [*_valued_lines(owned, rate), *debt]
    rent = _valued_lines(rented, rate) if rented is not None else []
    rows: list[tuple[offers.NpvLineRow, dict[str, Cell]]] = [
        (offers.NpvLineRow(f"own: {label}", npv), {}) for label, _, npv in own
    ]
    rows += [(offers.NpvLineRow(f"rent: {label}"), {column: npv}) for label, _, npv in rent]
    total = rented.npv_usd(rate) if rented is not None else None
    rows.append((offers.NpvLineRow(TOTAL, sum(npv for *_, npv in own)), {column: total}))
    return offers.NPV_BY_LINE.wide_table(rows, (column,))


def years_table(
    cash_usd: Mapping[str, Array],
    ends_usd: Mapping[str, float],
    outside: Mapping[str, Mapping[int, float]],
) -> Table:
    """Sum the payments of each side by year, with residual value less outstanding debt, and total.

    The owned side includes debt. Deposits before the first month and commitments after the last
    month have separate rows.
    """
    cash = {name: by_year(values) for name, values in cash_usd.items()}
    early = {
        name: sum(usd for m, usd in outside.get(name, {}).items() if m < 0) for name in cash_usd
    }
    late = {
        name: sum(usd for m, usd in outside.get(name, {}).items() if m >= 0) for name in cash_usd
    }
    rows: dict[str, dict[str, float]] = {}
    if any(early.values()):
        rows["before the first year"] = early
    for year in range(len(next(iter(cash.values())))):
        rows[f"year {year + 1}"] = {name: float(usd[year]) for name, usd in cash.items()}
    if any(late.values()):
        rows["after the last year"] = late
    rows["residual value"] = {name: float(ends_usd[name]) for name in cash_usd}
    rows["total"] = {
        name: float(usd.sum()) + early[name] + late[name] + ends_usd[name]
        for name, usd in cash.items()
    }
    return costs.YEARS.wide_table(
        (
            (costs.YearRow(year), {f"{name}_usd": usd for name, usd in sides.items()})
            for year, sides in rows.items()
        ),
        tuple(f"{name}_usd" for name in cash_usd),
    )
