"""Demands that any suitable accelerator may serve, and the amount that one accelerator serves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcplan.catalog.schema import Row, System
from dcplan.errors import InputError
from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import offer_of, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.jobs import JobCandidates
from dcplan.planning.problem.work.residency import resident
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import H100, HOURS, PFLOPS, TOKENS, DemandTerms
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Capacity, Demand, Inference, Reference
from dcplan.units import BITS_PER_BYTE, HOURS_PER_QUARTER, TFLOPS_PER_PFLOPS, TOKENS_PER_KTOKEN

REFERENCE_ACCELERATOR = "h100-sxm"
"""Accelerator of the unit H100-equivalents."""


def demand_terms(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    problem: JobCandidates,
    country: dict[str, str],
) -> tuple[DemandTerms, ...]:
    """Return every capacity and inference demand of a scenario."""
    work = question.scenario.workloads
    found = []
    for x in work.capacity:
        able = resident(where, x.countries, country, Kind.CAPACITY, x.id, excluded)
        able = permitted(x, Kind.CAPACITY, able, log, excluded)
        found.append(_capacity(x, question, log, excluded, able, problem))
    for y in work.inference:
        able = resident(where, y.countries, country, Kind.INFERENCE, y.id, excluded)
        able = permitted(y, Kind.INFERENCE, able, log, excluded)
        found.append(_inference(y, question, log, excluded, able))
    return tuple(found)


def permitted(
    demand: Demand,
    kind: Kind,
    where: Iterable[Target],
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[Target]:
    """Return the places that may serve a demand: its sites (without the cloud) and its systems.

    They are sorted so that the slowest link of a hall comes last and is used, which is
    conservative.
    """
    found = []
    wanted = {_row(name, log) for name in demand.systems or ()}
    for target in sorted(where, key=lambda t: -t.link.gbps):
        if demand.sites and target.place.split("/")[0] not in demand.sites:
            continue
        if target.offer is not None and target.offer.longest_days is not None:
            reason = f"sold for at most {target.offer.longest_days:g} days; a demand is served all the time"
            excluded.append(
                ExcludedOption(kind, demand.id, f"{target.place} {target.system}", reason)
            )
            continue
        names = {target.system, target.accelerator, row_of(offer_of(target.place))}
        if wanted and not names & wanted:
            excluded.append(
                ExcludedOption(
                    kind, demand.id, f"{target.place} {target.system}", "not among its systems"
                )
            )
            continue
        found.append(target)
    return found


def _row(name: str, log: InputLog) -> str:
    """Return the id of the catalog row with this name or alias."""
    rows = (log.catalog.find(kind, name, Row) for kind in ("systems", "accelerators", "cloud"))
    return next((row.id for row in rows if row is not None), name)


def _capacity(
    demand: Capacity,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    problem: JobCandidates,
) -> DemandTerms:
    key, quarters = f"workloads.capacity.{demand.id}", question.scenario.horizon.quarters
    series = log.series(f"{key}.{demand.unit}", getattr(demand, demand.unit), quarters)
    busy = log.take(f"{key}.utilization_frac", demand.utilization_frac)
    each: dict[tuple[str, str], float] = {}
    reference = demand.reference
    if demand.unit == "accelerator_hours" or reference is None:
        each = {(t.place, t.system): busy * t.available_frac for t in where}
        wanted, scenario_unit = (
            [x / HOURS_PER_QUARTER for x in series],
            ("accelerator_hours", HOURS_PER_QUARTER),
        )
        return _terms(
            demand, log, key, wanted, each, HOURS, HOURS_PER_QUARTER, scenario_unit=scenario_unit
        )
    in_h100 = demand.unit == "h100_equivalents"
    whole = (
        _h100_tflops(demand, reference, question, problem, log) if in_h100 else TFLOPS_PER_PFLOPS
    )
    size = int(log.parameter("training", "reference-accelerators"))
    for target in where:
        if target.offer is not None and not target.offer.connects(size):
            rate: float | str = (
                f"the reference job has {size} accelerators, but no network between instances is "
                f"known; give prices.{row_of(target.offer.id)}.scaleout_gbps"
            )
        else:
            rate = problem.reference_tflops(reference, target)
        if isinstance(rate, str):
            excluded.append(
                ExcludedOption(Kind.CAPACITY, demand.id, f"{target.place} {target.system}", rate)
            )
        else:
            each[target.place, target.system] = busy * rate / whole * target.available_frac
    return _terms(
        demand,
        log,
        key,
        series,
        each,
        H100 if in_h100 else PFLOPS,
        scenario_unit=(demand.unit, 1.0),
    )


def _h100_tflops(
    demand: Capacity,
    reference: Reference,
    question: Question,
    problem: JobCandidates,
    log: InputLog,
) -> float:
    """Return the TFLOP/s of an H100, in a server of 8 with 400 Gb/s each, on the reference job."""
    row = next(
        r
        for r in log.catalog.table("systems", System).values()
        if r.accelerator == REFERENCE_ACCELERATOR
    )
    gbps = row.scaleout_port_gbps.value if row.scaleout_port_gbps else 0.0
    each = (row.scaleout_ports or 0) / row.accelerators * gbps / BITS_PER_BYTE
    rate = problem.reference_tflops(
        reference,
        Target("", row.id, REFERENCE_ACCELERATOR, row.accelerators, 10**6, each, LinkSpeed(gbps)),
    )
    if isinstance(rate, str):
        cause = f"{REFERENCE_ACCELERATOR}, the reference of H100-equivalents, cannot run the reference job: {rate}"
        key = [c.id for c in question.scenario.workloads.capacity].index(demand.id)
        path = ("workloads", "capacity", key, "reference")
        raise InputError([question.tree.problem("DC032", cause, path)])
    return rate


def _inference(
    demand: Inference,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
) -> DemandTerms:
    key, quarters = f"workloads.inference.{demand.id}", question.scenario.horizon.quarters
    average = log.series(f"{key}.tokens_per_s", demand.tokens_per_s, quarters)
    peak = log.take(f"{key}.peak_factor", demand.peak_factor)
    room = log.take(f"{key}.utilization_frac", demand.utilization_frac)
    known = {
        _row(name, log): log.take(f"{key}.tokens_per_s_per_accelerator.{name}", value)
        for name, value in demand.tokens_per_s_per_accelerator.items()
    }
    each: dict[tuple[str, str], float] = {}
    for target in where:
        names = (row_of(offer_of(target.place)), target.system, target.accelerator)
        rate = next((known[name] for name in names if name in known), None)
        if rate is None:
            reason = f"no tokens_per_s_per_accelerator for {target.system}"
            excluded.append(
                ExcludedOption(Kind.INFERENCE, demand.id, f"{target.place} {target.system}", reason)
            )
        else:
            own = room * rate / TOKENS_PER_KTOKEN * target.available_frac
            each[target.place, target.system] = own
    wanted = [peak * x / TOKENS_PER_KTOKEN for x in average]
    scenario_unit = ("tokens_per_s", TOKENS_PER_KTOKEN / peak)
    return _terms(
        demand,
        log,
        key,
        wanted,
        each,
        TOKENS,
        TOKENS_PER_KTOKEN,
        scenario_unit=scenario_unit,
        load_frac=room / peak,
    )


def _terms(
    demand: Demand,
    log: InputLog,
    key: str,
    wanted: Sequence[float],
    each: dict[tuple[str, str], float],
    unit: str,
    size: float = 1.0,
    *,
    scenario_unit: tuple[str, float],
    load_frac: float = 1.0,
) -> DemandTerms:
    unmet = demand.usd_per_unmet_quarter
    usd = log.take(f"{key}.usd_per_unmet_quarter", unmet) * size if unmet else None
    return DemandTerms(demand.id, tuple(wanted), each, unit, load_frac, usd, scenario_unit)
