"""Offload of activations: bounded by the memory of the hosts, where the catalog knows it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dcplan
from dcplan.answers.common.model_config import read_model
from dcplan.catalog.loader import load
from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware, with_host
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load as load_scenario
from dcplan.training.by_count.sweep import sweep
from dcplan.training.by_count.tried import at_every_count
from dcplan.training.estimate import case_of
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.memory import host_bytes, memory
from dcplan.training.search import Found, fits_host, search

LAYOUT = {
    "tp": 1,
    "pp": 8,
    "vpp": 1,
    "dp": 8,
    "cp": 1,
    "ep": 1,
    "etp": 1,
    "micro_batch": 1,
    "recompute": 2,
    "zero": 1,
    "schedule": 0,
    "offload": 1,
}
COUNT = 64


def _case(host_gb: float) -> Case:
    """Return Llama 3.1 70B on GH200 whose hosts have so much memory for each accelerator."""
    log = InputLog(load())
    spec = hardware("gh200", "bf16", 25.0, log, moe=False)
    assert not isinstance(spec, str)
    shape = read_model(log.catalog, "llama-3.1-70b")[0]
    spec = replace(spec, device=replace(spec.device, host_gb=host_gb))
    return case_of(shape, 8192, 4e6, spec)


@cache
def _found(host_gb: float) -> Found:
    return search(_case(host_gb), COUNT)


def test_host_bytes_by_hand() -> None:
    """Full recompute keeps the 16-bit input of 80 layers, 8,192 tokens of 8,192 values: 10.7 GB a
    micro-batch. A stage of 8 has an eighth of it, for 8 micro-batches in flight."""
    columns = {k: np.array([float(v)]) for k, v in LAYOUT.items()}
    case = _case(np.inf)
    setup = case_setup(case, layout_table(case, columns))
    assert host_bytes(setup)[0] == pytest.approx(8192 * 8192 * 2 * 80 / 8 * 8)


@pytest.mark.parametrize("vpp", [1, 5])
@pytest.mark.parametrize("recompute", [0, 1])
def test_the_host_holds_what_the_accelerator_does_not(vpp: int, recompute: int) -> None:
    case, sizes = _case(np.inf), []
    changed = LAYOUT | {"vpp": vpp, "recompute": recompute}
    for share in (0.0, 1.0):
        columns = {k: np.array([float(v)]) for k, v in (changed | {"offload": share}).items()}
        setup = case_setup(case, layout_table(case, columns))
        sizes.append((float(memory(setup).total[0]), float(host_bytes(setup)[0])))
    (kept, none), (left, moved) = sizes
    assert none == 0
    # without offload the first stage is the fullest; with it the last one, with its logits
    assert 0 < kept - left <= moved * (1 + 1e-9)


def test_less_host_memory_never_makes_a_step_faster() -> None:
    steps = [float(_found(gb).step_time_s[0]) for gb in (np.inf, 200.0, 90.0, 30.0)]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]
    assert _found(np.inf).layouts["offload"][0] == 1
    assert _found(30.0).layouts["offload"][0] == 0


def test_every_layout_found_fits_its_hosts() -> None:
    case, found = _case(90.0), _found(90.0)
    setup = case_setup(case, layout_table(case, dict(found.layouts)))
    assert fits_host(case, setup).all()
    assert (host_bytes(setup) <= 90e9).all()
    assert (found.layouts["offload"] > 0).any()


def test_a_sweep_of_counts_keeps_the_limit() -> None:
    log = InputLog(load())
    spec = hardware("gh200", "bf16", 25.0, log, moe=False)
    assert not isinstance(spec, str)
    shape = read_model(log.catalog, "llama-3.1-70b")[0]
    counts = np.array([32.0, 64.0, 128.0])
    small = replace(spec, device=replace(spec.device, host_gb=20.0))
    swept = sweep(shape, 8192, 4e6, small, counts)
    columns = dict(swept.layouts)
    case = case_of(shape, 8192, 4e6, small)
    assert (host_bytes(case_setup(case, layout_table(case, columns))) <= 20e9).all()
    assert (swept.step_time_s >= sweep(shape, 8192, 4e6, spec, counts).step_time_s).all()


def test_a_layout_of_another_count_is_checked_again() -> None:
    """The layouts of a search without a limit, tried at all counts with one of 60 GB."""
    case, counts = _case(60.0), np.array([32.0, 64.0])
    swept = at_every_count(case, counts, [_found(np.inf)])
    steps = at_every_count(_case(np.inf), counts, [_found(np.inf)]).step_time_s
    fits = np.isfinite(swept.step_time_s)
    setup = case_setup(case, layout_table(case, dict(swept.layouts)))
    assert (host_bytes(setup)[fits] <= 60e9).all()
    assert (swept.step_time_s > steps).any()


def test_a_system_gives_its_share_less_the_reserve() -> None:
    """JUPITER's nodes have 4 x 120 GB; a quarter is in reserve: 90 GB for each accelerator."""
    log = InputLog(load())
    spec = hardware("gh200", "bf16", 25.0, log, moe=False)
    assert not isinstance(spec, str)
    row = log.catalog.get("systems", "xh3515-gh200", System)
    assert with_host(spec, row, log).device.host_gb == pytest.approx(90.0)
    assert with_host(spec, row.model_copy(update={"host_dram_gb": None}), log) == spec


def test_a_given_layout_must_fit_its_hosts() -> None:
    run = {"system": "dgx-h100", "accelerators": 64, "tokens": 1e11, "global_batch_tokens": 4e6}
    layout = "tp=1,pp=1,dp=64,mbs=7,zero=3,recompute=none,offload=all"
    with pytest.raises(InputError) as caught:
        dcplan.train("llama-3.1-70b", **run, layout=layout)
    problem = caught.value.problems[0]
    assert problem.code == "DC052"
    assert "host memory" in problem.cause
    assert "192 GB for it" in problem.cause


def test_a_plan_offloads_no_more_than_its_hosts_hold() -> None:
    job = "workloads.training.flagship"
    sets = ["systems=[gb200-nvl72]", f"{job}.precision=[bf16]"]
    sets += [f"{job}.seq_len=16384", f"{job}.tokens=2e12"]
    usual = build(load_scenario("train-405b-in-90-days", sets=sets)).problem.run_options
    sets.append("prices.gb200-nvl72.host_dram_gb=72")
    small = build(load_scenario("train-405b-in-90-days", sets=sets)).problem.run_options
    assert any("offload" in c.layout for c in usual)
    assert small
    assert not any("offload" in c.layout for c in small)
    assert min(c.accelerators for c in small) >= min(c.accelerators for c in usual)
