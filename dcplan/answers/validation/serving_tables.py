"""Measured rows of serving as tables of the serving room, and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.validation.serving_cells import CLOSED, SATURATED, Pool
from dcplan.answers.validation.serving_rows import ServingRun
from dcplan.inputs.serving.setups import memory_terms, served_of
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms, most_requests
from dcplan.serving.power import PowerTerms, power_frac, use_of
from dcplan.serving.steady import (
    Load,
    Pools,
    Steady,
    closed_loop,
    disaggregated,
    saturated,
    static_batch,
)
from dcplan.serving.tables import Array, ServedLayout, table
from dcplan.units import W_PER_KW

UNLIMITED = 1e9
"""Requests of a saturated run before the limits of memory and engine."""


@dataclass(frozen=True)
class Setups:
    """Rows of a table of measurements: one configuration and one load each."""

    served: Served
    memory: MemoryTerms
    replicas: Array
    prefill: ServedLayout
    prefill_replicas: Array
    apart: Array
    requests: Array
    """Concurrent requests of all replicas."""
    most_running: Array
    input_tokens: Array
    output_tokens: Array
    mode: tuple[str, ...]
    median_gap: Array
    accelerators: Array
    tdp_w: Array
    """Thermal design power of one accelerator; NaN if unknown."""
    power: PowerTerms


@dataclass(frozen=True)
class Predicted:
    """Predictions of every row, in the units of the quantities."""

    tpot_s: Array
    ttft_s: Array
    e2e_s: Array
    output_tokens_per_s: Array
    running: Array
    """Requests that decode at the same time, in all replicas."""
    most_requests: Array
    power_w: Array
    """Power of all accelerators of the row."""
    memory_use: Array
    compute_use: Array


def _layout(pools: Sequence[Pool]) -> ServedLayout:
    return table(ServedLayout, pools)


def setups(runs: Sequence[ServingRun]) -> Setups:
    """Return the tables of runs."""
    services = [r.service for r in runs]
    served = served_of(services, [r.decode for r in runs])
    return Setups(
        served=served,
        memory=memory_terms(services),
        replicas=np.array([float(r.decode.replicas) for r in runs]),
        prefill=_layout([r.prefill or r.decode for r in runs]),
        prefill_replicas=np.array([float((r.prefill or r.decode).replicas) for r in runs]),
        apart=np.array([r.prefill is not None for r in runs]),
        requests=np.array([min(r.requests, UNLIMITED) for r in runs]),
        most_running=np.array([min(r.most_running, UNLIMITED) for r in runs]),
        input_tokens=np.array([r.input_tokens for r in runs]),
        output_tokens=np.array([r.output_tokens for r in runs]),
        mode=tuple(r.mode for r in runs),
        median_gap=np.array([r.median_gap for r in runs]),
        accelerators=np.array([float(r.accelerators) for r in runs]),
        tdp_w=np.array([_tdp_w(r) for r in runs]),
        power=table(PowerTerms, [r.service.power for r in runs]),
    )


def _tdp_w(run: ServingRun) -> float:
    tdp = run.accelerator.tdp_kw
    return tdp.value * W_PER_KW if tdp is not None else float("nan")


def load_of(setup: Setups) -> Load:
    """Return the load of one replica of each row."""
    s = setup.served
    context = setup.input_tokens + setup.output_tokens / 2.0
    fitting = most_requests(s.model, s.device, s.layout, setup.memory, context)
    return Load(
        requests=setup.requests / setup.replicas,
        input_tokens=setup.input_tokens,
        output_tokens=setup.output_tokens,
        cached_tokens=np.zeros_like(context),
        most_requests=np.minimum(fitting, setup.most_running),
        step_tokens=setup.memory.activation_tokens,
    )


def predict(setup: Setups) -> Predicted:
    """Return the predictions of every row by its mode."""
    load = load_of(setup)
    loop = _steady_where(setup, load)
    first, tpot, total = static_batch(setup.served, load)
    mode = np.array(setup.mode)
    steady = (mode == CLOSED) | (mode == SATURATED)
    life = loop.ttft_s + (setup.output_tokens - 1.0) * loop.tpot_s
    rate = loop.requests_per_s * setup.replicas * setup.output_tokens
    each = np.where(steady, loop.tpot_s, tpot)
    running = np.where(steady, loop.running, np.minimum(load.requests, load.most_requests))
    prompts = np.where(steady, loop.requests_per_s, load.requests / total) * setup.input_tokens
    context = setup.input_tokens + setup.output_tokens / 2.0
    use = use_of(setup.served, running, context, each, prompts)
    return Predicted(
        tpot_s=np.where(steady, np.where(setup.median_gap, loop.first_step_s, loop.tpot_s), tpot),
        ttft_s=np.where(steady, loop.ttft_s, first),
        e2e_s=np.where(steady, life, total),
        output_tokens_per_s=np.where(steady, rate, setup.requests * setup.output_tokens / total),
        running=running * setup.replicas,
        power_w=power_frac(setup.power, use) * setup.tdp_w * setup.accelerators,
        memory_use=use.memory,
        compute_use=use.compute,
        most_requests=load.most_requests,
    )


def _steady_where(setup: Setups, load: Load) -> Steady:
    """Return the steady state of each row: closed loop, two pools, or saturated."""
    s = setup.served
    loop = closed_loop(s, load)
    prefill = replace(s, layout=setup.prefill)
    transfer = sequence_bytes(s.model, setup.prefill, load.input_tokens) / s.model.layers
    pools = Pools(
        prefill, setup.prefill_replicas, setup.replicas, transfer / s.device.nic_bytes_per_s
    )
    apart = disaggregated(s, pools, load)
    full = saturated(s, load)
    mode = np.array(setup.mode)

    def pick(name: str) -> Array:
        closed = np.where(setup.apart, getattr(apart, name), getattr(loop, name))
        return np.asarray(np.where(mode == SATURATED, getattr(full, name), closed))

    return Steady(**{name: pick(name) for name in Steady.__dataclass_fields__})
