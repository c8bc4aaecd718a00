"""Places that may serve a pool, and the accelerators that one accelerator of each counts for."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.errors import InputError
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.queue.pools import QueuePool
from dcplan.planning.problem.work.permitted import permitted
from dcplan.planning.problem.work.reference import ReferenceRates, h100_tflops, rate_of
from dcplan.planning.problem.work.residency import resident
from dcplan.planning.problem.work.targets import Target
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Queued


class Places:
    """Places of all pools, with the rates of their accelerators."""

    def __init__(
        self,
        question: Question,
        log: InputLog,
        excluded: list[ExcludedOption],
        where: Sequence[Target],
        rates: ReferenceRates,
        country: dict[str, str],
    ) -> None:
        self.question, self.log, self.excluded = question, log, excluded
        self.where, self.rates, self.country = where, rates, country
        self._h100: dict[str, float] = {}

    def each(self, pool: QueuePool, ids: Sequence[str]) -> dict[tuple[str, str], float]:
        r"""Return the accelerators of the pool that one accelerator of each place counts for.

        .. math:: \frac{\sum_k R_k}{\sum_k R_k / (s_k\,a_k)}

        with the load R of class k, the rate s of the place against an H100 on its reference job, and
        the share a of the time in which a spot instance makes lasting progress.
        """
        able = self._able(pool)
        self._refuse_size(pool, able)
        load = {
            x.id: sum(c.offered_accelerators for row in pool.quarters for c in row if c.id == x.id)
            for x in pool.given
            if x.id in ids
        }
        given = {x.id: x for x in pool.given}
        found = {}
        for target in able:
            if not self._large_enough(pool, target) or not self._stoppable(pool, ids, target):
                continue
            rates = {k: self._rate(given[k], pool, target) for k in load}
            bad = next((x for x in rates.values() if isinstance(x, str)), None)
            if bad is not None:
                self._exclude(pool.id, target, bad)
                continue
            hours = sum(load[k] / float(rates[k]) for k in load)
            found[target.place, target.system] = sum(load.values()) / hours if hours else 1.0
        return found

    def _able(self, pool: QueuePool) -> list[Target]:
        """Return the places that may serve every class of a pool."""
        found = list(self.where)
        for one in pool.given:
            found = resident(found, one.countries, self.country, Kind.QUEUE, one.id, self.excluded)
            found = permitted(one, Kind.QUEUE, found, self.log, self.excluded)
        return found

    def _large_enough(self, pool: QueuePool, target: Target) -> bool:
        size = int(max(pool.largest.accelerators.value, 1.0))
        if size > _largest_job(target):
            reason = f"a job of {pool.largest.id} has {size} accelerators, the place at most {_largest_job(target)}"
            self._exclude(pool.id, target, reason)
            return False
        return True

    def _stoppable(self, pool: QueuePool, ids: Sequence[str], target: Target) -> bool:
        """Return whether a place may serve the classes: a spot instance only preemptible ones."""
        firm = [x.id for x in pool.given if x.id in ids and not x.preemptible]
        if target.offer is None or not target.offer.reclaims_per_instance_h or not firm:
            return True
        self._exclude(pool.id, target, f"jobs of {', '.join(firm)} may not be stopped")
        return False

    def _rate(self, one: Queued, pool: QueuePool, target: Target) -> float | str:
        """Return the lasting progress of an accelerator against an H100 in a hall."""
        speed = 1.0
        if one.reference is not None:
            rate = rate_of(one.reference, target, self.rates)
            if isinstance(rate, str):
                return rate
            if one.id not in self._h100:
                i = [x.id for x in self.question.scenario.workloads.queue].index(one.id)
                path: Path = ("workloads", "queue", i, "reference")
                self._h100[one.id] = h100_tflops(one.reference, path, self.question, self.rates)
            speed = rate / self._h100[one.id]
        if target.offer is None:
            return speed
        loss_h = next((c.loss_h for row in pool.quarters for c in row if c.id == one.id), 0.0)
        lost = target.offer.reclaims_per_instance_h * (target.offer.wait_h + loss_h)
        return speed / (1.0 + lost)

    def _refuse_size(self, pool: QueuePool, able: Sequence[Target]) -> None:
        """Refuse a class whose job is larger than every place that may serve its pool."""
        one = pool.largest
        most = max((_largest_job(x) for x in able), default=0)
        if one.accelerators.value <= most or not able:
            return
        i = [x.id for x in self.question.scenario.workloads.queue].index(one.id)
        path: Path = ("workloads", "queue", i, "accelerators")
        cause = (
            f"{one.id}: a job has {one.accelerators.value:g} accelerators, and the largest place that "
            f"may serve pool {pool.id} holds {most}; the largest size is {most}"
        )
        help_text = "lower accelerators, or allow a larger hall, system or offer"
        raise InputError([self.question.tree.problem("DC035", cause, path, help=help_text)])

    def _exclude(self, pool: str, target: Target, reason: str) -> None:
        where = f"{target.place} {target.system}"
        self.excluded.append(ExcludedOption(Kind.QUEUE, pool, where, reason))


def _largest_job(target: Target) -> int:
    """Return the accelerators of the largest job of a place, which stays in one hall or offer."""
    if target.offer is not None and target.offer.most_per_job is not None:
        return min(target.limit, target.offer.most_per_job)
    return target.limit
