"""Logs without names and dates: what stays, and what goes."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.inputs.logs.anonymous import anonymous
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import read_jobs
from dcplan.inputs.logs.tables.write import write_jobs
from tests.inputs.logs.files import read

WEEK_S = 7 * 86400.0


def test_hours_of_the_week_waits_and_sizes_stay() -> None:
    log = read("helios_earth_slice.csv").log
    found = anonymous(log, b"salt")
    shift = log.submit_s - found.submit_s
    assert np.ptp(shift) == 0.0
    assert shift[0] % WEEK_S == 0.0
    assert shift[0] >= 52 * WEEK_S
    for name in ("start_s", "end_s"):
        assert np.array_equal(getattr(found, name) + shift, getattr(log, name), equal_nan=True)
    for name in ("accelerators", "busy_s", "state", "preemptible"):
        assert np.array_equal(getattr(found, name), getattr(log, name), equal_nan=True)
    # one new name for each old one
    assert len(set(zip(found.pool.tolist(), log.pool.tolist(), strict=True))) == len(log.pools)


def test_no_name_of_the_log_is_left_in_what_is_written(tmp_path) -> None:
    log = read("reasons.txt", "requeue.txt").log
    write_jobs(anonymous(log), tmp_path / "x.csv")
    text = (tmp_path / "x.csv").read_text()
    for name in (*log.users, "gpu07", ",gpu,"):
        assert name not in text
    assert "ReqNodeNotAvail" in text  # the rule stays, the node goes
    assert len(read_jobs([tmp_path / "x.csv"], LogOptions()).log) == len(log)


def test_names_depend_on_the_salt_alone() -> None:
    log = read("requeue.txt").log
    assert anonymous(log, b"a").users == anonymous(log, b"a").users
    assert anonymous(log, b"a").users != anonymous(log, b"b").users
    assert anonymous(log).users != anonymous(log).users  # a new salt each time
    with pytest.raises(ValueError, match="salt is empty"):
        anonymous(log, b"")


def test_users_stay_apart_and_runs_of_a_job_stay_one_job() -> None:
    log = read("requeue.txt").log
    found = anonymous(log, b"salt")
    assert len(found.users) == len(log.users) == 2
    assert found.user[0] == found.user[2] != found.user[1]
    assert found.job[0] == found.job[2] != found.job[1]
