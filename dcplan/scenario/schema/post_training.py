"""Post-training by reinforcement learning: samples, lengths, updates, and how pools share time."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import AtLeastOne, NonNegative
from dcplan.scenario.schema.base import Count, CountOrZero, Part
from dcplan.scenario.schema.fine_tuning import FineTuning


class PostTraining(Part):
    """Reinforcement learning of a model: each step generates samples, then trains on them."""

    algorithm: Literal["grpo", "rloo", "ppo"] = "grpo"
    """Algorithm: grpo and rloo train the policy; ppo also trains a critic of its size and runs a
    reward model of its size."""
    prompts: Count
    """Prompts of one step."""
    samples: Count
    """Samples of each prompt."""
    isl: AtLeastOne
    """Mean input tokens: the prompt."""
    osl: AtLeastOne
    """Mean output tokens of a sample, after the limit of `longest_osl`."""
    steps: Count
    """Steps of the run."""
    longest_osl: AtLeastOne | None = None
    """Most output tokens of a sample. Default: no limit."""
    length_cv: NonNegative | None = None
    """Standard deviation of the output length over its mean, before the limit. Default:
    `training/post-training-length-cv`."""
    updates: Count = 1
    """Optimizer steps in which the samples of one step are divided."""
    epochs: Count = 1
    """Passes over the samples of a step."""
    staleness: CountOrZero = 0
    """Steps by which the weights that generated a sample may be older than those that it trains. 0:
    on-policy, the pools wait for each other."""
    mode: Literal["colocated", "disaggregated", "asynchronous"] | None = None
    """How generation and training share the accelerators. Default: the fastest that the staleness
    allows."""
    rollout_accelerators: Count | None = None
    """Accelerators that generate, of two pools. Default: the fastest division."""
    rollout_tp: Annotated[int, Field(ge=1, le=1024, strict=True)] | None = None
    """Accelerators of a rollout engine, tensor parallel. Default: the fastest layout."""
    rollout_precision: str | None = None
    """Row of the catalog kind formats: weights of the rollout engines. Default: bf16."""

    @field_validator("algorithm", mode="before")
    @classmethod
    def _has_rollouts(cls, value: Any) -> Any:
        if value in get_args(FineTuning.model_fields["algorithm"].annotation):
            code, message = "fine_tuning", "{name} is fine-tuning, which has no rollouts: {next}"
            steps = (
                "a scenario takes it as a training job of its tokens, with all parameters; "
                "`dcplan train --post-training algorithm={name}` estimates it alone"
            )
            raise PydanticCustomError(
                code, message, {"name": value, "next": steps.format(name=value)}
            )
        return value

    @model_validator(mode="after")
    def _is_consistent(self) -> PostTraining:
        if self.longest_osl is not None and self.longest_osl.value < self.osl.value:
            code = "lengths"
            raise PydanticCustomError(code, "longest_osl is less than the mean osl")
        if self.mode == "asynchronous" and not self.staleness:
            code = "staleness"
            raise PydanticCustomError(code, "mode asynchronous needs staleness of at least 1")
        if self.staleness and self.mode in ("colocated", "disaggregated"):
            code = "staleness"
            raise PydanticCustomError(
                code, "staleness needs mode asynchronous; {mode} is on-policy", {"mode": self.mode}
            )
        if self.rollout_accelerators is not None and self.mode == "colocated":
            code = "pools"
            raise PydanticCustomError(code, "rollout_accelerators needs two pools, not colocated")
        if self.updates > self.prompts * self.samples:
            code = "updates"
            raise PydanticCustomError(code, "updates is more than the samples of a step")
        return self

    @property
    def number(self) -> int:
        """Samples of one step."""
        return self.prompts * self.samples

    @property
    def tokens(self) -> float:
        """Tokens of one step, prompts and outputs."""
        return self.number * (self.isl.value + self.osl.value)
