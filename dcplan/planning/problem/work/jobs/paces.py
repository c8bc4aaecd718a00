"""Paces of jobs: layouts searched on every target, shared by targets with the same hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import stored_bytes
from dcplan.inputs.training.layout_cache import refined_all, searched_all
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
from dcplan.llm.vision.joined import refusal
from dcplan.planning.problem.work.jobs import choice
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.targets import Target
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Job, PostTrainingJob, ScheduledJob
from dcplan.training.estimate import Hardware, Sweep, layout_of
from dcplan.training.grid import model_parallel_accelerators
from dcplan.training.many.requests import Request
from dcplan.training.wide_area import spanned_step_s

if TYPE_CHECKING:
    from dcplan.planning.problem.work.jobs.post_training import PostTrainingPaces

SEARCH_LEAST_FRAC = 0.01
"""Least share of a wanted step time that the exchange between halls leaves for the step itself."""
Goal = tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]
"""Wanted step times at some counts [s], one row for each duration, and these counts."""


@dataclass(frozen=True)
class Asked:
    """A training job on a target, with the step times that matter."""

    job: Job
    target: Target
    precision: str
    largest: int
    """Largest limit of all targets that share the search."""
    wanted_s: Callable[[Hardware], Goal]


class Paces:
    """Builder of paces; halls with the same system share sweeps."""

    def __init__(self, question: Question, log: InputLog) -> None:
        self.question, self.log = question, log
        self._sweeps: dict[tuple[object, ...], Sweep] = {}
        self._requests: dict[tuple[object, ...], Request] = {}
        self._paces: dict[tuple[object, ...], Pace] = {}
        self._specs: dict[tuple[object, ...], Hardware | str] = {}
        self._shapes: dict[str, Architecture] = {}

    @cached_property
    def _post_training(self) -> PostTrainingPaces:
        """Builder of the paces of post-training, of which most scenarios have none."""
        # the model of rollouts takes long to import
        from dcplan.planning.problem.work.jobs.post_training import PostTrainingPaces

        return PostTrainingPaces(self.question, self.log)

    def pace(self, job: ScheduledJob, target: Target, precision: str, largest: int) -> Pace | str:
        """Return the pace of a job on a target, or why it cannot run there.

        Parameters
        ----------
        job : ScheduledJob
            The job; the layouts of a training job were searched.
        target : Target
            The place.
        precision : str
            Recipe of the trainer.
        largest : int
            Largest limit of all targets that share the search.
        """
        spec = self._hardware(job, target, precision)
        if isinstance(spec, str):
            return spec
        if isinstance(job, PostTrainingJob):
            shape = self.shape(job.model)
            return self._post_training.pace(job, shape, target, spec, largest)
        assert isinstance(job, Job)  # noqa: S101 - the two kinds of jobs
        key = self._key(job, target, precision, spec)
        if key not in self._paces:
            self._paces[key] = self._trained(job, target, self._sweeps[key], spec)
        return self._paces[key]

    def _trained(self, job: Job, target: Target, swept: Sweep, spec: Hardware) -> Pace:
        """Return the pace of a training job from its sweep, which is that of one hall."""
        params, n = self.shape(job.model).params, target.count
        step_time_s = np.asarray(spanned_step_s(swept.step_time_s, params, target.exchange))
        return Pace(
            accelerators=n * swept.accelerators,
            used=n * swept.used,
            step_time_s=step_time_s,
            tokens=job.tokens.value * (1.0 + target.exchange.extra_tokens_frac),
            tokens_per_step=n * swept.tokens_per_step,
            group=model_parallel_accelerators(swept.layouts, spec.device.ranks),
            checkpoint_bytes=stored_bytes(self.shape(job.model), spec),
            spread_frac=spec.spread_frac,
            mfu_frac=choice.mfu(replace(swept, step_time_s=step_time_s), spec),
            layout=partial(layout_of, swept),
        )

    def blank(self, job: Job, target: Target, spec: Hardware, counts: Array) -> Pace:
        """Return the pace of a job whose layouts are not known yet, with groups of one domain."""
        none = np.full(counts.size, np.nan)
        return Pace(
            accelerators=counts,
            used=counts,
            step_time_s=none,
            tokens=job.tokens.value * (1.0 + target.exchange.extra_tokens_frac),
            tokens_per_step=job.global_batch_tokens.value,
            group=np.minimum(counts, spec.device.domain),
            checkpoint_bytes=stored_bytes(self.shape(job.model), spec),
            spread_frac=spec.spread_frac,
            mfu_frac=none,
            layout=lambda _: {},
        )

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

    def _refusal(self, job: ScheduledJob) -> str | None:
        """Return why the model cannot process the images of a sequence."""
        if not isinstance(job, Job):
            return None
        return refusal(self.shape(job.model), self._images(job), job.seq_len)

    def _hardware(self, job: ScheduledJob, target: Target, precision: str) -> Hardware | str:
        """Return the training numbers of a target, including the maturity of its software."""
        host = self._host(target)
        at = host.id if host else target.unit if target.offer else None
        key = (job.id, target.accelerator, target.gb_per_s, target.link, precision, at)
        if key not in self._specs:
            moe = self.shape(job.model).moe_layers > 0
            spec = hardware(
                target.accelerator, precision, target.gb_per_s, self.log, moe=moe, stack=job.stack
            )
            cause = self._refusal(job)
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
        row = (
            None
            if is_cloud(target.place)
            else self.question.catalog.get("systems", target.system, System)
        )
        return row if row is not None and row.host_dram_gb is not None else None

    def search(self, asked: Sequence[Asked]) -> None:
        """Search the layouts of jobs on targets at once, and remember them.

        Parameters
        ----------
        asked : sequence of Asked
            The jobs, places and durations; post-training and what cannot run is left out.
        """
        requests: dict[tuple[object, ...], Request] = {}
        for one in asked:
            spec = self._hardware(one.job, one.target, one.precision)
            if isinstance(spec, str):
                continue
            key = self._key(one.job, one.target, one.precision, spec)
            if key not in self._sweeps and key not in requests:
                requests[key] = self._request(one, spec)
        self._sweeps |= zip(requests, searched_all(list(requests.values())), strict=True)
        self._requests |= requests

    def refine(self, chosen: Iterable[tuple[Asked, Iterable[int]]]) -> None:
        """Search all layouts at counts that run options have, where only some were tried.

        Parameters
        ----------
        chosen : iterable of (Asked, indices)
            Jobs on targets, with the places of their counts.
        """
        wanted: dict[tuple[object, ...], set[int]] = {}
        for one, places in chosen:
            spec = self._hardware(one.job, one.target, one.precision)
            if isinstance(spec, str):
                continue
            key = self._key(one.job, one.target, one.precision, spec)
            done = self._sweeps[key].searched
            if done is not None:
                wanted.setdefault(key, set()).update(i for i in places if not done[i])
        keys = [key for key, places in wanted.items() if places]
        if not keys:
            return
        found = [self._sweeps[key] for key in keys]
        counts = [
            tuple(float(x.accelerators[i]) for i in sorted(wanted[key]))
            for key, x in zip(keys, found, strict=True)
        ]
        better = refined_all([self._requests[key] for key in keys], found, counts)
        for key, sweep in zip(keys, better, strict=True):
            self._sweeps[key] = sweep
            self._paces.pop(key, None)

    def _request(self, asked: Asked, spec: Hardware) -> Request:
        """Return the request of the layouts of a job on a target."""
        job, n = asked.job, asked.target.count
        unit, batch_tokens = asked.target.unit // n, job.global_batch_tokens.value / n
        fixed, shape = (job.accelerators or 0) // n, self.shape(job.model)
        sequences = batch_tokens / job.seq_len
        counts = [fixed] if fixed else choice.counts(unit, asked.largest // n, sequences)
        wanted, at = asked.wanted_s(spec) if not fixed else ((), ())
        if n > 1:  # of one hall, without the exchange with others
            lost_s = float(spanned_step_s(0.0, shape.params, asked.target.exchange))
            wanted = tuple(
                tuple(max(s - lost_s, s * SEARCH_LEAST_FRAC) for s in row) for row in wanted
            )
            at = tuple(count / n for count in at)
        return Request(
            shape=shape,
            seq_len=job.seq_len,
            global_batch_tokens=batch_tokens,
            hardware=spec,
            accelerators=tuple(float(n) for n in counts),
            wanted_s=wanted,
            wanted_at=at,
            images=self._images(job),
        )

    def _key(self, job: Job, target: Target, precision: str, spec: Hardware) -> tuple[object, ...]:
        """Return what the layouts of a job depend on."""
        links = (target.unit, target.gb_per_s, target.link, target.count, target.exchange)
        device = spec.device
        return (job.id, target.accelerator, *links, precision, device.host_gb, device.domain)
