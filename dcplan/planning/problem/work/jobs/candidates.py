"""Run options of jobs on every hall system and cloud offer: accelerators and duration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import wanted
from dcplan.llm.tables import Array
from dcplan.planning.problem.storage import cold_data_tb
from dcplan.planning.problem.work.jobs import choice
from dcplan.planning.problem.work.jobs.larger import Larger, between
from dcplan.planning.problem.work.jobs.outlooks import Outlooks, storage_at
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.jobs.paces import Asked, Goal, Paces
from dcplan.planning.problem.work.jobs.slow_storage import too_slow
from dcplan.planning.problem.work.jobs.timelines import Ends, Timeline, Timelines
from dcplan.planning.problem.work.spans import divided
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.reliability.job import Bounds
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Job, ScheduledJob
from dcplan.training.estimate import Hardware
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, SECONDS_PER_DAY

SEARCH_SHORT_FRAC = 0.5
"""Share of the shortest duration to try below which a run surely is, with any layout: a layout changes
its stops a little, too."""


class JobCandidates:
    """Builder of run options; halls with the same system share sweeps."""

    def __init__(
        self,
        question: Question,
        log: InputLog,
        excluded: list[ExcludedOption],
        larger: Larger,
        delays: Mapping[tuple[str, str], Mapping[str, Bounds]] | None = None,
    ) -> None:
        self.question, self.log, self.excluded, self.larger = question, log, excluded, larger
        self.largest: dict[tuple[object, ...], int] = {}
        """Largest count of an accelerator with the same unit and links, over all places."""
        self.paces = Paces(question, log)
        self._outlooks = Outlooks(question, log)
        self._timelines = Timelines(self._outlooks, delays or {})
        self._made: dict[tuple[int, int, str], tuple[float, dict[int, RunOption]]] = {}
        """Stored terabytes and options by count, of timeline, ends and precision."""
        self._runs = 0

    def run_options(
        self, job: ScheduledJob, terms: JobTerms, where: Iterable[Target]
    ) -> list[RunOption]:
        """Return the run options of a job: the smallest cluster for each duration, and larger ones.

        Larger ones are only of places and quarters in which they may be the better choice.
        """
        result: list[RunOption] = []
        where = list(where)
        for t in where:
            key = (t.accelerator, t.unit, t.gb_per_s, t.link)
            self.largest[key] = max(self.largest.get(key, 0), t.limit)
        able = [
            t
            for t in where
            if all(x.split("/")[0] in terms.sites for x in t.halls)
            or (terms.cloud and is_cloud(t.place))
        ]
        able = [t for t in able if not self._undivided(job, t)]
        if isinstance(job, Job):
            asked = self._asked(job, terms, able)
            self.paces.search(asked)
            self.paces.refine((x, self._near(x, terms)) for x in asked)
        for target in able:
            best = self._best(job, terms, target)
            found = choice.starts(choice.undominated(best, terms), terms)
            found += self._just_in_time(job, terms, target, found)
            for run in (*found, *self._larger(job, terms, target, best)):
                self._runs += 1
                result += divided(run, target, f"{job.id}#{self._runs}")
            if best and not found:
                at, text = target.label, choice.too_late(best, terms)
                self.excluded.append(ExcludedOption(Kind.JOB, job.id, at, text, Cause.LATE))
        return result

    def _undivided(self, job: ScheduledJob, target: Target) -> bool:
        """Return whether the halls of a target have no equal parts, and record the reason."""
        n, reason = target.count, ""
        if n > 1 and isinstance(job, Job):
            sequences = job.global_batch_tokens.value / job.seq_len / n
            if sequences < 1.0:
                reason = f"global_batch_tokens has less than one sequence for each of its {n} halls"
            if job.accelerators and job.accelerators % target.unit:
                reason = f"{job.accelerators:,} accelerators do not divide among its {n} halls"
        if reason:
            where = target.label
            self.excluded.append(ExcludedOption(Kind.JOB, job.id, where, reason))
        return bool(reason)

    def _asked(self, job: Job, terms: JobTerms, where: Iterable[Target]) -> list[Asked]:
        """Return a training job on all targets."""
        return [
            Asked(job, t, precision, self._most(t), partial(self._wanted_s, job, terms, t))
            for t in where
            for precision in job.precision
        ]

    def _near(self, asked: Asked, terms: JobTerms) -> set[int]:
        """Return the places of the counts of run options, and of the next smaller counts."""
        pace = self.paces.pace(asked.job, asked.target, asked.precision, asked.largest)
        if isinstance(pace, str) or asked.job.accelerators:
            return set()
        time = self._timelines.of(asked.target, pace, terms)
        found = self._counts(time, asked.target, terms)
        if self._tries_larger(asked.job, terms, asked.target):
            tried = self._between(time, asked.target, terms, time.existing[found].tolist())
            found += self._unsure(tried, time, asked.target, terms)
        return {*found, *self._in_time(time, asked.target, terms)}

    def _unsure(
        self, places: list[int], time: Timeline, target: Target, terms: JobTerms
    ) -> list[int]:
        """Return the counts that may be an option of their own once all their layouts are searched.

        One count that is far below a quarter and below every duration to try leaves out all larger
        ones: with any layout, a larger one is as short, or it is slower than a smaller one.
        """
        if self.larger.every:
            return places
        left_days = [terms.end_day - m * DAYS_PER_MONTH for m in choice.quarter_starts(terms)]
        lengths = choice.lengths(terms)
        short = SEARCH_SHORT_FRAC * min(lengths[0], DAYS_PER_QUARTER)
        surely = (time.days <= short) & (time.existing <= target.limit)
        for ends in self._timelines.ends(time, target, terms):
            end_days = np.asarray(ends.days) + short
            surely &= end_days <= min((x for x in left_days if x > 0), default=np.inf)
        enough = time.existing[surely].min(initial=np.inf)
        return [i for i in places if time.existing[i] < enough]

    def _counts(self, time: Timeline, target: Target, terms: JobTerms) -> list[int]:
        """Return the place of the smallest count of each duration to try."""
        able = (time.existing <= target.limit) & (time.days <= _longest_days(target))
        return list(dict.fromkeys(_first(time.days, able, choice.lengths(terms))))

    def _in_time(self, time: Timeline, target: Target, terms: JobTerms) -> list[int]:
        """Return the places of the smallest counts that end by the deadline, delays included.

        One is for each quarter of the start, and one for hardware that is in service a quarter earlier.
        """
        found = set[int]()
        if terms.dated:
            fits = (time.existing <= target.limit) & (time.days <= _longest_days(target))
            if terms.deadline_days is not None:
                fits &= time.days <= terms.deadline_days
            left_days = [terms.end_day - m * DAYS_PER_MONTH for m in choice.quarter_starts(terms)]
            for ends in self._timelines.ends(time, target, terms):
                found.update(_first(np.asarray(ends.days), fits, left_days))
        return sorted(found)

    def _just_in_time(
        self, job: ScheduledJob, terms: JobTerms, target: Target, found: list[RunOption]
    ) -> list[RunOption]:
        """Return the smallest option that ends by the deadline from each start, if none is as small."""
        if not terms.dated or job.accelerators:
            return []
        least: dict[tuple[int, int], int] = {}
        for x in found:
            key = (x.start_month, x.lead_months)
            least[key] = min(x.accelerators, least.get(key, x.accelerators))
        best: dict[tuple[int, int], RunOption] = {}
        chosen = partial(self._in_time, target=target, terms=terms)
        for precision in job.precision:
            pace = self.paces.pace(job, target, precision, self._most(target))
            if isinstance(pace, str):
                continue
            for x in self._sized(job, terms, target, precision, pace, chosen):
                for key in choice.start_months(x, terms):
                    if x.accelerators < least.get(key, np.inf):
                        least[key], best[key] = x.accelerators, x
        quarters = choice.quarter_starts(terms)
        return [x.starting(*key) for key, x in best.items() if key[0] in quarters]

    def _tries_larger(self, job: ScheduledJob, terms: JobTerms, target: Target) -> bool:
        """Return whether sizes between those of the durations to try are added."""
        return not (job.accelerators or terms.extra_days) and bool(self.larger.pays(target))

    def _between(
        self, time: Timeline, target: Target, terms: JobTerms, chosen: Iterable[float]
    ) -> list[int]:
        """Return the places of counts from the smallest chosen one on."""
        longest = min(choice.lengths(terms)[-1], _longest_days(target))
        able = (time.days <= longest) & (time.existing <= target.limit)
        return [i for i in between(time.existing.tolist(), chosen, self.larger.step) if able[i]]

    def _larger(
        self, job: ScheduledJob, terms: JobTerms, target: Target, best: list[RunOption]
    ) -> list[RunOption]:
        """Return options between the sizes of the durations to try, where they may pay.

        Below a quarter, a larger cluster fills a hall no more: it runs for fewer days.
        """
        if not best or not self._tries_larger(job, terms, target):
            return []
        sizes = [x.accelerators for x in best]
        fastest: dict[int, RunOption] = {}
        for precision in job.precision:
            pace = self.paces.pace(job, target, precision, self._most(target))
            if isinstance(pace, str):
                continue
            chosen = partial(self._between, target=target, terms=terms, chosen=sizes)
            for one in self._sized(job, terms, target, precision, pace, chosen):
                old = fastest.get(one.accelerators)
                if old is None or one.days < old.days:
                    fastest[one.accelerators] = one
        kept = choice.quicker(list(fastest.values()), best)
        kept = [x for x in kept if self.larger.every or x.days > DAYS_PER_QUARTER]
        pays = self.larger.pays(target)
        return [x for x in choice.starts(kept, terms) if x.serving_quarter in pays]

    def _most(self, target: Target) -> int:
        """Return the largest count of all places with the hardware of a target."""
        return self.largest[target.accelerator, target.unit, target.gb_per_s, target.link]

    def _wanted_s(self, job: Job, terms: JobTerms, target: Target, spec: Hardware) -> Goal:
        """Return the step times of the durations to try at the goodput of some counts."""
        lengths = choice.lengths(terms)
        counts = choice.sample_counts(target.unit, self._most(target))
        tokens = job.tokens.value * (1.0 + target.exchange.extra_tokens_frac)
        steps = tokens / max(job.global_batch_tokens.value, job.seq_len)
        pace = self.paces.blank(job, target, spec, counts)
        clean = np.full(counts.size, lengths[len(lengths) // 2])
        run = self._outlooks.of(target, pace, clean).run(clean, spec.spread_frac)
        each = clean / np.asarray(run.quantile_days(terms.confidence)) * SECONDS_PER_DAY / steps
        return tuple(tuple((x * each).tolist()) for x in lengths), tuple(counts.tolist())

    def _best(self, job: ScheduledJob, terms: JobTerms, target: Target) -> list[RunOption]:
        """Return the smallest option of each duration over all precisions, or exclude the place."""
        best: dict[float, RunOption] = {}
        reasons: list[tuple[str, Cause]] = []
        for precision in job.precision:
            pace = self.paces.pace(job, target, precision, self._most(target))
            if isinstance(pace, str):
                reasons.append((pace, Cause.UNSUPPORTED))
                continue
            chosen = partial(self._counts, target=target, terms=terms)
            found = self._sized(job, terms, target, precision, pace, chosen)
            if not found:
                pace = pace.within(target.limit)
                goodput = self._outlooks.last_goodput(target, pace)
                text, cause = choice.why_none(pace, target, precision, goodput)
                text += too_slow(storage_at(target, self.question.scenario), pace, self.log)
                reasons.append((text, cause))
            for config in found:
                length = choice.length(config, terms)
                old = best.get(length)
                if old is None or (config.accelerators, config.days) < (old.accelerators, old.days):
                    best[length] = config
        if not best:
            where = target.label
            text = "; ".join(dict.fromkeys(text for text, _ in reasons))
            cause = choice.joint_cause([cause for _, cause in reasons])
            self.excluded.append(ExcludedOption(Kind.JOB, job.id, where, text, cause))
        return list(best.values())

    def _sized(
        self,
        job: ScheduledJob,
        terms: JobTerms,
        target: Target,
        precision: str,
        pace: Pace,
        chosen: Callable[[Timeline], list[int]],
    ) -> list[RunOption]:
        """Return the options of the chosen counts."""
        if not (pace.accelerators <= target.limit).any():
            return []
        time = self._timelines.of(target, pace, terms)
        if job.accelerators and job.accelerators + time.expected.spares[0] > target.limit:
            # all remaining accelerators are spares
            time = self._timelines.of(target, pace, terms, max(target.limit - job.accelerators, 0))
        late, soon = self._timelines.ends(time, target, terms)
        key = (id(time), id(late), precision)
        if key not in self._made:
            self._made[key] = self._stored_tb(target, pace), {}
        stored, made = self._made[key]
        places = chosen(time)
        for i in places:
            if i not in made:
                made[i] = _option(target, terms, precision, time, (late, soon), stored, i)
        here = {
            "place": target.place,
            "system": target.system,
            "accelerator": target.accelerator,
            "link": target.link,
            "cuts": target.cuts,
        }
        return [made[i].changed(here) for i in places]

    def _stored_tb(self, target: Target, pace: Pace) -> float:
        """Return the storage that a run fills, without the part of the data set that is not hot."""
        storage = storage_at(target, self.question.scenario)
        stored = wanted(storage, 1.0, pace.tokens, 0.0, pace.checkpoint_bytes, self.log).usable_tb
        return stored - cold_data_tb(self.question, self.log)


def _option(
    target: Target,
    terms: JobTerms,
    precision: str,
    time: Timeline,
    ends: tuple[Ends, Ends],
    stored_tb: float,
    i: int,
) -> RunOption:
    """Return the option of the i-th count, which places with the same times and delays share."""
    pace, (late, soon) = time.pace, ends
    kept = {"stored_tb": stored_tb} | {name: float(x[i]) for name, x in time.slow.items()}
    pooled = time.pooled_nodes(i)
    spares = int(time.spares[i])
    return RunOption(
        job=terms.id,
        place=target.place,
        system=target.system,
        accelerator=target.accelerator,
        accelerators=int(time.existing[i]) - (spares if pooled else 0),
        link=target.link,
        precision=precision,
        days=float(time.days[i]),
        days_p50=time.p50_days[i],
        start_month=terms.first_month,
        layout=pace.layout(i),
        mfu_frac=None if np.isnan(pace.mfu_frac[i]) else float(pace.mfu_frac[i]),
        step_time_s=float(time.step_time_s[i]),
        spares=0 if pooled else spares,
        pooled_nodes=pooled,
        pool=time.expected.pool if pooled else None,
        used=round(float(pace.used[i])),
        end_days=late.days[i],
        ahead_days=soon.days[i],
        outlook=late.facts(i) | kept,
        ahead_outlook=soon.facts(i) | kept,
        cuts=target.cuts,
        lost_days=float(time.days[i]) * time.expected.power_cut_frac,
    )


def _first(days: Array, able: npt.NDArray[np.bool_], limits_days: Sequence[float]) -> list[int]:
    """Return the first place within each limit, in the order of the limits, where there is one."""
    lowest = np.minimum.accumulate(np.where(able, days, np.inf))
    places = np.searchsorted(-lowest, -np.asarray(limits_days, dtype=np.float64))
    return [int(i) for i in places if i < days.size]


def _longest_days(target: Target) -> float:
    """Return the longest run that a place accepts; infinite without a limit."""
    return (target.offer and target.offer.longest_days) or np.inf
