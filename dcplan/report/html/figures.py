"""Which pictures a result has, from its own tables."""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import NormalDist

from dcplan.answers.plan.summary import MOVED
from dcplan.economics.cash_flow import GROUPS
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.planning.audit.uses import Kind
from dcplan.report.book.influence import Influence, influences
from dcplan.report.html import charts, drawings, quarterly
from dcplan.report.html.canvas import Chart
from dcplan.report.html.cells import number_of, rows_of
from dcplan.result import Result
from dcplan.specs.cost.schedules import MONTHS
from dcplan.specs.frontier import FRONTIER
from dcplan.specs.headers import header
from dcplan.specs.plan.fleet import FLEET, Origin
from dcplan.specs.plan.workloads import SERVED_BY
from dcplan.specs.serve.options import FRONTIER_POINTS
from dcplan.specs.table import Section
from dcplan.specs.tco.offers import RENTED
from dcplan.units import quarter_index

DECISION = "decision"
"""Key of the pictures at the top of the page."""
MOST_INPUTS = 12
"""Inputs of a tornado."""
MOST_RENTS = 4
"""Rents that the picture of the break-even compares with owning, the cheapest first."""
MOST_SYSTEMS = 6
"""Systems in a picture of the fleet, the largest first."""
MOST_SERIES = 12
"""Pairs of workload and system in a picture."""
P10 = NormalDist().inv_cdf(0.1)


def figures_of(result: Result, inputs: Sequence[Influence]) -> dict[str, tuple[Chart, ...]]:
    """Pictures by the section they stand in; none where the tables for one are missing."""
    found: dict[str, list[Chart]] = defaultdict(list)
    if rows_of(result, "power"):
        found[Section.ORDERS] += [_power(result), *_capacity(result)]
    if rows_of(result, SERVED_BY.name):
        found[Section.ORDERS].append(_workloads(result))
    if _has_money(result, "cost", "usd") and "cost.npv_usd" in result.metrics:
        found[Section.COST].append(_waterfall(result))
    if _has_money(result, "cash_flow", "cash_out_usd"):
        found[DECISION].append(_cash(result))
    if rows_of(result, "jobs"):
        found[Section.ORDERS] += _gantt(result)
    found[Section.DESIGN] += [drawings.fabric(row) for row in rows_of(result, "network")]
    found[Section.DESIGN] += _halls(result) + _sites(result)
    if rows_of(result, "frontier"):
        found[Section.ORDERS] += _frontier(result)
    if rows_of(result, FRONTIER_POINTS.name):
        found[DECISION].append(_interactivity(result))
    if rows_of(result, MONTHS.name) and rows_of(result, RENTED.name):
        found[DECISION].append(_break_even(result))
    if rows_of(result, "tornado"):
        found[Section.RISK].append(_tornado(result))
    if inputs:
        rows = [(x.key, x.at_low_usd, x.at_high_usd) for x in inputs[:MOST_INPUTS]]
        now = float(result.metrics["cost.npv_usd"].value or 0.0)
        found["influence"].append(charts.tornado(rows, now, "net present cost"))
    return {name: tuple(pictures) for name, pictures in found.items()}


def ranked(result: Result) -> list[Influence]:
    """Live inputs of a plan by influence; none of another answer."""
    return influences(result) if has_ranks(result) else []


def has_ranks(result: Result) -> bool:
    """Whether a result has a plan's data for its workbook, which rank its inputs."""
    return result.verb == "plan" and "book_facts" in result.tables


def _has_money(result: Result, name: str, column: str) -> bool:
    """Whether a table has amounts: those of a redacted result are empty."""
    return any(row.get(column) is not None for row in rows_of(result, name))


def _quarters(result: Result) -> list[str]:
    return list(dict.fromkeys(str(row["quarter"]) for row in rows_of(result, "power")))


def _power(result: Result) -> Chart:
    quarters = _quarters(result)
    by: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(quarters))
    limit = [0.0] * len(quarters)
    for row in rows_of(result, "power"):
        t = quarters.index(str(row["quarter"]))
        by[str(row["site"])][t] += number_of(row["facility_mw"])
        limit[t] += number_of(row["utility_mw"])
    used = {site: values for site, values in by.items() if any(values)}
    return quarterly.power(quarters, used, limit)


