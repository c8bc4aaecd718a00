"""Traces of requests whose times are in milliseconds, or that have a pause."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.request import DemandRequest

HOUR = 3600.0


def trace(path: Path, column: str, times: list[float]) -> Path:
    rows = (f"{t:.10g},100,10" for t in times)
    path.write_text("\n".join([f"{column},input_tokens,output_tokens", *rows]) + "\n")
    return path


def findings(file: Path) -> dict[str, tuple[int, str, str]]:
    result = demanded(DemandRequest(files=(file,))).result
    rows = result.tables["log_findings"].rows if "log_findings" in result.tables else ()
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


@pytest.mark.parametrize("column", ["arrival_ms", "timestamp_ms"])
def test_a_column_in_milliseconds_is_read_so(tmp_path: Path, column: str) -> None:
    # 101 requests, one each 500 ms: 101 of them in 50 s
    file = trace(tmp_path / "t.csv", column, [500.0 * i for i in range(101)])
    metrics = demanded(DemandRequest(files=(file,))).result.metrics
    assert metrics["demand.requests_per_s"].value == pytest.approx(101 / 50.0)


def test_slow_whole_numbers_have_a_hint_about_milliseconds(tmp_path: Path) -> None:
    # 200 requests, one each 500 (ms): as seconds, one in more than 8 min
    times = [500.0 * i for i in range(200)]
    found = findings(trace(tmp_path / "a.csv", "timestamp", times))
    count, at, text = found["time-unit"]
    assert (count, at.rsplit(":", 1)[1]) == (200, "2")
    assert "498 s apart in whole numbers" in text  # 199 x 500 s of 200 requests
    assert "time-unit" not in findings(trace(tmp_path / "b.csv", "timestamp_ms", times))
    # fractions of a second are seconds
    assert "time-unit" not in findings(
        trace(tmp_path / "c.csv", "timestamp", [t + 0.25 * (t > 0) for t in times])
    )


def test_a_pause_is_named_and_counted_as_in_a_log_of_jobs(tmp_path: Path) -> None:
    # 30 requests an hour for three weeks; five hours of the second week are missing
    times = [h * HOUR + 120.0 * k for h in range(504) if not 216 <= h < 221 for k in range(30)]
    file = trace(tmp_path / "t.csv", "arrival_s", times)
    result = demanded(DemandRequest(files=(file,))).result
    count, at, text = findings(file)["gap"]
    # 216 hours of 30 requests are before it, the header is row 1
    assert (count, at.rsplit(":", 1)[1]) == (1, str(216 * 30 + 2))
    assert "day 9.00 to day 9.21 of the log" in text
    assert any("time without requests" in w["message"] for w in result.warnings)


def test_nights_without_requests_are_no_gap(tmp_path: Path) -> None:
    times = [h * HOUR + 120.0 * k for h in range(504) if 8 <= h % 24 < 20 for k in range(30)]
    assert "gap" not in findings(trace(tmp_path / "t.csv", "arrival_s", times))
