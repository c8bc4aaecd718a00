"""Unit costs, return of owning, and the price trend implied by quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.answers.tco.comparison import OWNED, Comparison
from dcplan.catalog.schema import Accelerator, System
from dcplan.economics.break_even import payback_months
from dcplan.economics.discounting import irr
from dcplan.economics.monthly.side import Side
from dcplan.economics.price_trend import implied_yearly_factor
from dcplan.economics.ranges import Array
from dcplan.economics.utilization import (
    Utilization,
    usd_per_accelerator_hour,
    usd_per_delivered_pflop_day,
    usd_per_million_trained_tokens,
)
from dcplan.inputs.cloud_prices import LENGTHS
from dcplan.inputs.training.reference_job import reference_tflops
from dcplan.inputs.training.speed import architecture, hardware
from dcplan.llm.architecture import model_flops_per_token
from dcplan.provenance import Status
from dcplan.result import Metric, Table
from dcplan.scenario.schema.demand import Reference
from dcplan.specs.tco import costs, figures
from dcplan.units import MONTHS_PER_YEAR, QUARTERS_PER_YEAR, TFLOPS_PER_PFLOPS

REFERENCE = Reference(model="llama-3.1-70b", seq_len=8192)
"""The default reference job."""


@dataclass(frozen=True)
class ReferenceWork:
    """Work of the fleet on its reference job; hours alone where the job has no speed."""

    hours: Utilization
    """Share of hours in use, with the MFU of the reference job if that is known."""
    peak_pflops: float = 0.0
    """Peak of one accelerator at the job's precision."""
    flops_per_token: float = 0.0
    spread_frac: float = 0.0
    """Half width of the 80 % interval of the job's step time."""
    why_not: str = ""
    """Reason if the job has no speed."""

    @property
    def mfu_frac(self) -> float | None:
        """MFU of the reference job; None where the job has no speed."""
        return None if self.why_not else float(np.asarray(self.hours.mfu_frac))


def unit_costs(
    both: Comparison, npvs: Mapping[str, float]
) -> tuple[dict[str, Metric], Table, list[str]]:
    """Price an hour, owned and used, a delivered PFLOP-day and a million trained tokens.

    Only :class:`dcplan.economics.utilization.Utilization` multiplies the kinds of utilization:
    hours in use and MFU of the reference job. Lost goodput is a cost line of each side, so it does
    not divide the work.
    """
    work = reference_work(both)
    where = f"({_reference(both).model} on {_system(both)})"
    hours, count = both.hours / both.work.accelerators, both.work.accelerators
    rows: list[costs.UnitRow] = []
    metrics: dict[str, Metric] = {}
    for side, npv in npvs.items():
        if npv <= 0.0:  # residual value and savings exceed the payments
            rows.append(costs.UnitRow(side))
            continue
        owned_hour, used_hour = (
            float(np.asarray(usd_per_accelerator_hour(npv, count, hours, work.hours, x)))
            for x in ("owned", "allocated")
        )
        day, token = _work_usd(both, work, npv)
        rows.append(costs.UnitRow(side, owned_hour, used_hour, day, token))
        if side == OWNED and day is not None:
            metrics |= figures.REFERENCE_MFU(work.mfu_frac)
            metrics |= figures.OWNED_PFLOP_DAY(
                day, label=f"{figures.OWNED_PFLOP_DAY.meaning} {where}"
            )
            metrics |= figures.OWNED_TOKENS(token, label=f"{figures.OWNED_TOKENS.meaning} {where}")
    why = [f"no cost per PFLOP-day: {work.why_not}"] if work.why_not else []
    return metrics, costs.UNITS.table(rows), why


def tokens_usd(both: Comparison, npv_usd: float) -> float | None:
    """Return the cost of a million tokens of the reference job [USD].

    None for a fleet that costs nothing, or a job without a speed.
    """
    return _work_usd(both, reference_work(both), npv_usd)[1] if npv_usd > 0.0 else None


def _work_usd(
    both: Comparison, work: ReferenceWork, npv_usd: float
) -> tuple[float | None, float | None]:
    """Return the cost of a PFLOP-day and of a million tokens; None for a job without a speed."""
    if work.why_not:
        return None, None
    hours, count = both.hours / both.work.accelerators, both.work.accelerators
    day = usd_per_delivered_pflop_day(npv_usd, count, work.peak_pflops, hours, work.hours)
    token = usd_per_million_trained_tokens(day, work.flops_per_token)
    return float(np.asarray(day)), float(np.asarray(token))