def _capacity(result: Result) -> list[Chart]:
    """Accelerators by system: the largest ones, the others together, and all that are rented."""
    quarters = _quarters(result)
    by: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(quarters))
    for row in rows_of(result, FLEET.name):
        rented = row["origin"] == Origin.RENTED
        name = quarterly.RENTED if rented else str(row["system"])
        by[name][quarters.index(str(row["quarter"]))] += number_of(row["accelerators"])
    rents = by.pop(quarterly.RENTED, None)
    largest = sorted(by, key=lambda name: -sum(by[name]))[:MOST_SYSTEMS]
    found = {name: values for name, values in by.items() if name in largest}
    rest = [values for name, values in by.items() if name not in largest]
    if rest:
        found["others"] = [sum(x) for x in zip(*rest, strict=True)]
    if rents:
        found[quarterly.RENTED] = rents
    return [quarterly.capacity(quarters, found)] if found else []


def _workloads(result: Result) -> Chart:
    """Accelerators of each workload by system; the smallest series beyond the most stand together."""
    quarters = _quarters(result)
    by: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * len(quarters))
    idle = [0.0] * len(quarters)
    for row in rows_of(result, SERVED_BY.name):
        t, count = quarters.index(str(row["quarter"])), number_of(row["average_accelerators"])
        if row["kind"] in (Kind.UNUSED, Kind.EARLIER):
            idle[t] += count
        elif count:
            system = quarterly.RENTED if is_cloud(str(row["place"])) else str(row["system"])
            by[str(row["workload"]), system][t] += count
    first = {max((k for k in by if k[0] == w), key=lambda k: sum(by[k])) for w, _ in by}
    largest = sorted(by, key=lambda key: (key not in first, -sum(by[key])))[:MOST_SERIES]
    series = [(*key, values) for key, values in by.items() if key in largest]
    rest = [sum(x) for x in zip(*(v for k, v in by.items() if k not in largest), strict=True)]
    more = {"others": rest, "unused": idle}
    return quarterly.workloads(quarters, series + [(k, "", v) for k, v in more.items() if any(v)])


def _waterfall(result: Result) -> Chart:
    """Undiscounted groups, then what discounting takes off: the parts sum to the net present cost."""
    sums: dict[str, float] = defaultdict(float)
    for row in rows_of(result, "cost"):
        sums[str(row["group"])] += number_of(row["usd"])
    steps: list[tuple[str, float]] = [(group, sums[group]) for group in GROUPS if sums.get(group)]
    npv = float(result.metrics["cost.npv_usd"].value or 0.0)
    steps.append(("discounting", npv - sum(usd for _, usd in steps)))
    return charts.waterfall(steps, "net present cost")


def _cash(result: Result) -> Chart:
    rows = rows_of(result, "cash_flow")
    groups = {
        name.replace("_", " "): [sign * number_of(row[f"{name}_usd"]) for row in rows]
        for name, sign in MOVED.items()
    }
    return quarterly.cash(
        [str(row["quarter"]) for row in rows], {g: v for g, v in groups.items() if any(v)}
    )


def _gantt(result: Result) -> list[Chart]:
    """Median and asked confidence of a log-normal give the 10th and 90th percentile."""
    start = str(result.scenario.get("start") or _quarters(result)[0])
    given = {str(row["key"]): row["value"] for row in result.inputs}
    ends = {str(row["job"]): row for row in rows_of(result, "schedule")}
    runs = []
    for row in rows_of(result, "jobs"):
        job, p50, late = str(row["job"]), number_of(row["days_p50"]), number_of(row["days"])
        confidence = given.get(f"jobs.{job}.deadline_confidence")
        if (
            job not in ends
            or not isinstance(confidence, int | float)
            or not 0.5 < confidence < 1
            or p50 <= 0
        ):
            continue  # without its start and its confidence a run has no place and no range
        sigma = math.log(late / p50) / NormalDist().inv_cdf(confidence)
        begins = float(
            (dt.date.fromisoformat(str(ends[job]["planned_start"])) - _first(start)).days
        )
        runs.append((job, begins, p50 * math.exp(P10 * sigma), p50, p50 * math.exp(-P10 * sigma)))
    return [charts.gantt(runs, start)] if runs else []


