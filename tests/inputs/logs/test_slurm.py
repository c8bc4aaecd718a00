"""Traps of sacct, one file each: the numbers that are read, and what is reported."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dcplan.demand.log.jobs import State
from dcplan.errors import InputError
from dcplan.inputs.logs.gres import asks_for_accelerators
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import read_jobs
from dcplan.inputs.logs.sacct import KNOWN
from dcplan.inputs.logs.traps import Trap
from tests.inputs.logs.files import DATA, counts, read, refused

T = 1_700_000_000.0
"""Base of most times in the files."""


def test_a_requeued_job_has_one_row_a_run_and_its_waits_add_up() -> None:
    found = read("requeue.txt")
    log = found.log
    # run 1 of 501 waits 600 s, run 2 goes back at 4,200 and starts at 5,000: 800 s; 502: 400 s
    assert (log.start_s - log.submit_s).tolist() == [600.0, 400.0, 800.0]
    assert log.job[0] == log.job[2] != log.job[1]
    assert log.state.tolist() == [State.NODE_FAILED, State.COMPLETED, State.COMPLETED]
    # each run holds its accelerators: 8 x 3,600 + 8 x 4,000 + 2 x 400
    assert float(log.busy_s @ log.accelerators) == 8 * 3600 + 8 * 4000 + 2 * 400
    assert counts(found)[Trap.REQUEUED] == 1
    # 502 has 3 restarts and no earlier run in the file: exported without -D
    assert counts(found)[Trap.REQUEUES_HIDDEN] == 1
    hidden = next(f for f in found.findings if f.kind is Trap.REQUEUES_HIDDEN)
    assert (hidden.place.path, hidden.place.line) == (str(DATA / "requeue.txt"), 4)


def test_without_restarts_the_state_of_the_run_before_shows_a_requeue() -> None:
    found = read("requeue_by_state.txt")
    assert found.log.job.tolist() == [0, 0]
    assert counts(found)[Trap.REQUEUED] == 1


def test_an_id_that_comes_back_after_years_is_another_job() -> None:
    found = read("id_reused.txt")
    assert len(set(found.log.job.tolist())) == 3
    assert [found.log.pools[i] for i in found.log.pool] == ["a/all", "a/all", "b/all"]
    assert counts(found)[Trap.ID_REUSED] == 1  # the id in cluster b is that of another cluster


def test_starts_cut_at_the_window_are_refused() -> None:
    # three runs "start" at 1,699,999,200, which is on the hour, though submitted earlier
    ((file, row, cause),) = refused("window_rewritten.txt")
    assert (file, row) == ("window_rewritten.txt", 2)
    assert cause.startswith("3 runs start in the first second")
    # a period that begins elsewhere says that the window did not do it
    assert len(read("window_rewritten.txt", period=(T - 1e6, T + 1e6)).log) == 4
    refused("window_rewritten.txt", period=(1_699_999_200.0, T + 1e6))


def test_runs_from_before_the_window_are_flagged() -> None:
    # the first end is at 1,000 s: the window cannot begin later, and two runs came before
    assert counts(read("window_edge.txt"))[Trap.WINDOW_EDGE] == 2
    inside = read("window_edge.txt", period=(T, T + 1e5))
    assert counts(inside)[Trap.WINDOW_EDGE] == 2
    assert len(inside.log) == 3
    later = read("window_edge.txt", period=(T + 5900.0 + 1.0, T + 1e6))
    assert counts(later)[Trap.OUTSIDE_PERIOD] == 2
    assert later.log.submit_s.tolist() == [T + 2000.0]


def test_a_file_of_a_single_day_is_flagged() -> None:
    assert counts(read("short_window.txt"))[Trap.SHORT_WINDOW] == 1
    assert Trap.SHORT_WINDOW not in counts(read("window_edge.txt"))


def test_eligible_comes_from_planned_or_reserved_where_it_is_unknown() -> None:
    found = read("eligible.txt")
    # start 1,000 - reserved 300 = 700; nothing known; as printed, whatever Reserved says
    assert np.array_equal(found.log.eligible_s - T, [700.0, np.nan, 400.0], equal_nan=True)
    assert counts(found)[Trap.NO_ELIGIBLE] == 1


def test_pending_arrays_are_one_run_a_task() -> None:
    found = read("arrays.txt")
    log = found.log
    # one task ran, tasks 4 to 9 are six, of "1-3,7,..." four are listed
    assert len(log) == 1 + 6 + 4
    assert log.accelerators.tolist() == [2.0] * 7 + [1.0] * 4
    assert log.state.tolist().count(State.PENDING) == 10
    assert len(set(log.job.tolist())) == 11
    assert counts(found)[Trap.ARRAY_PENDING] == 2
    assert counts(found)[Trap.ARRAY_CUT] == 1


def test_steps_do_not_repeat_the_allocation() -> None:
    found = read("steps.txt")
    assert found.log.accelerators.tolist() == [2.0]
    assert counts(found)[Trap.STEP] == 4


def test_a_heterogeneous_job_is_one_gang() -> None:
    found = read("het.txt")
    log = found.log
    assert (log.accelerators.tolist(), log.requested.tolist()) == ([20.0], [20.0])
    assert (log.start_s - T).tolist() == [100.0]
    assert (log.end_s - T).tolist() == [950.0]  # the last component
    assert counts(found)[Trap.HET_JOB] == 3
    assert Trap.CPU_ONLY not in counts(found)


def test_exclusive_runs_hold_more_than_they_asked_for() -> None:
    found = read("exclusive.txt")
    assert found.log.accelerators.tolist() == [8.0, 16.0, 4.0]
    assert found.log.requested.tolist() == [1.0, 0.0, 4.0]
    assert found.log.per_node.tolist() == [8.0, 8.0, 4.0]
    assert counts(found)[Trap.EXCLUSIVE] == 2
    assert counts(found)[Trap.NO_ALLOCATION] == 1


def test_typed_and_untyped_entries_are_not_added() -> None:
    assert read("gres.txt").log.accelerators.tolist() == [4.0, 3.0, 3.0, 2.0]


def test_accelerators_that_the_accounting_lacks_are_an_error_not_zero() -> None:
    found = refused("gres_missing.txt")
    # rows 2 to 4 ask; row 5 asks for 0, row 6 has them
    assert [row for _, row, _ in found] == [2, 3, 4]
    assert all("SubmitLine asks for accelerators" in cause for *_, cause in found)


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("sbatch --gres=gpu:a100:2 x.sh", True),
        ("sbatch --gres=gpu:a100:0 x.sh", False),
        ("sbatch -N 2 --gres gpu x.sh", True),
        ("srun -p cpu -n1 : -G2 x", True),
        ("srun -p cpu a.out : --gpus-per-task=1 b.out", True),
        ("sbatch --tres-per-task=gres/gpu:1 x.sh", True),
        ("sbatch --requeue -p cpu train.sh --gpus 4", False),
        ("sbatch --wrap=python train.py --gpus=4", False),
        ("sbatch --gres=shard_cpu:1 x.sh", False),
        ("", False),
    ],
)
def test_only_options_of_the_submission_ask(command: str, asks: bool) -> None:
    assert asks_for_accelerators(command) is asks


def test_partitions_count_by_their_share_and_unknown_ones_apart() -> None:
    found = read("mig.txt", mig_fractions={"1g.10gb": 1 / 7, "3g.40gb": 3 / 7})
    assert found.log.accelerators.tolist() == pytest.approx([2 / 7, 3 / 7, 2 + 1 / 7])
    assert counts(found)[Trap.PARTITION] == 3
    assert counts(found)[Trap.PARTITION_UNKNOWN] == 1
    assert "shard" in next(f.what for f in found.findings if f.kind is Trap.PARTITION_UNKNOWN)
    with_shards = read("mig.txt", mig_fractions={"shard": 0.25})
    assert with_shards.log.accelerators.tolist() == [0.75, 2.0]
    assert counts(with_shards)[Trap.PARTITION_UNKNOWN] == 3


def test_a_resource_of_an_unknown_name_is_named_and_never_counts_as_nothing(tmp_path: Path) -> None:
    log = tmp_path / "other.txt"
    rows = (
        "gres/npu:910b=8,gres/npu=8",  # an accelerator under another name: 8, not 16
        "gres/vpu:x=2,gres/vpu=2",
        "gres/gpu=1,gres/vpu=4",
        "gres/nvme=2,cpu=4",
        "gres/scratch=100G,cpu=4",
    )
    log.write_text(
        "JobID|State|Submit|Start|End|User|ReqTRES\n"
        + "".join(
            f"{i}|COMPLETED|{1700000000 + i}|1700000100|1700000900|u{i}|{tres}\n"
            for i, tres in enumerate(rows)
        )
    )
    found = read_jobs([log], LogOptions())
    assert found.log.accelerators.tolist() == [8.0, 1.0]
    (unknown,) = (f for f in found.findings if f.kind is Trap.GRES_UNKNOWN)
    # the run with a GPU counts by its GPU; the other one is row 3
    assert (unknown.count, unknown.place.line) == (1, 3)
    assert unknown.what.endswith("not known as an accelerator: vpu")
    assert counts(found)[Trap.CPU_ONLY] == 2
    shared = read_jobs([log], LogOptions(mig_fractions={"vpu": 0.5}))
    assert shared.log.accelerators.tolist() == [8.0, 1.0, 3.0]
    assert Trap.GRES_UNKNOWN not in counts(shared)


def test_typed_shards_are_not_added_to_all_shards(tmp_path: Path) -> None:
    log = tmp_path / "shards.txt"
    log.write_text(
        "JobID|State|Submit|Start|End|User|ReqTRES\n"
        "1|COMPLETED|1700000000|1700000100|1700000900|ann|gres/shard=4,gres/shard:a100=4\n"
    )
    found = read_jobs([log], LogOptions(mig_fractions={"shard": 0.25}))
    assert found.log.accelerators.tolist() == [1.0]


def test_cancelled_jobs_that_never_started_are_demand_that_left() -> None:
    found = read("cancelled.txt")
    log = found.log
    # row 2 has a start equal to its end and no allocation: older versions print that
    assert log.started.tolist() == [False, False, True, False]
    assert log.state.tolist() == [State.CANCELLED] * 4
    assert log.accelerators.tolist() == [8.0, 4.0, 4.0, 2.0]
    assert (log.end_s - T).tolist() == [700.0, 500.0, 900.0, 900.0]  # when each left the queue
    assert np.isnan(log.busy_s).tolist() == [True, True, False, True]
    assert counts(found)[Trap.NEVER_STARTED] == 3


def test_runs_without_an_end_run_on_but_not_past_their_limit() -> None:
    found = read("running.txt")
    log = found.log
    # the export is at 86,400 s: the latest start + elapsed
    assert np.isnan(log.end_s).tolist() == [False, True, True, False, True]
    assert log.end_s[0] == 1_600_000_100 + 3600  # older than its limit of an hour
    assert log.busy_s.tolist() == [3600.0, 86300.0, 86000.0, 86000.0, 400.0]
    assert log.state[0] == State.UNKNOWN
    assert (counts(found)[Trap.RUNNING], counts(found)[Trap.RUNAWAY]) == (2, 1)
    assert counts(found)[Trap.NO_END] == 1


def test_suspended_time_is_not_time_on_accelerators() -> None:
    # 10,000 s from start to end, 3,600 s suspended; ElapsedRaw has them off already
    found = read("suspended.txt")
    assert found.log.busy_s.tolist() == [6400.0, 500.0]
    assert counts(found)[Trap.SUSPENDED] == 1


def test_the_repeated_hour_is_read_by_the_order_of_ids() -> None:
    found = read("repeated_hour.txt", timezone="Europe/Berlin")
    log, base = found.log, 1_698_537_600.0  # 2023-10-29 00:00 UTC; the clock went back at 01:00 UTC
    minutes = np.stack([log.submit_s, log.start_s, log.end_s], axis=1) - base
    # 100: 65 min elapsed from 02:05 to 02:10, so the end is the second 02:10
    # 101: 3 h to 04:40 begin at the first 02:40
    # 102: submitted at the first 02:50, so 02:20 is the second
    # 103: 02:05 after 02:50 in the order of ids: the second
    expected = [[-30, 5, 70], [10, 40, 220], [50, 80, 140], [65, 90, 150], [130, 150, 210]]
    assert (minutes / 60.0).tolist() == expected
    assert counts(found)[Trap.REPEATED_HOUR] == 3
    assert counts(found)[Trap.LOCAL_TIME] == 5


def test_in_the_repeated_hour_a_start_follows_its_submission(tmp_path) -> None:
    # no end and no run time: 02:10 is the second one because the submission was at the first 02:50
    log = read("repeated_hour_running.txt", timezone="Europe/Berlin").log
    assert ((log.submit_s - 1_698_537_600.0) / 60.0).tolist() == [50.0, 80.0]
    assert ((log.start_s - 1_698_537_600.0) / 60.0).tolist() == [70.0, 85.0]
    # submitted at the first 02:05, planned for 75 minutes: 02:20 is the second, though both fit
    (tmp_path / "x.txt").write_text(
        "JobID|State|Submit|Start|End|Planned|User|ReqTRES|AllocTRES\n"
        "1|COMPLETED|2023-10-29T02:05:00|2023-10-29T02:20:00|2023-10-29T02:50:00|01:15:00|ann||gres/gpu=1\n"
    )
    log = read(str(tmp_path / "x.txt"), timezone="Europe/Berlin").log
    assert [log.submit_s[0], log.start_s[0], log.end_s[0]] == [
        1_698_537_600.0 + 60.0 * minutes for minutes in (5.0, 80.0, 110.0)
    ]


def test_local_times_need_a_zone_that_exists_and_fits() -> None:
    ((file, row, cause),) = refused("repeated_hour.txt")
    assert (file, row, cause) == ("repeated_hour.txt", 2, "the times have no zone")
    with pytest.raises(InputError, match="no time zone 'Mars/Olympus'"):
        read("repeated_hour.txt", timezone="Mars/Olympus")
    # 02:30 on 26 March 2023 does not exist in Berlin
    assert [row for _, row, _ in refused("skipped_hour.txt", timezone="Europe/Berlin")] == [2]
    assert len(read("skipped_hour.txt", timezone="UTC").log) == 2


def test_relative_times_are_refused() -> None:
    found = refused("relative.txt")
    assert [row for _, row, _ in found] == [2, 2, 2, 3]
    assert all("is a relative time" in cause for *_, cause in found)


def test_reasons_are_kept_and_rules_are_counted() -> None:
    found = read("reasons.txt")
    names = [found.log.reasons[i] if i >= 0 else "" for i in found.log.reason]
    last = "ReqNodeNotAvail, UnavailableNodes:gpu07"
    assert names == ["", "QOSMaxGRESPerUser", "Priority", last]
    assert counts(found)[Trap.POLICY_REASON] == 2
    assert found.log.priority.tolist() == [10.0, 20.0, 30.0, 40.0]


def test_classes_with_preempted_runs_are_preemptible() -> None:
    found = read("preempted.txt")
    assert found.log.preemptible.tolist() == [True, False, True]
    assert counts(found)[Trap.PREEMPTIBLE] == 2


def test_preemption_by_partition_does_not_mark_a_whole_qos(tmp_path: Path) -> None:
    """The partition `spare` preempts; the QOS `normal` runs in both partitions."""
    log = tmp_path / "spare.txt"
    log.write_text(
        "JobID|Partition|QOS|State|Submit|Start|End|User|ReqTRES\n"
        "1|spare|normal|PREEMPTED|1700000000|1700000100|1700000900|ann|gres/gpu=1\n"
        "2|main|normal|COMPLETED|1700000001|1700000100|1700000900|bob|gres/gpu=1\n"
        "3|spare|normal|COMPLETED|1700000002|1700000100|1700000900|bob|gres/gpu=1\n"
        "4|spare|high|COMPLETED|1700000003|1700000100|1700000900|bob|gres/gpu=1\n"
    )
    found = read_jobs([log], LogOptions())
    assert found.log.preemptible.tolist() == [True, False, True, False]


def test_a_column_that_is_read_occurs_once(tmp_path: Path) -> None:
    log = tmp_path / "twice.txt"
    log.write_text(
        "JobID|State|Submit|Start|End|Start|ReqTRES|Comment|Comment\n"
        "1|COMPLETED|1700000000|1700000100|1700000900|1700000500|gres/gpu=1||\n"
    )
    with pytest.raises(InputError, match=r"column 'start' occurs 2 times, .* as column 6"):
        read_jobs([log], LogOptions())
    # Elapsed and ElapsedRaw are two columns with one meaning: the first counts
    log.write_text(
        "JobID|State|Submit|Start|End|Elapsed|ElapsedRaw|ReqTRES|Comment|Comment\n"
        "1|COMPLETED|1700000000|1700000100|1700000900|00:13:20|800|gres/gpu=1||\n"
    )
    assert read_jobs([log], LogOptions()).log.busy_s.tolist() == [800.0]


def test_the_export_of_the_page_has_only_columns_that_are_read() -> None:
    page = (Path(__file__).parents[3] / "docs" / "howto" / "demand.md").read_text(encoding="utf-8")
    names = re.search(r"sacct .* -o (\S+)", page)
    assert names is not None
    columns = [name.lower() for name in names[1].split(",")]
    assert set(columns) <= KNOWN
    assert {"nodelist", "submitline", "restarts"} <= set(columns)


def test_one_single_user_is_flagged() -> None:
    assert counts(read("requeue_by_state.txt"))[Trap.ONE_USER] == 2
    assert Trap.ONE_USER not in counts(read("requeue.txt"))


def test_runs_without_accelerators_are_counted_and_left_out() -> None:
    found = read("cpu_only.txt")
    assert found.log.accelerators.tolist() == [1.0]
    assert counts(found)[Trap.CPU_ONLY] == 2
