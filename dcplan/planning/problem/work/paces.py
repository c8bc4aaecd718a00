"""Paces of jobs: layouts searched on every target, shared by targets with the same hardware."""

from __future__ import annotations

from functools import partial

from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import stored_bytes
from dcplan.inputs.training.layout_cache import searched
from dcplan.inputs.training.speed import (
    aged,
    architecture,
    hardware,
    in_instance,
    linked,
    with_host,
)
from dcplan.llm.architecture import Architecture
from dcplan.llm.vision import refusal
from dcplan.planning.problem.work import job_options as job_choice
from dcplan.planning.problem.work.pace import Pace
from dcplan.planning.problem.work.post_training import PostTrainingPaces
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Job, PostTrainingJob, ScheduledJob
from dcplan.training.estimate import Hardware, Sweep, layout_of
from dcplan.training.grid import model_parallel_accelerators


class Paces:
    """Builder of paces; halls with the same system share sweeps."""

    def __init__(self, question: Question, log: InputLog) -> None:
        self.question, self.log = question, log
        self._sweeps: dict[tuple[object, ...], Sweep] = {}
        self._specs: dict[tuple[object, ...], Hardware | str] = {}
        self._shapes: dict[str, Architecture] = {}
        self._post_training = PostTrainingPaces(question, log)

    def pace(
        self, job: ScheduledJob, terms: JobTerms, target: Target, precision: str, largest: int
    ) -> Pace | str:
        """Return the pace of a job up to the limit of a target, or why it cannot run there.

        Parameters
        ----------
        job, terms : ScheduledJob, JobTerms
            The job, and when it may run.
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
            found = self._post_training.pace(job, shape, target, spec, largest)
            return found if isinstance(found, str) else found.within(target.limit)
        assert isinstance(job, Job)  # noqa: S101 - the two kinds of jobs
        swept = self._sweep(job, terms, target, precision, spec, largest)
        return self._trained(job, swept, spec).within(target.limit)

    def _trained(self, job: Job, swept: Sweep, spec: Hardware) -> Pace:
        """Return the pace of a training job from its sweep."""
        return Pace(
            accelerators=swept.accelerators,
            used=swept.used,
            step_time_s=swept.step_time_s,
            tokens=job.tokens.value,
            tokens_per_step=swept.tokens_per_step,
            group=model_parallel_accelerators(swept.layouts, spec.device.ranks),
            checkpoint_bytes=stored_bytes(self.shape(job.model), spec),
            spread_frac=spec.spread_frac,
            mfu_frac=job_choice.mfu(swept, spec),
            layout=partial(layout_of, swept),
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

    def _sweep(
        self, job: Job, terms: JobTerms, target: Target, precision: str, spec: Hardware, limit: int
    ) -> Sweep:
        links = (target.unit, target.gb_per_s, target.link)
        key = (
            job.id,
            target.accelerator,
            *links,
            precision,
            spec.device.host_gb,
            spec.device.domain,
        )
        if key not in self._sweeps:
            fixed = job.accelerators
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
            self._sweeps[key] = searched(shape, job.seq_len, batch, spec, counts, wanted, images)
        return self._sweeps[key]
