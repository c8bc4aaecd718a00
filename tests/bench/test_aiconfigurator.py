"""The parts of the comparison with AIConfigurator that need no AIConfigurator."""

from __future__ import annotations

import pytest

from dcplan.answers.validation.serving_cells import Pool
from dcplan.answers.validation.serving_rows import Reader
from dcplan.catalog.loader import load
from tests.bench.aiconfigurator_estimate import answer, order
from tests.bench.aiconfigurator_requests import Case, formats_of, layout, request_of, sample
from tests.bench.aiconfigurator_tables import reason, table

ROW = {
    "id": "one",
    "date": "2026-04-17",
    "engine": "vllm",
    "engine_version": "0.19.0",
    "model": "MiniMaxAI/MiniMax-M2.5",
    "precision_weights": "fp8",
    "accelerator": "B300 SXM",
    "accelerators": "4",
    "tp": "4",
    "pp": "1",
    "ep": "1",
    "dp": "1",
    "disaggregated": "n",
    "isl": "8192",
    "osl": "1024",
    "concurrency_or_batch": "128",
    "scenario": "fixed-concurrency",
    "ttft_ms": "900",
    "tpot_ms": "30",
    "notes": "lengths uniform in 0.8-1.0 of nominal (mean 0.9)",
}
SPLIT = ROW | {
    "id": "two",
    "engine": "trtllm",
    "engine_version": "1.2.0",
    "model": "deepseek-ai/DeepSeek-V3",
    "accelerator": "GB200",
    "accelerators": "36",
    "disaggregated": "y",
    "notes": "prefill 1x(tp1 dp4 ep4); decode 4x(tp8 dp1 ep8, bs 64)",
}


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(load())


def test_an_aggregated_row_has_mean_lengths_and_all_requests_in_one_batch(reader: Reader) -> None:
    # 0.9 x 8192 = 7372.8 and 0.9 x 1024 = 921.6 tokens
    request = request_of(ROW, reader.read(ROW))
    assert request is not None
    assert request["call"] == {
        "model_path": "MiniMaxAI/MiniMax-M2.5",
        "system_name": "b300_sxm",
        "backend_name": "vllm",
        "isl": 7373,
        "osl": 922,
        "mode": "agg",
        "batch_size": 128,
        "tp_size": 4,
        "pp_size": 1,
        "attention_dp_size": 1,
        "moe_tp_size": 4,
        "moe_ep_size": 1,
    }


def test_the_adapter_has_nominal_lengths_and_the_formats_of_the_row(reader: Reader) -> None:
    request = request_of(ROW, reader.read(ROW), adapter=True)
    assert request is not None
    call = request["call"]
    assert (call["isl"], call["osl"]) == (8192, 1024)
    assert (call["gemm_quant_mode"], call["moe_quant_mode"]) == ("fp8", "fp8")


def test_a_split_row_divides_its_requests_by_the_decode_replicas(reader: Reader) -> None:
    # 128 requests on 4 replicas are 32 each; the row allows 64
    request = request_of(SPLIT, reader.read(SPLIT))
    assert request is not None
    call = request["call"]
    assert call["mode"] == "disagg"
    assert (call["prefill_batch_size"], call["decode_batch_size"]) == (1, 32)
    assert (call["prefill_num_workers"], call["decode_num_workers"]) == (1, 4)
    assert (call["prefill_attention_dp_size"], call["prefill_moe_ep_size"]) == (4, 4)
    assert (call["decode_tp_size"], call["decode_moe_ep_size"]) == (8, 8)
    less = SPLIT | {"notes": SPLIT["notes"].replace("bs 64", "bs 16")}
    limited = request_of(less, reader.read(less))
    assert limited is not None
    assert limited["call"]["decode_batch_size"] == 16


def test_a_row_of_another_maker_has_no_request(reader: Reader) -> None:
    row = ROW | {"accelerator": "MI300X"}
    assert request_of(row, reader.read(row)) is None


@pytest.mark.parametrize(
    ("engine", "experts", "sizes"),
    [
        ("vllm", 256, {"moe_tp_size": 1, "moe_ep_size": 8}),  # all 2 x 4 ranks or none
        ("sglang", 256, {"moe_tp_size": 4, "moe_ep_size": 2}),
        ("vllm", 0, {}),
    ],
)
def test_expert_ranks(engine: str, experts: int, sizes: dict[str, int]) -> None:
    base = {"tp_size": 2, "pp_size": 1, "attention_dp_size": 4}
    assert layout(Pool(1, 2, 4, 1, 2), engine, experts) == base | sizes


@pytest.mark.parametrize(
    ("label", "experts", "formats"),
    [
        ("fp8+moe:fp8_block", 8, ("fp8", "fp8_block", None)),
        ("nvfp4", 0, ("nvfp4", None, None)),
        ("bf16", 8, (None, None, None)),
    ],
)
def test_formats(label: str, experts: int, formats: tuple[str | None, ...]) -> None:
    assert formats_of(label, experts) == formats


def test_the_nearest_tables_come_first() -> None:
    offered = ["0.14.0", "0.19.0", "0.12.0", "0.17.0"]
    assert order(offered, "0.17") == ["0.17.0", "0.14.0", "0.12.0", "0.19.0"]
    assert order(["1.3.0rc23", "1.3.0rc20"], "1.2") == ["1.3.0rc20", "1.3.0rc23"]
    assert order(offered, "")[0] == "0.19.0"


def test_a_refusal_by_the_nearest_tables_asks_the_next() -> None:
    class Found:
        tpot, ttft = 10.0, 200.0

    def estimate(backend_version: str) -> Found:
        if backend_version == "2":
            raise RuntimeError("OOM: too large")
        return Found()

    request = {"id": "one", "call": {}}
    assert answer(estimate, request, ["2", "1"])["version"] == "1"
    refused = answer(estimate, request, ["2"])["refused"]
    assert reason(refused) == "does not fit into memory by its account"


def test_a_sample_takes_from_every_class_in_turn(reader: Reader) -> None:
    many = [ROW | {"id": f"many-{i}"} for i in range(9)]
    cases = [Case(row, reader.read(row)) for row in [*many, SPLIT]]
    chosen = sample(cases, 3)
    assert [c.run.prefill is not None for c in chosen].count(True) == 1
    assert len(chosen) == 3
    assert [c.run.id for c in chosen] == [c.run.id for c in sample(cases[::-1], 3)]


def test_a_table_has_the_errors_of_the_rows_that_the_first_column_answers(reader: Reader) -> None:
    # predictions 33 and 24 of 30 ms measured: errors +10 % and -20 %, median and mean 15 %
    cases = [Case(r, reader.read(r)) for r in (ROW | {"id": x} for x in ("a", "b", "c"))]
    values = {"a tpot_ms": 33.0, "b tpot_ms": 24.0}
    own = {"a tpot_ms": 30.0, "b tpot_ms": 36.0, "c tpot_ms": 300.0}
    lines = table(cases, {"other": values, "own": own}, "tpot_ms")
    assert "| all: all | 2 | 15.0 / 15.0 / -5 | 10.0 / 10.0 / +10 |" in lines
