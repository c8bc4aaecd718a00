"""Requests to AIConfigurator: each measured row of serving as the arguments of one estimate."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.answers.validation.serving_cells import CLOSED, Pool, Row, Unsupported
from dcplan.answers.validation.serving_rows import Reader, ServingRun
from dcplan.catalog.loader import load

QUANTITIES = ("tpot_ms", "ttft_ms")
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
