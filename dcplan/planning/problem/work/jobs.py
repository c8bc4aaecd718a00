"""Run options of jobs on every hall system and cloud offer: accelerators and duration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import class_network, machine, policy, reclaimed, stored_bytes
from dcplan.inputs.storage import fed_step_s, unlimited, wanted
from dcplan.inputs.training.layout_cache import searched
from dcplan.inputs.training.reference_job import reference_tflops
from dcplan.inputs.training.speed import (
    aged,
    architecture,
    hardware,
    in_instance,
    linked,
    with_host,
)
from dcplan.llm.architecture import Architecture
from dcplan.llm.tables import Array
from dcplan.llm.vision import refusal
from dcplan.planning.problem.storage import cold_data_tb
from dcplan.planning.problem.work import job_options as job_choice
from dcplan.planning.problem.work.slow_storage import too_slow
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.reliability.calendar import with_delays
from dcplan.reliability.outlook import Bounds, Machine, Outlook, Policy, outlook, write_s
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Job, Reference, Storage
from dcplan.scenario.schema.work import DEADLINE_CONFIDENCE
from dcplan.training.estimate import Hardware, Sweep, cut, layout_of
from dcplan.training.grid import model_parallel_accelerators
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, SECONDS_PER_DAY, quarter_index

FAR_DAYS = 1e5
"""Duration of runs without a feasible layout."""


def job_terms(job: Job, question: Question, log: InputLog) -> JobTerms:
    """Return when a job may run, in months and days from the start of the horizon."""
    scenario = question.scenario
    start = quarter_index(scenario.horizon.start)
    first = quarter_index(job.start) - start if job.start else 0
    last = quarter_index(job.deadline) - start + 1 if job.deadline else scenario.horizon.quarters
    return JobTerms(
        id=job.id,
        first_month=first * MONTHS_PER_QUARTER,
        end_day=last * DAYS_PER_QUARTER,
        deadline_days=job.deadline_days.value if job.deadline_days else None,
        confidence=log.assumed(
            f"jobs.{job.id}.deadline_confidence", job.deadline_confidence, DEADLINE_CONFIDENCE
        ),
        sites=job.sites or tuple(s.id for s in scenario.sites),
        cloud=job.sites is None,
        dated=job.deadline is not None,
    )


class JobCandidates:
    """Builder of run options; halls with the same system share sweeps."""

    def __init__(
        self,
        question: Question,
        log: InputLog,
        excluded: list[ExcludedOption],
        delays: Mapping[tuple[str, str], Mapping[str, Bounds]] | None = None,
    ) -> None:
        self.question, self.log, self.excluded = question, log, excluded
        self.delays = delays or {}
        """Delays before a job, by hall and system: P10, P50 and P90. [days]"""
        self.largest: dict[tuple[object, ...], int] = {}
        """Largest count of an accelerator with the same unit and links, over all places."""
        self._cache: dict[tuple[object, ...], Sweep] = {}
        self._specs: dict[tuple[object, ...], Hardware | str] = {}
        self._risks: dict[tuple[object, ...], tuple[Machine, Policy]] = {}
        self._shapes: dict[str, Architecture] = {}
        self._rates: dict[tuple[object, ...], float | str] = {}

    def shape(self, reference: str) -> Architecture:
        """Return the architecture of a model reference, read once."""
        if reference not in self._shapes:
            self._shapes[reference] = architecture(reference, self.question)
        return self._shapes[reference]

    def _images(self, job: Job) -> float:
        """Return the images per sequence; 0 for a model without an encoder."""
        if self.shape(job.model).tower is None:
            return job.images or 0.0
        return self.log.assumed(f"jobs.{job.id}.images", job.images, 0.0)

    def _hardware(self, job: Job, target: Target, precision: str) -> Hardware | str:
        """Return the training numbers of a target, including the maturity of its software."""
        host = self._host(target)
        at = host.id if host else target.unit if target.offer else None
        key = (job.id, target.accelerator, target.gb_per_s, target.link, precision, at)
        if key not in self._specs:
            moe = self.shape(job.model).moe_layers > 0
            spec = hardware(
                target.accelerator, precision, target.gb_per_s, self.log, moe=moe, stack=job.stack
            )
            cause = refusal(self.shape(job.model), self._images(job), job.seq_len)
            if cause is not None:
                spec = f"{job.model}: {cause}"
            if not isinstance(spec, str):
                row = self.question.catalog.get("accelerators", target.accelerator, Accelerator)
                spec = linked(spec, target.link.exchange_frac, in_network=target.link.in_network)
                spec = with_host(spec, host, self.log)
                if target.offer is not None:
                    spec = in_instance(spec, target.unit)
                spec = aged(spec, row, job.start or self.question.scenario.horizon.start, self.log)
            self._specs[key] = spec
        return self._specs[key]

    def _host(self, target: Target) -> System | None:
        """Return the system of a place if its host memory is known; that of rented nodes is not."""
        row = None if is_cloud(target.place) else self._system(target, cloud=False)
        return row if row is not None and row.host_dram_gb is not None else None

    def _sweep(
        self, job: Job, terms: JobTerms, target: Target, precision: str
    ) -> tuple[Sweep, Hardware] | str:
        spec = self._hardware(job, target, precision)
        if isinstance(spec, str):
            return spec
        links = (target.unit, target.gb_per_s, target.link)
        key = (
            job.id,
            target.accelerator,
            *links,
            precision,
            spec.device.host_gb,
            spec.device.domain,
        )
        if key not in self._cache:
            fixed = job.accelerators
            limit = max(
                self.largest.get(
                    (target.accelerator, target.unit, target.gb_per_s, target.link), 0
                ),
                target.limit,
            )
            counts = tuple(
                float(n) for n in ([fixed] if fixed else job_choice.counts(target.unit, limit))
            )
            batch = job.global_batch_tokens.value
            goodputs = (
                self.log.parameter("reliability", "usual-goodput-frac"),
                self.log.parameter("reliability", "low-goodput-frac"),
            )
            wanted = tuple(job_choice.wanted_s(job, terms, spec, *goodputs))
            shape, images = self.shape(job.model), self._images(job)
            self._cache[key] = searched(shape, job.seq_len, batch, spec, counts, wanted, images)
        return self._cache[key], spec

    def _within(
        self, job: Job, terms: JobTerms, target: Target, precision: str
    ) -> tuple[Sweep, Hardware] | str:
        """Return the shared sweep up to the limit of this place."""
        found = self._sweep(job, terms, target, precision)
        if isinstance(found, str):
            return found
        fits = found[0].accelerators <= target.limit
        return (found[0] if fits.all() else cut(found[0], int(fits.sum()))), found[1]

    def _outlook(
        self,
        job: Job,
        target: Target,
        swept: Sweep,
        spec: Hardware,
        clean: Array,
        left: int | None = None,
        *,
        free: bool = False,
    ) -> Outlook:
        """Return stops, checkpoints and spares of the job at every count of a sweep.

        ``free`` ignores the rates of a storage of given capacity.
        """
        scenario, cloud = self.question.scenario, is_cloud(target.place)
        reclaims = target.offer is not None and target.offer.reclaims_per_instance_h > 0
        key = (target.system, target.network, target.redundancy, cloud, reclaims, free)
        if key not in self._risks:
            row = self._system(target, cloud=cloud)
            network = target.network or class_network(float(swept.accelerators[-1]), self.log)
            part, _ = machine(row, network, self.log, scenario.reliability)
            storage = unlimited(scenario.storage) if free else self._storage(target)
            rules = policy(scenario.reliability, storage, self.log, target.redundancy)
            rules = replace(rules, provider_spares=cloud)
            if target.offer is not None and reclaims:
                part, rules = reclaimed(
                    part, rules, target.offer.reclaims_per_instance_h, target.offer.wait_h
                )
            self._risks[key] = part, rules
        part, rules = self._risks[key]
        if left is not None:
            rules = replace(rules, spares=left // part.node_accelerators)
        group = model_parallel_accelerators(swept.layouts, spec.device.ranks)
        size = stored_bytes(self.shape(job.model), spec)
        return outlook(
            part,
            rules,
            swept.accelerators,
            size,
            group,
            np.where(np.isfinite(clean), clean, FAR_DAYS),
        )

    def _storage(self, target: Target) -> Storage | None:
        """Return the storage of a place; a given capacity is not in the cloud."""
        storage = self.question.scenario.storage
        return unlimited(storage) if is_cloud(target.place) else storage

    def _lost_to_storage(
        self,
        job: Job,
        target: Target,
        swept: Sweep,
        spec: Hardware,
        terms: JobTerms,
        left: int | None,
        days: Array,
    ) -> dict[str, Array]:
        """Return what a storage of given capacity costs at every count; empty without one."""
        storage = self._storage(target)
        if storage is None or storage.usable_pb is None:
            return {}
        step = fed_step_s(unlimited(storage), swept, self.log)
        clean = job.tokens.value / swept.tokens_per_step * step / SECONDS_PER_DAY
        expected = self._outlook(job, target, swept, spec, clean, left, free=True)
        free = expected.run(clean, spec.spread_frac).quantile_days(terms.confidence)
        level, given = (
            policy(self.question.scenario.reliability, x, self.log)
            for x in (unlimited(storage), storage)
        )
        counts, size = swept.accelerators, stored_bytes(self.shape(job.model), spec)
        with np.errstate(invalid="ignore"):  # no layout, no days
            lost = days - np.asarray(free)
        return {
            "storage_lost_days": lost,
            "free_step_s": step,
            "level_write_s": write_s(level, counts, size),
            "checkpoint_write_s": write_s(given, counts, size),
            "given_read_gb_per_s": np.full_like(counts, given.given_read_gb_per_s),
            "given_write_gb_per_s": np.full_like(counts, given.given_write_gb_per_s),
        }

    def _last_goodput(self, job: Job, target: Target, swept: Sweep, spec: Hardware) -> float | None:
        """Return the goodput at the largest count, for the reason of an exclusion."""
        if not swept.accelerators.size or not np.isfinite(swept.step_time_s[-1]):
            return None
        clean = job.tokens.value / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
        return float(np.asarray(self._outlook(job, target, swept, spec, clean).goodput.value)[-1])

    def _system(self, target: Target, *, cloud: bool) -> System:
        """Return the system of a hall, or any system with the rented accelerator."""
        catalog = self.question.catalog
        if not cloud:
            return catalog.get("systems", target.system, System)
        rows = [
            r
            for r in catalog.table("systems", System).values()
            if r.accelerator == target.accelerator
        ]
        plain = System(
            id=target.accelerator,
            name=target.accelerator,
            source=catalog.get("accelerators", target.accelerator, Accelerator).source,
            accelerator=target.accelerator,
            accelerators=target.unit,
            form="server",
            cooling_modes=("air",),
        )
        return min(rows, key=lambda r: abs(r.accelerators - target.unit)) if rows else plain

    def run_options(self, job: Job, terms: JobTerms, where: Iterable[Target]) -> list[RunOption]:
        """Return the non-dominated run options of a job: the smallest cluster for each duration."""
        result: list[RunOption] = []
        where = list(where)
        for t in where:
            key = (t.accelerator, t.unit, t.gb_per_s, t.link)
            self.largest[key] = max(self.largest.get(key, 0), t.limit)
        for target in where:
            if target.place.split("/")[0] not in terms.sites and not (
                terms.cloud and is_cloud(target.place)
            ):
                continue
            best: dict[float, RunOption] = {}
            reasons: list[tuple[str, Cause]] = []
            for precision in job.precision:
                swept = self._within(job, terms, target, precision)
                if isinstance(swept, str):
                    reasons.append((swept, Cause.UNSUPPORTED))
                    continue
                found = self._by_length(job, terms, target, precision, *swept)
                if not found:
                    text, cause = job_choice.why_none(
                        swept[0], target, precision, self._last_goodput(job, target, *swept)
                    )
                    text += too_slow(self._storage(target), swept[0], self.log)
                    reasons.append((text, cause))
                for config in found:
                    length = job_choice.length(config, terms)
                    old = best.get(length)
                    if old is None or (config.accelerators, config.days) < (
                        old.accelerators,
                        old.days,
                    ):
                        best[length] = config
            if not best:
                causes = {cause for _, cause in reasons}
                memory = Cause.MEMORY in causes
                self.excluded.append(
                    ExcludedOption(
                        Kind.JOB,
                        job.id,
                        f"{target.place} {target.system}",
                        "; ".join(dict.fromkeys(text for text, _ in reasons)),
                        Cause.MEMORY
                        if memory
                        else Cause.UNSUPPORTED
                        if causes == {Cause.UNSUPPORTED}
                        else Cause.OTHER,
                    )
                )
            result += job_choice.starts(job_choice.undominated(list(best.values()), terms), terms)
        return result

    def _by_length(
        self,
        job: Job,
        terms: JobTerms,
        target: Target,
        precision: str,
        swept: Sweep,
        spec: Hardware,
    ) -> list[RunOption]:
        if not swept.accelerators.size:
            return []
        storage, unfed, left = self._storage(target), swept, None
        swept = replace(swept, step_time_s=fed_step_s(storage, swept, self.log))
        clean = job.tokens.value / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
        expected = self._outlook(job, target, swept, spec, clean)
        if job.accelerators and job.accelerators + expected.spares[0] > target.limit:
            # all remaining accelerators are spares
            left = max(target.limit - job.accelerators, 0)
            expected = self._outlook(job, target, swept, spec, clean, left)
        run = expected.run(clean, spec.spread_frac)
        days = np.asarray(run.quantile_days(terms.confidence))
        delays = self.delays.get((target.place, target.system), {})
        late, soon = (
            with_delays(run, delays),
            with_delays(run, job_choice.after(delays, DAYS_PER_QUARTER)),
        )
        ends, ahead = (np.asarray(x.quantile_days(terms.confidence)) for x in (late, soon))
        existing = swept.accelerators + expected.spares
        size = stored_bytes(self.shape(job.model), spec)
        stored = wanted(storage, 1.0, job.tokens.value, 0.0, size, self.log).usable_tb
        stored -= cold_data_tb(self.question, self.log)
        slow = self._lost_to_storage(job, target, unfed, spec, terms, left, days)
        longest = (target.offer and target.offer.longest_days) or np.inf
        found: dict[int, RunOption] = {}
        for length in job_choice.lengths(terms):
            able = np.flatnonzero((days <= min(length, longest)) & (existing <= target.limit))
            if not able.size or int(able[0]) in found:
                continue
            i = int(able[0])
            kept = {"stored_tb": stored} | {name: float(x[i]) for name, x in slow.items()}
            found[i] = RunOption(
                job=job.id,
                place=target.place,
                system=target.system,
                accelerator=target.accelerator,
                accelerators=int(existing[i]),
                link=target.link,
                precision=precision,
                days=float(days[i]),
                days_p50=float(np.asarray(run.p50_days)[i]),
                start_month=terms.first_month,
                layout=layout_of(swept, i),
                mfu_frac=job_choice.mfu(swept, i, spec),
                step_time_s=float(swept.step_time_s[i]),
                spares=int(expected.spares[i]),
                used=round(float(swept.used[i])),
                end_days=float(ends[i]),
                ahead_days=float(ahead[i]),
                outlook=job_choice.facts(expected, late, i) | kept,
                ahead_outlook=job_choice.facts(expected, soon, i) | kept,
            )
        return list(found.values())

    def reference_tflops(self, ref: Reference, target: Target) -> float | str:
        """Return the model TFLOP/s of one accelerator on a reference job."""
        key = (
            ref.model,
            ref.seq_len,
            ref.precision,
            target.accelerator,
            target.unit,
            target.gb_per_s,
        )
        if key not in self._rates:
            self._rates[key] = reference_tflops(
                ref,
                self.shape(ref.model),
                target.accelerator,
                target.unit,
                target.gb_per_s,
                self.log,
            )
        return self._rates[key]
