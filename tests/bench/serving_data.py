"""Measured rows of serving as data of the fit: groups, priors, terms and residuals."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcplan.answers.validation.serving_cells import CLOSED, SATURATED, Unsupported
from dcplan.answers.validation.serving_rows import Reader, ServingRun
from dcplan.answers.validation.serving_tables import Setups, predict, setups
from dcplan.catalog.loader import load
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
PRIOR = {
    "weight_hbm_frac": (0.8, 0.15),
    "expert_hbm_frac": (0.7, 0.4),
    "linear_flops_frac": (0.6, 0.3),
    "expert_flops_frac": (0.4, 0.5),
    "overlap_power": (1.6, 0.3),
    "routing_spread": (0.8, 0.4),
    "expert_imbalance": (1.15, 0.2),
    "activation_passes": (12, 0.7),
    "cache_hbm_frac": (0.75, 0.3),
    "cache_flops_frac": (0.4, 0.5),
    "prefill_attention_frac": (0.4, 0.4),
    "layer_us": (25, 0.7),
    "quantize_us": (8, 0.8),
    "moe_layer_us": (40, 0.8),
    "latent_us": (10, 0.8),
    "shared_us": (8, 0.8),
    "recurrent_us": (15, 0.8),
    "allreduce_us": (8, 0.6),
    "allreduce_growth": (0.3, 0.5),
    "allreduce_link_frac": (0.5, 0.6),
    "exchange_us": (50, 0.7),
    "exchange_link_frac": (0.3, 0.7),
    "hop_us": (10, 0.5),
    "step_us": (500, 1.0),
    "request_us": (5, 1.0),
    "prefill_factor": (1.0, 0.4),
    "separate_prefill_frac": (0.6, 0.7),
    "pool_prefill_factor": (0.75, 0.3),
    "ingress_ms": (20, 0.8),
    "queue_factor": (1, 0.7),
    "burst_frac": (0.1, 0.8),
    "handover_ms": (60, 0.8),
}
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


ONLY_LINE = 1e-3
"""Width of the factors of an engine's only line: those of the engine suffice."""
TPOT, TTFT, E2E, RATE = range(4)
Level = tuple[str, np.ndarray, list[str], tuple[str, ...], np.ndarray]
"""Level, group of each row, group names, constants, prior width factor of each group."""


@dataclass
class Data:
    """Rows with their groups."""

    runs: Sequence[ServingRun]
    setup: Setups
    base: dict[str, np.ndarray]
    levels: list[Level]
    main: np.ndarray
    """Measured main quantity."""
    which: np.ndarray
    """Index of its prediction: TPOT, TTFT, E2E or RATE."""
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
    """Return the tables of runs with their groups."""
    main = np.array([main_of(r)[0] for r in runs])
    which = np.array([main_of(r)[1] for r in runs])
    ttft = np.array([r.measured.get("ttft_ms", np.nan) / 1e3 for r in runs])
    ttft[which == TTFT] = np.nan
    port = np.array(
        [(r.engine.id, r.release.id if r.release else "", r.family) in PORTS for r in runs]
    )
    base = {k: np.full(len(runs), PRIOR[k][0], float) for k in TERMS}
    return Data(runs, setups(runs), base, levels_of(runs), main, which, ttft, port)


def levels_of(runs: Sequence[ServingRun]) -> list[Level]:
    """Return the groups of each level, with the width of their factors."""
    levels: list[Level] = []
    for name, key, names in (
        ("engine", lambda r: r.engine.id, TERMS),
        ("family", lambda r: r.family, FAMILY),
        ("release", line, TERMS),
    ):
        groups = sorted({key(r) for r in runs})
        at = np.array([groups.index(key(r)) for r in runs])
        width = np.array([_width(name, g, runs) for g in groups])
        levels.append((name, at, groups, names, width))
    return levels


def _width(level: str, group: str, runs: Sequence[ServingRun]) -> float:
    """Return the width of a group's factors over the width of the constant."""
    if level == "family":
        return WIDTH["family"]
    engine = group.split("@", maxsplit=1)[0]
    lines = {line(r): r for r in runs if r.engine.id == engine}
    if level == "engine":
        return WIDTH["lone" if len(lines) == 1 else "engine"]
    if len(lines) == 1:
        return ONLY_LINE
    release = lines[group].release
    return WIDTH["new" if release is None or str(release.since)[:7] >= NEW else "old"]


def main_of(run: ServingRun) -> tuple[float, int]:
    """Return the main measured quantity in seconds or tokens per second, and which it is."""
    m = run.measured
    if run.mode == CLOSED and "tpot_ms" in m:
        return m["tpot_ms"] / 1e3, TPOT
    if run.mode == SATURATED and "output_tokens_per_s_total" in m:
        return m["output_tokens_per_s_total"], RATE
    if run.output_tokens <= 1 and "ttft_ms" in m:
        return m["ttft_ms"] / 1e3, TTFT
    if "e2e_ms" in m and "tpot_ms" not in m:
        return m["e2e_ms"] / 1e3, E2E
    if "tpot_ms" in m:
        return m["tpot_ms"] / 1e3, TPOT
    if "output_tokens_per_s_total" in m:
        return m["output_tokens_per_s_total"], RATE
    return np.nan, TPOT


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
    sign = np.where(data.which == RATE, -1.0, 1.0)
    one = sign * np.log(pred / data.main)
    two = np.log(p.ttft_s / data.ttft)
    return np.nan_to_num(np.concatenate([one, two]))


def prior(data: Data) -> np.ndarray:
    w = {k: PRIOR[k][1] for k in TERMS}
    out = [np.array([1 / w[k] ** 2 for k in TERMS])]
    for _, _, _, names, width in data.levels:
        out.append((1 / np.outer(width, [w[k] for k in names]) ** 2).ravel())
    return np.concatenate(out)
