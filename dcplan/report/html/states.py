"""The state of a plan in each quarter: who is served, capacity, power, cash so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.answers.plan.summary import QuarterSums, by_quarter
from dcplan.report.html.cells import Row, number_of, rows_of
from dcplan.report.text.numbers import plain, shown
from dcplan.report.text.view import View, view
from dcplan.result import Result
from dcplan.specs.plan.fleet import FLEET
from dcplan.specs.plan.workloads import SERVED_BY

SHORT_FRAC = 1e-6
"""Share of a demand from which the unserved part is said: less is rounding of the solver."""
SERVED = ("demand", "unit", "required", "owned", "rented", "unserved")
USED = ("workload", "system", "place", "average_accelerators")
OWNED = ("hall", "system", "origin", "racks", "accelerators")
POWER = ("site", "it_mw", "facility_mw", "utility_mw", "onsite_mw")


@dataclass(frozen=True)
class State:
    """One quarter: a row of figures with their names, and tables with their titles."""

    quarter: str
    figures: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, View], ...]


def states_of(result: Result) -> tuple[State, ...]:
    """Return the state of each quarter of a plan, first to last; none of another answer."""
    power = rows_of(result, "power")
    if result.verb != "plan" or not power:
        return ()
    sums = by_quarter(result)
    quarters = dict.fromkeys(str(row["quarter"]) for row in power)
    return tuple(_state(result, quarter, sums[quarter]) for quarter in quarters)


def _state(result: Result, quarter: str, sums: QuarterSums) -> State:
    def of(name: str) -> list[Row]:
        return [row for row in rows_of(result, name) if str(row["quarter"]) == quarter]

    fleet, power, demand = of(FLEET.name), of("power"), of("demand")
    short = [
        str(r["demand"])
        for r in demand
        if number_of(r["unserved"]) > SHORT_FRAC * number_of(r["required"])
    ]
    used, limit = sums.facility_mw, sums.utility_mw
    share = f" ({used / limit:.0%})" if limit else ""
    figures = [
        ("Accelerators in service, owned and rented", plain(sums.accelerators)),
        ("Facility power of the utility limit", f"{plain(used)} of {plain(limit)} MW{share}"),
    ]
    paid = (
        ("Paid in the quarter, less sales", sums.moved_usd),
        ("Paid so far, less sales", sums.moved_to_date_usd),
    )
    figures += [
        (name, f"{shown('cash_out_usd', usd)} USD") for name, usd in paid if usd is not None
    ]
    if demand:
        figures.append(("Demands not served in full", ", ".join(short) or "none"))
    work = [r for r in of(SERVED_BY.name) if r["average_accelerators"]]
    tables = (
        ("Demand", SERVED, demand),
        ("Who is served", USED, work),
        ("Capacity by system", OWNED, fleet),
        ("Power", POWER, power),
    )
    shown_tables = tuple((title, _view(names, rows)) for title, names, rows in tables if rows)
    return State(quarter, tuple(figures), shown_tables)


def _view(names: tuple[str, ...], rows: Iterable[Row]) -> View:
    return view(names, [tuple(row[name] for name in names) for row in rows])
