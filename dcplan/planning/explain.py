"""Why there is no plan: the limits to widen, in the planner's units, from the elastic relaxation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.menu.types import Menu
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import Matrix
from dcplan.units import quarter_index, quarter_name

PRICES = {
    "utility_mw": 40.0, "hall_it_mw": 40.0, "cooling_it_mw": 40.0, "hall_air_mw": 20.0, "cooling_air_mw": 20.0,
    "cooling_liquid_mw": 20.0, "hall_racks": 3.0, "cooling_racks": 3.0, "rack_bound": 3.0, "hall_units": 200.0,
    "supply": 5.0, "budget": 1.0, "budget_total": 1.0, "research_demand": 10.0, "job_runs_once": 5000.0,
    "carbon_cap": 0.01,
    "water_cap": 0.001, "offer_limit": 0.1, "cloud_limit": 0.1, "accelerators_for_jobs": 1.0, "serving_ahead": 1.0,
}  # fmt: skip
"""M$ per unit of each limit: only the order of size matters, so that the cheapest mend is found first."""

WORDS = {
    "utility_mw": ("utility_mw of {0} in {t}", "MW more"),
    "hall_it_mw": ("it_mw of {0} in {t}", "MW more"),
    "cooling_it_mw": ("it_mw of {0} under {1} in {t}", "MW more"),
    "hall_air_mw": ("air_mw of {0} in {t}", "MW more"),
    "cooling_air_mw": ("air_mw of {0} under {1} in {t}", "MW more"),
    "cooling_liquid_mw": ("liquid_mw of {0} under {1} in {t}", "MW more"),
    "hall_racks": ("rack positions of {0} in {t}", "racks more"),
    "cooling_racks": ("rack positions of {0} under {1} in {t}", "racks more"),
    "rack_bound": ("racks of {2} in {0} in {t}", "more than its limits hold"),
    "hall_units": ("halls {0} in {t}", "more"),
    "supply": ("supply of {0} ordered in {t}", "racks more"),
    "budget": ("budget up to {t}", "M USD more"),
    "budget_total": ("budget over the horizon", "M USD more"),
    "research_demand": ("demand {0} in {t}", "PFLOP/s less"),
    "job_runs_once": ("job {0}", "dropped"),
    "carbon_cap": ("carbon cap of {0}", "t more"),
    "water_cap": ("water cap of {0}", "m3 more"),
    "offer_limit": ("accelerators of offer {0}", "more"),
    "cloud_limit": ("cloud.max_accelerators", "more"),
    "accelerators_for_jobs": ("accelerators of {1} in {0}", "more"),
    "serving_ahead": ("accelerators of {2} in {1} a quarter before {0} starts", "more"),
}


@dataclass(frozen=True)
class Remedy:
    """One limit and by how much it must move."""

    what: str
    amount: float
    unit: str
    at_least: bool = False

    def sentence(self) -> str:
        """``utility_mw of ashburn in 2027-Q2: 3.2 MW more``."""
        return f"{self.what}: {'at least ' if self.at_least else ''}{self.amount:.4g} {self.unit}"


def remedies(
    menu: Menu, matrix: Matrix, *, fixed: Mapping[int, float] | None = None, time_limit_s: float = 20.0
) -> list[Remedy]:
    """Smallest priced change of the user's own limits that lets a plan exist; empty when none was found in time.

    With integers, so that applying it is enough up to whole switches; where that takes too long, from the relaxation,
    which says only what is needed at least.
    """
    soft = highs.elastic(matrix, PRICES)
    whole = highs.solve(soft, gap=0.02, time_limit_s=time_limit_s, fixed=fixed)
    if whole.values is not None:
        return _slacks(menu, soft, whole.values)
    free = np.ones(len(soft.columns), dtype=bool)
    relaxed = highs.solve(soft, gap=0.01, time_limit_s=time_limit_s, relaxed=free, fixed=fixed)
    if relaxed.values is None:
        return []
    return [replace(r, at_least=True) for r in _slacks(menu, soft, relaxed.values)]


def _slacks(menu: Menu, soft: Matrix, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Remedy]:
    found = []
    for name, value in zip(soft.columns, values, strict=True):
        if name.startswith("slack:") and value > 1e-6:
            found.append((value, _remedy(menu, name.split(":", 2)[2], float(value))))
    return [remedy for _, remedy in sorted(found, key=lambda pair: -pair[0])]


def _remedy(menu: Menu, row: str, amount: float) -> Remedy:
    name, _, rest = row.partition("[")
    index = rest.rstrip("]").split(",") if rest else []
    text, unit = WORDS[name]
    quarter = ""
    if "{t}" in text and index and re.fullmatch(r"\d+", index[-1]):
        quarter = quarter_name(quarter_index(menu.start) + int(index[-1]))
    return Remedy(text.format(*index, *[""] * 4, t=quarter), amount, unit)
