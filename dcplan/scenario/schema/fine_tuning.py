"""Fine-tuning: what is trained, how samples fill a sequence, and the other models of a step."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import AtLeastOne, Fraction, NonNegative
from dcplan.scenario.schema.base import Count, Part

ATTENTION = ("q", "k", "v", "o")
MLP = ("gate", "up", "down")
TARGETS = (*ATTENTION, *MLP, "mixer")
"""Linear layers that may have an adapter; mixer is the projections of a Mamba-2 block."""
GROUPS = {"all": TARGETS, "attention": ATTENTION, "mlp": MLP}
"""Names that stand for several linear layers."""
PAIRS = ("dpo", "reward")
"""Algorithms that train on pairs of a chosen and a rejected sample."""
DEFAULT_RANK = 16


def _known(text: str) -> str:
    """Refuse a name that is no linear layer."""
    unknown = [name for name in text.split("+") if name not in (*GROUPS, *TARGETS)]
    if unknown:
        code, known = "targets", ", ".join((*GROUPS, *TARGETS))
        message = "{unknown} is not a linear layer; expected names joined by +, of {known}"
        raise PydanticCustomError(code, message, {"unknown": unknown[0], "known": known})
    return text


class FineTuning(Part):
    """Training on samples of a data set, with all parameters or with low-rank adapters."""

    algorithm: Literal["sft", "lora", "qlora", "dpo", "distill", "reward"]
    """sft trains all parameters on samples; lora and qlora train adapters of a frozen model; dpo
    trains on pairs with a frozen reference; distill trains on the logits of a teacher; reward trains
    a model with one output value on pairs."""
    rank: Count | None = None
    """Rank of the adapters. Default: 16 with lora and qlora; all parameters are trained otherwise."""
    targets: Annotated[str, AfterValidator(_known)] = "all"
    """Linear layers with an adapter: all, attention, mlp, or names joined by +, such as q+v."""
    base_bits: Literal[16, 8, 4] | None = None
    """Bits of a frozen weight in memory. Default: 4 with qlora, else 16."""
    packed: bool = True
    """Whether several samples share a sequence; otherwise each sample is padded to its length."""
    mean_len: AtLeastOne | None = None
    """Mean tokens of a sample, at most the sequence. Default: a sample fills its sequence."""
    length_cv: NonNegative | None = None
    """Standard deviation of the length of a sample over its mean. Default:
    `training/post-training-length-cv`."""
    padding_frac: Fraction | None = None
    """Share of the tokens of a step that are padding. Default: 0 if packed, else what the mean length
    leaves of a sequence."""
    reference: Literal["forward", "precomputed"] | None = None
    """Reference of dpo: a forward pass in every step, or log-probabilities that are precomputed.
    Default: forward."""
    teacher: str | None = None
    """Teacher of distill: a row of the catalog kind models."""
    teacher_accelerators: Count | None = None
    """Accelerators of a pool of the teacher's own, of the given total. Default: teacher and student
    use the same accelerators in turn."""
    top_k: Count | None = None
    """Logits of a token that a teacher's pool sends. Default: all of the vocabulary."""

    @model_validator(mode="after")
    def _is_consistent(self) -> FineTuning:
        for fields, allowed in (
            (("reference",), ("dpo",)),
            (("teacher", "teacher_accelerators", "top_k"), ("distill",)),
            (("rank", "targets", "base_bits"), ("lora", "qlora", "dpo", "distill", "reward")),
        ):
            given = [x for x in fields if x in self.model_fields_set]
            if given and self.algorithm not in allowed:
                _refuse(f"{_flag(given[0])} applies to {', '.join(allowed)}")
        given = [x for x in ("targets", "base_bits") if x in self.model_fields_set]
        if given and not self.adapter_rank:
            _refuse(f"{_flag(given[0])} needs rank: without adapters all parameters are trained")
        if self.algorithm == "distill" and self.teacher is None:
            _refuse("distill needs teacher: a catalog model")
        if self.top_k is not None and self.teacher_accelerators is None:
            _refuse("top-k needs teacher-accelerators: on the same accelerators no logits are sent")
        if self.length_cv is not None and (self.mean_len is None or not self.packed):
            _refuse("length-cv needs packed samples and mean-len")
        if not self.packed and self.mean_len is None and self.padding_frac is None:
            _refuse("packed=false needs mean-len or padding-frac")
        if self.padding_frac is not None and self.padding_frac.value >= 1.0:
            _refuse("padding-frac must be below 1: a step needs samples")
        return self

    @property
    def adapter_rank(self) -> int:
        """Rank of the adapters; 0 if all parameters are trained."""
        usual = DEFAULT_RANK if self.algorithm in ("lora", "qlora") else 0
        return self.rank or usual

    @property
    def stored_bits(self) -> int:
        """Bits of a frozen weight in memory."""
        return self.base_bits or (4 if self.algorithm == "qlora" else 16)

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the linear layers with an adapter."""
        names = [x for text in self.targets.split("+") for x in GROUPS.get(text, (text,))]
        return tuple(dict.fromkeys(names))

    @property
    def runs_reference(self) -> bool:
        """Whether a step runs a forward pass of a frozen reference."""
        return self.algorithm == "dpo" and self.reference != "precomputed"


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _refuse(cause: str) -> None:
    code = "fine_tuning"
    raise PydanticCustomError(code, "{cause}", {"cause": cause})
