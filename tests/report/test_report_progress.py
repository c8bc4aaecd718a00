"""Progress says what is proved so far: a view on a terminal, on a pipe a line now and then."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest
from rich.console import Console

from dcplan.planning.keys import Key
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.status import Phase, Reporter, SolveEvent, SolveStatus
from dcplan.report import live, progress
from dcplan.report.live import SolveView, amount, curve
from dcplan.report.progress import Counter, SolveProgress, progress_text
from dcplan.scenario.load import load

FOUND = SolveEvent(Phase.HALLS, 150.0, 147.0, nodes=7, plans=2)


def test_progress_shows_time_best_bound_and_gap() -> None:
    # gap = (150 - 147) / 150 = 2 %
    assert progress_text(FOUND, 12.4, 120.0) == (
        "solving: 12 s of 120 s, best 150.0 M USD, bound 147.0 M USD, gap 2.0%, 2 audited plans"
    )


@pytest.mark.parametrize("none", [math.inf, -math.inf, math.nan])
def test_progress_without_a_plan_says_so(none: float) -> None:
    text = progress_text(SolveEvent(Phase.HALLS, best=none), 3.0, 60.0)
    assert text == "solving: 3 s of 60 s, no plan yet"


def test_progress_without_a_bound_shows_no_infinite_gap() -> None:
    text = progress_text(SolveEvent(Phase.EXACT, best=50.0), 3.0, 60.0)
    assert text == "solving: 3 s of 60 s, best 50.000 M USD, no bound yet"


def test_a_pipe_gets_one_line_every_thirty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with SolveProgress(stream, "Planning x.yaml", limit_s=120.0, gap=0.005) as bar:
        for second in range(95):
            now[0] = 1000.0 + second
            bar(FOUND)
    # the first line after more than 30 s (at 31), then at 62 and 93
    assert [line.split(" s of")[0] for line in stream.getvalue().splitlines()] == [
        "solving: 31",
        "solving: 62",
        "solving: 93",
    ]
    assert all(line.endswith(f"; {Phase.HALLS}") for line in stream.getvalue().splitlines())


@pytest.mark.parametrize("proofs", [False, True])
def test_the_time_left_of_a_sweep_says_that_it_is_without_proofs(proofs: bool) -> None:
    stream = io.StringIO()
    Counter(stream, proofs=proofs)(5, 0, 10)
    assert stream.getvalue().startswith("5 of 10 points, 0 failed, about ")
    assert (" s left; proofs of some points follow" in stream.getvalue()) == proofs


def view_at(monkeypatch: pytest.MonkeyPatch, events: list[tuple[float, SolveEvent]]) -> SolveView:
    """A view that began at second 0 and took events at their seconds."""
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    view = SolveView("Planning x.yaml", limit_s=60.0, gap=0.005)
    for second, event in events:
        now[0] = second
        view.add(event)
    return view


def test_the_view_counts_the_limit_from_the_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The options took 10 s, which are no part of the limit of 60 s."""
    view = view_at(monkeypatch, [(0.0, SolveEvent(Phase.OPTIONS)), (10.0, FOUND)])
    assert [line.rstrip() for line in view.lines(22.0)[:4]] == [
        f"Planning x.yaml: {Phase.HALLS}",
        "Best plan   150.0 M USD               Plans   2 audited",
        "Bound       147.0 M USD               Gap     2.00% (requested 0.50%)",
        "Time        12 s of 60 s              Left    48 s",
    ]


def test_phases_after_the_solve_keep_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_at(monkeypatch, [(1.0, FOUND), (5.0, SolveEvent(Phase.WAITING))])
    lines = view.lines(6.0)
    assert str(Phase.WAITING) in lines[0]
    assert "150.0 M USD" in lines[1]


def test_a_second_objective_begins_a_new_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    days = SolveEvent(Phase.EXACT, 90.0, 81.0, measure="time")
    view = view_at(monkeypatch, [(1.0, days), (9.0, FOUND)])
    assert view.gaps == [(8.0, pytest.approx(0.02))]


