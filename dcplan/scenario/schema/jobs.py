"""Jobs with a schedule: training runs, and reinforcement learning of a model."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Positive
from dcplan.scenario.schema.base import Count, Key, Part, Quarter, UnitShare, check_speed
from dcplan.scenario.schema.demand import Precision
from dcplan.scenario.schema.post_training import PostTraining

DEADLINE_CONFIDENCE = 0.8
"""Default probability that a job ends by its deadline."""
SYNC_BYTES_PER_PARAM = 4.0
"""Default bytes of a parameter in an exchange between halls or sites: uncompressed FP32."""


class ScheduledJob(Part):
    """A run of a model that trains, with a deadline as a date or a duration."""

    id: Key
    """Name of the run, used in keys and metrics."""
    model: str
    """Catalog id, or a path (relative to the scenario file) to a Hugging Face config.json."""
    precision: Annotated[tuple[Precision, ...], Field(min_length=1)]
    """Precision recipes of training, of equal quality for you; the plan may choose any of them."""
    start: Quarter | None = None
    """Planned start quarter. Without a deadline, the run starts as soon as hardware can serve in its
    place, not before this quarter. Default: the start of the horizon."""
    deadline: Quarter | None = None
    """The run ends by the last day of this quarter, and starts when that is cheapest. Default: the end
    of the horizon."""
    may_wait: bool = False
    """Whether a run without a deadline may start later than hardware can serve, if that costs less."""
    deadline_days: Positive | None = None
    """Maximum duration of the run from its first day. Default: no limit."""
    deadline_confidence: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    """Required probability that the run ends within its limits. Default: 0.8."""
    accelerators: Count | None = None
    """Fixed number of accelerators. Default: the plan chooses it."""
    sites: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Sites where it may run; a job with this field cannot run in the cloud."""
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Data residency: only sites and cloud regions in these countries (two letters each)."""
    stack: str | None = None
    """Row of the catalog kind stacks. Default: the usual software stack of the accelerator."""

    interrupted_power_frac: UnitShare | None = None
    """Share of the run's power that goes on while the grid interrupts its site or calls its load; the
    run then ends later. The plan may instead keep it at full power from other sources; 1 requires
    that. Default: 0, the run may pause."""
    interrupted_speed_frac: UnitShare | None = None
    """Speed of the run meanwhile over that at full power. Default: the share of the power."""

    @model_validator(mode="after")
    def _speed_with_power(self) -> Self:
        check_speed(self.interrupted_power_frac, self.interrupted_speed_frac)
        return self

    @model_validator(mode="after")
    def _waits_without_a_deadline(self) -> Self:
        if self.may_wait and self.deadline is not None:
            code = "may_wait"
            raise PydanticCustomError(
                code,
                "may_wait is for runs without a deadline: a run with one may always wait for it; remove "
                "may_wait or deadline",
            )
        return self


class Job(ScheduledJob):
    """A training run: a model, its training tokens, and a deadline as a date or a duration."""

    tokens: Positive
    """Training tokens."""
    seq_len: Annotated[int, Field(ge=1, le=100_000_000, strict=True)]
    """Tokens in one sequence."""
    global_batch_tokens: Positive
    """Tokens per optimizer step; a layout may round it by up to 10% to an integer number of
    micro-batches."""
    over: tuple[str, ...] = ()
    """Links over which the run may spread to several halls or sites, with an equal part in each hall;
    the plan chooses. Without a link it trains in one hall."""
    local_steps: Count = 1
    """Optimizer steps that each site does between two exchanges over a link between sites."""
    extra_tokens_frac: Annotated[float, Field(ge=0, le=10)] | None = None
    """Additional tokens for equal quality if the run has several local steps and spreads to two sites.
    Default: `training/local-steps-extra-tokens-frac`."""
    sync_bytes_per_param: Annotated[float, Field(ge=0.01, le=64)] | None = None
    """Bytes of a parameter in an exchange between halls or sites. Default: 4, uncompressed."""
    images: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Images (or tiles) per sequence that pass through the model's vision encoder. Default:
    none."""

    @model_validator(mode="after")
    def _batch_holds_a_sequence(self) -> Job:
        if self.global_batch_tokens.value < self.seq_len:
            code = "batch"
            raise PydanticCustomError(
                code, "global_batch_tokens is less than seq_len: a step holds no full sequence"
            )
        if not self.over and (self.local_steps > 1 or self.sync_bytes_per_param is not None):
            code = "over"
            raise PydanticCustomError(
                code,
                "local_steps and sync_bytes_per_param need over: a run in one hall has no exchange",
            )
        if self.extra_tokens_frac is not None and self.local_steps == 1:
            code = "over"
            raise PydanticCustomError(code, "extra_tokens_frac needs local_steps of at least 2")
        if self.tokens.value < self.global_batch_tokens.value:
            code = "tokens"
            raise PydanticCustomError(
                code, "tokens is less than global_batch_tokens: the run has no full step"
            )
        return self


class PostTrainingJob(ScheduledJob):
    """Reinforcement learning of a model: its steps, and a deadline as a date or a duration."""

    rl: PostTraining
    """Samples, lengths, updates and steps, with the fields of `train --post-training`."""

    @model_validator(mode="after")
    def _leaves_a_trainer(self) -> PostTrainingJob:
        given = self.rl.rollout_accelerators
        if given is not None and self.accelerators is not None and given >= self.accelerators:
            code = "pools"
            raise PydanticCustomError(
                code, "rl.rollout_accelerators leaves none of the accelerators to train"
            )
        return self
