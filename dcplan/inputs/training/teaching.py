"""Teachers of distillation from catalog values: their forward passes and their logits."""

from __future__ import annotations

from dataclasses import replace

from dcplan.inputs.log import InputLog
from dcplan.inputs.training.fine_tuning import Teaching, Tuned
from dcplan.llm.architecture import Architecture
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.training.estimate import Hardware, case_of
from dcplan.training.grid import case_setup, layout_table
from dcplan.training.search import search
from dcplan.training.step import step
from dcplan.training.tuning.fine_tuning import forward_s, logits_s, packed_shape
from dcplan.units import FLOAT_BYTES, GIGA, HALF_BYTES


def teaching(
    work: FineTuning,
    teacher: Architecture,
    student: Tuned,
    spec: Hardware,
    accelerators: int,
    log: InputLog,
) -> Teaching | str:
    """Return the forward passes of a teacher over the tokens of a step, or why there are none.

    The layout is the fastest of a frozen model with full recompute, which keeps few activations.
    Logits of a pool of its own cross the scale-out links of the smaller pool.

    Parameters
    ----------
    work : FineTuning
        Top-k and the teacher's accelerators.
    teacher : Architecture
        The teacher.
    student : Tuned
        Its case gives sequences and tokens.
    spec : Hardware
        Accelerator with software and precision.
    accelerators : int
        Accelerators of both.
    log : InputLog
        Record of the inputs.
    """
    own = work.teacher_accelerators
    count, device = own or accelerators, spec.device
    if own is None:
        part = log.parameter("training", "distill-teacher-memory-frac")
        device = replace(device, hbm_gb=device.hbm_gb * part)
    tokens = student.case.global_batch * student.case.seq_len
    length = student.case.seq_len
    model = packed_shape(teacher, length, student.sample_len)
    case = case_of(model, length, tokens, replace(spec, device=device))
    case = replace(case, trainable=0.0, stack=replace(case.stack, recompute=("full",)))
    found = search(case, int(count * device.ranks))
    if not found.step_time_s.size:
        need = found.least_bytes / GIGA
        return (
            f"the teacher does not fit on {count:,} accelerators: it needs {need:,.0f} GB of each"
        )
    columns = {k: v[:1] for k, v in found.layouts.items()}
    setup = case_setup(case, layout_table(case, columns))
    links = min(count, accelerators - own) * device.ranks if own else 1.0
    rate = float(setup.device.scaleout_bytes_per_s[0]) * links
    sent = 0.0
    if own is not None:
        top = work.top_k or teacher.vocab
        each = HALF_BYTES + (FLOAT_BYTES if work.top_k else 0.0)
        sent = logits_s(tokens, float(top), each, rate)
    return Teaching(float(forward_s(setup, step(setup))[0]), sent, own is not None)
