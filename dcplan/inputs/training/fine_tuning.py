"""Fine-tuning from catalog values: the case of a layout search, and what a step does in addition."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.llm.architecture import Architecture, model_flops_per_token
from dcplan.llm.device_terms import recipe_table
from dcplan.llm.operations import Setup
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.training.estimate import Hardware, case_of
from dcplan.training.grid import Case
from dcplan.training.step import Step, step
from dcplan.training.tuning.adapters import (
    AdapterPasses,
    Adapters,
    adapter_s,
    adapters,
    dequantize_s,
)
from dcplan.training.tuning.fine_tuning import (
    attention_flops_per_token,
    forward_s,
    of_step_s,
    packed_shape,
    random_sample_len,
    scored_shape,
    tuning_flops_per_token,
)
from dcplan.units import HALF_BYTES

WHOLE_BITS = 16
"""Bits of a weight that is not quantized."""


@dataclass(frozen=True)
class Quantized:
    """Weights that are unpacked before each product."""

    stored_bytes: float
    hbm_frac: float


@dataclass(frozen=True)
class Tuned:
    """A fine-tuning run of one model: its search case, and additions to a step."""

    work: FineTuning
    case: Case
    """Model, memory and share of trained parameters as the layout search sees them."""
    sizes: Adapters | None
    passes: AdapterPasses | None
    quantized: Quantized | None
    padding_frac: float
    """Share of the tokens of a step that are padding."""
    mean_len: float
    """Mean tokens of a sample."""
    sample_len: float
    """Tokens of a random token's sample; those of a sequence where samples are not packed."""
    trained_params: float
    flops_per_token: float
    """Model FLOPs of a token, padding included."""


@dataclass(frozen=True)
class Teaching:
    """The teacher's part of a step."""

    forward_s: float
    logits_s: float
    own_pool: bool


def tuned(
    work: FineTuning,
    shape: Architecture,
    seq_len: int,
    batch_tokens: float,
    spec: Hardware,
    log: InputLog,
    key: str = "post_training",
) -> Tuned | str:
    """Return the search case of a fine-tuning run and its additions, or why there is none.

    Parameters
    ----------
    work : FineTuning
        What is trained, and on which samples.
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence, packed or padded.
    batch_tokens : float
        Tokens of a step, padding included; both samples of a pair count.
    spec : Hardware
        Accelerator with software and precision.
    log : InputLog
        Record of the inputs.
    key : str, default "post_training"
        Key of the work in the record.
    """
    mean, sample, padding = _lengths(work, seq_len, log, key)
    if mean > seq_len:
        return f"mean-len of {mean:g} is more than the sequence of {seq_len} tokens"
    model = packed_shape(shape, seq_len, sample)
    if work.algorithm == "reward":
        model = scored_shape(model)
    sizes = passes = quantized = None
    share = 1.0
    if work.adapter_rank:
        sizes = adapters(model, work.adapter_rank, work.layers)
        if not sizes.params:
            return f"{work.targets} names no linear layer of this model"
        share = sizes.params / model.params
        own = Status.INPUT if work.rank else Status.DEFAULT
        log.take(f"{key}.rank", Quantity(value=float(work.adapter_rank), status=own))
        passes = AdapterPasses(*(log.parameter("training", f"lora-{name}") for name in PASSES))
        quantized = _quantized(work, log)
    hardware = _stored(spec, model, work, sizes, quantized)
    case = replace(case_of(model, seq_len, batch_tokens, hardware), trainable=share)
    if work.algorithm == "distill" and work.teacher_accelerators is None:
        kept = 1.0 - log.parameter("training", "distill-teacher-memory-frac")
        case = replace(case, device=replace(case.device, hbm_gb=case.device.hbm_gb * kept))
    return Tuned(
        work=work,
        case=case,
        sizes=sizes,
        passes=passes,
        quantized=quantized,
        padding_frac=padding,
        mean_len=mean,
        sample_len=sample,
        trained_params=sizes.params if sizes else float(model.params),
        flops_per_token=tuning_flops_per_token(
            model_flops_per_token(model, seq_len),
            attention_flops_per_token(model, seq_len),
            0.0 if sizes else 1.0,
            sizes.width * work.adapter_rank if sizes else 0.0,
        ),
    )


PASSES = ("forward-passes", "backward-passes", "kernels")


