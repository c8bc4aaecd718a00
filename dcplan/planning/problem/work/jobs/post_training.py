"""Paces of reinforcement learning: on every count the fastest mode and division into pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcplan.catalog.schema import Model
from dcplan.inputs.cloud_prices import is_cloud, offer_of, row_of
from dcplan.inputs.log import InputLog
from dcplan.inputs.post_training import (
    PostTrainingOption,
    pool_counts,
    pools_of,
    post_training_options,
    unfit_part,
)
from dcplan.inputs.recovery import stored_bytes
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.training.rollouts import Place, record_work
from dcplan.inputs.training.speed import served_architecture
from dcplan.inputs.training.trainer import Policy, step_spread_frac
from dcplan.llm.architecture import Architecture
from dcplan.planning.problem.work.jobs import choice
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.targets import Target
from dcplan.scenario.load import Question
from dcplan.scenario.schema import PostTrainingJob
from dcplan.training.estimate import Hardware

Options = Sequence[PostTrainingOption | None]


class PostTrainingPaces:
    """Builder of the paces of post-training; halls with the same system share pools."""

    def __init__(self, question: Question, log: InputLog) -> None:
        self.question, self.log = question, log
        self._policies: dict[str, Policy] = {}
        self._paces: dict[tuple[object, ...], Pace | str] = {}

    def pace(
        self, job: PostTrainingJob, shape: Architecture, target: Target, spec: Hardware, limit: int
    ) -> Pace | str:
        """Return the pace of a job on hardware up to a limit, or why it cannot run there.

        Parameters
        ----------
        job : PostTrainingJob
            The job.
        shape : Architecture
            Its model as it is trained.
        target : Target
            The place.
        spec : Hardware
            Its accelerator with training software and precision.
        limit : int
            Largest number of accelerators.
        """
        place = place_of(target, self.log)
        if isinstance(place, str):
            return place
        links = (place.unit, place.nic_gb_per_s, place.domain, target.unit)
        key = (job.id, place.accelerator.id, *links, spec, limit)
        if key not in self._paces:
            policy, counts = self._policy(job, shape), tried_counts(job, target.unit, limit)
            self._paces[key] = self._made(job, policy, place, spec, counts)
        return self._paces[key]

    def _policy(self, job: PostTrainingJob, shape: Architecture) -> Policy:
        """Return the model of a job, read once."""
        if job.id not in self._policies:
            record_work(job.rl, self.log, key_of(job))
            row = self.question.catalog.find("models", job.model, Model)
            served = served_architecture(job.model, self.question)
            self._policies[job.id] = Policy(shape, served, row)
        return self._policies[job.id]

    def _made(
        self,
        job: PostTrainingJob,
        policy: Policy,
        place: Place,
        spec: Hardware,
        counts: tuple[int, ...],
    ) -> Pace | str:
        pools = pools_of(job.rl, policy, place, spec, counts, self.log, key=key_of(job))
        if isinstance(pools, str):
            return pools
        options: Options = post_training_options(pools)
        if job.accelerators:  # the other counts are those of its pools
            counts, options = counts[-1:], options[-1:]
        work, log = job.rl, self.log
        read = work.prompts * work.isl.value
        copies = log.parameter("training", f"post-training-{work.algorithm}-trained-passes")
        family = place.accelerator.family
        return Pace(
            accelerators=np.array(counts, dtype=np.float64),
            used=np.array([x.used_accelerators if x else 0.0 for x in options]),
            step_time_s=np.array([x.step_time_s if x else np.inf for x in options]),
            tokens=read * work.steps,
            tokens_per_step=read,
            group=np.array([float(x.group_accelerators) if x else 1.0 for x in options]),
            checkpoint_bytes=stored_bytes(policy.trained, spec) * copies,
            spread_frac=step_spread_frac(spec.spread_frac, family, log),
            mfu_frac=np.full(len(counts), np.nan),
            layout=lambda i: shown(options[i]),
            unfit=f"no layout of {unfit_part(pools)} fits",
        )


def key_of(job: PostTrainingJob) -> str:
    """Return the key of a job's work in the log."""
    return f"workloads.post_training.{job.id}.rl"


def place_of(target: Target, log: InputLog) -> Place | str:
    """Return the hardware of a target, with the rate of its link."""
    cloud = is_cloud(target.place)
    name = row_of(offer_of(target.place)) if cloud else target.system
    machine = machine_of(log.catalog, name)
    if not isinstance(machine, Machine):
        return machine.cause
    nic = target.gb_per_s or machine.nic_gb_per_s
    return Place(machine.accelerator, machine.size, nic, machine.domain)


def tried_counts(job: PostTrainingJob, unit: int, limit: int) -> tuple[int, ...]:
    """Return the counts to try, of each pool and of both; the last is the largest of both.

    A given rollout pool leaves the rest of each count to the trainer.
    """
    fixed, given = job.accelerators, job.rl.rollout_accelerators or 0
    both = pool_counts(min(unit, fixed), fixed) if fixed else choice.counts(unit, limit)
    return tuple(sorted({*both, *(n - given for n in both if n > given)}))


def shown(option: PostTrainingOption | None) -> Mapping[str, int | str]:
    """Return the mode and the pools of an option."""
    if option is None:
        return {}
    return {
        "mode": option.mode,
        "rollout": f"{option.rollout_accelerators} ({option.rollout_layout})",
        "training": f"{option.training_accelerators} ({option.training_layout})",
    }
