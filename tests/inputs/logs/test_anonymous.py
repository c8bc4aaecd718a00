"""Logs without names and dates: what stays, and what goes."""

from __future__ import annotations

import csv
import hashlib
import hmac
import re
from pathlib import Path

import numpy as np
import pytest

from dcplan.demand.log.jobs import JobLog, State, log_of
from dcplan.errors import InputError
from dcplan.inputs.logs.anonymous import anonymous
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import read_jobs
from dcplan.inputs.logs.tables.write import write_jobs
from tests.inputs.logs.files import DATA, read

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


def texts_written(log: JobLog, path: Path, seed: bytes | None = None) -> set[str]:
    """Return every cell that is no number of the anonymous log, in lower case, and its column names."""
    write_jobs(anonymous(log, seed), path)
    with path.open(encoding="utf-8", newline="") as stream:
        cells = {cell.lower() for row in list(csv.reader(stream))[1:] for cell in row}
    return {c for c in cells if not re.fullmatch(r"-?[0-9.]*(e[+-]?\d+)?|nan", c)}


def names_of(log: JobLog) -> set[str]:
    """Return users, queues, job names and nodes of a log, without plain numbers."""
    nodes = (part for text in log.hosts for part in re.split(r"[\[\],]", text))
    names = {n.lower() for n in (*log.users, *log.pools, *log.ids, *nodes)}
    return {n for n in names if re.search(r"[a-z]", n)}


@pytest.mark.parametrize("name", sorted(p.name for p in DATA.iterdir() if p.suffix != ".source"))
def test_no_name_of_any_fixture_is_in_its_anonymous_log(name: str, tmp_path: Path) -> None:
    try:
        log = read(name, timezone="Europe/Zurich").log
    except InputError:
        pytest.skip("a log that is refused")
    written = texts_written(log, tmp_path / "x.csv")
    assert written & names_of(log) == set()
    given = {w for w in written if re.fullmatch(r"user-[0-9a-f]{16}|pool-\d+", w)}
    rest = written - given - {state.name.lower() for state in State}
    assert {w for w in rest for n in names_of(log) if len(n) > 1 and n in w} == set()


def test_names_in_free_texts_of_reasons_do_not_survive(tmp_path: Path) -> None:
    reasons = (
        *("ada waits for bob", "Bob", "Secret_project", "(gpu-node-7 is down)", "secretqueue"),
        *("QOSMaxGRESPerUser", "ReqNodeNotAvail, UnavailableNodes:gpu-node-7", "Priority"),
        *("Dependency", "AssocGrpCPURunMinutesLimit", "launch_failed_requeued_held"),
    )
    n = len(reasons)
    log = log_of(
        np.arange(n), np.arange(n) + 1.0, np.arange(n) + 2.0, np.ones(n),
        pools=("SecretQueue",), users=("ada", "Bob"), user=np.arange(n) % 2,
        reasons=reasons, reason=np.arange(n), ids=tuple(f"train-llm-{i}" for i in range(n)),
        hosts=("gpu-node-7",), host=np.zeros(n),
    )  # fmt: skip
    text = " ".join(sorted(texts_written(log, tmp_path / "x.csv")))
    for name in ("ada", "bob", "secret", "gpu-node", "train-llm"):
        assert name not in re.sub(r"user-[0-9a-f]{16}", "", text)
    assert set(anonymous(log).reasons) == {
        *("AssocGrpCPURunMinutesLimit", "Dependency", "Other", "Priority", "QOSMaxGRESPerUser"),
        *("ReqNodeNotAvail", "launch_failed_requeued_held"),
    }


def test_hashed_names_cannot_be_found_with_a_list_of_names(tmp_path: Path) -> None:
    """With the list of all users, but without the salt, no usual hash of a name is in the file."""
    log = read("requeue.txt").log
    written = texts_written(log, tmp_path / "x.csv")
    hashed = {w.removeprefix("user-") for w in written if w.startswith("user-")}
    assert len(hashed) == len(log.users)
    guesses = set()
    for user in log.users:
        for text in (user, f"user {user}", f"user-{user}", f"{user}\n"):
            raw = text.encode()
            guesses |= {hashlib.new(h, raw).hexdigest() for h in ("md5", "sha1", "sha256")}
            guesses |= {hmac.new(k, raw, "sha256").hexdigest() for k in (b"\0", b"salt", b"dcplan")}
    assert not [h for h in hashed for g in guesses if h in g]
    # with the salt the same list finds them, so the check above can fail
    known = texts_written(log, tmp_path / "y.csv", b"salt")
    assert [g for g in guesses for w in known if w.removeprefix("user-") in g]
