"""``dcplan serve`` with traces and files of lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.errors import EXIT_NO, EXIT_OK, InputError
from tests.answers.test_answers_serve import refused, served, traced


def test_lengths_of_a_file_and_their_mean(tmp_path: Path) -> None:
    file = tmp_path / "lengths.csv"
    file.write_text("input_tokens,output_tokens\n1000,100\n3000,300\n", encoding="utf-8")
    found = served(isl=None, osl=None, lengths=str(file))
    assert found.input_value("input_tokens") == 2000.0
    assert found.input_value("output_tokens") == 200.0
    even = served(isl=2000.0, osl=200.0)
    assert found.value("serve.ttft_ms_p90") > 0.0
    # requests of different lengths wait longer, so no more of them meet the limits
    assert found.value("serve.requests_per_s") <= even.value("serve.requests_per_s") * 1.02


def test_a_wrong_file_of_lengths_is_refused_with_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "lengths.csv"
    file.write_text("input_tokens,output_tokens\n1000,100\n-3,x\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        served(isl=None, osl=None, lengths=str(file))
    places = [(str(p.place), p.cause) for p in caught.value.problems]
    assert places == [
        (f"{file}:3:1", "input_tokens '-3': a number from 1 is needed"),
        (f"{file}:3:1", "output_tokens 'x': a number from 2 is needed"),
    ]
    file.write_text("input,output\n1,2\n", encoding="utf-8")
    assert any("columns missing" in x for x in refused(isl=None, osl=None, lengths=str(file)))
    file.write_text("input_tokens,output_tokens\n", encoding="utf-8")
    assert any("no requests" in x for x in refused(isl=None, osl=None, lengths=str(file)))


def test_a_trace_is_replayed_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    lines = [f"{i * 0.5},{500 + 37 * (i % 11)},{50 + i % 7}" for i in range(200)]
    text = "\n".join(["arrival_s,input_tokens,output_tokens", *lines])
    file.write_text(text + "\n", encoding="utf-8")
    found = served(isl=None, osl=None, trace=str(file))
    assert found.value("serve.requests_per_s") == pytest.approx(2.0, rel=0.01)
    row = found.tables["trace"].records()[0]
    assert row["requests"] == 200
    assert row["rejected"] == 0
    latency = {str(r["what"]): r for r in found.tables["latency"].records()}
    tpot = latency["time per output token (TPOT)"]
    # regular arrivals of similar requests: the formulas and the loop agree
    assert float(str(tpot["formula_p50_ms"])) == pytest.approx(float(str(tpot["p50_ms"])), rel=0.25)


@pytest.mark.parametrize("ttft", [2000.0, 20000.0])
def test_a_trace_is_sized_by_its_replay(ttft: float) -> None:
    found = traced(ttft_ms=ttft)
    assert found.exit_code == EXIT_OK
    assert found.value("serve.ttft_ms_p90") <= ttft
    assert found.value("serve.tpot_ms_p90") <= 50.0
    rows = {str(r["what"]): r for r in found.tables["latency"].records()}
    tpot = rows["time per output token (TPOT)"]
    assert found.value("serve.tpot_ms_p90") == tpot["p90_ms"]
    (pool,) = found.tables["pools"].records()
    count, size = (int(str(pool[k])) for k in ("replicas", "accelerators_per_replica"))
    # the same number is enough with -n, and one replica less is not
    same = traced(ttft_ms=ttft, layout=str(pool["layout"]).replace("tp", "tp="))
    assert same.value("serve.replicas") == count
    layout = f"tp={size}"
    assert traced(ttft_ms=ttft, layout=layout, accelerators=count * size).exit_code == EXIT_OK
    less = traced(ttft_ms=ttft, layout=layout, accelerators=(count - 1) * size)
    assert less.exit_code == EXIT_NO
    assert f"{count * size} accelerators would do" in less.headline
    assert "above the limits" in less.headline
    assert less.value("serve.utilization_frac") == pytest.approx(count / (count - 1))


def test_a_rate_scales_the_arrivals_of_a_trace() -> None:
    row = traced(rate=30.0).tables["trace"].records()[0]
    assert row["requests_per_s"] == 30.0
    plain = traced().tables["trace"].records()[0]
    assert float(str(row["span_s"])) < float(str(plain["span_s"])) / 3.0
