"""Reinforcement learning of one model on one system: mode, pools, step time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import get_args

import numpy as np

from dcplan.answers.common.model_config import read_config
from dcplan.answers.train.key_values import read_settings
from dcplan.answers.train.layouts.parser import lightest, read_layout
from dcplan.answers.train.metrics import rent_usd_per_hour
from dcplan.answers.train.post_training.fine_tuning import fine_tune
from dcplan.answers.train.post_training.tables import days_of, division_table, part_table
from dcplan.answers.train.post_training.unread import FLAG, unread
from dcplan.answers.train.remarks import unmeasured
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.train.resolve import TrainRun, resolve
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Model
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.post_training import (
    Pools,
    PostTrainingOption,
    every_division,
    pool_counts,
    pools_of,
    post_training_options,
    unfit_part,
)
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.training.rollouts import Place as Hosts
from dcplan.inputs.training.rollouts import record_work, samples_of
from dcplan.inputs.training.trainer import (
    Policy,
    TrainingPool,
    learned_s,
    packed_len,
    step_spread_frac,
    update_tokens,
)
from dcplan.llm.config import timed_config
from dcplan.result import Metric, Result
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.specs.train import layouts as step_specs
from dcplan.specs.train import post_training as specs
from dcplan.training.estimate import case_of
from dcplan.training.grid import case_setup, layout_table, model_parallel_accelerators
from dcplan.training.memory import memory
from dcplan.training.search import fits_host
from dcplan.training.step import step
from dcplan.units import BITS_PER_BYTE, BYTES_PER_GIB, HOURS_PER_DAY

USED = frozenset(
    {
        *("model", "system", "accelerators", "precision", "nic_port_gbps", "stack", "layout"),
        *("list_count", "usd_per_accelerator_hour", "power_limit_frac", "in_network_reduction"),
        *("start", "post_training", "catalogs"),
    }
)
"""Fields of the request that post-training reads; another one that is set is an error."""


@dataclass(frozen=True)
class Answered:
    """The options of one precision."""

    run: TrainRun
    pools: Pools
    best: PostTrainingOption | None


def post_train(request: TrainRequest, catalog: Catalog) -> Result:
    """Estimate the post-training of one model on one system.

    Raises
    ------
    InputError
        When a name is unknown, an argument is missing, or a flag does not apply.
    """
    text = request.post_training or ""
    if algorithm_of(text) in get_args(FineTuning.model_fields["algorithm"].annotation):
        return fine_tune(request, read_settings(text, FineTuning, FLAG), catalog)
    problems = list(unread(request, USED))
    if problems:
        raise InputError(problems)
    work = read_settings(text, PostTraining, FLAG)
    began = time.perf_counter()
    log = InputLog(catalog)
    tokens = work.tokens * work.steps
    resolved = resolve(
        replace(request, tokens=tokens, global_batch_tokens=work.tokens / work.updates), log
    )
    record_work(work, log, "post_training")
    found = [_answered(work, run, log) for run in resolved]
    fitting = [x for x in found if x.best is not None]
    seconds = time.perf_counter() - began
    if not fitting:
        return _too_large(found[0], seconds)
    main = min(fitting, key=lambda x: x.best.step_time_s if x.best else np.inf)
    assert main.best is not None  # noqa: S101 - chosen among those that fit
    metrics = _metrics(main.run, work, main.best, log)
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(main.run, work, main.best, metrics),
        metrics=metrics | step_specs.SEARCH_SECONDS(round(seconds, 4)),
        tables={
            specs.DIVISIONS.name: division_table(
                work, every_division(main.pools, main.run.accelerators), main.best, request
            ),
            specs.STEP_PARTS.name: part_table(main.best),
        },
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
        warnings=[
            *({"code": code, "message": text} for code, text in unmeasured(main.run)),
            *({"code": "model", "message": note} for note in _notes(main, work)),
        ],
        run={"seconds": round(seconds, 4)},
    )


def algorithm_of(text: str) -> str:
    """Return the algorithm that the settings name; grpo if they name none.

    Raises
    ------
    InputError
        When the algorithm is unknown.
    """
    pairs = (pair.partition("=") for pair in text.split(","))
    found = next((v.strip() for k, _, v in pairs if k.strip() == "algorithm"), "grpo")
    kinds = (PostTraining, FineTuning)
    known = [x for kind in kinds for x in get_args(kind.model_fields["algorithm"].annotation)]
    if found not in known:
        cause = f"algorithm={found}: expected one of {', '.join(known)}"
        raise InputError([Problem("DC051", cause, Place(FLAG), did_you_mean(found, known))])
    return found


def _answered(work: PostTraining, run: TrainRun, log: InputLog) -> Answered:
    """Return the options of one precision on the given accelerators."""
    machine = machine_of(log.catalog, run.system.id)
    if not isinstance(machine, Machine):
        raise InputError([machine])
    row = log.catalog.find("models", run.request.model, Model)
    policy = Policy(run.shape, timed_config(read_config(log.catalog, run.request.model)[0]), row)
    port = run.request.nic_port_gbps
    ports = (run.system.scaleout_ports or machine.size) / machine.size
    nic = machine.nic_gb_per_s if port is None else ports * port / BITS_PER_BYTE
    hosts = Hosts(machine.accelerator, machine.size, nic, machine.domain)
    total = run.accelerators
    _check_pool(work, total)
    unit = hosts.host_accelerators if total > hosts.host_accelerators else 1
    counts: tuple[int, ...] = pool_counts(unit, total)
    if work.rollout_accelerators is not None:
        counts = tuple(sorted({*counts, total - work.rollout_accelerators}))
    if run.request.layout is not None and work.rollout_accelerators is not None:
        counts = tuple(sorted({total - work.rollout_accelerators, total}))
    trained = _given_layout(work, run, counts, log) if run.request.layout else None
    pools = pools_of(work, policy, hosts, run.spec, counts, log, trained)
    if isinstance(pools, str):
        raise InputError([Problem("DC010", pools, Place(FLAG))])
    return Answered(run, pools, post_training_options(pools)[-1])


def _check_pool(work: PostTraining, total: int) -> None:
    if work.rollout_accelerators is not None and work.rollout_accelerators >= total:
        cause = (
            f"rollout-accelerators={work.rollout_accelerators} leaves none of {total:,} to train"
        )
        raise InputError([Problem("DC051", cause, Place(FLAG))])


def _given_layout(
    work: PostTraining, run: TrainRun, counts: tuple[int, ...], log: InputLog
) -> TrainingPool:
    """Return the trainer with the layout of the request at every count that it divides."""
    text = run.request.layout or ""
    samples = samples_of(work, log)
    case = case_of(run.shape, packed_len(samples), update_tokens(work, samples), run.spec)
    limit = case.device.hbm_gb / case.device.ranks * BYTES_PER_GIB
    times, groups, refused = [], [], None
    for count in counts:
        try:
            typed = lightest(read_layout(text, case, int(count * case.device.ranks)), limit)
        except InputError as error:
            times.append(np.inf)
            groups.append(1.0)
            refused = error
            continue
        groups.append(float(model_parallel_accelerators(typed.columns, case.device.ranks)[0]))
        setup = case_setup(typed.case, layout_table(typed.case, typed.columns))
        fits = memory(setup).total[0] <= limit and fits_host(typed.case, setup).all()
        times.append(float(step(setup).time_s[0]) if fits else np.inf)
    if refused is not None and not np.isfinite(times).any():
        raise refused
    total, before = learned_s(np.array(times), work, log)
    numbers = np.array(counts, dtype=np.float64)
    return TrainingPool(numbers, numbers, total, before, (text,) * len(counts), np.array(groups))


def _metrics(
    run: TrainRun, work: PostTraining, best: PostTrainingOption, log: InputLog
) -> dict[str, Metric]:
    days, time_s = days_of(work, best), best.step_time_s
    price = rent_usd_per_hour(log, run)
    low, high = _interval(run, log)
    found = {
        **specs.POST_STEP(time_s, low=time_s * low, high=time_s * high),
        **specs.POST_DAYS(days, low=days * low, high=days * high),
        **specs.SAMPLES_PER_S(work.number / best.step_time_s),
        **specs.POST_TOKENS_PER_S(work.tokens / best.step_time_s / run.accelerators),
        **specs.ROLLOUT_ACCELERATORS(best.rollout_accelerators),
        **specs.TRAINING_ACCELERATORS(best.training_accelerators),
        **specs.USED_ACCELERATORS(best.used_accelerators),
        **specs.ROLLOUT_BUSY(best.rollout_busy_frac),
        **specs.TRAINING_BUSY(best.training_busy_frac),
    }
    if price is not None:
        cost = price * run.accelerators * days * HOURS_PER_DAY
        found |= specs.POST_RENT(cost, low=cost * low, high=cost * high)
    return found


def _interval(run: TrainRun, log: InputLog) -> tuple[float, float]:
    """Return the ends of the 80 % interval of a step over its estimate."""
    family = log.catalog.get("accelerators", run.system.accelerator, Accelerator).family
    spread = step_spread_frac(run.spec.spread_frac, family, log)
    return 1.0 / (1.0 + spread), 1.0 + spread


def _headline(
    run: TrainRun, work: PostTraining, best: PostTrainingOption, metrics: Mapping[str, Metric]
) -> str:
    days = metrics[specs.POST_DAYS.key]
    machine = f"{run.accelerators:,} x {run.system.accelerator} ({run.system.id})"
    pools = f"{best.rollout_accelerators:,} generate and {best.training_accelerators:,} train"
    together = best.rollout_accelerators == best.training_accelerators == best.used_accelerators
    if together:
        pools = f"all {best.used_accelerators:,} generate, then train"
    return (
        f"{run.request.model} on {machine}, {run.precision}, {work.algorithm}: "
        f"{best.step_time_s:.3g} s per step {best.mode}, {days_of(work, best):.3g} days "
        f"(P10 {days.low:.3g}, P90 {days.high:.3g}) for {work.steps:,} steps; {pools}; "
        f"{work.prompts:,} prompts x {work.samples:,} samples"
    )


def _notes(main: Answered, work: PostTraining) -> list[str]:
    """Return what the estimate leaves out, and the defaults that matter."""
    found = ["the duration has no interruptions: it is the number of steps times the step time"]
    if work.longest_osl is None:
        found.append(
            "without longest-osl, the output length of a sample has no limit: a synchronous step "
            "waits for the longest sample"
        )
    if work.length_cv is None:
        found.append("the spread of the output lengths is a class value: set length-cv")
    if not work.staleness:
        found.append("asynchronous pools are not tried: set staleness to allow older samples")
    return [*found, *main.run.notes]


def _too_large(short: Answered, seconds: float) -> Result:
    """Answer that nothing fits, with the part that does not."""
    pools, run = short.pools, short.run
    cause = (
        f"no layout of {unfit_part(pools)} fits in the memory of {run.accelerators:,} accelerators"
    )
    machine = f"{run.request.model} on {run.accelerators:,} x {run.system.accelerator}"
    return Result(
        verb="train",
        status="does_not_fit",
        exit_code=EXIT_NO,
        headline=f"{machine} ({run.system.id}), {run.precision}: {cause}",
        metrics=step_specs.SEARCH_SECONDS(round(seconds, 4)),
        run={"seconds": round(seconds, 4)},
    )
