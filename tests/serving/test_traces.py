"""Traces of requests: two published formats, plain CSV, and problems with their lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcplan.errors import InputError
from dcplan.inputs.serving.traces import read_trace
from dcplan.serving.queue.clock import EngineClock, EngineLimits
from dcplan.serving.queue.prefix import hit_frac_by_capacity, hit_tokens
from dcplan.serving.queue.replay import replay

TRACES = Path(__file__).parent / "traces"
AZURE = TRACES / "azure_conv_2023_first_1200.csv"
MOONCAKE = TRACES / "mooncake_conversation_first_300.jsonl"


def test_azure() -> None:
    """First row 18:15:46.6805900, second 18:15:50.9951690: 4.314579 s later."""
    trace = read_trace(AZURE)
    assert trace.arrivals_s[:2] == pytest.approx([0.0, 4.314579], abs=1e-6)
    assert trace.input_tokens[:3].tolist() == [374, 396, 879]
    assert trace.output_tokens[:3].tolist() == [44, 109, 55]
    assert trace.arrivals_s.size == 1200
    assert trace.block_hashes is None


def test_mooncake_has_times_in_milliseconds_and_hashes() -> None:
    trace = read_trace(MOONCAKE)
    assert trace.input_tokens[0] == 6758
    assert trace.output_tokens[0] == 500
    assert np.unique(trace.arrivals_s)[:3] == pytest.approx([0.0, 3.0, 5.999])
    assert trace.block_hashes is not None
    assert trace.block_hashes[1][:2] == (0, 14)
    # blocks of 512 tokens, the last one may be partial
    blocks = [len(b) for b in trace.block_hashes]
    assert blocks == np.ceil(trace.input_tokens / 512).tolist()


def test_a_cache_lowers_the_prefill_of_a_trace() -> None:
    trace = read_trace(MOONCAKE)
    assert trace.block_hashes is not None
    hits, frac = hit_tokens(trace.block_hashes, 512)
    # every request but the first has the system prompt, the first block, in the cache
    assert hits[0] == 0
    assert hits[1:].min() == 512
    sizes = hit_frac_by_capacity(trace.block_hashes, np.array([0.0, 500.0, np.inf]))
    assert sizes[0] < sizes[1] < sizes[2] == pytest.approx(frac)
    clock = EngineClock(np.array([1.0, 64.0]), np.array([0.02, 0.03]), 4e-8, 2e-5, 5e-10, 0.02, 0.0)
    limits = EngineLimits(2e6, 256, 8192)
    work = (trace.arrivals_s, trace.input_tokens, trace.output_tokens, clock, limits, 4)
    plain, cached = replay(*work), replay(*work, hits)
    assert cached.ttft_s.mean() < plain.ttft_s.mean()
    assert cached.rejected == plain.rejected == 0


@pytest.mark.parametrize(
    "text",
    [
        "arrival_s,input_tokens,output_tokens,hash_ids\n5.5,100,7,1 2\n3.5,50,2,1\n",
        "\ufeffoutput_tokens,x,timestamp,input_tokens,hash_ids\n7,a,5.5,100,1 2\n\n2,b,3.5,50,1\n",
        '{"timestamp": 5500, "input_length": 100, "output_length": 7, "hash_ids": [1, 2]}\n'
        '{"timestamp": 3500, "input_length": 50, "output_length": 2, "hash_ids": [1]}\n',
        "timestamp,input_tokens,output_tokens,hash_ids\n"
        "2024-05-10 00:00:05.5000001+00:00,100,7,1 2\n2024-05-10T02:00:03.5+02:00,50,2,1\n",
    ],
)
def test_one_trace_in_every_format_in_the_order_of_arrival(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text(text, encoding="utf-8")
    trace = read_trace(file)
    assert trace.arrivals_s == pytest.approx([0.0, 2.0], abs=1e-6)
    assert trace.input_tokens.tolist() == [50, 100]
    assert trace.output_tokens.tolist() == [2, 7]
    assert trace.block_hashes == ((1,), (1, 2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("arrival,input_tokens,output_tokens\n1,2,3\n", "trace:1:1: error[DC055]: columns missing"),
        ("arrival_s,input_tokens,output_tokens\n", "trace: error[DC055]: the trace has no request"),
        ("arrival_s,input_tokens,output_tokens\n1,2,3\n1,0,3\n", "trace:3: error[DC055]: input"),
        ("arrival_s,input_tokens,output_tokens\n1,2,3.5\n", "trace:2: error[DC055]: output"),
        ("arrival_s,input_tokens,output_tokens\n1,2\n", "trace:2: error[DC055]: output tokens"),
        ("arrival_s,input_tokens,output_tokens\nnoon,2,3\n", "trace:2: error[DC055]: 'noon'"),
        ("arrival_s,input_tokens,output_tokens\nnan,2,3\n", "trace:2: error[DC055]: nan is not"),
        ("arrival_s,input_tokens,output_tokens,hash_ids\n1,2,3,x\n", "trace:2: error[DC055]: hash"),
        ('{"timestamp": 1}\n', "trace:1: error[DC055]: no value of 'input'"),
        ('{"timestamp": 1,\n', "trace:1: error[DC055]: not a JSON object"),
        ('{"timestamp": 1}\n[1]\n', "trace:2: error[DC055]: not a JSON object"),
    ],
)
def test_a_problem_has_its_line(text: str, said: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("trace")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_trace(file)
    assert said in str(caught.value)


def test_all_problems_up_to_a_number(tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text("arrival_s,input_tokens,output_tokens\n" + "1,0,1\n" * 50, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_trace(file)
    assert len(caught.value.problems) == 20


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_bytes(b"\xff\xfe")
    for name, said in (("trace.csv", "not UTF-8"), ("tracf.csv", 'did you mean "trace.csv"')):
        with pytest.raises(InputError, match=said) as caught:
            read_trace(tmp_path / name)
        assert caught.value.problems[0].code == "DC006"
