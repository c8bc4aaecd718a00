"""Job configurations: on every hall system and cloud offer, how many accelerators finish a job in how many days."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import Accelerator, Model, Parameter, Recipe, Stack
from dcplan.errors import InputError
from dcplan.planning.menu.devices import (
    default_stack,
    device_terms,
    recipe_terms,
    record_training,
    spread_frac,
    stack_terms,
)
from dcplan.planning.menu.ledger import Ledger
from dcplan.planning.menu.types import (
    FabricOption,
    HallTerms,
    JobConfig,
    JobTerms,
    LeftOut,
    OfferTerms,
    Placement,
)
from dcplan.reliability.calendar import RunTime, run_time
from dcplan.scenario.load import Question, inside_project
from dcplan.scenario.schema import Capacity, Job
from dcplan.training.architecture import Architecture
from dcplan.training.config import from_config
from dcplan.training.estimate import Hardware, Sweep, cut, layout_of, sweep
from dcplan.training.terms import FUSED_DISPATCH, peak_tflops
from dcplan.training.vision import refusal
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, MONTHS_PER_QUARTER, SECONDS_PER_DAY, quarter_index

MONTH_TARGETS = (1, 2, 3, 4, 6, 9, 12, 18, 24)
REFERENCE_ACCELERATORS = 512
REFERENCE_SEQUENCES_EACH = 8
"""Capacity is counted on the reference job at this size: large enough for real traffic, small enough for any hall."""
DEFAULT_CONFIDENCE = 0.8
"""Of the scenario format: the share of runs that must end by the deadline."""
DENSE_STEPS = 96
GROWTH = 1.03


@dataclass(frozen=True)
class Target:
    """Where a job may run: units of accelerators on one system (or offer) at one link rate."""

    place: str
    system: str
    accelerator: str
    unit: int
    limit: int
    gb_per_s: float
    link_gbps: float
    usd_per_accelerator_hour: float = 0.0


def architecture(reference: str, question: Question) -> Architecture:
    """Shape of a catalog model, or of a ``config.json`` beside the scenario.

    Raises
    ------
    InputError
        When the file is missing or cannot be read as a model.
    """
    if not reference.endswith(".json"):
        return from_config(question.catalog.get("models", reference, Model).config)
    where: tuple[str | int, ...] = ("workloads",)
    problem = question.tree.problem("DC008", f"model {reference} leaves the project", where)
    file = inside_project(question.file, reference, problem)
    try:
        return from_config(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        cause = f"model {reference}: {error}"
        raise InputError([question.tree.problem("DC010", cause, where)]) from error


def job_terms(job: Job, question: Question, ledger: Ledger) -> JobTerms:
    """When a job may run, in months and days from the start of the horizon."""
    scenario = question.scenario
    start = quarter_index(scenario.horizon.start)
    first = quarter_index(job.start) - start if job.start else 0
    last = quarter_index(job.deadline) - start + 1 if job.deadline else scenario.horizon.quarters
    return JobTerms(
        id=job.id,
        first_month=first * MONTHS_PER_QUARTER,
        end_day=last * DAYS_PER_QUARTER,
        deadline_days=job.deadline_days.value if job.deadline_days else None,
        confidence=ledger.assumed(f"jobs.{job.id}.deadline_confidence", job.deadline_confidence, DEFAULT_CONFIDENCE),
        sites=job.sites or tuple(s.id for s in scenario.sites),
        cloud=job.sites is None,
    )


def hardware(
    accelerator: str, precision: str, gb_per_s: float, ledger: Ledger, *, moe: bool, stack: str | None = None
) -> Hardware | str:
    """Training view of an accelerator at a precision with a software stack, or why there is none."""
    catalog = ledger.catalog
    row = catalog.get("accelerators", accelerator, Accelerator)
    device = device_terms(catalog, row, scaleout_gb_per_s=gb_per_s or None)
    if isinstance(device, str):
        return device
    stack_row = catalog.find("stacks", stack or default_stack(row), Stack)
    recipe_row = catalog.find("recipes", precision, Recipe)
    if stack_row is None or recipe_row is None:
        what = f"stack {stack!r}" if stack_row is None else f"precision {precision!r}"
        return f"no {what} in the catalog"
    if precision == "bf16" and row.bf16_tflops is None:
        return f"{row.id} has no bf16"
    if recipe_row.families and row.family not in recipe_row.families:
        return f"{row.id} has no {recipe_row.id}: {', '.join(recipe_row.families)} have"
    recipe = recipe_terms(recipe_row)
    if not peak_tflops(device, recipe.gemm):
        return f"{row.id} has no dense {recipe.gemm} peak"
    terms = stack_terms(stack_row)
    record_training(ledger, row, recipe.gemm, stack_row.id)
    kernels = float(FUSED_DISPATCH) if row.family in stack_row.fused_families else 0.0
    return Hardware(
        device,
        terms,
        recipe,
        spread_frac(catalog, row, stack_row, moe=moe),
        kernels,
        streams_weights=row.kind == "wafer",
    )


SPEEDS = ("half_gemm_frac", "fp8_gemm_frac", "fp4_gemm_frac", "attention_frac", "portable_attention_frac")


def slowed(spec: Hardware, frac: float) -> Hardware:
    """Hardware whose matrix products and attention run at a share of their speed."""
    return replace(spec, device=replace(spec.device, **{n: getattr(spec.device, n) * frac for n in SPEEDS}))


def aged(spec: Hardware, row: Accelerator, start: str | None, ledger: Ledger) -> Hardware:
    """A young generation's speed: its software needs some quarters until it reaches the settled fractions.

    Speed rises in a straight line from ``maturity-first-frac`` in the quarter of availability to 1 after
    ``maturity-quarters``.
    """
    if start is None or row.available_from is None:
        return spec
    age = quarter_index(start) - quarter_index(row.available_from)
    settled = ledger.catalog.get("reliability", "maturity-quarters", Parameter).value.value
    if age >= settled:
        return spec
    first = ledger.parameter("reliability", "maturity-first-frac")
    ledger.parameter("reliability", "maturity-quarters")
    return slowed(spec, first + (1.0 - first) * max(age, 0) / settled)


def targets(
    placed: Iterable[Placement],
    options: Iterable[FabricOption],
    halls: Mapping[str, HallTerms],
    offers: Iterable[OfferTerms],
    offer_gb_per_s: Mapping[str, float],
) -> list[Target]:
    """All places a job may run: (hall, system, link rate) and offers."""
    found: dict[tuple[str, str, float], Target] = {}
    limits: dict[tuple[str, str], int] = {}
    for p in placed:
        most = p.max_racks_unit * halls[p.hall].count * p.accelerators
        limits[p.hall, p.system] = max(limits.get((p.hall, p.system), 0), most)
    by_hall: dict[str, list[FabricOption]] = {}
    for option in options:
        by_hall.setdefault(option.hall, []).append(option)
    for p in placed:
        for option in by_hall.get(p.hall, []):
            if p.port_class not in option.shares:
                continue
            link = option.link_gbps(p.port_class)
            each = p.ports / p.accelerators
            unit = p.accelerators // p.nodes
            found[p.hall, p.system, link] = Target(
                p.hall, p.system, p.accelerator, unit, limits[p.hall, p.system], each * link / 8.0, link
            )
    for offer in offers:
        found["cloud:" + offer.id, offer.accelerator, 0.0] = Target(
            "cloud:" + offer.id,
            offer.accelerator,
            offer.accelerator,
            offer.node_accelerators,
            offer.max_accelerators,
            offer_gb_per_s[offer.id],
            0.0,
            sum(offer.usd_per_accelerator_hour) / len(offer.usd_per_accelerator_hour),
        )
    return list(found.values())


class JobMenu:
    """Builds configurations; sweeps are shared between halls that hold the same system."""

    def __init__(self, question: Question, ledger: Ledger, left_out: list[LeftOut]) -> None:
        self.question, self.ledger, self.left_out = question, ledger, left_out
        ledger.parameter("reliability", "effective-training-frac")
        goodput = ledger.catalog.get("reliability", "effective-training-frac", Parameter).value
        self.goodput = (goodput.bounds[0], goodput.value, goodput.bounds[1])
        self.largest: dict[tuple[str, int, float], int] = {}
        """Largest count of an accelerator with the same unit and links, over all places."""
        self._cache: dict[tuple[object, ...], tuple[Sweep, Hardware] | str] = {}
        self._shapes: dict[str, Architecture] = {}

    def shape(self, reference: str) -> Architecture:
        """Architecture of a model reference, read once."""
        if reference not in self._shapes:
            self._shapes[reference] = architecture(reference, self.question)
        return self._shapes[reference]

    def _sweep(self, job: Job, terms: JobTerms, target: Target, precision: str) -> tuple[Sweep, Hardware] | str:
        key = (job.id, target.accelerator, target.unit, target.gb_per_s, precision)
        if key not in self._cache:
            shape = self.shape(job.model)
            moe = shape.moe_layers > 0
            spec = hardware(target.accelerator, precision, target.gb_per_s, self.ledger, moe=moe, stack=job.stack)
            images = job.images or 0.0
            if shape.tower is not None:
                images = self.ledger.assumed(f"jobs.{job.id}.images", job.images, 0.0)
            if isinstance(spec, str):
                self._cache[key] = spec
            elif (cause := refusal(shape, images, job.seq_len)) is not None:
                self._cache[key] = f"{job.model}: {cause}"
            else:
                row = self.question.catalog.get("accelerators", target.accelerator, Accelerator)
                spec = aged(spec, row, job.start or self.question.scenario.horizon.start, self.ledger)
                fixed = job.accelerators
                limit = max(self.largest.get((target.accelerator, target.unit, target.gb_per_s), 0), target.limit)
                counts = np.array([fixed] if fixed else _counts(target.unit, limit), dtype=np.float64)
                batch = job.global_batch_tokens.value
                wanted = self._wanted_s(job, terms, spec)
                self._cache[key] = sweep(shape, job.seq_len, batch, spec, counts, wanted, images), spec
        return self._cache[key]

    def _within(self, job: Job, terms: JobTerms, target: Target, precision: str) -> tuple[Sweep, Hardware] | str:
        """The shared sweep up to this place's own limit."""
        found = self._sweep(job, terms, target, precision)
        if isinstance(found, str):
            return found
        fits = found[0].accelerators <= target.limit
        return (found[0] if fits.all() else cut(found[0], int(fits.sum()))), found[1]

    def _wanted_s(self, job: Job, terms: JobTerms, spec: Hardware) -> list[float]:
        """Step times of the runs that the menu asks for."""
        steps = job.tokens.value / max(job.global_batch_tokens.value, job.seq_len)
        slower = self.run_of_one_day(spec).quantile_days(terms.confidence)
        each = SECONDS_PER_DAY / steps / slower
        return [length * each for length in _lengths(terms)]

    def run_of_one_day(self, spec: Hardware) -> RunTime:
        """Distribution of a run that takes one clean day; all its quantiles scale with the clean days."""
        low, value, high = self.goodput
        return run_time(1.0, spec.speed_low_over_high, value, low, high)

    def configs(self, job: Job, terms: JobTerms, where: Iterable[Target]) -> list[JobConfig]:
        """Non-dominated ways to run a job: for each length the smallest cluster that makes it."""
        result: list[JobConfig] = []
        where = list(where)
        for t in where:
            key = (t.accelerator, t.unit, t.gb_per_s)
            self.largest[key] = max(self.largest.get(key, 0), t.limit)
        for target in where:
            if target.place.split("/")[0] not in terms.sites and not (
                terms.cloud and target.place.startswith("cloud:")
            ):
                continue
            best: dict[int, JobConfig] = {}
            reasons = []
            for precision in job.precision:
                swept = self._within(job, terms, target, precision)
                if isinstance(swept, str):
                    reasons.append(swept)
                    continue
                found = self._by_length(job, terms, target, precision, *swept)
                if not found:
                    reasons.append(_why_none(swept[0], target, precision))
                for config in found:
                    old = best.get(config.months)
                    if old is None or (config.accelerators, config.days) < (old.accelerators, old.days):
                        best[config.months] = config
            if not best:
                self.left_out.append(LeftOut("job", job.id, f"{target.place} {target.system}", "; ".join(reasons)))
            result += _starts(_undominated(list(best.values())), terms)
        return result

    def _by_length(
        self, job: Job, terms: JobTerms, target: Target, precision: str, swept: Sweep, spec: Hardware
    ) -> list[JobConfig]:
        lengths = _lengths(terms)
        day = self.run_of_one_day(spec)
        clean = job.tokens.value / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
        days = clean * day.quantile_days(terms.confidence)
        found: dict[int, JobConfig] = {}
        for length in lengths:
            able = np.flatnonzero(days <= length)
            if not able.size or int(able[0]) in found:
                continue
            i = int(able[0])
            found[i] = JobConfig(
                job=job.id,
                place=target.place,
                system=target.system,
                accelerator=target.accelerator,
                accelerators=int(swept.accelerators[i]),
                link_gbps=target.link_gbps,
                precision=precision,
                days=float(days[i]),
                days_p50=float(clean[i] * day.p50_days),
                start_month=terms.first_month,
                layout=layout_of(swept, i),
                mfu_frac=_mfu(swept, i, spec),
                step_time_s=float(swept.step_time_s[i]),
                unit_usd=target.usd_per_accelerator_hour,
            )
        return list(found.values())

    def reference_tflops(self, capacity: Capacity, target: Target) -> float | str:
        """Model TFLOP/s one accelerator delivers on the reference job of a capacity demand."""
        ref = capacity.reference
        shape = self.shape(ref.model)
        spec = hardware(target.accelerator, ref.precision, target.gb_per_s, self.ledger, moe=shape.moe_layers > 0)
        if isinstance(spec, str):
            return spec
        count = max(REFERENCE_ACCELERATORS // target.unit, 1) * target.unit
        batch = float(ref.seq_len * REFERENCE_SEQUENCES_EACH * count)
        result = sweep(shape, ref.seq_len, batch, spec, np.array([count], dtype=np.float64))
        if not np.isfinite(result.step_time_s[0]):
            return f"{ref.model} does not fit the memory of {count} {target.accelerator}"
        return float(result.flops_per_step / result.step_time_s[0] / count / 1e12)


def _mfu(swept: Sweep, i: int, spec: Hardware) -> float:
    return float(swept.flops_per_step / swept.step_time_s[i] / (swept.accelerators[i] * spec.peak_tflops * 1e12))


def _lengths(terms: JobTerms) -> list[float]:
    """Days of the runs on the menu, ascending: months, and the longest there is time for."""
    longest = min(terms.end_day - terms.first_month * DAYS_PER_MONTH, terms.deadline_days or math.inf)
    return sorted({*(m * DAYS_PER_MONTH for m in MONTH_TARGETS if m * DAYS_PER_MONTH <= longest), longest})


def _counts(unit: int, limit: int) -> list[int]:
    """Accelerator counts to try: every unit at first, then in steps of 3 %."""
    counts, units = [], 1
    while units * unit <= limit:
        counts.append(units * unit)
        units = units + 1 if units < DENSE_STEPS else math.ceil(units * GROWTH)
    return counts or [unit]


def _why_none(swept: Sweep, target: Target, precision: str) -> str:
    if not swept.accelerators.size:
        return f"{precision}: too slow with the {target.limit} {target.accelerator} that it holds"
    if not np.isfinite(swept.step_time_s).any():
        return f"{precision}: no layout fits the memory of up to {int(swept.accelerators[-1])} {target.accelerator}"
    most = f"{precision}: too slow with up to {int(swept.accelerators[-1])} {target.accelerator}"
    return f"{most} (cloud.max_accelerators_per_offer)" if target.place.startswith("cloud:") else most


def _undominated(configs: list[JobConfig]) -> list[JobConfig]:
    """Drop configurations that need no fewer accelerators and no fewer months than another one."""
    return [
        c
        for c in configs
        if not any(
            o is not c
            and o.accelerators <= c.accelerators
            and o.months <= c.months
            and (o.accelerators, o.months) != (c.accelerators, c.months)
            for o in configs
        )
    ]


def _starts(configs: list[JobConfig], terms: JobTerms) -> list[JobConfig]:
    """Every start month that still ends in time: monthly for short runs, quarterly for long ones."""
    result = []
    for config in configs:
        step = 1 if config.months < MONTHS_PER_QUARTER else MONTHS_PER_QUARTER
        month = terms.first_month
        starts = []
        while month * DAYS_PER_MONTH + config.days <= terms.end_day + 1e-9:
            starts.append(month)
            month += step
        last = math.floor((terms.end_day - config.days) / DAYS_PER_MONTH + 1e-9)
        if last >= terms.first_month and last not in starts:
            starts.append(last)
        result += [replace(config, start_month=s) for s in sorted(starts)]
    return result
