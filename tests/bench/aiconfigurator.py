"""Compare ``dcplan validate serving`` with NVIDIA AIConfigurator on the same measured rows.

    python -m venv /tmp/aic && /tmp/aic/bin/pip install aiconfigurator
    python -m tests.bench.aiconfigurator --python /tmp/aic/bin/python [--sample N]

AIConfigurator is no dependency of dcplan. It runs in the environment of ``--python``. The option
may be repeated for several releases. ``PATH=adapter`` asks as AIConfigurator's own reader of
InferenceX records does: with nominal lengths and with the formats of the row on the plain
checkpoint. Only its estimate of one configuration is used, with its measured tables of operations.
Rows are those of ``catalogs/runs/serving_runs.csv`` with fixed concurrency, a stated prompt length,
an NVIDIA accelerator and vLLM, SGLang or TensorRT-LLM.

Constants of dcplan are fitted to these rows. The bench therefore prints two columns of dcplan: as
shipped, and held out (``tests/bench/fit_serving.py``), where the rows of an accelerator and model
take no part in the fit that predicts them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.validation.measured_serving import figures_of, read_rows
from dcplan.answers.validation.serving_rows import (
    CLOSED,
    Pool,
    Reader,
    Row,
    ServingRun,
    Unsupported,
)
from dcplan.catalog.loader import load
from tests.bench.fit_serving import ROWS, data_of, held_out, read

SCRIPT = Path(__file__).with_name("aiconfigurator_estimate.py")
SYSTEMS = {
    "a100-sxm-80": "a100_sxm",
    "h100-sxm": "h100_sxm",
    "h200-sxm": "h200_sxm",
    "b200-sxm": "b200_sxm",
    "b300-sxm": "b300_sxm",
    "gb200": "gb200",
    "gb300": "gb300",
}
BACKENDS = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "trtllm"}
Quant = tuple[str | None, str | None, str | None]
"""Formats of dense products, experts and cache; None where the checkpoint states them."""
STATED: Quant = (None, None, None)
DEEPSEEK, QWEN35 = "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.5-397B-A17B"
CHECKPOINTS: Mapping[tuple[str, str], tuple[str, Quant]] = {
    ("deepseek-v3", "fp8"): (DEEPSEEK, STATED),
    ("deepseek-v3", "fp8+moe:fp8_block"): (DEEPSEEK, STATED),
    ("deepseek-v3", "nvfp4"): ("nvidia/DeepSeek-V3.1-NVFP4", STATED),
    ("gpt-oss-120b", "mxfp4"): ("openai/gpt-oss-120b", STATED),
    ("gpt-oss-120b", "fp8"): ("openai/gpt-oss-120b", STATED),
    ("kimi-k2.5", "int4_wo"): ("moonshotai/Kimi-K2.5", STATED),
    ("kimi-k2.5", "nvfp4"): ("nvidia/Kimi-K2.5-NVFP4", STATED),
    ("llama-3.1-70b", "fp8"): ("nvidia/Llama-3.1-70B-Instruct-FP8", STATED),
    ("llama-3.1-70b", "nvfp4"): ("meta-llama/Meta-Llama-3.1-70B", ("nvfp4", None, "fp8")),
    ("llama-3.1-8b", "fp8"): ("meta-llama/Meta-Llama-3.1-8B", ("fp8", None, "fp8")),
    ("llama-3.1-8b", "fp8_block"): ("meta-llama/Meta-Llama-3.1-8B", ("fp8_block", None, "fp8")),
    ("minimax-m2", "fp8"): ("MiniMaxAI/MiniMax-M2.5", STATED),
    ("minimax-m2", "nvfp4"): ("nvidia/MiniMax-M2.5-NVFP4", STATED),
    ("qwen3-235b-a22b", "fp8"): ("Qwen/Qwen3-235B-A22B-FP8", STATED),
    ("qwen3-235b-a22b", "fp8_block"): ("Qwen/Qwen3-235B-A22B-FP8", STATED),
    ("qwen3-32b", "bf16"): ("Qwen/Qwen3-32B", STATED),
    ("qwen3-32b", "nvfp4"): ("Qwen/Qwen3-32B", ("nvfp4", None, "fp8")),
    ("qwen3.5-397b-a17b", "bf16"): (QWEN35, STATED),
    ("qwen3.5-397b-a17b", "fp8+moe:fp8_block"): (QWEN35, ("fp8_block", "fp8_block", "fp8")),
    ("qwen3.5-397b-a17b", "nvfp4"): (QWEN35, ("nvfp4", "nvfp4", "fp8")),
}
"""Model of the catalog and weight format of the row -> packaged configuration and formats."""
PLAIN = {
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "kimi-k2.5": "moonshotai/Kimi-K2.5",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "minimax-m2": "MiniMaxAI/MiniMax-M2.5",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3.5-397b-a17b": QWEN35,
}
"""Model of the catalog -> checkpoint that the adapter names."""
QUANTITIES = ("tpot_ms", "ttft_ms")
REASONS = {
    "OOM": "does not fit into memory by its account",
    "HuggingFace": "no configuration of the model in the package",
    "no tables": "no tables of the accelerator and engine",
    "Cross-node EP": "no tables of exchanges of experts across nodes",
    "oe data": "no tables of experts of this shape and format",
    "oE data": "no tables of experts of this shape and format",
    "attention data": "no tables of attention of this shape and format",
}
"""Part of a refusal -> its class."""


@dataclass(frozen=True)
class Case:
    """One measured row, as in the file and as read by dcplan."""

    row: Row
    run: ServingRun

    @property
    def stratum(self) -> tuple[str, str, str, bool]:
        """Return model, accelerator, engine and whether the row is split."""
        run = self.run
        return run.model_id, run.accelerator.id, run.engine.id, run.prefill is not None


def layout(pool: Pool, engine: str, experts: int, prefix: str = "") -> dict[str, int]:
    """Return the sizes of one replica as arguments; engine vLLM has all experts' ranks or none."""
    width = pool.tp * pool.dp
    sizes = {"tp_size": pool.tp, "pp_size": pool.pp, "attention_dp_size": pool.dp}
    if experts:
        ranks = max(min(pool.ep, width), 1)
        if engine == "vllm" and ranks > 1:
            ranks = width
        sizes |= {"moe_tp_size": width // ranks, "moe_ep_size": ranks}
    return {prefix + k: v for k, v in sizes.items()}


def batch_of(run: ServingRun) -> int:
    """Return the requests of one attention rank, at least 1."""
    pool = run.decode
    running = min(run.requests / pool.replicas, run.most_running)
    return max(round(running / pool.dp), 1)


def formats_of(label: str, experts: int) -> Quant:
    """Return the formats that a row states, such as ``fp8+moe:fp8_block``."""
    dense, _, moe = label.partition("+moe:")
    if dense in ("bf16", "mxfp4"):
        return STATED
    return dense, (moe or dense) if experts else None, None


def request_of(row: Row, run: ServingRun, adapter: bool = False) -> dict[str, Any] | None:
    """Return the arguments of an estimate of the row, or None if there is no such model or system.

    Parameters
    ----------
    row, run : Row, ServingRun
        The measured row, as in the file and as read by dcplan.
    adapter : bool
        Whether lengths and formats are those of the adapter.
    """
    experts = int(run.service.numbers["experts"])
    found = CHECKPOINTS.get((run.model_id, row["precision_weights"]))
    if found and adapter:
        found = PLAIN[run.model_id], formats_of(row["precision_weights"], experts)
    system = SYSTEMS.get(run.accelerator.id)
    backend = BACKENDS.get(run.engine.id)
    if found is None or system is None or backend is None:
        return None
    path, quant = found
    isl, osl = (row["isl"], row["osl"]) if adapter else (run.input_tokens, run.output_tokens)
    names = ("gemm_quant_mode", "moe_quant_mode", "kvcache_quant_mode")
    call: dict[str, Any] = {
        "model_path": path,
        "system_name": system,
        "backend_name": backend,
        "isl": round(float(isl)),
        "osl": round(float(osl)),
        **{k: v for k, v in zip(names, quant, strict=True) if v},
    }
    if run.prefill is None:
        call |= {"mode": "agg", "batch_size": batch_of(run)}
        call |= layout(run.decode, backend, experts)
    else:
        call |= {"mode": "disagg", "prefill_batch_size": 1, "decode_batch_size": batch_of(run)}
        call |= {"prefill_num_workers": run.prefill.replicas}
        call |= {"decode_num_workers": run.decode.replicas}
        call |= layout(run.prefill, backend, experts, "prefill_")
        call |= layout(run.decode, backend, experts, "decode_")
    stated = row.get("engine_version", "")
    release = run.release.id if run.release else ""
    return {"id": run.id, "release": release or stated, "call": call}


def cases_of(rows: Sequence[Row]) -> list[Case]:
    """Return the rows that both tools can be asked for."""
    reader, found = Reader(load()), []
    for row in rows:
        if row.get("scenario") != "fixed-concurrency" or not row.get("isl"):
            continue
        try:
            run = reader.read(row)
        except Unsupported:
            continue
        if run.mode == CLOSED and request_of(row, run) and set(QUANTITIES) <= set(run.measured):
            found.append(Case(row, run))
    return found


def sample(cases: Sequence[Case], count: int) -> list[Case]:
    """Return about ``count`` cases, one of each stratum in turn, in the order of a hash of the id."""
    strata: dict[tuple[str, str, str, bool], list[Case]] = defaultdict(list)
    for case in cases:
        strata[case.stratum].append(case)
    for members in strata.values():
        members.sort(key=lambda c: hashlib.sha256(c.run.id.encode()).hexdigest())
    chosen: list[Case] = []
    for turn in range(max(map(len, strata.values()), default=0)):
        for key in sorted(strata):
            if turn < len(strata[key]) and len(chosen) < count:
                chosen.append(strata[key][turn])
    return chosen


def start(spec: str, cases: Sequence[Case], folder: Path) -> subprocess.Popen[bytes]:
    """Start AIConfigurator on the requests; its answers go into ``folder``."""
    python, _, mapping = spec.partition("=")
    asked = folder / "requests.jsonl"
    requests = [request_of(c.row, c.run, mapping == "adapter") for c in cases]
    asked.write_text("".join(json.dumps(r) + "\n" for r in requests), encoding="utf-8")
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    env.pop("PYTHONPATH", None)
    with (folder / "errors").open("wb") as errors:
        command = [python, "-P", str(SCRIPT), str(asked), str(folder / "answers.jsonl")]
        return subprocess.Popen(command, env=env, stdout=errors, stderr=errors)


def collect(
    process: subprocess.Popen[bytes], folder: Path, until: float
) -> tuple[str, dict[str, Any]]:
    """Return the package's version and its answers by row, after the end or the time limit."""
    try:
        process.wait(max(until - time.monotonic(), 1.0))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    file = folder / "answers.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    if not lines:
        raise SystemExit((folder / "errors").read_text(encoding="utf-8")[-2000:])
    whole = [json.loads(line) for line in lines if line.endswith("}")]
    return whole[0]["package"], {a["id"]: a for a in whole[1:]}


def predictions(cases: Sequence[Case], apart: bool) -> dict[str, dict[tuple[str, str], float]]:
    """Return dcplan's predictions by column, then by row and quantity. [ms]"""
    shipped = {
        (f.run.id, f.quantity): f.predicted
        for f in figures_of([c.run for c in cases])
        if f.quantity in QUANTITIES
    }
    found = {"dcplan": shipped}
    if apart:
        runs = read()
        values = held_out(data_of(runs))[1]
        found["dcplan held out"] = {
            (r.id, q): float(values[i, j])
            for i, r in enumerate(runs)
            for j, q in enumerate(QUANTITIES)
        }
    return found


GROUPS: Mapping[str, Callable[[Case], str]] = {
    "all": lambda _: "all",
    "kind": lambda c: "split" if c.run.prefill is not None else "aggregated",
    "engine": lambda c: c.run.engine.id,
    "accelerator": lambda c: c.run.accelerator.id,
    "model": lambda c: c.run.model_id,
}
Columns = Mapping[str, Mapping[tuple[str, str], float]]


def table(cases: Sequence[Case], columns: Columns, quantity: str) -> list[str]:
    """Return the lines of a table of the errors of every column by class, in percent."""
    first = next(iter(columns.values()))
    cases = [c for c in cases if (c.run.id, quantity) in first and quantity in c.run.measured]
    lines = [f"| class | rows | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    for by, key in GROUPS.items():
        for name in sorted({key(c) for c in cases}):
            members = [c for c in cases if key(c) == name]
            cells = []
            for values in columns.values():
                error = np.array(
                    [values[c.run.id, quantity] / c.run.measured[quantity] - 1 for c in members]
                )
                size = 100 * np.abs(error)
                cells.append(
                    f"{np.median(size):.1f} / {size.mean():.1f} / {100 * np.median(error):+.0f}"
                )
            lines.append(f"| {by}: {name} | {len(members)} | {' | '.join(cells)} |")
    return lines


def closer(cases: Sequence[Case], columns: Columns, quantity: str) -> str:
    """Return for each column of dcplan in how many rows it is nearer than the first column."""
    (name, first), *rest = columns.items()
    rows = [c for c in cases if (c.run.id, quantity) in first and quantity in c.run.measured]

    def size(values: Mapping[tuple[str, str], float], c: Case) -> float:
        return abs(float(np.log(values[c.run.id, quantity] / c.run.measured[quantity])))

    shares = [
        f"{other} nearer in {np.mean([size(v, c) < size(first, c) for c in rows]):.0%}"
        for other, v in rest
    ]
    return f"{quantity}, {len(rows)} rows, against {name}: {'; '.join(shares)}"


def reason(text: str) -> str:
    """Return the class of a refusal, or the beginning of its text.

    >>> reason("RuntimeError: OOM: the model does not fit")
    'does not fit into memory by its account'
    """
    return next((v for k, v in REASONS.items() if k in text), text[:120])


def show(
    python: str, package: str, cases: Sequence[Case], answers: Mapping[str, Any], own: Columns
) -> None:
    """Print the tables of one release of AIConfigurator."""
    known = {k: a for k, a in answers.items() if "tpot_ms" in a}
    print(f"\n# AIConfigurator {package} ({python})")
    late = len(cases) - len(answers)
    print(f"{len(cases)} asked, {len(known)} answered, {late} not reached in the time")
    print(f"{sum(a['over_memory'] for a in known.values())} answered with a warning on the cache")
    used = Counter(
        (c.run.engine.id, known[c.run.id]["version"]) for c in cases if c.run.id in known
    )
    print("tables:", ", ".join(f"{e} {v}: {n}" for (e, v), n in sorted(used.items())))
    refused = Counter(
        (reason(answers[c.run.id]["refused"]), *c.stratum)
        for c in cases
        if "refused" in answers.get(c.run.id, {})
    )
    for (why, *stratum), n in sorted(refused.items()):
        print(f"refused {n}: {why}: {stratum}")
    columns = {
        f"AIConfigurator {package}": {(k, q): a[q] for k, a in known.items() for q in QUANTITIES},
        **own,
    }
    for quantity in QUANTITIES:
        print(f"\n{quantity}: median / mean of the absolute error, median error, percent")
        print("\n".join(table(cases, columns, quantity)))
        print(closer(cases, columns, quantity))


def main() -> None:
    """Compare on a sample and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", required=True)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--limit-s", type=float, default=900.0)
    parser.add_argument("--save", type=Path, help="file of all predictions, as JSON")
    parser.add_argument("--no-held-out", action="store_true")
    given = parser.parse_args()
    every = cases_of(read_rows(ROWS))
    cases = sample(every, given.sample)
    print(f"{len(every)} rows can be asked, {len(cases)} in the sample")
    until = time.monotonic() + given.limit_s
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place, str(i)) for i in range(len(given.python))]
        for folder in folders:
            folder.mkdir()
        started = [start(p, cases, f) for p, f in zip(given.python, folders, strict=True)]
        own = predictions(cases, not given.no_held_out)
        saved: list[Any] = [{f"{i} {q}": v for (i, q), v in c.items()} for c in own.values()]
        for python, process, folder in zip(given.python, started, folders, strict=True):
            package, answers = collect(process, folder, until)
            saved.append({"spec": python, "package": package, "answers": answers})
            show(python, package, cases, answers, own)
    if given.save:
        given.save.write_text(json.dumps(saved), encoding="utf-8")


if __name__ == "__main__":
    main()
