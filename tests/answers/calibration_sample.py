"""A sample of measurements that a device of known coefficients would give."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.catalog.yaml12 import parse
from dcplan.llm.kernels import attention_backward_s, attention_s, gemm_s, grouped_gemm_s
from tests.training.tiny import COEFFICIENTS

TRUE = {
    "half_gemm_frac": 0.82,
    "fp8_gemm_frac": 0.9,
    "prologue_depth": 600.0,
    "grouped_rows": 180.0,
    "attention_frac": 0.6,
    "hbm_frac": 0.9,
    "scaleup_frac": 0.8,
}
HALF, LOW, HBM, LINK, UNITS = 989.4e12, 1978.9e12, 3.35e12, 450e9, 132  # data sheet of the H100 SXM
LAYERS = [
    (t, o, i)
    for t in (1024, 4096, 16384)
    for o, i in ((512, 4096), (6144, 4096), (28672, 8192), (8192, 1024))
]


def _times(seconds: Any, rng: np.random.Generator) -> dict[str, float]:
    median = float(seconds) * float(np.exp(rng.normal(0.0, 0.01)))
    return {"median_s": median, "p10_s": 0.99 * median, "p90_s": 1.02 * median}


def _gemm(dtype: str, rng: np.random.Generator) -> list[dict[str, Any]]:
    size, speed = (
        (2.0, HALF * TRUE["half_gemm_frac"])
        if dtype == "bf16"
        else (1.0, LOW * TRUE["fp8_gemm_frac"])
    )
    rows = []
    for t, o, i in LAYERS:
        for direction, (m, n, k) in {
            "forward": (t, o, i),
            "dgrad": (t, i, o),
            "wgrad": (o, i, t),
        }.items():
            seconds = gemm_s(
                m=np.array(m),
                n=np.array(n),
                k=np.array(k),
                flops_per_s=np.array(speed),
                units=np.array(UNITS),
                prologue=np.array(TRUE["prologue_depth"]),
                bytes_per_s=np.array(HBM * TRUE["hbm_frac"]),
                in_bytes=np.array(size),
                out_bytes=2.0,
                tiling=COEFFICIENTS.tiling,
            )
            rows.append(
                {"dtype": dtype, "direction": direction, "m": m, "n": n, "k": k}
                | _times(seconds, rng)
            )
    return rows


def _grouped(rng: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for m in (64, 128, 256, 512, 1024, 2048, 4096):
        seconds = grouped_gemm_s(
            groups=np.array(8),
            m=np.array(m),
            n=np.array(4096),
            k=np.array(7168),
            flops_per_s=np.array(HALF * TRUE["half_gemm_frac"]),
            few_rows=np.array(TRUE["grouped_rows"]),
            bytes_per_s=np.array(HBM * TRUE["hbm_frac"]),
            in_bytes=np.array(2.0),
            out_bytes=2.0,
        )
        for method, slower in (("loop", 1.6), ("bmm", 1.0)):  # only the faster way counts
            row = {"dtype": "bf16", "method": method, "groups": 8, "m": m, "n": 4096, "k": 7168}
            rows.append(row | _times(seconds * slower, rng))
    return rows


def _attention(rng: np.random.Generator) -> list[dict[str, Any]]:
    rows = []
    for heads, seq, dim in ((32, 8192, 128), (4, 16384, 64), (16, 2048, 128), (64, 4096, 128)):
        for direction, law in (("forward", attention_s), ("backward", attention_backward_s)):
            seconds = law(
                pairs=np.array(seq * seq / 2),
                heads=np.array(heads),
                dims=np.array(2 * dim),
                work=np.array(seq * heads),
                flops_per_s=np.array(HALF * TRUE["attention_frac"]),
                units=np.array(UNITS),
                ramp=COEFFICIENTS.ramp,
            )
            row = {"dtype": "bf16", "direction": direction, "method": "default", "causal": True}
            rows.append(
                row
                | {"batch": 1, "heads": heads, "seq": seq, "head_dim": dim}
                | _times(seconds, rng)
            )
    return rows


def _sample() -> dict[str, Any]:
    """What the script would write on an accelerator that follows the laws exactly, but for 1 % of
    noise."""
    rng = np.random.default_rng(7)
    memory = [
        {"kind": kind, "bytes": 2 * size} | _times(2 * size / (HBM * TRUE["hbm_frac"]), rng)
        for size in (2**24, 2**28, 2**30, 2**31)
        for kind in ("copy", "update")
    ]
    links = [
        {"op": op, "bytes": size, "ranks": 8, "nodes": 1}
        | _times(7 / 8 * size / (LINK * TRUE["scaleup_frac"]) + 20e-6, rng)
        for size in (2**20, 2**26, 2**29, 2**30)
        for op in ("all_gather", "reduce_scatter", "all_to_all")
    ]
    return {
        "schema": "dcplan.calibration/1",
        "device": "NVIDIA H100 80GB HBM3",
        "multiprocessors": UNITS,
        "torch": "2.9.0+cu128",
        "cuda": "12.8",
        "date": "2026-11-21",
        "gemm": _gemm("bf16", rng) + _gemm("fp8", rng),
        "grouped": _grouped(rng),
        "attention": _attention(rng),
        "memory": memory,
        "collectives": links,
        "skipped": [],
    }


SAMPLE = _sample()


def save(folder: Path, document: Any) -> Path:
    path = folder / "calibration.json"
    path.write_text(
        document if isinstance(document, str) else json.dumps(document, indent=1), encoding="utf-8"
    )
    return path


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    document = copy.deepcopy(SAMPLE)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return document


def terms_of(overlay: str) -> dict[str, dict[str, Any]]:
    rows = parse(overlay, "calibrated.yaml").data["accelerators"]
    assert [set(row) for row in rows] == [{"id", "training"}]
    return dict(rows[0]["training"])
