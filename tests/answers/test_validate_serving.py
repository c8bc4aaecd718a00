"""`dcplan validate serving`: rows that are read, rows that are not and why, output, and the goals."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.request import SERVING
from dcplan.answers.validation.serving_cells import CLOSED, SATURATED, STATIC, Pool, Unsupported
from dcplan.answers.validation.serving_errors import EARLY, Figure, layout_hits
from dcplan.answers.validation.serving_rows import Reader, ServingRun
from dcplan.answers.validation.serving_tables import predict, setups
from dcplan.catalog.loader import load
from dcplan.cli.app import app
from dcplan.errors import InputError
from dcplan.result import Result

PLAIN = {
    "id": "plain",
    "source": "own",
    "date": "2026-04",
    "engine": "vLLM",
    "engine_version": "0.19.0",
    "model": "llama-3.1-70b",
    "precision_weights": "fp8",
    "precision_kv": "",
    "accelerator": "H200 SXM",
    "accelerators": "4",
    "tp": "4",
    "pp": "1",
    "ep": "1",
    "dp": "1",
    "disaggregated": "n",
    "isl": "1024",
    "osl": "512",
    "concurrency_or_batch": "16",
    "scenario": "fixed-concurrency",
    "speculative": "n",
    "tpot_ms": "12.5",
    "ttft_ms": "180",
    "notes": "",
}
EXPERTS = {"model": "deepseek-v3", "accelerators": "8", "tp": "8"}


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(load())


@pytest.fixture(scope="module")
def packaged() -> Result:
    return validate(SERVING)


def read(reader: Reader, **change: str) -> ServingRun:
    return reader.read(PLAIN | change)


def written(file: Path, *rows: dict[str, str]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(PLAIN))
        writer.writeheader()
        writer.writerows(rows)
    return file


# ---- reasons of a row that is not predicted


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "my-own-model"}, "no model 'my-own-model' in the catalog"),
        ({"accelerator": "TRS-80"}, "no accelerator 'TRS-80' in the catalog"),
        ({"engine": "abacus"}, "no engine 'abacus' in the catalog"),
        ({"precision_weights": "int2"}, "no precision weights 'int2' in the catalog"),
        ({"speculative": "y: draft model"}, "speculative decoding"),
        ({"precision_kv": "int3"}, "precision_kv: 'int3' is none of fp8, int8, bf16, fp16"),
        ({"precision_kv": "nvfp4"}, "precision_kv: 'nvfp4' is none of fp8, int8, bf16, fp16"),
        ({"scenario": "on-line"}, "scenario 'on-line' is none of fixed-concurrency, offline"),
        ({"scenario": ""}, "scenario '' is none of fixed-concurrency, offline, single-stream"),
        ({"scenario": "burst", "concurrency_or_batch": "saturated"}, "scenario 'burst' is none of"),
        ({"scenario": "offline", "isl": ""}, "missing isl"),
        ({"osl": ""}, "missing osl"),
        ({"concurrency_or_batch": ""}, "missing concurrency_or_batch"),
        ({"concurrency_or_batch": "0"}, "missing concurrency_or_batch"),
        ({"isl": "long"}, "isl 'long' is not a number"),
        ({"isl": "-5"}, "isl '-5' is not a number of at least 0"),
        ({"tpot_ms": "inf"}, "tpot_ms 'inf' is not a number of at least 0"),
        ({"disaggregated": "y"}, "disaggregated: notes do not state both pools"),
        (
            {"disaggregated": "y", "notes": "prefill 0x(tp1 dp1 ep1); decode 1x(tp1 dp1 ep1)"},
            "disaggregated: notes do not state both pools",
        ),
        (
            {"accelerator": "rubin-cpx"},
            "rubin-cpx has no memory size, memory bandwidth or 16-bit peak",
        ),
    ],
)
def test_each_reason_of_an_unsupported_row(
    reader: Reader, change: dict[str, str], reason: str
) -> None:
    with pytest.raises(Unsupported, match=reason.replace("(", r"\(")):
        read(reader, **change)


def test_a_row_that_is_not_predicted_has_its_reason(tmp_path: Path) -> None:
    rows = (
        PLAIN | {"tpot_ms": "", "ttft_ms": ""},
        PLAIN | {"model": "unheard-of"},
        PLAIN | {"precision_kv": "int3"},
        PLAIN | {"scenario": "burst"},
    )
    shown = validate(SERVING, runs=written(tmp_path / "own.csv", *rows)).frame("serving_figures")
    assert list(shown["status"]) == [
        "unsupported: no measured quantity",
        "unsupported: no model 'unheard-of' in the catalog",
        "unsupported: precision_kv: 'int3' is none of fp8, int8, bf16, fp16",
        "unsupported: scenario 'burst' is none of fixed-concurrency, offline, single-stream",
    ]
    assert shown["predicted"].isna().all()


# ---- traps of the data


def test_a_plain_row(reader: Reader) -> None:
    run = read(reader)
    assert (run.mode, run.requests) == (CLOSED, 16)
    assert run.decode == Pool(1, 4, 1, 1, 1)
    assert run.prefill is None
    assert (run.input_tokens, run.output_tokens) == (1024, 512)
    assert run.measured == {"tpot_ms": 12.5, "ttft_ms": 180.0}
    assert run.release is not None
    assert run.release.id == "0.19"
    assert not run.early_port


def test_lengths_that_vary_count_with_their_mean(reader: Reader) -> None:
    run = read(reader, notes="lengths uniform in 0.8-1.0 of nominal (mean 0.9)")
    assert (run.input_tokens, run.output_tokens) == pytest.approx((921.6, 460.8))


def test_a_row_without_input_length_has_that_of_the_catalog(reader: Reader, tmp_path: Path) -> None:
    assert read(reader, isl="").input_tokens == 200
    text = "serving: [{id: usual-input-tokens, value: 350}]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    assert read(Reader(load((tmp_path,))), isl="").input_tokens == 350


@pytest.mark.parametrize(
    ("change", "mode", "requests"),
    [
        ({}, CLOSED, 16.0),
        ({"scenario": "offline"}, STATIC, 16.0),
        ({"scenario": "single-stream", "concurrency_or_batch": "1"}, STATIC, 1.0),
        ({"scenario": "offline", "concurrency_or_batch": "saturated"}, SATURATED, math.inf),
    ],
)
def test_mode_of_a_measurement(
    reader: Reader, change: dict[str, str], mode: str, requests: float
) -> None:
    run = read(reader, **change)
    assert (run.mode, run.requests) == (mode, requests)


@pytest.mark.parametrize(
    ("change", "pool"),
    [
        # accelerators beyond one replica are replicas
        ({"accelerators": "8", "tp": "2"}, Pool(4, 2, 1, 1, 1)),
        # without a tensor-parallel size the replica spans all
        ({"accelerators": "8", "tp": "", "pp": "2"}, Pool(1, 4, 1, 2, 1)),
        # a table that counts cores names more ranks than accelerators
        ({"accelerators": "2", "tp": "24"}, Pool(1, 2, 1, 1, 1)),
        # experts on more ranks than attention: attention is copied
        (EXPERTS | {"tp": "1", "ep": "8"}, Pool(1, 1, 8, 1, 8)),
        (EXPERTS | {"tp": "2", "ep": "8"}, Pool(1, 2, 4, 1, 8)),
        (EXPERTS | {"ep": "8"}, Pool(1, 8, 1, 1, 8)),
        # a dense model has no experts to place
        ({"accelerators": "8", "tp": "1", "ep": "8"}, Pool(8, 1, 1, 1, 8)),
        # notes say that attention is copied
        (EXPERTS | {"notes": "MoE runs use attention-DP option"}, Pool(1, 1, 8, 1, 8)),
        ({"notes": "attention-DP"}, Pool(1, 4, 1, 1, 1)),
        # 671 GB do not fit one accelerator: the table named one attention copy only
        (EXPERTS | {"tp": "1"}, Pool(1, 1, 8, 1, 2)),
    ],
)
def test_layout_of_a_row(reader: Reader, change: dict[str, str], pool: Pool) -> None:
    assert read(reader, **change).decode == pool


def test_pools_of_a_disaggregated_row(reader: Reader) -> None:
    notes = "prefill 2x(tp1 dp8 ep8); decode 4x(tp8 dp1 ep8, bs 3); lengths uniform in 0.8-1.0 of nominal"
    change = EXPERTS | {"disaggregated": "y", "accelerators": "48", "notes": notes}
    run = read(reader, **change)
    assert run.prefill == Pool(2, 1, 8, 1, 8)
    assert run.decode == Pool(4, 8, 1, 1, 8)
    # the batch of a rank limits the requests of each attention copy
    assert run.most_running == 3
    copies = notes.replace("tp8 dp1", "tp1 dp8")
    assert read(reader, **(change | {"notes": copies})).most_running == 24


def test_the_engine_limits_running_requests(reader: Reader) -> None:
    assert read(reader, notes="max_num_seqs 8").most_running == 8
    assert read(reader).most_running == 1024


def test_a_median_gap_leaves_out_delays_by_prompts(reader: Reader) -> None:
    mean, median = read(reader), read(reader, notes="tpot = median inter-token latency")
    assert (mean.median_gap, median.median_gap) == (False, True)
    found = predict(setups([mean, median]))
    assert found.tpot_s[1] < found.tpot_s[0]
    assert found.output_tokens_per_s[1] == found.output_tokens_per_s[0]


def test_an_early_port_is_a_class_of_its_own(reader: Reader) -> None:
    old = {"accelerator": "MI300X", "accelerators": "1", "tp": "1", "precision_weights": "bf16"}
    run = read(reader, **old, engine_version="0.6", date="", model="llama-3.1-8b")
    assert run.early_port
    assert Figure(run, "tpot_ms", 1.0, 1.0, 0.5, 2.0).kind == EARLY


@pytest.mark.parametrize(
    ("stated", "precision", "engine", "width"),
    [("fp8", "bf16", "vLLM", 1.0), ("bf16", "fp8", "vLLM", 2.0), ("", "fp8", "vLLM", 1.0),
     ("FP8_E4M3", "bf16", "vLLM", 1.0), ("int8", "bf16", "vLLM", 1.0), ("fp16", "fp8", "vLLM", 2.0),
     ("", "bf16", "vLLM", 2.0), ("", "fp8", "lmdeploy", 2.0)],
)  # fmt: skip
def test_precision_of_the_cache(
    reader: Reader, stated: str, precision: str, engine: str, width: float
) -> None:
    run = read(reader, precision_kv=stated, precision_weights=precision, engine=engine)
    assert run.service.numbers["cache_bytes"] == width


# ---- predictions


def test_a_row_alone_is_predicted_as_in_a_table(reader: Reader) -> None:
    runs = [
        read(reader),
        read(reader, scenario="offline"),
        read(reader, scenario="offline", concurrency_or_batch="saturated"),
        read(reader, **EXPERTS),
    ]
    together = predict(setups(runs))
    for i, run in enumerate(runs):
        one = predict(setups([run]))
        for name in ("tpot_s", "ttft_s", "e2e_s", "output_tokens_per_s", "power_w"):
            assert getattr(one, name)[0] == pytest.approx(getattr(together, name)[i]), name


def test_rate_and_latency_of_a_closed_loop_agree(reader: Reader) -> None:
    # N o = X (TTFT + o TPOT) for one replica, and twice the rate on two replicas with twice the
    # requests
    alone, pair = read(reader), read(reader, accelerators="8", concurrency_or_batch="32")
    found = predict(setups([alone, pair]))
    rate = 16 * 512 / (found.ttft_s[0] + 512 * found.tpot_s[0])
    assert found.output_tokens_per_s[0] == pytest.approx(rate)
    assert found.output_tokens_per_s[1] == pytest.approx(2 * rate)
    assert found.power_w[1] == pytest.approx(2 * found.power_w[0])
    e2e = found.ttft_s[0] + 511 * found.tpot_s[0]
    assert found.e2e_s[0] == pytest.approx(e2e)


def test_the_best_measured_layout_within_a_tenth_is_a_hit(reader: Reader) -> None:
    runs = [read(reader, id="a"), read(reader, id="b", accelerators="2", tp="2")]

    def figures(measured: tuple[float, float], predicted: tuple[float, float]) -> list[Figure]:
        name = "output_tokens_per_s_total"
        pairs = zip(runs, measured, predicted, strict=True)
        return [Figure(r, name, m, p, 0.0, 1e9) for r, m, p in pairs]

    # for each accelerator: measured 100 and 105, predicted 100 and 90: the first is within 10 %
    assert layout_hits(figures((400, 210), (400, 180))) == [True]
    assert layout_hits(figures((400, 250), (400, 180))) == [False]
    assert layout_hits(figures((400, 250), (400, 220))) == [True]
    assert layout_hits(figures((400, 250), (400, 180))[:1]) == []


# ---- output


def test_every_row_of_the_table_is_answered_in_its_order(packaged: Result, repo: Path) -> None:
    file = repo / "catalogs" / "runs" / "serving_runs.csv"
    with file.open(encoding="utf-8", newline="") as text:
        ids = [row["id"] for row in csv.DictReader(text)]
    shown = packaged.frame("serving_figures")
    assert list(dict.fromkeys(shown["id"])) == list(dict.fromkeys(ids))
    ok = shown["status"] == "ok"
    assert ok.sum() == packaged.value("rows.figures")
    assert shown.loc[ok, "id"].nunique() == packaged.value("rows.supported")
    assert (shown.loc[ok, "low"] < shown.loc[ok, "predicted"]).all()
    assert (shown.loc[ok, "high"] > shown.loc[ok, "predicted"]).all()
    assert shown.loc[~ok, "status"].str.match(r"unsupported: .+").all()


def test_csv_of_own_rows_has_exactly_the_columns(tmp_path: Path) -> None:
    own = written(tmp_path / "own.csv", PLAIN, PLAIN | {"id": "odd", "engine": "abacus"})
    arguments = ["validate", "serving", "--runs", str(own), "-f", "csv"]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0] == "id,status,quantity,measured,predicted,low,high"
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert [(r["id"], r["quantity"]) for r in rows] == [
        ("plain", "tpot_ms"),
        ("plain", "ttft_ms"),
        ("odd", ""),
    ]
    assert rows[2]["status"] == "unsupported: no engine 'abacus' in the catalog"
    assert float(rows[0]["low"]) < float(rows[0]["predicted"]) < float(rows[0]["high"])


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("id,engine\na,vllm\n", encoding="utf-8")
    with pytest.raises(InputError, match="columns missing: model, precision_weights"):
        validate(SERVING, runs=file)


@pytest.mark.parametrize("group", ["engine", "accelerator", "model", "source"])
def test_errors_by_group(tmp_path: Path, group: str) -> None:
    own = written(tmp_path / "own.csv", PLAIN, PLAIN | {"id": "two", "model": "llama-3.1-8b"})
    shown = validate(SERVING, runs=own, group_by=group).frame("serving_groups")
    expected = {
        "engine": {"vllm@0.19"},
        "accelerator": {"h200-sxm"},
        "model": {"llama-3.1-70b", "llama-3.1-8b"},
        "source": {"own"},
    }
    assert set(shown["group"]) == expected[group]
    assert set(shown["quantity"]) == {"tpot_ms", "ttft_ms"}


def test_errors_of_a_group_by_hand(tmp_path: Path) -> None:
    # measured values of half and of twice the prediction: errors +100 % and -50 %
    base = validate(SERVING, runs=written(tmp_path / "own.csv", PLAIN)).frame("serving_figures")
    value = float(base.loc[base["quantity"] == "tpot_ms", "predicted"].iloc[0])
    rows = [
        PLAIN | {"id": "half", "tpot_ms": str(value / 2), "ttft_ms": ""},
        PLAIN | {"id": "twice", "tpot_ms": str(value * 2), "ttft_ms": ""},
    ]
    shown = validate(SERVING, runs=written(tmp_path / "two.csv", *rows)).frame("serving_classes")
    row = shown.iloc[0]
    assert row["median_abs_error_frac"] == pytest.approx(0.75)
    assert row["bias_frac"] == pytest.approx(0.25)
    assert row["p90_abs_error_frac"] == pytest.approx(0.95)
    assert row["coverage_frac"] == 0.0


def test_a_group_of_training_is_refused() -> None:
    with pytest.raises(InputError, match="--group-by stack does not exist for serving"):
        validate(SERVING, group_by="stack")


# ---- goals, as bounds that a change must not break


@pytest.mark.parametrize(
    ("metric", "bound"),
    [
        ("error.tpot_median_frac", 0.12),
        ("error.split_tpot_median_frac", 0.14),
        ("error.static_e2e_median_frac", 0.08),
        ("error.saturated_rate_median_frac", 0.12),
        ("error.ttft_median_frac", 0.32),
        ("error.energy_median_frac", 0.18),
    ],
)
def test_median_errors_stay_within_the_goals(packaged: Result, metric: str, bound: float) -> None:
    assert 0.0 < packaged.value(metric) <= bound


def test_intervals_cover_as_many_figures_as_they_say(packaged: Result) -> None:
    shown = packaged.frame("serving_classes")
    usual = shown[shown["group"] != EARLY]
    inside = float((usual["coverage_frac"] * usual["figures"]).sum() / usual["figures"].sum())
    assert 0.75 <= inside <= 0.92
    assert packaged.value("rows.supported") >= packaged.value("rows.total") - 1
    assert packaged.value("layouts.close_frac") >= 0.9
    json.dumps([m.value for m in packaged.metrics.values()])