def _first(quarter: str) -> dt.date:
    index = quarter_index(quarter)
    return dt.date(index // 4, 3 * (index % 4) + 1, 1)


def _halls(result: Result) -> list[Chart]:
    """Racks of one system and filling together, whenever they were ordered."""
    counts: dict[tuple[str, str, int], int] = defaultdict(int)
    power: dict[tuple[str, str, int], float] = defaultdict(float)
    if result.verb != "plan":
        return []
    for row in rows_of(result, "racks"):
        key = (str(row["hall"]), str(row["system"]), int(number_of(row["nodes_per_rack"])))
        counts[key] += int(number_of(row["racks"]))
        power[key] += number_of(row["rated_kw"])
    racks: dict[str, list[tuple[str, int, int, float]]] = defaultdict(list)
    for (hall, system, nodes), n in counts.items():
        if n > 0:
            racks[hall].append((system, n, nodes, power[hall, system, nodes] / n))
    return [
        drawings.hall(
            str(row["hall"]),
            racks[str(row["hall"])],
            int(number_of(row["positions"])),
            math.ceil(number_of(row["racks"])),
            _floor_by_quarter(result, str(row["hall"])),
        )
        for row in rows_of(result, "halls")
        if racks[str(row["hall"])]
    ]


def _floor_by_quarter(result: Result, hall: str) -> dict[str, dict[str, int]]:
    """Racks in service by quarter and system; a quarter without racks is empty."""
    found: dict[str, dict[str, int]] = {quarter: {} for quarter in _quarters(result)}
    for row in rows_of(result, FLEET.name):
        if row["hall"] == hall and row["racks"]:
            racks = found[str(row["quarter"])]
            system = str(row["system"])
            racks[system] = racks.get(system, 0) + int(number_of(row["racks"]))
    return found if any(found.values()) else {}


def _sites(result: Result) -> list[Chart]:
    found: dict[str, dict[str, drawings.Power]] = defaultdict(dict)
    for r in rows_of(result, "power"):
        found[str(r["site"])][str(r["quarter"])] = drawings.Power(
            number_of(r["utility_mw"]),
            number_of(r["onsite_mw"]),
            int(number_of(r["power_blocks"])),
            number_of(r["facility_mw"]),
            number_of(r["it_mw"]),
        )
    made = []
    for site, by in found.items():
        most = max(it.facility_mw for it in by.values())
        if not most:
            continue  # a site that the plan does not use
        peak = [quarter for quarter, it in by.items() if it.facility_mw == most][-1]
        made.append(drawings.one_line(site, peak, by))
    return made


def _frontier(result: Result) -> list[Chart]:
    table = result.tables["frontier"]
    y, x = (name for name in table.columns if name not in FRONTIER.names)
    rows = table.records()
    if not all(isinstance(row[name], int | float) for row in rows for name in (x, y)):
        return []
    return [charts.frontier([(number_of(row[x]), number_of(row[y])) for row in rows], x, y)]


def _interactivity(result: Result) -> Chart:
    x, y = "tokens_per_s_per_user", "tokens_per_s_per_accelerator"
    rows = rows_of(result, FRONTIER_POINTS.name)
    points = [(number_of(row[x]), number_of(row[y])) for row in rows]
    return charts.frontier(points, header(x), header(y))


def _break_even(result: Result) -> Chart:
    """Cash of owning and of the cheapest rents by month."""
    rows = rows_of(result, MONTHS.name)
    ways = [f"{r['offer']}.{r['term']}" for r in rows_of(result, RENTED.name)]
    keys = {"owned": "owned_usd"} | {way: f"{way}_usd" for way in ways[:MOST_RENTS]}
    return charts.cumulative(
        {
            name: [number_of(row[key]) for row in rows]
            for name, key in keys.items()
            if key in rows[0]
        }
    )


def _tornado(result: Result) -> Chart:
    rows = [
        (
            str(r["input"]),
            number_of(r["over_rent_at_low_usd"]),
            number_of(r["over_rent_at_high_usd"]),
        )
        for r in rows_of(result, "tornado")
    ]
    rents = [
        m.value
        for k, m in result.metrics.items()
        if k.startswith("rented.") and k.endswith("npv_usd")
    ]
    now = float(result.metrics["owned.npv_usd"].value or 0.0) - min(
        (float(str(x)) for x in rents), default=0.0
    )
    return charts.tornado(rows, now, "owned over the cheapest rent")
