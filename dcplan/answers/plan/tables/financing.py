"""Tables of a plan's taxes and debt: the steps of its cost, and its three statements."""

from __future__ import annotations

from dcplan.answers.common.statements import statements_table
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.existing import earlier_hardware
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.specs.cost.statements import FINANCING, STATEMENTS, FinancingRow
from dcplan.units import MONTHS_PER_YEAR


def financing_tables(
    problem: PlanningProblem, d: Decisions, books: Accounts, npv_usd: float
) -> dict[str, Table]:
    """Return the tables of a plan whose scenario has taxes, payment terms or debt; otherwise none."""
    finance = problem.finance
    terms = finance.financing
    if terms is None:
        return {}
    found = after_tax(problem, books.flows)
    moved = found.npv_usd - sum(found.steps.values()) - npv_usd
    rows = [
        FinancingRow("cost.npv_usd", npv_usd),
        FinancingRow("payments by month instead of mid-quarter", moved),
        *(FinancingRow(step, usd) for step, usd in found.steps.items()),
        FinancingRow("cost.after_tax_npv_usd", found.npv_usd),
    ]
    lives = {asset: months / MONTHS_PER_YEAR for asset, months in finance.plant_life_months}
    return {
        FINANCING.name: FINANCING.table(rows),
        STATEMENTS.name: statements_table(
            found,
            terms.income_rate_frac,
            lives,
            terms.hardware_life_years,
            earlier_hardware(problem, d),
        ),
    }
