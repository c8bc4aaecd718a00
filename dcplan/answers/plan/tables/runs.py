"""Tables of a plan's runs on the calendar, and of the storage they need."""

from __future__ import annotations

from dcplan.answers.plan.metrics import calendar_date
from dcplan.planning.audit.accounts import storage_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Menu
from dcplan.result import Cell, Table
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, TB_PER_PB

CAUSES = ("step_time", "production", "failure_rates", "failures", "delivery", "energisation")


def ends(menu: Menu, d: Decisions) -> Table:
    """When each run ends, from its planned start on, and the share of each cause in its variance."""
    rows: list[tuple[Cell, ...]] = []
    for r in sorted(d.runs, key=lambda r: (r.start_month, r.job)):
        facts, start = r.outlook, r.start_month * DAYS_PER_MONTH
        rows.append(
            (
                r.job,
                facts["goodput_frac"],
                facts["stops_per_day"] * r.days_p50,
                facts["checkpoint_interval_s"],
                r.spares,
                calendar_date(menu.start, r.serving_quarter * DAYS_PER_QUARTER),
                calendar_date(menu.start, start),
                r.days_p50,
                r.days,
                calendar_date(menu.start, start + facts["end_p50_days"]),
                calendar_date(menu.start, start + r.finish_days),
                *(facts.get(f"variance_{cause}", 0.0) for cause in CAUSES),
            )
        )
    columns = (
        "job",
        "goodput_frac",
        "interruptions",
        "checkpoint_interval_s",
        "spares",
        "serves_from",
        "planned_start",
        "length_p50_days",
        "length_days",
        "finish_p50",
        "finish",
        *(f"{cause}_frac" for cause in CAUSES),
    )
    return Table(columns, tuple(rows))


def too_small(table: Table, given_pb: float | None) -> list[str]:
    """Halls whose storage holds less than the data and checkpoints of their jobs."""
    column = {name: i for i, name in enumerate(table.columns)}
    notes = []
    for row in table.rows:
        usable = given_pb if given_pb is not None else row[column["usable_pb"]]
        needed = row[column["needed_pb"]]
        if isinstance(usable, int | float) and isinstance(needed, int | float) and needed > usable:
            notes.append(
                f"{row[0]}: data and checkpoints of its jobs take {needed:.3g} PB, its storage holds {usable:.3g}: "
                "give storage.usable_pb"
            )
    return notes


def storage(menu: Menu, d: Decisions) -> Table:
    """Shared storage of each hall in the last quarter, priced in parts of a building block."""
    rows: list[tuple[Cell, ...]] = []
    share, last = menu.storage, menu.quarters - 1
    for hall in menu.halls:
        kw, racks = storage_of(menu, d, hall, last)
        placed = [(p, d.racks(menu, p.key, last)) for p in menu.placements if p.hall == hall.id]
        usd = hall.storage_usd + sum(n * p.storage_usd for p, n in placed)
        if not usd:
            continue
        held = sum(n * p.accelerators for p, n in placed)
        needed = sum(r.outlook["stored_tb"] for r in d.runs if r.place == hall.id) / TB_PER_PB
        fixed = hall.storage_usd / (share.usd / share.usable_tb) if share else 0.0
        if share is None:
            rows.append(
                (hall.id, "given", None, needed, None, None, None, racks, kw, usd, "usable_pb")
            )
            continue
        rows.append(
            (
                hall.id,
                share.tier,
                (held * share.usable_tb + fixed) / (share.usable_tb / share.blocks),
                needed,
                (held * share.usable_tb + fixed) / TB_PER_PB,
                held * share.read_gb_per_s,
                held * share.write_gb_per_s,
                racks,
                kw,
                usd,
                share.binds,
            )
        )
    columns = (
        "hall",
        "tier",
        "blocks",
        "needed_pb",
        "usable_pb",
        "read_gb_per_s",
        "write_gb_per_s",
        "racks",
        "power_kw",
        "capex_usd",
        "sized_by",
    )
    return Table(columns, tuple(rows))
