"""Fit the constants of the serving model to the measured rows, and judge them on rows left out.

    python -m tests.bench.fit_serving             fit and print errors
    python -m tests.bench.fit_serving --write     and write constants, factors and spreads
    python -m tests.bench.fit_serving --folds     leave one accelerator and model out at a time, in
    five folds; these residuals make the spreads

Constants are physical and shared. A factor belongs to an accelerator family, an engine or a line of
its releases, never to a row, a model or a source. Each has a prior width in log, so that what the
rows do not show stays at the value of the level above. The loss is the robust log ratio of the
predicted and measured value; an engine line of n rows weighs as n / sqrt(1 + n/30).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from dcplan.answers.validation.serving_rows import CLOSED, Reader, ServingRun, Unsupported
from dcplan.answers.validation.serving_tables import Setups, predict, setups
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Engine
from dcplan.inputs.serving.engines import CAPPED, MOST_FRAC, TERMS
from dcplan.serving.tables import EngineTerms

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "catalogs" / "runs" / "serving_runs.csv"
UNIT = 0.08
"""Residual at which the loss turns from square to linear."""
TTFT_UNIT, ALONE_UNIT = 0.4, 0.12
"""The same for time to first token: of a loaded engine, and of a static batch."""
STRENGTH = 3.0
"""Weight of the priors."""
PRIOR = dict(
    weight_hbm_frac=(0.8, 0.15),
    expert_hbm_frac=(0.7, 0.4),
    linear_flops_frac=(0.6, 0.3),
    expert_flops_frac=(0.4, 0.5),
    overlap_power=(1.6, 0.3),
    routing_spread=(0.8, 0.4),
    expert_imbalance=(1.15, 0.2),
    activation_passes=(12, 0.7),
    cache_hbm_frac=(0.75, 0.3),
    cache_flops_frac=(0.4, 0.5),
    prefill_attention_frac=(0.4, 0.4),
    layer_us=(25, 0.7),
    quantize_us=(8, 0.8),
    moe_layer_us=(40, 0.8),
    latent_us=(10, 0.8),
    shared_us=(8, 0.8),
    recurrent_us=(15, 0.8),
    allreduce_us=(8, 0.6),
    allreduce_growth=(0.3, 0.5),
    allreduce_link_frac=(0.5, 0.6),
    exchange_us=(50, 0.7),
    exchange_link_frac=(0.3, 0.7),
    hop_us=(10, 0.5),
    step_us=(500, 1.0),
    request_us=(5, 1.0),
    prefill_factor=(1.0, 0.4),
    separate_prefill_frac=(0.6, 0.7),
    pool_prefill_factor=(0.75, 0.3),
    ingress_ms=(20, 0.8),
    queue_factor=(1, 0.7),
    burst_frac=(0.1, 0.8),
    handover_ms=(60, 0.8),
)
"""Constant -> prior value and its width in log."""
FAMILY = (
    "weight_hbm_frac",
    "expert_hbm_frac",
    "linear_flops_frac",
    "expert_flops_frac",
    "cache_hbm_frac",
    "cache_flops_frac",
    "prefill_attention_frac",
    "allreduce_us",
    "layer_us",
    "allreduce_link_frac",
    "moe_layer_us",
)
"""Constants with a factor by accelerator family."""
WIDTH = {"engine": 0.4, "lone": 0.8, "family": 0.5, "old": 0.5, "new": 0.12}
"""Width of the factors of each level over the width of the constant."""
NEW = "2025-10"
"""Releases since then are lines of one current engine; older ones differ from it."""
PORTS = {("vllm", "0.6", f) for f in ("cdna2", "cdna3", "generic")}
"""Early ports, fitted with one factor each and left out of all other parameters."""


@dataclass
class Data:
    """Rows with their groups."""

    runs: Sequence[ServingRun]
    setup: Setups
    base: dict[str, np.ndarray]
    levels: list[tuple[str, np.ndarray, list[str], tuple[str, ...], np.ndarray]]
    """Level, group of each row, group names, constants, prior width factor of each group."""
    main: np.ndarray
    """Measured main quantity, and index of its prediction."""
    which: np.ndarray
    ttft: np.ndarray
    port: np.ndarray


def read(file: Path = ROWS) -> list[ServingRun]:
    reader, runs = Reader(load()), []
    for row in csv.DictReader(file.open()):
        try:
            runs.append(reader.read({k: (v or "").strip() for k, v in row.items()}))
        except Unsupported:
            continue
    return runs


def line(run: ServingRun) -> str:
    return f"{run.engine.id}@{run.release.id}" if run.release else run.engine.id


def data_of(runs: Sequence[ServingRun]) -> Data:
    setup = setups(runs)
    n = len(runs)
    levels = []
    for name, key, names in (
        ("engine", lambda r: r.engine.id, TERMS),
        ("family", lambda r: r.family, FAMILY),
        ("release", line, TERMS),
    ):
        groups = sorted({key(r) for r in runs})
        at = np.array([groups.index(key(r)) for r in runs])
        if name == "release":
            since = {line(r): str(r.release.since)[:7] if r.release else "9999" for r in runs}
            width = np.array([WIDTH["new" if since[g] >= NEW else "old"] for g in groups])
            only = {
                g
                for g in groups
                if len({line(r) for r in runs if r.engine.id == g.split("@")[0]}) == 1
            }
            width = np.array([1e-3 if g in only else w for g, w in zip(groups, width, strict=True)])
        elif name == "engine":
            lines = {g: {line(r) for r in runs if r.engine.id == g} for g in groups}
            width = np.array([WIDTH["lone" if len(lines[g]) == 1 else "engine"] for g in groups])
        else:
            width = np.full(len(groups), WIDTH[name])
        levels.append((name, at, groups, names, width))
    main, which = np.full(n, np.nan), np.zeros(n, int)
    for i, r in enumerate(runs):
        m = r.measured
        if r.mode == CLOSED and "tpot_ms" in m:
            main[i], which[i] = m["tpot_ms"] / 1e3, 0
        elif r.mode == "saturated" and "output_tokens_per_s_total" in m:
            main[i], which[i] = m["output_tokens_per_s_total"], 3
        elif r.output_tokens <= 1 and "ttft_ms" in m:
            main[i], which[i] = m["ttft_ms"] / 1e3, 1
        elif "e2e_ms" in m and "tpot_ms" not in m:
            main[i], which[i] = m["e2e_ms"] / 1e3, 2
        elif "tpot_ms" in m:
            main[i], which[i] = m["tpot_ms"] / 1e3, 0
        elif "output_tokens_per_s_total" in m:
            main[i], which[i] = m["output_tokens_per_s_total"], 3
    ttft = np.array([r.measured.get("ttft_ms", np.nan) / 1e3 for r in runs])
    ttft[which == 1] = np.nan
    port = np.array(
        [(r.engine.id, r.release.id if r.release else "", r.family) in PORTS for r in runs]
    )
    base = {k: np.full(n, PRIOR[k][0], float) for k in TERMS}
    return Data(runs, setup, base, levels, main, which, ttft, port)


K = len(TERMS)


def size(data: Data) -> int:
    return K + sum(len(g) * len(names) for _, _, g, names, _ in data.levels)


def terms_of(data: Data, x: np.ndarray) -> dict[str, np.ndarray]:
    log = {k: np.full(len(data.runs), x[j]) for j, k in enumerate(TERMS)}
    at = K
    for _, group, groups, names, _ in data.levels:
        block = x[at : at + len(groups) * len(names)].reshape(len(groups), len(names))
        for j, k in enumerate(names):
            log[k] = log[k] + block[group, j]
        at += block.size
    return log


QUANTITIES = ("tpot_ms", "ttft_ms", "e2e_ms", "output_tokens_per_s_total", "power_w")


def predicted(data: Data, log: dict[str, np.ndarray]) -> np.ndarray:
    """Return the predictions of all quantities, shape (rows, quantities)."""
    p = predict(
        replace(data.setup, served=replace(data.setup.served, terms=engine_terms(data, log)))
    )
    return np.stack(
        [p.tpot_s * 1e3, p.ttft_s * 1e3, p.e2e_s * 1e3, p.output_tokens_per_s, p.power_w], 1
    )


def engine_terms(data: Data, log: dict[str, np.ndarray]) -> EngineTerms:
    value = {k: data.base[k] * np.exp(log[k]) for k in TERMS}
    return EngineTerms(
        **{k: np.minimum(v, MOST_FRAC) if k in CAPPED else v for k, v in value.items()}
    )


def residuals(data: Data, log: dict[str, np.ndarray]) -> np.ndarray:
    p = predict(
        replace(data.setup, served=replace(data.setup.served, terms=engine_terms(data, log)))
    )
    pred = np.choose(data.which, [p.tpot_s, p.ttft_s, p.e2e_s, p.output_tokens_per_s])
    sign = np.where(data.which == 3, -1.0, 1.0)
    one = sign * np.log(pred / data.main)
    two = np.log(p.ttft_s / data.ttft)
    return np.nan_to_num(np.concatenate([one, two]))


def prior(data: Data) -> np.ndarray:
    w = {k: PRIOR[k][1] for k in TERMS}
    out = [np.array([1 / w[k] ** 2 for k in TERMS])]
    for _, _, _, names, width in data.levels:
        out.append((1 / np.outer(width, [w[k] for k in names]) ** 2).ravel())
    return np.concatenate(out)


def fit(
    data: Data,
    use: np.ndarray,
    rounds: int = 12,
    x: np.ndarray | None = None,
    verbose: bool = False,
) -> np.ndarray:
    """Gauss-Newton with reweighting; ``use`` picks rows."""
    count = Counter(line(r) for r in data.runs)
    weight = np.array([1 / np.sqrt(1 + count[line(r)] / 30) for r in data.runs])
    weight = weight / weight.mean() * use * ~data.port
    have = np.concatenate([~np.isnan(data.main), ~np.isnan(data.ttft)])
    weight = np.concatenate([weight, 0.5 * weight]) * have
    n = len(data.runs)
    alone = np.array([r.mode != CLOSED for r in data.runs])
    unit = np.concatenate([np.full(n, UNIT), np.where(alone, ALONE_UNIT, TTFT_UNIT)])
    precision = prior(data) * STRENGTH
    x = np.zeros(size(data)) if x is None else x.copy()

    def loss(y: np.ndarray) -> float:
        r = residuals(data, terms_of(data, y))
        return float(
            (weight * (np.sqrt(1 + (r / unit) ** 2) - 1)).sum() + 0.5 * (precision * y * y).sum()
        )

    for step in range(rounds):
        log = terms_of(data, x)
        r = residuals(data, log)
        slope = np.zeros((2 * n, K))
        for j, k in enumerate(TERMS):
            moved = dict(log)
            moved[k] = log[k] + 1e-3
            slope[:, j] = (residuals(data, moved) - r) / 1e-3
        slope = np.clip(slope, -20, 20)
        matrix = np.zeros((2 * n, x.size))
        matrix[:, :K] = slope
        at, rows = K, np.arange(2 * n)
        for _, group, groups, names, _ in data.levels:
            twice = np.concatenate([group, group])
            for j, k in enumerate(names):
                matrix[rows, at + twice * len(names) + j] = slope[:, TERMS.index(k)]
            at += len(groups) * len(names)
        w = weight / np.sqrt(1 + (r / unit) ** 2) / unit**2
        weighted = matrix * w[:, None]
        normal = matrix.T @ weighted + np.diag(precision)
        gradient = weighted.T @ r + precision * x
        move = -np.linalg.solve(normal + np.diag(np.diag(normal)) * 1e-3, gradient)
        scale, before = min(1.0, 0.7 / np.abs(move).max()), loss(x)
        while scale > 1e-3 and loss(x + scale * move) > before:
            scale /= 2
        if verbose:
            print(f"round {step}: loss {before:.1f}, step {scale:.3f}", flush=True)
        if scale <= 1e-3:
            break
        x = x + scale * move
    return x


def kinds(data: Data) -> np.ndarray:
    out = []
    for i, r in enumerate(data.runs):
        q = ("tpot", "ttft", "e2e", "rate")[data.which[i]]
        out.append(f"{'apart' if r.prefill else r.mode} {q}" if not data.port[i] else "early port")
    return np.array(out)


def show(r: np.ndarray, groups: np.ndarray, title: str, use: np.ndarray) -> None:
    print(title)
    for g in sorted(set(groups[use])):
        e = np.exp(r[use & (groups == g)]) - 1
        if e.size >= 4:
            print(
                f"  {g[:44]:44s} n={e.size:5d} median {100 * np.median(np.abs(e)):5.1f} mean {100 * np.abs(e).mean():6.1f} p90 {100 * np.quantile(np.abs(e), 0.9):6.1f} bias {100 * np.median(e):+5.1f}"
            )


def fold_of(data: Data) -> np.ndarray:
    return np.array(
        [
            int(hashlib.md5(f"{r.accelerator.id}|{r.model_id}".encode()).hexdigest(), 16) % 5
            for r in data.runs
        ]
    )  # noqa: S324


def held_out(
    data: Data, start: np.ndarray | None = None, rounds: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals and predictions of rows whose accelerator and model were left out."""
    fold, out = fold_of(data), np.zeros(2 * len(data.runs))
    values = np.zeros((len(data.runs), len(QUANTITIES)))
    for f in range(5):
        x = fit(data, (fold != f).astype(float), rounds, start)
        r = residuals(data, terms_of(data, x))
        twice = np.concatenate([fold == f] * 2)
        out[twice] = r[twice]
        values[fold == f] = predicted(data, terms_of(data, x))[fold == f]
    return out, values


def report(data: Data, r: np.ndarray, title: str, deep: bool = True) -> None:
    n = len(data.runs)
    use = ~np.isnan(data.main)
    show(r[:n], kinds(data), title, use)
    some = ~np.isnan(data.ttft) & ~data.port
    show(
        r[n:],
        np.array([f"ttft {r.mode}{' apart' if r.prefill else ''}" for r in data.runs]),
        "",
        some,
    )
    if deep:
        show(r[:n], np.array([line(x) for x in data.runs]), "by line", use)
        closed = use & np.array([x.mode == CLOSED for x in data.runs])
        show(r[:n], np.array([x.model_id for x in data.runs]), "closed, by model", closed)
        show(
            r[:n], np.array([x.accelerator.id for x in data.runs]), "closed, by accelerator", closed
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rounds", type=int, default=14)
    given = parser.parse_args()
    data = data_of(read())
    if given.folds or given.write:
        r, values = held_out(data)
        report(data, r, "held out")
    x = fit(data, np.ones(len(data.runs)), given.rounds, verbose=True)
    report(data, residuals(data, terms_of(data, x)), "fitted")
    if given.write:
        from tests.bench.write_serving import write

        write(data, x, values)


if __name__ == "__main__":
    main()
