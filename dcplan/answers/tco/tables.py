"""Tables of a comparison: line by line, the bridge from the plan's cost, cash by year."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.economics.monthly import Side, by_year
from dcplan.economics.ranges import Array
from dcplan.result import Cell, Table


def _worths(side: Side, rate: float) -> list[tuple[str, float, float]]:
    """Return label, sum and present value of every line, worth at the end too. [USD]."""
    paid = [(x.label, side.sum_usd(x), npv) for x, npv in side.npvs_usd(rate).items()]
    kept = [
        (f"residual {x.label}", -side.end_usd[x], npv) for x, npv in side.end_npvs_usd(rate).items()
    ]
    return paid + kept


def lines_table(sides: Mapping[str, Side], rate: float) -> Table:
    """List the undiscounted sum and the present value of every line of every side.

    The lines of a side add up to its total.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, side in sides.items():
        worths = _worths(side, rate)
        rows += [(name, label, plain, npv) for label, plain, npv in worths if plain or npv]
        rows.append((name, "total", sum(x[1] for x in worths), sum(x[2] for x in worths)))
    return Table(("side", "line", "usd", "npv_usd"), tuple(rows))


def bridge_table(plan_npv_usd: float, steps: Mapping[str, float], owned_npv_usd: float) -> Table:
    """From the plan's net present cost to the owned one, step by step."""
    rows: list[tuple[Cell, ...]] = [("cost.npv_usd of plan, without cloud", plan_npv_usd)]
    rows += [(name, usd) for name, usd in steps.items()]
    rows.append(("owned.npv_usd", owned_npv_usd))
    return Table(("step", "usd"), tuple(rows))


def pair_table(owned: Side, rented: Side | None, name: str, rate: float) -> Table:
    """List the present value of every line of both sides.

    The cheapest rent is compared with the owned side before its debt.
    """
    own = _worths(owned, rate)
    rent = _worths(rented, rate) if rented is not None else []
    rows: list[tuple[Cell, ...]] = [(f"own: {label}", npv, None) for label, _, npv in own]
    rows += [(f"rent: {label}", None, npv) for label, _, npv in rent]
    total = rented.npv_usd(rate) if rented is not None else None
    rows.append(("total", owned.npv_usd(rate), total))
    return Table(("line", "owned_npv_usd", f"{name or 'rented'}_npv_usd"), tuple(rows))


def years_table(
    cash_usd: Mapping[str, Array],
    ends_usd: Mapping[str, float],
    outside: Mapping[str, Mapping[int, float]],
) -> Table:
    """Sum the cash out of each side by year, then the worth at the end less what is owed, and all.

    The owned side has its debt. Deposits before the first month and commitments after the last have
    rows of their own.
    """
    names = list(cash_usd)
    cash = {name: by_year(values) for name, values in cash_usd.items()}
    years = len(cash[names[0]])
    rows: list[tuple[Cell, ...]] = [
        (f"year {y + 1}", *(float(cash[n][y]) for n in names)) for y in range(years)
    ]
    early = [sum(usd for m, usd in outside.get(n, {}).items() if m < 0) for n in names]
    late = [sum(usd for m, usd in outside.get(n, {}).items() if m >= 0) for n in names]
    rows = [("before the first year", *early), *rows] if any(early) else rows
    rows += [("after the last year", *late)] if any(late) else []
    rows.append(("worth at the end", *(float(ends_usd[n]) for n in names)))
    rows.append(
        (
            "all",
            *(
                float(cash[n].sum()) + a + b + ends_usd[n]
                for n, a, b in zip(names, early, late, strict=True)
            ),
        )
    )
    return Table(("year", *(f"{n}_usd" for n in names)), tuple(rows))
