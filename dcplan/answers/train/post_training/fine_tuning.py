"""Fine-tuning of one model on one system: layouts, step time, memory, days."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from dcplan.answers.common.model_config import read_model
from dcplan.answers.train.layouts.tables import step_tables
from dcplan.answers.train.metrics import rent_usd_per_hour
from dcplan.answers.train.post_training.tuned_layouts import tuned_layouts
from dcplan.answers.train.post_training.unread import FLAG, unread
from dcplan.answers.train.remarks import unmeasured
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.train.resolve import TrainRun, resolve
from dcplan.answers.train.schedule import Part, first
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import AT
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.fine_tuning import (
    Teaching,
    Tuned,
    tuned,
    tuned_step,
    tuning_spread_frac,
)
from dcplan.inputs.training.teaching import teaching
from dcplan.provenance import Quantity, Status
from dcplan.reliability.storage import Feed
from dcplan.result import Metric, Result
from dcplan.scenario.schema.fine_tuning import PAIRS, FineTuning
from dcplan.specs.train import fine_tuning as specs
from dcplan.specs.train import layouts as step_specs
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.search import Found
from dcplan.units import BYTES_PER_GIB, HOURS_PER_DAY, SECONDS_PER_DAY, TERA, si

USED = frozenset(
    {
        *("model", "system", "accelerators", "precision", "nic_port_gbps", "stack", "layout"),
        *("list_count", "usd_per_accelerator_hour", "power_limit_frac", "in_network_reduction"),
        *("start", "post_training", "catalogs", "tokens", "seq_len", "global_batch_tokens"),
    }
)
"""Fields of the request that fine-tuning reads; another one that is set is an error."""


@dataclass(frozen=True)
class _Answered:
    """One precision: the run as the search saw it, and its layouts."""

    run: TrainRun
    tuned: Tuned
    teacher: Teaching | None
    case: Case
    found: Found

    @property
    def step_time_s(self) -> float:
        """Step time of the fastest layout; infinite if none fits."""
        return float(self.found.step_time_s[0]) if self.found.step_time_s.size else math.inf


def fine_tune(request: TrainRequest, work: FineTuning, catalog: Catalog) -> Result:
    """Estimate the fine-tuning of one model on one system.

    Raises
    ------
    InputError
        When a name is unknown, an argument is missing, or a flag does not apply.
    """
    problems = list(_problems(request, work))
    if problems:
        raise InputError(problems)
    began = time.perf_counter()
    log = InputLog(catalog)
    every = [_answered(work, run, log) for run in resolve(request, log)]
    seconds = time.perf_counter() - began
    main = min(every, key=lambda x: x.step_time_s)
    if math.isinf(main.step_time_s):
        return _too_large(main, work, seconds)
    metrics = _metrics(main, work, log)
    part = Part(
        replace(main.run, shape=main.case.shape), main.case, main.found, Feed(0.0, math.inf)
    )
    columns = {k: v[:1] for k, v in main.found.layouts.items()}
    setup = case_setup(main.case, layout_table(main.case, columns))
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(main, work, metrics),
        metrics=metrics
        | step_specs.SEARCH_LAYOUTS(main.found.tried)
        | step_specs.SEARCH_FEASIBLE(main.found.feasible)
        | step_specs.SEARCH_SECONDS(round(seconds, 4)),
        tables=step_tables(part, tuned_step(main.tuned, setup, main.teacher)),
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
        warnings=[
            *({"code": code, "message": text} for code, text in unmeasured(main.run)),
            *({"code": "model", "message": note} for note in _notes(main, work)),
        ],
        run={"seconds": round(seconds, 4)},
    )


def _problems(request: TrainRequest, work: FineTuning) -> Iterator[Problem]:
    """Find flags that fine-tuning does not read, and amounts that it lacks."""
    yield from unread(request, USED)
    if request.tokens is None:
        cause = "--tokens is required: the tokens of the samples over all epochs, without padding"
        yield Problem("DC050", cause, Place("train"))
    given, total = work.teacher_accelerators, request.accelerators
    if given is not None and total is not None and given >= total:
        cause = f"teacher-accelerators={given} leaves none of {total:,} to train"
        yield Problem("DC051", cause, Place(FLAG))
    if work.algorithm in PAIRS and request.step_tokens < 2 * request.seq_len:
        cause = (
            f"{work.algorithm} needs pairs: a step has at least two sequences of {request.seq_len}"
        )
        yield Problem("DC050", cause, Place("--global-batch-tokens"))


def _answered(work: FineTuning, run: TrainRun, log: InputLog) -> _Answered:
    """Return the layouts of one precision."""
    if run.spec.streams_weights:
        cause = f"{run.system.accelerator} streams weights: fine-tuning is not supported there"
        raise InputError([Problem("DC010", cause, Place(FLAG))])
    found = tuned(work, run.shape, run.seq_len, run.batch_tokens, run.spec, log)
    if isinstance(found, str):
        raise InputError([Problem("DC051", found, Place(FLAG))])
    taught = None
    if work.teacher is not None:
        shape, _ = read_model(log.catalog, work.teacher)
        if shape.vocab != run.shape.vocab:
            cause = (
                f"the vocabulary of {work.teacher} ({shape.vocab:,}) is not that of "
                f"{run.request.model} ({run.shape.vocab:,}): their logits cannot be compared"
            )
            raise InputError([Problem("DC051", cause, Place(FLAG))])
        made = teaching(work, shape, found, run.spec, run.accelerators, log)
        if isinstance(made, str):
            raise InputError([Problem("DC010", made, Place(FLAG))])
        taught = made
    count = run.accelerators - (work.teacher_accelerators or 0)
    ranks = int(count * run.spec.device.ranks)
    layout, keep = run.request.layout, run.request.list_count
    case, layouts = tuned_layouts(found, ranks, layout, keep, taught)
    log.take("tokens", Quantity(value=run.tokens, status=Status.INPUT))
    return _Answered(run, found, taught, case, layouts)


def _metrics(main: _Answered, work: FineTuning, log: InputLog) -> dict[str, Metric]:
    run, own, time_s = main.run, main.tuned, main.step_time_s
    count = run.accelerators
    spread = tuning_spread_frac(run.spec.spread_frac, run.stack.partition(AT)[0], log)
    tokens = main.case.global_batch * run.seq_len
    useful = tokens * (1.0 - own.padding_frac)
    steps = math.ceil(run.tokens / useful)
    days = steps * time_s / SECONDS_PER_DAY
    flops = own.flops_per_token * tokens / time_s / count
    columns = {k: first(v[:1]) for k, v in main.found.layouts.items()}
    used = columns["tp"] * columns["pp"] * columns["cp"] * columns["dp"] / main.case.device.ranks
    low, high = 1.0 / (1.0 + spread), 1.0 + spread
    found = {
        **step_specs.STEP_TIME(time_s, low=time_s * low, high=time_s * high),
        **specs.TUNING_DAYS(days, low=days * low, high=days * high),
        **specs.STEPS(steps),
        **step_specs.TOKENS_PER_S(tokens / time_s / count),
        **specs.SAMPLE_TOKENS_PER_S(useful / time_s),
        **specs.TRAINED_SAMPLES_PER_S(useful / own.mean_len / time_s),
        **step_specs.TFLOPS(flops / TERA),
        **step_specs.MFU(flops / (run.spec.peak_tflops * TERA)),
        **step_specs.MEMORY_GIB(float(main.found.memory_bytes[0]) / BYTES_PER_GIB),
        **step_specs.ACCELERATORS_USED(used + (work.teacher_accelerators or 0)),
        **specs.TRAINED_PARAMS(own.trained_params),
        **specs.TRAINED_PARAMS_FRAC(own.trained_params / main.case.shape.params),
    }
    price = rent_usd_per_hour(log, run)
    if price is not None:
        cost = price * count * days * HOURS_PER_DAY
        found |= specs.TUNING_RENT(cost, low=cost * low, high=cost * high)
    return found


def _headline(main: _Answered, work: FineTuning, metrics: dict[str, Metric]) -> str:
    run, days = main.run, metrics[specs.TUNING_DAYS.key]
    rank = f" of rank {work.adapter_rank}" if work.adapter_rank else ""
    steps = metrics[specs.STEPS.key].value
    share = f", {main.tuned.padding_frac:.0%} of them padding" if main.tuned.padding_frac else ""
    return (
        f"{_what(run)}, {work.algorithm}{rank}: {main.step_time_s:.3g} s per step, "
        f"{days.value:.3g} days (P10 {days.low:.3g}, P90 {days.high:.3g}) for {steps:,} steps; "
        f"{si(main.tuned.trained_params)} trained parameters; "
        f"{si(run.batch_tokens)} tokens per step{share}"
    )


def _what(run: TrainRun) -> str:
    machine = f"{run.accelerators:,} x {run.system.accelerator} ({run.system.id})"
    return f"{run.request.model} on {machine}, {run.precision}"


def _notes(main: _Answered, work: FineTuning) -> list[str]:
    """Return what the estimate leaves out, and the defaults that matter."""
    found = ["the duration has no interruptions: it is the number of steps times the step time"]
    if main.run.request.global_batch_tokens is None:
        found.append("the tokens per step are a default; set --global-batch-tokens")
    if work.mean_len is None and work.packed:
        found.append("without mean-len, a sample fills its sequence: attention costs the most")
    if work.algorithm in PAIRS:
        found.append("both samples of a pair count in --tokens and --global-batch-tokens")
    return [*found, *main.run.notes]


def _too_large(short: _Answered, work: FineTuning, seconds: float) -> Result:
    """Answer that nothing fits, with the memory that the smallest layout needs."""
    limit = short.case.device.hbm_gb / short.case.device.ranks
    need = short.found.least_bytes / BYTES_PER_GIB
    subject = "this layout" if short.run.request.layout else "the smallest layout"
    smaller = "" if work.adapter_rank else "; adapters need less: algorithm=lora or qlora"
    return Result(
        verb="train",
        status="does_not_fit",
        exit_code=EXIT_NO,
        headline=(
            f"{_what(short.run)}, {work.algorithm}: {subject} needs {need:.1f} GiB of "
            f"{limit:.0f} GiB{smaller}"
        ),
        metrics={**step_specs.MEMORY_GIB(need), **step_specs.SEARCH_SECONDS(round(seconds, 4))},
        run={"seconds": round(seconds, 4)},
    )
