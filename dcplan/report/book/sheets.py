"""All calculation sheets of a plan, in order of reference."""

from __future__ import annotations

from dcplan.report.book.calc import Calc
from dcplan.report.book.cash import cash_sheet
from dcplan.report.book.cost import cost_sheet
from dcplan.report.book.fabric import fabric_sheet
from dcplan.report.book.grid import Sheet
from dcplan.report.book.power import power_sheet
from dcplan.report.book.source import Source


def calculated(source: Source) -> tuple[Calc, Sheet]:
    """Compute all sheets, the cash flow last."""
    calc = empty(source)
    fabric_sheet(calc)
    power_sheet(calc)
    cost_sheet(calc)
    return calc, cash_flow(calc)


def cash_flow(calc: Calc) -> Sheet:
    """Compute the cash flow by quarter of a plan whose cost is computed."""
    source = calc.source
    note = f"Nominal payments in the middle of their quarter.{_after(source)}"
    cash = Sheet("Cashflow", "Cash flow", note, source.quarters)
    cash_sheet(calc, cash)
    return cash


def _after(source: Source) -> str:
    """Return a note on the columns after the horizon, if there are any."""
    if source.length == source.horizon:
        return ""
    return f" Columns from {source.quarters[source.horizon]} on are after the horizon."


def empty(source: Source, prefix: str = "") -> Calc:
    """Return the sheets of a plan without rows; a prefix of their names tells plans apart."""
    names, after = source.quarters, _after(source)
    return Calc(
        source,
        Sheet(
            f"{prefix}Decisions",
            "Decisions",
            "Chosen by the solver and frozen: an edited value is not an optimal plan." + after,
            names,
        ),
        Sheet(
            f"{prefix}Calc_Power",
            "Power, energy, water, carbon",
            "From racks to sites." + after,
            names,
        ),
        Sheet(
            f"{prefix}Calc_Fabric",
            "Compute fabric",
            "Pieces of the plan at input prices." + after,
            names,
        ),
        Sheet(f"{prefix}Calc_Cost", "Cost by line", "Undiscounted." + after, names),
    )
