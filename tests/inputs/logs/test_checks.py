"""Pauses, lengths in another unit, and rows that occur twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.request import DemandRequest
from dcplan.errors import InputError
from dcplan.inputs.logs.checks import gaps
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import read_jobs
from dcplan.inputs.logs.traps import Trap
from tests.inputs.logs.files import counts

HOUR = 3600
MONDAY = 1_780_272_000
"""A midnight of UTC, on Monday, 1 June 2026."""


def table(path: Path, header: str, rows: Iterable[Sequence[object]]) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, r)) for r in rows)]) + "\n")
    return path


def jobs(hours: Iterable[float]) -> list[tuple[object, ...]]:
    """Jobs of one hour on one accelerator that start when they are submitted."""
    starts = [MONDAY + round(h * HOUR) for h in hours]
    return [(i, f"u{i % 3}", s, s, s + HOUR, 1) for i, s in enumerate(starts)]


HEADER = "job,user,submit,start,end,n"


def test_a_day_that_is_missing_is_found_with_its_row(tmp_path: Path) -> None:
    # a job every hour of three weeks; Wednesday of the second week (hours 216 to 239) is missing
    file = table(tmp_path / "a.csv", HEADER, jobs(h for h in range(504) if not 216 <= h < 240))
    (gap,) = (f for f in read_jobs([file], LogOptions()).findings if f.kind is Trap.GAP)
    # 216 rows are before the gap, the header is row 1
    assert (gap.count, gap.place.line) == (1, 218)
    assert "1.0 days, 2026-06-09 23:00 to 2026-06-11 00:00 UTC" in gap.what
    # the length of the log is that with the gap, so the answer says it next to its sizes
    said = [w["message"] for w in demanded(DemandRequest(files=(file,), draws=0)).result.warnings]
    assert any("time without demand" in text for text in said)


def test_quiet_weekends_are_no_gap_but_a_week_without_work_is() -> None:
    work = np.array([h for h in range(6 * 168) if h % 168 < 120 and 8 <= h % 24 < 18], dtype=float)
    assert gaps(work * HOUR) == []
    away = work[(work < 2 * 168) | (work >= 3 * 168)]
    ((first, length_s),) = gaps(away * HOUR)
    # from Friday 17:00 of the second week to Monday 8:00 of the fourth: 63 h and a week
    assert (away[first], length_s) == (3 * 168 + 8, (63 + 168) * HOUR)


def test_a_short_log_with_a_month_in_between_has_a_gap() -> None:
    hours = np.concatenate([np.arange(0, 100), np.arange(820, 920)]).astype(float)
    assert gaps(hours * HOUR) == [(100, 721 * HOUR)]
    assert gaps(np.array([0.0])) == []


@pytest.mark.parametrize(
    ("unit_s", "said"), [(3600.0, "0.000278"), (60.0, "0.0167"), (1e-3, "1e+03")]
)
def test_run_times_in_another_unit_are_refused(tmp_path: Path, unit_s: float, said: str) -> None:
    rows = [(*r, HOUR / unit_s) for r in jobs(range(50))]
    file = table(tmp_path / "a.csv", HEADER + ",duration", rows)
    with pytest.raises(InputError, match=rf"a.csv:2: .*run time is {said.replace('+', '.')} times"):
        read_jobs([file], LogOptions())


def test_lengths_that_differ_are_counted_and_negative_ones_refused(tmp_path: Path) -> None:
    rows = [(*r, HOUR if i else 10 * HOUR) for i, r in enumerate(jobs(range(50)))]
    found = read_jobs([table(tmp_path / "a.csv", HEADER + ",run", rows)], LogOptions())
    assert counts(found)[Trap.LENGTH_DIFFERS] == 1
    assert found.log.busy_s.tolist() == [HOUR] * 50
    head = "JobID|State|Submit|Start|End|ElapsedRaw|ReqTRES\n"
    row = "1|COMPLETED|1700000000|1700000100|1700000900|{}|gres/gpu=1\n"
    slurm = tmp_path / "a.txt"
    slurm.write_text(head + row.format(8000))
    found = read_jobs([slurm], LogOptions())
    assert counts(found)[Trap.LENGTH_DIFFERS] == 1
    assert found.log.busy_s.tolist() == [800.0]
    slurm.write_text(head + row.format(-800))
    with pytest.raises(InputError, match=r"a.txt:2: .*elapsed is negative"):
        read_jobs([slurm], LogOptions())


def test_an_export_that_is_in_the_log_twice_without_ids_is_counted(tmp_path: Path) -> None:
    rows = [r[1:] for r in jobs(range(50))]
    header = HEADER.removeprefix("job,")
    twice = read_jobs([table(tmp_path / "a.csv", header, [*rows, *rows])], LogOptions())
    (repeated,) = (f for f in twice.findings if f.kind is Trap.REPEATED)
    assert (repeated.count, repeated.place.line, len(twice.log)) == (50, 52, 100)
    once = read_jobs([table(tmp_path / "b.csv", header, rows)], LogOptions())
    assert Trap.REPEATED not in counts(once)


def test_a_log_without_starts_does_not_say_that_no_job_waited(tmp_path: Path) -> None:
    rows = [(r[0], r[2], HOUR, 1) for r in jobs(range(20))]
    file = table(tmp_path / "a.csv", "job,submit,run,n", rows)
    headline = demanded(DemandRequest(files=(file,), draws=0)).result.headline
    assert headline.endswith("; the log does not show the waits")


def test_a_pause_of_a_log_without_dates_counts_from_its_start(tmp_path: Path) -> None:
    rows = [(h * HOUR, 0, HOUR, 1) for h in range(504) if not 216 <= h < 240]
    file = table(tmp_path / "a.csv", "submit,wait,run,n", rows)
    (gap,) = (f for f in read_jobs([file], LogOptions()).findings if f.kind is Trap.GAP)
    assert "day 8.96 to day 10.00 of the log" in gap.what  # 215 h and 240 h


@pytest.mark.parametrize(("unit", "said"), [(1, 0), (1000, 200)])
def test_lengths_in_milliseconds_have_a_hint(tmp_path: Path, unit: int, said: int) -> None:
    # 200 runs of 5 min and one of 4 h: as milliseconds read as seconds, of 3.5 and 167 days
    rows = [(MONDAY + i * HOUR, 0, 300 * unit, 1) for i in range(199)]
    rows.append((MONDAY, 0, 4 * HOUR * unit, 1))
    file = table(tmp_path / "a.csv", "submit,wait,run,n", rows)
    found = read_jobs([file], LogOptions())
    assert counts(found).get(Trap.LENGTH_UNIT, 0) == said
    if said:
        (hint,) = (f for f in found.findings if f.kind is Trap.LENGTH_UNIT)
        assert "the middle run has 3.5 days, the longest 167" in hint.what
        assert "divide milliseconds by 1,000" in hint.effect


def test_times_since_1970_in_milliseconds_are_refused_with_the_factor(tmp_path: Path) -> None:
    file = table(tmp_path / "a.csv", "submit,wait,run,n", [(MONDAY * 1000, 0, 60, 1)])
    with pytest.raises(InputError, match="divide milliseconds by 1,000"):
        read_jobs([file], LogOptions())


def test_a_column_in_milliseconds_is_named_where_the_seconds_are_missing(tmp_path: Path) -> None:
    file = table(tmp_path / "a.csv", "submit,wait,run_ms,n", [(MONDAY, 0, 60_000, 1)])
    with pytest.raises(InputError) as caught:
        read_jobs([file], LogOptions())
    (problem,) = caught.value.problems
    assert problem.help.endswith("divide milliseconds by 1,000: run_ms")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_log_in_utf_16_is_refused_with_the_command_that_converts_it(
    tmp_path: Path, encoding: str
) -> None:
    mark = "\ufeff" if encoding.endswith("-be") else ""
    file = tmp_path / "jobs.csv"
    file.write_bytes(f"{mark}submit,wait,run,n\n0,0,60,1\n".encode(encoding))
    with pytest.raises(InputError) as caught:
        demanded(DemandRequest(files=(file,)))
    (problem,) = caught.value.problems
    name = encoding[:6].upper()
    assert problem.code == "DC057"
    assert problem.cause == f"the text is {name}, not UTF-8"
    assert f"iconv -f {name} -t UTF-8 jobs.csv" in problem.help
