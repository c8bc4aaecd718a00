"""Step time of given layouts at every accelerator count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.llm.architecture import model_flops_per_token
from dcplan.llm.tables import Array
from dcplan.training.estimate import Sweep
from dcplan.training.grid import KEYS, Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found, fits_host, usable_bytes
from dcplan.training.step import step
from dcplan.units import GIGA


def faster_of(one: Sweep, other: Sweep) -> Sweep:
    """Return the faster of two sweeps at every count."""
    take = other.step_time_s < one.step_time_s

    def pick(a: Array, b: Array) -> Array:
        return np.where(take, b, a)

    parts = one.parts_s.keys() | other.parts_s.keys()
    zero = np.zeros_like(one.step_time_s)
    return replace(
        one,
        used=pick(one.used, other.used),
        step_time_s=pick(one.step_time_s, other.step_time_s),
        memory_gb=pick(one.memory_gb, other.memory_gb),
        layouts={k: pick(one.layouts[k], other.layouts[k]) for k in KEYS},
        parts_s={
            k: pick(one.parts_s.get(k, zero), other.parts_s.get(k, zero)) for k in sorted(parts)
        },
        tried=one.tried + other.tried,
        feasible=one.feasible + other.feasible,
    )


def at_every_count(case: Case, counts: Array, found: list[Found]) -> Sweep:
    """Return the fastest of the found layouts at every count, with its data parallelism."""
    replica = [k for k in KEYS if k != "dp"]
    rows = np.unique(
        np.concatenate([np.stack([f.layouts[k] for k in replica]) for f in found], axis=1), axis=1
    )
    tried, tokens = sum(f.tried for f in found), case.global_batch * case.seq_len
    flops = model_flops_per_token(case.shape, case.seq_len, case.images) * tokens
    shape = (counts.size, rows.shape[1])
    if not rows.size:
        return _none_found(counts, tokens, flops, tried)
    # layouts along one axis and counts along the other: what does not depend on the count is
    # computed once
    columns = {k: rows[i][None, :] for i, k in enumerate(replica)}
    ranks = (counts * case.device.ranks)[:, None]
    cut = columns["tp"] * columns["pp"] * columns["cp"]
    dp = np.minimum(np.floor(ranks / cut), np.floor(case.global_batch / columns["micro_batch"]))
    groups = dp * columns["cp"] * columns["tp"]
    ok = (dp >= 1) & (np.mod(groups, columns["ep"] * columns["etp"]) == 0) & (groups > 0)
    columns["dp"] = np.maximum(dp, 1.0)
    setup = case_setup(case, layout_table(case, columns))
    existing = memory(setup).total
    ok &= (existing <= usable_bytes(case)) & fits_host(case, setup)
    done = step(setup)
    simple = 1.0 + 1e-9 * (columns["pp"] * columns["vpp"] + columns["tp"] / 64.0 + columns["cp"])
    time = np.where(ok, done.time_s, np.inf)
    best = (np.arange(counts.size), np.argmin(time * simple, axis=1))
    at = {k: np.broadcast_to(columns[k], shape)[best] for k in KEYS}
    return Sweep(
        accelerators=counts,
        used=at["tp"] * at["pp"] * at["cp"] * at["dp"] / case.device.ranks,
        step_time_s=time[best],
        memory_gb=np.broadcast_to(existing, shape)[best] / GIGA,
        tokens_per_step=tokens,
        flops_per_step=flops,
        layouts=at,
        parts_s={k: np.broadcast_to(v, shape)[best] for k, v in done.parts_s.items()},
        tried=tried,
        feasible=ok.sum(axis=1).astype(np.float64),
    )


def _none_found(counts: Array, tokens: float, flops: float, tried: int) -> Sweep:
    """Return a sweep in which no layout fits at any count."""
    none, zero = np.full(counts.size, np.inf), np.zeros(counts.size)
    layouts = dict.fromkeys(KEYS, zero + 1)
    return Sweep(counts, zero, none, zero, tokens, flops, layouts, {}, tried, zero)
