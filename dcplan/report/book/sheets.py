"""All calculation sheets of a plan, in the order in which they refer to each other."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.report.book.calc import Calc
from dcplan.report.book.cash import cash_sheet
from dcplan.report.book.cost import cost_sheet
from dcplan.report.book.data.term import Term
from dcplan.report.book.fabric import fabric_sheet
from dcplan.report.book.grid import INPUT_ROW, Sheet
from dcplan.report.book.power import power_sheet
from dcplan.report.book.source import Source


def calculated(source: Source, changes: Mapping[str, float] | None = None) -> tuple[Calc, Sheet]:
    """Compute all sheets, the cash flow last, with other values of some inputs."""
    names = source.quarters
    after = (
        f" Columns from {names[source.horizon]} on are after the horizon."
        if source.length > source.horizon
        else ""
    )
    calc = Calc(
        source,
        _inputs(source, changes or {}),
        Sheet(
            "Decisions",
            "Decisions",
            "Chosen by the solver and frozen: editing them proves nothing." + after,
            names,
        ),
        Sheet("Calc_Power", "Power, energy, water, carbon", "From racks to sites." + after, names),
        Sheet(
            "Calc_Fabric",
            "Compute fabric",
            "Pieces counted by the plan at input prices." + after,
            names,
        ),
        Sheet("Calc_Cost", "Cost by line", "Undiscounted." + after, names),
    )
    fabric_sheet(calc)
    power_sheet(calc)
    cost_sheet(calc)
    cash = Sheet(
        "Cashflow", "Cash flow", "Payments at the middle of their quarter, nominal." + after, names
    )
    cash_sheet(calc, cash)
    return calc, cash


def _inputs(source: Source, changes: Mapping[str, float]) -> dict[str, Term]:
    """Return the inputs that are numbers, each with the address of its cell."""

    def cell(value: float, row: int) -> Term:
        return Term(value, lambda t: f"Inputs!$C${row}")

    return {
        str(row["key"]): cell(changes.get(str(row["key"]), float(row["value"])), INPUT_ROW + i)
        for i, row in enumerate(source.result.inputs)
        if isinstance(row["value"], int | float)
    }
