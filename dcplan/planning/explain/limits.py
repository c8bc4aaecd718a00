"""The user's own limits among the model's rows: in words, with their place in the scenario."""

from __future__ import annotations

import re
from collections.abc import Callable

from dcplan.planning.problem.terms import Menu
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Site, demand_path
from dcplan.units import quarter_index, quarter_name

PRICES = {
    "utility_mw": 40.0,
    "hall_it_mw": 40.0,
    "cooling_it_mw": 40.0,
    "hall_air_mw": 20.0,
    "cooling_air_mw": 20.0,
    "cooling_liquid_mw": 20.0,
    "hall_racks": 3.0,
    "cooling_racks": 3.0,
    "rack_bound": 3.0,
    "hall_units": 200.0,
    "supply": 5.0,
    "budget": 1.0,
    "budget_total": 1.0,
    "demand_met": 10.0,
    "job_runs_once": 5000.0,
    "carbon_cap": 0.01,
    "parts_supply": 0.05,
    "vendor_share": 1.0,
    "water_cap": 0.001,
    "offer_limit": 0.1,
    "cloud_limit": 0.1,
    "accelerators_for_jobs": 1.0,
    "serving_ahead": 1.0,
}
"""M$ per unit of each limit: only the order of size matters, so that the cheapest mend is found
first."""

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
    "parts_supply": ("{0} bought in {t}", "more"),
    "vendor_share": ("share of {0} in spending on racks", "M USD more"),
    "dropped_once": ("racks of {0} that may go", "more"),
    "budget": ("budget up to {t}", "M USD more"),
    "budget_total": ("budget over the horizon", "M USD more"),
    "demand_met": ("demand {0} in {t}", "less"),
    "job_runs_once": ("job {0}", "dropped"),
    "carbon_cap": ("carbon cap of {0}", "t more"),
    "water_cap": ("water cap of {0}", "m3 more"),
    "offer_limit": ("accelerators of offer {0}", "more"),
    "cloud_limit": ("cloud.max_accelerators", "more"),
    "accelerators_for_jobs": ("accelerators of {1} in {0}", "more"),
    "serving_ahead": ("accelerators of {2} in {1} a quarter before {0} starts", "more"),
}


STEPS = {
    "utility_mw": 1.0,
    "hall_it_mw": 1.0,
    "hall_air_mw": 1.0,
    "cooling_it_mw": 1.0,
    "cooling_air_mw": 1.0,
    "cooling_liquid_mw": 1.0,
    "hall_racks": 1.0,
    "cooling_racks": 1.0,
    "supply": 1.0,
    "budget": 1.0,
    "budget_total": 1.0,
    "demand_met": -1.0,
    "parts_supply": 10.0,
    "carbon_cap": 100.0,
    "water_cap": 100.0,
    "offer_limit": 64.0,
    "cloud_limit": 64.0,
    "hall_units": 1.0,
}
"""One more unit of a limit, as the user would ask for it; less where it is a demand."""


def parts_of(row: str) -> tuple[str, list[str]]:
    """Constraint and index of a row.

    Examples
    --------
    >>> parts_of("utility_mw[ashburn,2]"), parts_of("budget_total")
    (('utility_mw', ['ashburn', '2']), ('budget_total', []))
    """
    name, _, rest = row.partition("[")
    return name, rest.rstrip("]").split(",") if rest else []


def family_of(row: str) -> str:
    """A limit whatever its quarter.

    Examples
    --------
    >>> family_of("utility_mw[ashburn,2]"), family_of("job_runs_once[base]"), family_of("budget[3]")
    ('utility_mw[ashburn]', 'job_runs_once[base]', 'budget')
    """
    name, index = parts_of(row)
    if (index and "{t}" in WORDS.get(name, ("", ""))[0]) or months_of(row):
        index = index[:-1]
    return f"{name}[{','.join(index)}]" if index else name


def words_of(row: str, start: str) -> tuple[str, str]:
    """A limit in words, and the unit in which more of it is counted."""
    name, index = parts_of(row)
    text, unit = WORDS[name]
    quarter = ""
    if "{t}" in text and index and re.fullmatch(r"\d+", index[-1]):
        quarter = quarter_name(quarter_index(start) + int(index[-1]))
    return text.format(*index, *[""] * 4, t=quarter), unit


def in_its_unit(row: str, menu: Menu, amount: float) -> tuple[float, str]:
    """Amount of a row in the unit that the scenario gives the limit in, and what more of it is
    called.
    """
    name, index = parts_of(row)
    unit = words_of(row, menu.start)[1]
    if name != "demand_met":
        return amount, unit
    field, size = next(d.said for d in menu.demands if d.id == index[0])
    return amount * size, f"{field} {unit}"


def months_of(row: str) -> bool:
    """Whether the rows of a limit are months, not quarters."""
    return parts_of(row)[0] in ("offer_limit", "cloud_limit")


def place_of(row: str, question: Question) -> str:
    """``file:line:col`` of what the user wrote for a limit; the nearest value above it where it is
    a default.
    """
    name, index = parts_of(row)
    path = _path(name, index, question)
    return str(question.tree.place(path)) if path is not None else ""


FIXED: dict[str, Path] = {
    "budget": ("finance", "budget_usd"),
    "budget_total": ("finance", "budget_usd"),
    "cloud_limit": ("cloud", "max_accelerators"),
    "offer_limit": ("cloud", "max_accelerators_per_offer"),
}
"""Limits that stand at one place of a scenario."""


def _path(name: str, index: list[str], question: Question) -> Path | None:
    scenario = question.scenario
    if name in FIXED:
        return FIXED[name]
    if name == "demand_met":
        return demand_path(index[0], scenario)
    if name in ("job_runs_once", "serving_ahead"):
        i = [j.id for j in scenario.workloads.training].index(index[0])
        job = scenario.workloads.training[i]
        key = next((k for k in ("deadline_days", "deadline") if getattr(job, k) is not None), "id")
        return ("workloads", "training", i, key)
    if name in ("parts_supply", "vendor_share"):
        return (
            {"parts_supply": "parts_per_quarter", "vendor_share": "vendor_share_max"}[name],
            index[0],
        )
    if name == "supply":
        return (
            ("supply", [s.system for s in scenario.supply].index(index[0]))
            if any(s.system == index[0] for s in scenario.supply)
            else ("supply",)
        )
    site_id, _, hall_id = index[0].partition("/")
    sites = [s.id for s in scenario.sites]
    if site_id not in sites:
        return None
    i = sites.index(site_id)
    return _site_path(name, scenario.sites[i], i, hall_id)


def _site_path(name: str, site: Site, i: int, hall_id: str) -> Path | None:
    of_site = {"utility_mw": ("utility_mw",), "carbon_cap": ("carbon",), "water_cap": ("water",)}
    if name in of_site:
        return ("sites", i, *of_site[name])
    halls = [h.id for h in site.halls]
    if hall_id not in halls:
        return None
    j = halls.index(hall_id)
    keys = {
        "hall_it_mw": "it_mw",
        "cooling_it_mw": "it_mw",
        "hall_air_mw": "air_mw",
        "cooling_air_mw": "air_mw",
        "cooling_liquid_mw": "liquid_mw",
        "hall_racks": "racks",
        "cooling_racks": "racks",
        "rack_bound": "racks",
        "hall_units": "count",
        "accelerators_for_jobs": "racks",
    }
    key = keys.get(name)
    given: Callable[[str], bool] = lambda k: getattr(site.halls[j], k, None) is not None  # noqa: E731
    return ("sites", i, "halls", j, key if key and given(key) else "id")
