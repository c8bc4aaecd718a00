"""Memory of a replica: weights of known checkpoints, and capacities that engines wrote in their logs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Accelerator, Engine
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.models import format_of, shape_of
from dcplan.inputs.serving.setups import Checkpoint, Service, memory_terms, served_of, service
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms, cache_space_bytes, most_requests, weight_bytes
from dcplan.serving.search import Layout
from dcplan.units import BYTES_PER_GIB, GIGA
from tests.serving.small import DEVICE, EXPERTS, MODEL, layout, one


def set_up(
    model: str, precision: str, accelerator: str, engine: str, tp: int = 1
) -> tuple[Served, MemoryTerms]:
    catalog = load()
    row = model_of(catalog, model)
    weights = format_of(catalog, precision)
    assert row is not None
    assert weights is not None
    found = service(
        InputLog(catalog),
        Checkpoint(shape_of(row), row, weights, "half"),
        catalog.get("accelerators", accelerator, Accelerator),
        catalog.get("engines", engine, Engine),
        None,
    )
    assert isinstance(found, Service)
    return served_of([found], [Layout(tp)]), memory_terms([found])


def test_weights_of_a_rank_by_hand() -> None:
    # (4,000 x 4 + 800 + 800) x 2 bytes over 2 ranks and 2 stages
    assert weight_bytes(MODEL, layout(tp=2, pp=2)) == pytest.approx(17_600 * 2 / 4)
    # 3 stages of 4 layers: the largest has 2 layers, half of the weights
    assert weight_bytes(MODEL, layout(pp=3)) == pytest.approx(17_600 * 2 / 2)
    # attention, shared experts and tables on each of 4 attention copies; 16,000 bytes of experts on
    # 8 ranks
    found = weight_bytes(EXPERTS, layout(tp=2, dp=4, ep=8))
    assert found == pytest.approx((4000 + 400 + 1600) * 2 / 2 + 4 * 8 * 500 / 8)


@pytest.mark.parametrize(
    ("model", "precision", "expected_gb", "tolerance"),
    [
        # 70,553,706,496 parameters (model card of Llama 3.1 70B) x 2 bytes
        ("llama-3.1-70b", "bf16", 141.107, 0.001),
        # the same with 2 x 128,256 x 8,192 values of the tables at 2 bytes and the rest at 1:
        # 67.7229 GiB in a log of vLLM (pull request 12569, 8-bit weights)
        ("llama-3.1-70b", "fp8", 67.7229 * BYTES_PER_GIB / GIGA, 0.001),
        # model.safetensors.index.json of DeepSeek-V3: 688.587 GB, of which the layer of
        # multi-token prediction has 15.4: 256 x 44.04e6 (experts) + 0.23e9 at 1 byte, and 3.9 GB of
        # tables and projection at 2 bytes
        ("deepseek-v3", "fp8", 688.587 - 15.4, 0.002),
        # 14.9888 GiB in a log of vLLM (issue 10517)
        ("llama-3.1-8b", "bf16", 14.9888 * BYTES_PER_GIB / GIGA, 0.003),
        # 6,683 MiB in a log of TensorRT-LLM (issue 1400, SmoothQuant)
        ("llama-2-7b", "int8", 6683 * 2**20 / GIGA, 0.002),
    ],
)
def test_weights_of_known_checkpoints(
    model: str, precision: str, expected_gb: float, tolerance: float
) -> None:
    found, _ = set_up(model, precision, "h200-sxm", "vllm")
    gb = float(weight_bytes(found.model, found.layout)[0]) / GIGA
    assert gb == pytest.approx(expected_gb, rel=tolerance)


@dataclass(frozen=True)
class Log:
    """What an engine wrote at its start: memory or tokens of the cache."""

    name: str
    model: str
    precision: str
    accelerator: str
    engine: str
    tp: int
    usable_frac: float
    step_tokens: float
    gb: float
    """Cache of one accelerator."""
    error: float
    """Error of dcplan in November 2026, which may shrink but not grow."""


def gb_of(tokens: float, layers: int, heads: int, tp: int) -> float:
    """Bytes of 16-bit keys and values of 128 dimensions on one rank [GB]."""
    return tokens * layers * heads * 128 * 2 * 2 / tp / GIGA


GOAL = 0.05
LOGS = (
    # vllm-project/vllm pull request 2031 (2023-12): 7,351 blocks of 16
    Log(
        *("vllm 7B", "llama-2-7b", "fp16", "a100-80g-sxm", "vllm", 1, 0.9, 4096),
        gb=gb_of(7351 * 16, 32, 32, 1),
        error=-0.002,
    ),
    # the same pull request, 4 accelerators: 20,865 blocks. The release counted memory of
    # communicators that later ones do not: 31,615 blocks before the change
    Log(
        *("vllm 70B tp4", "llama-2-70b", "fp16", "a100-80g-sxm", "vllm", 4, 0.9, 4096),
        gb=gb_of(20_865 * 16, 80, 8, 4),
        error=0.48,
    ),
    # issue 10517 (2024-12): 1,952 blocks after a profile with 20,000 tokens
    Log(
        *("vllm 8B 3090", "llama-3.1-8b", "bf16", "rtx-3090", "vllm", 1, 0.9, 20_000),
        gb=gb_of(1952 * 16, 32, 8, 1),
        error=-0.064,
    ),
    # pull request 12569 (2025-01): 1,381 blocks on an accelerator of 80 GB
    Log(
        *("vllm 70B int8", "llama-3.1-70b", "int8", "h100-sxm", "vllm", 1, 0.98, 8192),
        gb=gb_of(1381 * 16, 80, 8, 1),
        error=0.105,
    ),
    # issue 21348 (2025-07): 178,880 tokens of vLLM and 367,404 of SGLang on the same accelerators
    Log(
        *("vllm 235B", "qwen3-235b-a22b", "fp8", "h100-sxm", "vllm", 4, 0.9, 8192),
        gb=gb_of(178_880, 94, 4, 4),
        error=0.85,
    ),
    Log(
        *("sglang 235B", "qwen3-235b-a22b", "fp8", "h100-sxm", "sglang", 4, 0.93, 8192),
        gb=gb_of(367_404, 94, 4, 4),
        error=0.045,
    ),
    # myoceane.fr, "vLLM log messages on A100" (2026-04, vLLM 0.19): 36.56 GiB
    Log(
        *("vllm oss 20B", "gpt-oss-20b", "mxfp4", "a100-80g-sxm", "vllm", 1, 0.65, 8192),
        gb=36.56 * BYTES_PER_GIB / GIGA,
        error=0.021,
    ),
    # NVIDIA/TensorRT-LLM issue 1400 (2024-04): 69,524,783,104 bytes. The engine takes 0.9 of what
    # is free after it has loaded; 0.95 of the memory is the catalog's approximation
    Log(
        *("trt-llm 7B", "llama-2-7b", "int8", "a100-80g-sxm", "tensorrt-llm", 1, 0.95, 4096),
        gb=69_524_783_104 / GIGA,
        error=0.04,
    ),
)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_cache_capacity_against_engine_logs(log: Log) -> None:
    # goal 5 %; the known larger errors stay what they are until the reserve changes
    found, terms = set_up(log.model, log.precision, log.accelerator, log.engine, log.tp)
    memory = MemoryTerms(one(log.usable_frac), terms.reserve_bytes, one(log.step_tokens))
    space = cache_space_bytes(found.model, found.device, found.layout, memory)
    error = float(space[0]) / GIGA / log.gb - 1.0
    assert abs(error) <= max(GOAL, abs(log.error) + 0.01)


def test_the_goal_of_capacity_is_met_by_half_of_the_logs() -> None:
    assert sum(abs(log.error) <= GOAL for log in LOGS) >= len(LOGS) / 2


def test_space_and_requests_by_hand() -> None:
    # 0.9 x 1e6 - 35,200 of weights - 50,000 - 100 tokens x 2 bytes x (4 x 16 + 2 x 62.5)
    memory = MemoryTerms(one(0.9), one(50_000), one(100))
    widest = 3000 / (3 * 16)
    space = 900_000 - 35_200 - 50_000 - 100 * 2 * (64 + 2 * widest)
    assert cache_space_bytes(MODEL, DEVICE, layout(), memory) == pytest.approx(space)
    # a request of 100 tokens holds 332 x 128 bytes
    found = most_requests(MODEL, DEVICE, layout(), memory, one(100))
    assert found == pytest.approx(space / (332 * 128))


def test_weights_that_do_not_fit_leave_no_request() -> None:
    memory = MemoryTerms(one(0.01), one(0), one(1))
    assert cache_space_bytes(MODEL, DEVICE, layout(), memory) < 0
    assert most_requests(MODEL, DEVICE, layout(), memory, one(100)) == 0


def test_copies_and_stages_hold_more_requests() -> None:
    memory = MemoryTerms(one(0.9), one(0), one(1))
    alone = float(most_requests(EXPERTS, DEVICE, layout(), memory, one(100))[0])
    copies = float(most_requests(EXPERTS, DEVICE, layout(dp=4, ep=4), memory, one(100))[0])
    assert copies > 4 * alone  # each copy has a quarter of the experts only
    # a stage holds its own layers of every request
    stages = float(most_requests(MODEL, DEVICE, layout(pp=2), memory, one(100))[0])
    whole = float(most_requests(MODEL, DEVICE, layout(), memory, one(100))[0])
    assert stages > 2 * whole


def test_a_longer_context_never_fits_more_requests() -> None:
    memory = MemoryTerms(one(0.9), one(0), one(1))
    contexts = np.array([1.0, 10.0, 100.0, 1000.0])
    found = most_requests(MODEL, DEVICE, layout(), memory, contexts)
    assert np.all(np.diff(found) < 0)
    assert np.all(np.diff(sequence_bytes(MODEL, layout(), contexts)) > 0)
