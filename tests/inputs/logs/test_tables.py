"""CSV of jobs: the names of published logs, real slices, bad rows, and the neutral CSV."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.demand.log.jobs import JobLog, State, little_gap_frac, log_of
from dcplan.errors import InputError
from dcplan.inputs.logs.options import Kind, LogOptions
from dcplan.inputs.logs.read import read_jobs
from dcplan.inputs.logs.table import write_jobs
from dcplan.inputs.logs.traps import Trap
from tests.inputs.logs.files import DATA, counts, read, refused


def test_jobs_of_helios() -> None:
    found = read("helios_style.csv", timezone="Asia/Shanghai")
    log = found.log
    assert log.accelerators.tolist() == [8.0, 16.0, 4.0]
    assert log.per_node.tolist() == [8.0, 8.0, 4.0]
    assert (log.start_s - log.submit_s).tolist() == [600.0, 0.0, 600.0]
    assert log.state.tolist() == [State.COMPLETED, State.CANCELLED, State.FAILED]
    assert log.submit_s[0] == 1_585_670_400.0  # 2020-03-31 16:00 UTC, eight hours before
    assert [log.pools[i] for i in log.pool] == ["vcA", "vcB", "vcB"]
    assert counts(found)[Trap.CPU_ONLY] == 1
    assert found.files[0].kind is Kind.CSV


def test_jobs_of_acme_with_a_zone_and_a_job_that_never_started() -> None:
    found = read("acme_style.csv")
    log = found.log
    assert (log.start_s - log.submit_s)[0] == 17.0
    assert log.started.tolist() == [True, False]
    assert log.state[1] == State.CANCELLED
    assert counts(found)[Trap.NEVER_STARTED] == 1
    assert Trap.LOCAL_TIME not in counts(found)


def test_pods_of_openb_have_shares() -> None:
    found = read("openb_style.csv")
    log = found.log
    assert log.accelerators.tolist() == [1.0, 0.46, 4.0]
    assert log.preemptible.tolist() == [False, True, False]
    # the first pod is said to run, but has an end
    assert (log.start_s - log.submit_s).tolist() == [0.0, 40.0, 10.0]
    assert counts(found)[Trap.PARTITION] == 1
    assert counts(found)[Trap.CPU_ONLY] == 1


def test_a_slice_of_philly_has_the_load_of_its_rows() -> None:
    # awk over the file: 1,200 rows, 1,408 accelerators; gpu_time is duration x num_gpus
    with (DATA / "philly_oct2017_slice.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    found = read("philly_oct2017_slice.csv", timezone="America/Los_Angeles")
    log = found.log
    assert (len(log), log.accelerators.sum()) == (1200, 1408.0)
    gpu_s = sum(float(r["gpu_time"]) for r in rows)
    assert float(log.busy_s @ log.accelerators) == pytest.approx(gpu_s, rel=1e-9)
    assert counts(found)[Trap.NO_START] == 1200  # this form has no starts: no waits to study
    ((_, row, cause),) = refused("philly_oct2017_slice.csv")
    assert (row, cause) == (2, "the times have no zone")


def test_a_slice_of_helios_keeps_littles_identity() -> None:
    # awk over the file: 1,796 rows, 12,268 accelerators, 3,353,820 s of waits
    found = read("helios_earth_slice.csv")
    log = found.log
    assert (len(log), log.accelerators.sum()) == (1796, 12268.0)
    assert (log.start_s - log.submit_s).sum() == 3_353_820.0
    assert float(log.busy_s @ log.accelerators) == 294_105_300.0
    assert little_gap_frac(log) < 0.001
    assert set(log.pools) == {"vcTJs", "vcLJZ", "vcSoL"}
    file = found.files[0]
    assert file.sha256 == hashlib.sha256(Path(file.path).read_bytes()).hexdigest()
    assert (file.rows, file.first_s) == (1796, float(log.submit_s.min()))


def test_an_end_and_a_run_time_give_the_start(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("submit,end,run,n\n10,100,60,2\n")
    found = read(str(tmp_path / "x.csv"))
    assert found.log.start_s.tolist() == [40.0]
    assert Trap.NO_START not in counts(found)


def test_traps_of_tables() -> None:
    found = read("csv_traps.csv")
    log = found.log
    # j1 once; j2 never started; j3 started before its submission; j4 has two runs; j5 no end
    assert log.submit_s.tolist() == [0.0, 5.0, 20.0, 50.0, 60.0, 100.0]
    assert log.job[3] == log.job[5]
    assert counts(found) == {
        Trap.DUPLICATE: 1,
        Trap.NEVER_STARTED: 1,
        Trap.START_BEFORE_SUBMIT: 1,
        Trap.RUNNING: 1,
        Trap.NO_END: 1,
        Trap.REQUEUED: 1,
        Trap.ONE_USER: 6,
    }


def test_all_bad_rows_are_named_at_once() -> None:
    found = refused("neutral_bad.csv")
    assert sorted(row for _, row, _ in found) == [2, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("submit,start,end\n1,2,3\n", "columns missing: n"),
        ("submit,n\n1,2\n", "columns missing: end or run"),
        ("", "the file is empty"),
        ("submit,n,run\n", "no run has accelerators"),
        ("submit,n,run\n5,0,7\n", "no run has accelerators: 1 runs that ask for no accelerator"),
    ],
)
def test_tables_that_say_nothing_are_refused(text: str, cause: str, tmp_path) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert refused(str(tmp_path / "x.csv"))[0][2] == cause


def test_files_that_cannot_be_read_are_all_named(tmp_path) -> None:
    with pytest.raises(InputError) as caught:
        read("no_such.csv", "neutral_bad.csv", "relative.txt")
    codes = [p.code for p in caught.value.problems]
    assert codes.count("DC006") == 1
    assert codes.count("DC057") == 7 + 4
    (tmp_path / "x.csv").write_text("job;submit;n;run\n1;2;3;4\n")
    with pytest.raises(InputError, match="uses ';' as delimiter"):
        read(str(tmp_path / "x.csv"))
    with pytest.raises(InputError, match="unknown kind of log 'sact'"):
        read("relative.txt", kind="sact")


def test_logs_of_several_kinds_are_one_log() -> None:
    found = read("csv_traps.csv", "requeue.txt", "kueue_v1beta2.json")
    assert len(found.log) == 6 + 3 + 3
    assert len(set(found.log.job.tolist())) == 5 + 2 + 3
    assert "b" in found.log.users
    assert np.all(np.diff(found.log.submit_s) >= 0.0)


NAME = st.text(alphabet='aé,";|x ', min_size=1, max_size=6).filter(lambda x: x == x.strip())
TIME = st.floats(min_value=0.0, max_value=1e6)


@st.composite
def logs(draw: st.DrawFn) -> JobLog:
    submit = draw(st.lists(st.floats(-1e9, 2e9), min_size=1, max_size=8, unique=True))
    n = len(submit)

    def column(each: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(each, min_size=n, max_size=n)), dtype=np.float64)

    maybe = st.one_of(st.just(np.nan), TIME)
    start = np.array(submit) + column(maybe)
    end = np.where(np.isnan(start), np.array(submit), start) + column(maybe)
    ended = column(st.sampled_from([float(s) for s in State if s < State.RUNNING]))
    running = np.where(np.isnan(start), State.PENDING, State.RUNNING)
    pools = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    users = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    return log_of(
        submit,
        start,
        end,
        column(st.floats(0.01, 1e4)),
        pools=tuple(pools),
        users=tuple(users),
        reasons=("Priority", "QOSMaxGRESPerUser"),
        pool=column(st.integers(0, len(pools) - 1).map(float)).astype(int),
        user=column(st.integers(-1, len(users) - 1).map(float)).astype(int),
        reason=column(st.integers(-1, 1).map(float)).astype(int),
        job=column(st.integers(0, 2).map(float)).astype(int),
        state=np.where(np.isfinite(end), ended, running).astype(int),
        eligible_s=column(maybe),
        busy_s=np.where(np.isfinite(start), column(TIME), np.nan),
        requested=column(maybe),
        per_node=column(maybe),
        limit_s=column(maybe),
        priority=column(maybe),
        preemptible=column(st.sampled_from([0.0, 1.0])).astype(bool),
    )


def plain(log: JobLog) -> dict[str, list[object]]:
    """Every column with names in place of their numbers, and jobs in the order of their runs."""
    jobs = {job: i for i, job in enumerate(dict.fromkeys(log.job.tolist()))}
    found: dict[str, list[object]] = {
        "pool": [log.pools[i] for i in log.pool],
        "user": [log.users[i] if i >= 0 else None for i in log.user],
        "reason": [log.reasons[i] if i >= 0 else None for i in log.reason],
        "job": [jobs[i] for i in log.job.tolist()],
    }
    rest = ("submit_s", "eligible_s", "start_s", "end_s", "busy_s", "accelerators", "requested")
    for name in (*rest, "per_node", "limit_s", "priority", "preemptible", "state"):
        values = getattr(log, name).tolist()
        found[name] = [None if x != x else x for x in values]
    return found


@settings(max_examples=150, deadline=None)
@given(log=logs())
def test_the_neutral_csv_reads_back_equal(log: JobLog, tmp_path_factory) -> None:
    file = tmp_path_factory.mktemp("neutral") / "log.csv"
    write_jobs(log, file)
    assert plain(read_jobs([file], LogOptions()).log) == plain(log)


def test_a_name_that_means_unknown_is_not_written(tmp_path) -> None:
    log = log_of([0.0], [1.0], [2.0], [1], users=("none",), user=[0])
    with pytest.raises(InputError, match="'none' cannot be a name"):
        write_jobs(log, tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["start", "Start", " start "])
def test_a_column_that_occurs_twice_is_refused(tmp_path: Path, name: str) -> None:
    log = tmp_path / "twice.csv"
    log.write_text(f"submit,start,end,n,{name},note,note\n0,10,20,1,15,,\n")
    with pytest.raises(InputError, match="column 'start' occurs 2 times"):
        read_jobs([log], LogOptions())