def test_the_curve_falls_to_the_requested_gap() -> None:
    """Log scale from 50 % to 0.5 %: 5 % is half the height; at 0.5 % nothing is above the line."""
    rows = curve([(0.0, 0.5), (50.0, 0.05), (90.0, 0.005)], 0.005, 100.0, 112)
    heights = [
        sum(" ▁▂▃▄▅▆▇█".index(row.ljust(112)[12 + i]) for row in rows[:3]) for i in (0, 60, 95)
    ]
    assert heights == [24, 12, 0]
    assert rows[3].startswith("req. 0.50%")
    assert max(map(len, rows)) <= 112


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_terminal_of_80_columns_is_not_overrun(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=80, force_terminal=True, no_color=True)
    view = view_at(monkeypatch, [(0.0, FOUND)])
    view.title = "a-very-long-name-of-a-scenario-" * 4
    console.print(view)
    stream.seek(0)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in stream.read().splitlines()]
    assert len(lines) == (9 if encoding == "utf-8" else 4)
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_measures_have_their_units() -> None:
    assert amount(12.5, "days:flagship") == "12.5 days"
    assert amount(-3.0, "compute") == "3.0 PFLOP-days"  # minimized as a negative number
    assert amount(math.nan) == ""


def test_a_bound_of_the_completion_of_a_start_is_not_shown() -> None:
    """While HiGHS completes a start its bound equals the solution (docs/decisions.md)."""
    shown: list[SolveEvent] = []
    reporter = Reporter(shown.append)
    reporter.passed(20.8)
    reporter.proved(20.0)
    report = reporter.of_solver(Phase.WHOLE, plans=False, started=True)
    assert report is not None
    for incumbent, bound in ((math.inf, 20.7), (20.7, 20.7), (20.7, 20.4)):
        report(1.0, incumbent, bound, 3)
    assert [event.bound for event in shown[-3:]] == [20.0, 20.0, 20.4]
    assert all(event.best == 20.8 for event in shown[-3:])
    assert reporter.event.bound == 20.0  # not kept


def test_a_bound_of_fixed_integers_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds for these integers only, and may be above the best plan: 25 with them, 18 without."""
    shown: list[SolveEvent] = []
    matrix = Matrix(
        *(np.zeros(1), 0.0, np.zeros(1), np.ones(1), np.ones(1) > 0, [Key("x")]),
        *(np.zeros(0), np.zeros(0), [], np.zeros(2, dtype=np.int32)),
        *(np.zeros(0, dtype=np.int32), np.zeros(0)),
    )

    def solve(*_: object, watch: highs.Watch, **__: object) -> highs.Outcome:
        assert watch.progress is not None
        watch.progress(1.0, 26.0, 25.0, 1)
        return highs.Outcome(SolveStatus.OPTIMAL, 26.0, 25.0, None, 0.0, 1)

    monkeypatch.setattr(highs, "solve", solve)
    session = SolveSession.of(load("starter"), SolveRequest(0.01, 60.0, progress=shown.append))
    session.reporter.proved(17.0)
    session.solve(matrix, 0.01, fixed={0: 1.0})
    assert (shown[-1].bound, session.reporter.event.bound) == (17.0, 17.0)
    session.solve(matrix, 0.01)
    assert session.reporter.event.bound == 25.0
    session.reporter.passed(18.0)
    session.solve(matrix, 0.01)
    assert shown[-1].bound == shown[-1].best == 18.0


def test_solutions_of_a_model_count_until_a_plan_is_audited() -> None:
    shown: list[SolveEvent] = []
    reporter = Reporter(shown.append)
    report = reporter.of_solver(Phase.EXACT)
    assert report is not None
    report(1.0, 30.0, 10.0, 1)
    assert (shown[-1].best, shown[-1].plans) == (30.0, 0)
    reporter.passed(31.0)
    report(2.0, 29.0, 12.0, 1)
    assert (shown[-1].best, shown[-1].bound, shown[-1].plans) == (31.0, 12.0, 1)
