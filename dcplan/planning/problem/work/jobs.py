"""Run options of jobs on every hall system and cloud offer: accelerators and duration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import class_network, machine, policy, reclaimed
from dcplan.inputs.storage import unlimited, wanted
from dcplan.inputs.training.reference_job import reference_tflops
from dcplan.llm.tables import Array
from dcplan.planning.problem.storage import cold_data_tb
from dcplan.planning.problem.work import job_options as job_choice
from dcplan.planning.problem.work.pace import Pace
from dcplan.planning.problem.work.paces import Asked, Goal, Paces
from dcplan.planning.problem.work.slow_storage import too_slow
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.planning.problem.work.timeline import Ends, Timeline, ends
from dcplan.reliability.calendar import with_delays
from dcplan.reliability.outlook import Bounds, Machine, Outlook, Policy, outlook, write_s
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Job, Reference, ScheduledJob, Storage
from dcplan.scenario.schema.jobs import DEADLINE_CONFIDENCE
from dcplan.training.estimate import Hardware
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER, SECONDS_PER_DAY, quarter_index

FAR_DAYS = 1e5
"""Duration of runs without a feasible layout."""


def job_terms(job: ScheduledJob, question: Question, log: InputLog) -> JobTerms:
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
        self._risks: dict[tuple[object, ...], tuple[Machine, Policy]] = {}
        self._paces = Paces(question, log)
        self._timelines: dict[tuple[object, ...], Timeline] = {}
        self._late: dict[tuple[object, ...], tuple[Ends, Ends]] = {}
        self._rates: dict[tuple[object, ...], float | str] = {}

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

    def _outlook(
        self,
        target: Target,
        pace: Pace,
        clean: Array,
        left: int | None = None,
        *,
        free: bool = False,
    ) -> Outlook:
        """Return stops, checkpoints and spares of a job at every count.

        ``free`` ignores the rates of a storage of given capacity.
        """
        scenario, cloud = self.question.scenario, is_cloud(target.place)
        key = (*self._risk_key(target), free)
        if key not in self._risks:
            row = self._system(target, cloud=cloud)
            size = float(
                pace.accelerators[pace.accelerators <= target.limit].max(initial=target.unit)
            )
            network = target.network or class_network(size, self.log)
            part, _ = machine(row, network, self.log, scenario.reliability)
            storage = unlimited(scenario.storage) if free else self._storage(target)
            rules = policy(scenario.reliability, storage, self.log, target.redundancy)
            rules = replace(rules, provider_spares=cloud)
            if target.offer is not None and target.offer.reclaims_per_instance_h > 0:
                part, rules = reclaimed(
                    part, rules, target.offer.reclaims_per_instance_h, target.offer.wait_h
                )
            self._risks[key] = part, rules
        part, rules = self._risks[key]
        if left is not None:
            rules = replace(rules, spares=left // part.node_accelerators)
        return outlook(
            part,
            rules,
            pace.accelerators,
            pace.checkpoint_bytes,
            pace.group,
            np.where(np.isfinite(clean), clean, FAR_DAYS),
        )

    def _risk_key(self, target: Target) -> tuple[object, ...]:
        """Return what the stops and the operation of a place depend on."""
        reclaims = target.offer is not None and target.offer.reclaims_per_instance_h > 0
        cloud = is_cloud(target.place)
        return (target.system, target.network, target.redundancy, cloud, reclaims)

    def _storage(self, target: Target) -> Storage | None:
        """Return the storage of a place; a given capacity is not in the cloud."""
        storage = self.question.scenario.storage
        return unlimited(storage) if is_cloud(target.place) else storage

    def _lost_to_storage(
        self, target: Target, pace: Pace, terms: JobTerms, left: int | None, days: Array
    ) -> dict[str, Array]:
        """Return what a storage of given capacity costs at every count; empty without one."""
        storage = self._storage(target)
        if storage is None or storage.usable_pb is None:
            return {}
        step = pace.fed(unlimited(storage), self.log).step_time_s
        clean = pace.clean_days(step)
        expected = self._outlook(target, pace, clean, left, free=True)
        free = expected.run(clean, pace.spread_frac).quantile_days(terms.confidence)
        level, given = (
            policy(self.question.scenario.reliability, x, self.log)
            for x in (unlimited(storage), storage)
        )
        counts, size = pace.accelerators, pace.checkpoint_bytes
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

    def _last_goodput(self, target: Target, pace: Pace) -> float | None:
        """Return the goodput at the largest count, for the reason of an exclusion."""
        if not pace.accelerators.size or not np.isfinite(pace.step_time_s[-1]):
            return None
        clean = pace.clean_days(pace.step_time_s)
        return float(np.asarray(self._outlook(target, pace, clean).goodput.value)[-1])

    def run_options(
        self, job: ScheduledJob, terms: JobTerms, where: Iterable[Target]
    ) -> list[RunOption]:
        """Return the non-dominated run options of a job: the smallest cluster for each duration."""
        result: list[RunOption] = []
        where = list(where)
        for t in where:
            key = (t.accelerator, t.unit, t.gb_per_s, t.link)
            self.largest[key] = max(self.largest.get(key, 0), t.limit)
        able = [
            t
            for t in where
            if t.place.split("/")[0] in terms.sites or (terms.cloud and is_cloud(t.place))
        ]
        if isinstance(job, Job):
            asked = self._asked(job, terms, able)
            self._paces.search(asked)
            self._paces.refine((x, self._near(x, terms)) for x in asked)
        for target in able:
            best = self._best(job, terms, target)
            result += job_choice.starts(job_choice.undominated(best, terms), terms)
        return result

    def _asked(self, job: Job, terms: JobTerms, where: Iterable[Target]) -> list[Asked]:
        """Return a training job on all targets."""
        return [
            Asked(
                job,
                t,
                precision,
                self.largest[t.accelerator, t.unit, t.gb_per_s, t.link],
                partial(self._wanted_s, job, terms, t),
            )
            for t in where
            for precision in job.precision
        ]

    def _near(self, asked: Asked, terms: JobTerms) -> set[int]:
        """Return the places of the counts of run options, and of the next smaller counts."""
        pace = self._paces.pace(asked.job, asked.target, asked.precision, asked.largest)
        if isinstance(pace, str) or asked.job.accelerators:
            return set()
        time = self._timeline(asked.target, pace, terms)
        found = set(self._counts(time, asked.target, terms))
        return found

    def _counts(self, time: Timeline, target: Target, terms: JobTerms) -> list[int]:
        """Return the place of the smallest count of each duration to try."""
        longest = (target.offer and target.offer.longest_days) or np.inf
        fits = time.existing <= target.limit
        found: list[int] = []
        for length in job_choice.lengths(terms):
            able = np.flatnonzero((time.days <= min(length, longest)) & fits)
            if able.size and int(able[0]) not in found:
                found.append(int(able[0]))
        return found

    def _wanted_s(self, job: Job, terms: JobTerms, target: Target, spec: Hardware) -> Goal:
        """Return the step times of the durations to try at the goodput of some counts."""
        lengths = job_choice.lengths(terms)
        largest = self.largest[target.accelerator, target.unit, target.gb_per_s, target.link]
        counts = job_choice.sample_counts(target.unit, largest)
        steps = job.tokens.value / max(job.global_batch_tokens.value, job.seq_len)
        pace = self._paces.blank(job, spec, counts)
        clean = np.full(counts.size, lengths[len(lengths) // 2])
        run = self._outlook(target, pace, clean).run(clean, spec.spread_frac)
        each = clean / np.asarray(run.quantile_days(terms.confidence)) * SECONDS_PER_DAY / steps
        return tuple(tuple((x * each).tolist()) for x in lengths), tuple(counts.tolist())

    def _best(self, job: ScheduledJob, terms: JobTerms, target: Target) -> list[RunOption]:
        """Return the smallest option of each duration over all precisions, or exclude the place."""
        best: dict[float, RunOption] = {}
        reasons: list[tuple[str, Cause]] = []
        largest = self.largest[target.accelerator, target.unit, target.gb_per_s, target.link]
        for precision in job.precision:
            pace = self._paces.pace(job, target, precision, largest)
            if isinstance(pace, str):
                reasons.append((pace, Cause.UNSUPPORTED))
                continue
            found = self._by_length(job, terms, target, precision, pace)
            if not found:
                pace = pace.within(target.limit)
                goodput = self._last_goodput(target, pace)
                text, cause = job_choice.why_none(pace, target, precision, goodput)
                text += too_slow(self._storage(target), pace, self.log)
                reasons.append((text, cause))
            for config in found:
                length = job_choice.length(config, terms)
                old = best.get(length)
                if old is None or (config.accelerators, config.days) < (old.accelerators, old.days):
                    best[length] = config
        if not best:
            where = f"{target.place} {target.system}"
            text = "; ".join(dict.fromkeys(text for text, _ in reasons))
            cause = job_choice.joint_cause([cause for _, cause in reasons])
            self.excluded.append(ExcludedOption(Kind.JOB, job.id, where, text, cause))
        return list(best.values())

    def _by_length(
        self, job: ScheduledJob, terms: JobTerms, target: Target, precision: str, pace: Pace
    ) -> list[RunOption]:
        """Return the smallest option of each duration to try."""
        if not (pace.accelerators <= target.limit).any():
            return []
        time = self._timeline(target, pace, terms)
        if job.accelerators and job.accelerators + time.expected.spares[0] > target.limit:
            # all remaining accelerators are spares
            time = self._timeline(target, pace, terms, max(target.limit - job.accelerators, 0))
        late, soon = self._ends(time, target, terms)
        storage = self._storage(target)
        stored = wanted(storage, 1.0, pace.tokens, 0.0, pace.checkpoint_bytes, self.log).usable_tb
        stored -= cold_data_tb(self.question, self.log)
        found: list[RunOption] = []
        for i in self._counts(time, target, terms):
            kept = {"stored_tb": stored} | {name: float(x[i]) for name, x in time.slow.items()}
            option = RunOption(
                job=job.id,
                place=target.place,
                system=target.system,
                accelerator=target.accelerator,
                accelerators=int(time.existing[i]),
                link=target.link,
                precision=precision,
                days=float(time.days[i]),
                days_p50=time.p50_days[i],
                start_month=terms.first_month,
                layout=pace.layout(i),
                mfu_frac=None if np.isnan(pace.mfu_frac[i]) else float(pace.mfu_frac[i]),
                step_time_s=float(time.step_time_s[i]),
                spares=int(time.expected.spares[i]),
                used=round(float(pace.used[i])),
                end_days=late.days[i],
                ahead_days=soon.days[i],
                outlook=late.facts(i) | kept,
                ahead_outlook=soon.facts(i) | kept,
            )
            found.append(option)
        return found

    def _timeline(
        self, target: Target, pace: Pace, terms: JobTerms, left: int | None = None
    ) -> Timeline:
        """Return the durations of a job at every count; places with the same hardware share them."""
        key = (
            terms.id,
            id(pace),
            self._risk_key(target),
            target.place if left is not None else "",
            left,
        )
        if key not in self._timelines:
            storage = self._storage(target)
            fed = pace.fed(storage, self.log)
            clean = fed.clean_days(fed.step_time_s)
            expected = self._outlook(target, fed, clean, left)
            run = expected.run(clean, pace.spread_frac)
            days = np.asarray(run.quantile_days(terms.confidence))
            slow = self._lost_to_storage(target, pace, terms, left, days)
            self._timelines[key] = Timeline(pace, fed.step_time_s, expected, run, days, slow)
        return self._timelines[key]

    def _ends(self, time: Timeline, target: Target, terms: JobTerms) -> tuple[Ends, Ends]:
        """Return the ends of a job with the delays of a place, and one quarter of delay less."""
        delays = self.delays.get((target.place, target.system), {})
        key = (id(time), tuple(sorted(delays.items())))
        if key not in self._late:
            runs = (
                with_delays(time.run, delays),
                with_delays(time.run, job_choice.after(delays, DAYS_PER_QUARTER)),
            )
            late, soon = (ends(time.expected, run, terms.confidence) for run in runs)
            self._late[key] = late, soon
        return self._late[key]

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
                self._paces.shape(ref.model),
                target.accelerator,
                target.unit,
                target.gb_per_s,
                self.log,
            )
        return self._rates[key]
