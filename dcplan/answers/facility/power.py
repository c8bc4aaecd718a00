"""Power chain by efficiency, and the swings of a training job against a ramp limit."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.facility.heat_rejection import run_metrics
from dcplan.answers.facility.resolve import FacilityAsk
from dcplan.answers.train.answer import train
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.chain import Stage, through
from dcplan.facility.oversubscription import risk
from dcplan.facility.swings import Step, remedy, swing
from dcplan.inputs.cooling import Performance
from dcplan.inputs.log import Ledger
from dcplan.result import Cell, Metric, Table
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

TERMS = ("transformer-fixed", "transformer-square", "busway-square", "psu-fixed", "psu-square")
LOADS = (0.25, 0.5, 0.75, 1.0)
JOBS = (1, 2, 4, 8, 16, 32, 64)
TOGETHER = ("data_parallel", "optimizer", "straggler")
"""Parts of a step in which all accelerators wait or exchange data at once."""


def ups_stage(ledger: Ledger) -> Stage:
    """Losses of the UPS against its load; lightly loaded under 2N."""
    fixed, square = (
        ledger.parameter("facility", f"chain-ups-{term}") for term in ("fixed", "square")
    )
    return Stage("ups", fixed, 0.0, square)


def stages(ledger: Ledger) -> list[Stage]:
    """Utility to chip: transformer, UPS, busway, rack power shelf."""
    p = {key: ledger.parameter("facility", f"chain-{key}") for key in TERMS}
    return [
        Stage("transformer", p["transformer-fixed"], 0.0, p["transformer-square"]),
        ups_stage(ledger),
        Stage("busway", 0.0, 0.0, p["busway-square"]),
        Stage("power shelf", p["psu-fixed"], 0.0, p["psu-square"]),
    ]


def efficiency_table(ledger: Ledger) -> Table:
    """Efficiency of each stage and of all against load, with alternating current and with 800 V
    direct current.
    """
    chain, gain = stages(ledger), ledger.parameter("facility", "chain-dc-gain")
    rows: list[tuple[Cell, ...]] = []
    for load in LOADS:
        each = [stage.efficiency(load) for stage in chain]
        whole = through(chain, [load] * len(chain))
        rows.append((load, *each, whole, min(whole * gain, 1.0)))
    names = tuple(stage.name.replace(" ", "_") + "_frac" for stage in chain)
    return Table(("load_frac", *names, "ac_chain_frac", "dc_800_chain_frac"), tuple(rows))


def oversubscribed(ask: FacilityAsk, ratio: float, busy_frac: float, ledger: Ledger) -> Table:
    """How often racks of ``ratio`` times the hall's IT power ask for more than it, by the number of
    like jobs.

    Raises
    ------
    InputError
        When no system with its power is named.
    """
    system = ask.system
    if system is None or system.rated_kw is None:
        cause = "oversubscription needs a system with its power"
        raise InputError(
            [Problem("DC062", cause, Place("--oversubscription"), help="--system gb300-nvl72")]
        )
    average = system.average_kw
    shares = []
    for name in ("training", "idle"):
        own = getattr(average, name)
        usual = ledger.parameter("power", f"average-{name}-frac")
        key = f"systems.{system.id}.average_kw.{name}"
        shares.append(ledger.take(key, own) / system.rated_kw.value if own else usual)
    rows: list[tuple[Cell, ...]] = []
    for jobs in JOBS:
        r = risk(jobs, busy_frac, shares[0], shares[1], ratio)
        worst = ask.it_mw * max(r.worst_frac - 1.0, 0.0)
        rows.append(
            (jobs, r.over_frac, r.over_frac * HOURS_PER_YEAR, ask.it_mw * r.mean_over_frac, worst)
        )
    return Table(
        ("jobs", "over_frac", "over_h_per_year", "mean_over_mw", "worst_over_mw"), tuple(rows)
    )


def swings(
    ask: FacilityAsk,
    hall: Performance,
    job: str,
    held: int,
    ramp_limit_mw_per_s: float | None,
    catalogs: Sequence[str],
    ledger: Ledger,
) -> tuple[Table, dict[str, Metric]]:
    """What the job's step does to the site, what keeps a ramp limit, and what the run takes from
    the site.

    The job has the accelerators that the hall holds, as many as the load runs; network and storage
    do not swing.

    Raises
    ------
    InputError
        When no system is named, it has no training power, or the hall holds none.
    """
    system = ask.system
    if system is None or system.rated_kw is None:
        cause = "swings need a system with its power"
        raise InputError([Problem("DC062", cause, Place("--job"), help="--system gb300-nvl72")])
    count = int(held * ask.load) // system.accelerators
    if not count:
        cause = (
            f"{ask.it_mw * ask.load:g} MW of IT run no {system.id} of {system.rated_kw.value:g} kW"
        )
        raise InputError([Problem("DC062", cause, Place("--job"), help="a larger --it-mw")])
    found = train(
        job, system=system.id, accelerators=count * system.accelerators, catalogs=catalogs
    )
    breakdown = {str(row[0]): float(row[2] or 0.0) for row in found.tables["breakdown"].rows}
    run = run_metrics(
        hall,
        ask,
        found.value("days"),
        found.value("energy_mwh"),
        count * system.accelerators,
        ledger,
    )
    low_share = sum(breakdown.get(name, 0.0) for name in TOGETHER)
    high = count * system.rated_kw.value / KW_PER_MW
    step = Step(
        found.value("step_time_s"),
        low_share,
        high,
        high * ledger.parameter("facility", "swing-low-frac"),
        ledger.parameter("facility", "swing-edge-s"),
    )
    s = swing(step)
    metrics = {
        "swing.amplitude_mw": Metric(
            s.amplitude_mw, "MW", "Power that falls and rises with every step"
        ),
        "swing.frequency_hz": Metric(s.frequency_hz, "Hz", "Steps a second"),
        "swing.ramp_mw_per_s": Metric(s.ramp_mw_per_s, "MW/s", "Change of power at the edges"),
        "swing.low_share": Metric(
            low_share, "", f"Share of the step of {job} in which all wait or exchange data"
        ),
    }
    limit = ramp_limit_mw_per_s if ramp_limit_mw_per_s is not None else 0.0
    r = remedy(step, limit)
    price = ask.where.site.usd_per_kwh if ask.where.site else None
    yearly = r.extra_mw * HOURS_PER_YEAR * KW_PER_MW * price.value if price else None
    rows: list[tuple[Cell, ...]] = [
        ("storage in racks or a battery", r.store_mw, r.store_kwh, None, None, None),
        ("floor of power", None, None, r.floor_mw, r.extra_mw, yearly),
    ]
    if ramp_limit_mw_per_s is not None and s.ramp_mw_per_s <= limit:
        rows = [("none needed: the ramp is within the limit", None, None, None, None, None)]
    columns = (
        "remedy",
        "store_mw",
        "store_kwh",
        "floor_mw",
        "extra_mean_mw",
        "energy_usd_per_year",
    )
    return Table(columns, tuple(rows)), metrics | run
