"""Tables of a comparison: line by line, the bridge from the plan's cost, cash by year."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.economics.monthly import Side, by_year
from dcplan.economics.ranges import Array
from dcplan.result import Cell, Table


def lines_table(sides: Mapping[str, Side], rate: float) -> Table:
    """Undiscounted sum and present value of every line of every side; they add up to its total."""
    rows: list[tuple[Cell, ...]] = []
    for name, side in sides.items():
        values = side.npvs_usd(rate)
        for line, npv in values.items():
            own = line in side.lines or line in side.outside
            plain = side.sum_usd(line) if own else -side.end_usd[line.removeprefix("residual ")]
            if plain or npv:
                rows.append((name, line, plain, npv))
        total = sum(side.sum_usd(x) for x in {**side.lines, **side.outside}) - sum(
            side.end_usd.values()
        )
        rows.append((name, "total", total, sum(values.values())))
    return Table(("side", "line", "usd", "npv_usd"), tuple(rows))


def bridge_table(plan_npv_usd: float, steps: Mapping[str, float], owned_npv_usd: float) -> Table:
    """From the plan's net present cost to the owned one, step by step."""
    rows: list[tuple[Cell, ...]] = [("cost.npv_usd of plan, without cloud", plan_npv_usd)]
    rows += [(name, usd) for name, usd in steps.items()]
    rows.append(("owned.npv_usd", owned_npv_usd))
    return Table(("step", "usd"), tuple(rows))


def pair_table(owned: Side, rented: Side | None, name: str, rate: float) -> Table:
    """Present value of every line of both sides, the cheapest rent beside the owned one before its
    debt.
    """
    own = owned.npvs_usd(rate)
    rent = rented.npvs_usd(rate) if rented is not None else {}
    rows: list[tuple[Cell, ...]] = [(f"own: {line}", usd, None) for line, usd in own.items()]
    rows += [(f"rent: {line}", None, usd) for line, usd in rent.items()]
    rows.append(("total", sum(own.values()), sum(rent.values()) if rented is not None else None))
    return Table(("line", "owned_npv_usd", f"{name or 'rented'}_npv_usd"), tuple(rows))


def years_table(
    cash_usd: Mapping[str, Array],
    ends_usd: Mapping[str, float],
    outside: Mapping[str, Mapping[int, float]],
) -> Table:
    """Cash out of each side by year, the owned one with its debt; worth at the end less what is
    owed; and all.

    Deposits before the first month and commitments after the last have rows of their own.
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