def _lengths(work: FineTuning, seq_len: int, log: InputLog, key: str) -> tuple[float, float, float]:
    """Return the mean length of a sample, that of a random token's sample, and the padding."""
    mean = work.mean_len.value if work.mean_len is not None else float(seq_len)
    sample = float(seq_len)
    if work.mean_len is not None:
        log.take(f"{key}.mean_len", work.mean_len, Status.INPUT)
        if work.packed:
            cv = log.chosen(
                f"{key}.length_cv", work.length_cv, "training", "post-training-length-cv"
            )
            sample = random_sample_len(mean, cv, float(seq_len))
    padding = 0.0 if work.packed else 1.0 - mean / seq_len
    if work.padding_frac is not None:
        padding = log.take(f"{key}.padding_frac", work.padding_frac, Status.INPUT)
    return mean, sample, padding


def _quantized(work: FineTuning, log: InputLog) -> Quantized | None:
    """Return the frozen weights in memory, or None where they are in 16 bits."""
    if work.stored_bits >= WHOLE_BITS:
        return None
    return Quantized(
        log.parameter("training", f"quantized-{work.stored_bits}-bit-bytes"),
        log.parameter("training", "dequantize-hbm-frac"),
    )


def _stored(
    spec: Hardware,
    shape: Architecture,
    work: FineTuning,
    sizes: Adapters | None,
    quantized: Quantized | None,
) -> Hardware:
    """Return hardware whose bytes of a parameter are those of frozen weights and other copies."""
    whole = float(recipe_table([spec.recipe], [spec.stack]).weight_bytes[0])
    bytes_each, reserve = whole, spec.coefficients.reserve_bytes
    if quantized is not None:
        # embedding and output layer stay in 16 bits, and one matrix at a time is unpacked
        outside = shape.embedding_params / shape.params
        bytes_each = outside * HALF_BYTES + (1.0 - outside) * quantized.stored_bytes
        reserve += HALF_BYTES * (1 + shape.gated) * max(shape.ffn, shape.shared_ffn) * shape.hidden
    if sizes is not None:
        bytes_each += HALF_BYTES * sizes.params / shape.params
    elif work.runs_reference:
        bytes_each += whole
    return replace(
        spec,
        recipe=replace(spec.recipe, weight_bytes=bytes_each),
        stack=replace(spec.stack, low_weight_bytes=bytes_each),
        coefficients=replace(spec.coefficients, reserve_bytes=reserve),
    )


def tuning_spread_frac(trainer_frac: float, stack: str, log: InputLog) -> float:
    """Return the half width of the 80 % interval of a fine-tuning step, at least that of training.

    Parameters
    ----------
    trainer_frac : float
        Half width of a training step. [-]
    stack : str
        Training software, whose published fine-tuning runs give the width; without any, all others
        do.
    log : InputLog
        Record of the inputs.
    """
    own = f"fine-tuning-spread-{stack}-frac"
    known = log.catalog.find("training", own, Parameter) is not None
    key = own if known else "fine-tuning-spread-unmeasured-frac"
    return max(trainer_frac, log.parameter("training", key))


def tuned_step(run: Tuned, setup: Setup, teaching: Teaching | None = None) -> Step:
    """Return the step time of layouts with what fine-tuning adds, split into parts.

    Parameters
    ----------
    run : Tuned
        The run.
    setup : Setup
        Layouts of its case, shape (n,).
    teaching : Teaching, optional
        The teacher's part of a step.
    """
    done = step(setup)
    parts = dict(done.parts_s)
    if run.sizes is not None and run.passes is not None:
        parts["adapters"] = of_step_s(setup, done, adapter_s(setup, run.sizes, run.passes))
    if run.quantized is not None:
        q, forwards = run.quantized, 1.0 + run.work.runs_reference
        unpacked = dequantize_s(setup, q.stored_bytes, q.hbm_frac, forwards)
        parts["dequantize"] = of_step_s(setup, done, unpacked)
    if run.work.runs_reference:
        parts["reference"] = forward_s(setup, done)
    total = np.asarray(sum(parts.values(), np.zeros(1)))
    if teaching is not None:
        taught = teaching.forward_s + teaching.logits_s
        # a pool of its own works on the next batch while the student trains
        wait = np.maximum(taught - total, 0.0) if teaching.own_pool else taught + 0.0 * total
        parts["teacher"], total = wait, total + wait
    return Step(total, parts)
