"""Progress says what is proved so far, on a pipe only now and then."""

from __future__ import annotations

import io
import math

import pytest

from dcplan.report import progress
from dcplan.report.progress import SolveProgress, progress_text


def test_progress_shows_time_best_bound_and_gap() -> None:
    # gap = (50 - 49) / 50 = 2 %
    text = progress_text(12.4, 50.0, 49.0, 120.0)
    assert text == "solving: 12 s of 120 s, best 50.0 M USD, bound 49.0 M USD, gap 2.0%"


@pytest.mark.parametrize("none", [math.inf, -math.inf, math.nan])
def test_progress_without_a_plan_says_so(none: float) -> None:
    assert progress_text(3.0, none, -math.inf, 60.0) == "solving: 3 s of 60 s, no plan yet"


def test_progress_without_a_bound_shows_no_infinite_gap() -> None:
    text = progress_text(3.0, 50.0, -math.inf, 60.0)
    assert "best 50.0 M USD" in text
    assert "inf" not in text


def test_a_pipe_gets_one_line_every_thirty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with SolveProgress(stream, limit_s=120.0) as bar:
        for second in range(95):
            now[0] = 1000.0 + second
            bar(float(second), 50.0, 49.0, 1)
    # the first line after more than 30 s (at 31), then at 62 and 93
    assert [line.split(" s of")[0] for line in stream.getvalue().splitlines()] == [
        "solving: 31",
        "solving: 62",
        "solving: 93",
    ]