def _reference(both: Comparison) -> Reference:
    fleet = both.question.scenario.fleet
    return (fleet.reference if fleet else None) or REFERENCE


def _system(both: Comparison) -> str:
    fleet = both.question.scenario.fleet
    return fleet.system if fleet else ""


def reference_work(both: Comparison) -> ReferenceWork:
    """Return the fleet's work on its reference job, which is recorded as an input."""
    question, log = both.question, both.log
    fleet = question.scenario.fleet
    given = fleet.reference if fleet else None
    job = _reference(both)
    words = f"{job.model}, sequences of {job.seq_len:,}, {job.precision}"
    log.text("fleet.reference", words, Status.INPUT if given else Status.DEFAULT)
    hours = Utilization(allocated_frac=both.work.used_frac)
    system = question.catalog.get("systems", _system(both), System)
    chip = question.catalog.get("accelerators", system.accelerator, Accelerator)
    port = system.scaleout_port_gbps.value if system.scaleout_port_gbps else 0.0
    each = (system.scaleout_ports or 0) * port / 8.0 / system.accelerators
    shape = architecture(job.model, question)
    rate = reference_tflops(job, shape, chip.id, system.accelerators, each, log)
    if isinstance(rate, str):
        return ReferenceWork(hours, why_not=rate)
    spec = hardware(chip.id, job.precision, each, log, moe=shape.moe_layers > 0)
    if isinstance(spec, str):
        return ReferenceWork(hours, why_not=spec)
    peak = spec.peak_tflops  # at the job's precision
    use = Utilization(hours.allocated_frac, mfu_frac=rate / peak)
    log.text(
        "fleet.reference",
        f"{words}, at {use.mfu_frac:.1%} MFU",
        Status.INPUT if given else Status.DEFAULT,
    )
    tokens = model_flops_per_token(shape, job.seq_len, 0.0)
    return ReferenceWork(use, peak / TFLOPS_PER_PFLOPS, tokens, spec.spread_frac)


def returns(both: Comparison, rent: Side | None) -> dict[str, Metric]:
    """Compute the return of owning over the cheapest rent from saved cash and residual value."""
    if rent is None:
        return {}
    owned = both.owned
    owed = owned.loan.owed_at_end_usd if owned.loan else 0.0
    saved: Array = rent.cash_usd - owned.cash_usd
    ends = sum(owned.after_tax.end_usd.values()) - owed - sum(rent.end_usd.values())
    apart = [(m, usd) for m, usd in rent.outside_usd.items()]
    apart += [(m, -usd) for m, usd in owned.after_tax.outside_usd.items()]
    flows = np.concatenate([saved, [ends], [usd for _, usd in apart]])
    when = (
        np.concatenate([np.arange(len(saved)) + 0.5, [len(saved)], [m + 0.5 for m, _ in apart]])
        / MONTHS_PER_YEAR
    )
    early = sum(usd for m, usd in apart if m < 0)
    back = payback_months(np.append(early, saved), for_good=True)
    return figures.OWNED_IRR(irr(flows, when).rate) | figures.OWNED_PAYBACK(
        None if back is None else float(np.asarray(back))
    )


def term_structure(both: Comparison) -> Table:
    """Return the yearly price change implied by the quotes for two terms of an offer.

    A term costs the sum of its years: p1 (1 + r + r^2) = 3 p3 for one and three years.
    """
    rows: list[costs.TermStructureRow] = []
    for offer in both.offers:
        quotes = {
            LENGTHS[c.term] / QUARTERS_PER_YEAR: c.usd_per_accelerator_hour[0]
            for c in offer.committed
        }
        years = sorted(quotes)
        if len(years) < 2:
            continue
        short, long = years[0], years[-1]
        try:
            change = implied_yearly_factor(quotes[short], short, quotes[long], long) - 1.0
        except ValueError:  # the long term costs less in total than the short one
            change = None
        rows.append(
            costs.TermStructureRow(offer.id, short, quotes[short], long, quotes[long], change)
        )
    return costs.TERM_STRUCTURE.table(rows)
