"""Logs and flags that contradict themselves, and sizes of logs that are easy to get wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dcplan
from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.log.jobs import log_of
from dcplan.demand.log.recorded import recorded_work
from dcplan.demand.log.waits import split_waits
from dcplan.errors import InputError

HEADER = "submit,start,end,n"


def written(path: Path, rows: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def steady(count: int = 600, each_s: float = 600.0, run_s: float = 3000.0) -> list[str]:
    """Jobs of one accelerator at equal distances: 5 are busy at any time."""
    return [f"{i * each_s},{i * each_s},{i * each_s + run_s},1" for i in range(count)]


def refused(*paths: Path | str, **more: object) -> str:
    with pytest.raises(InputError) as caught:
        dcplan.demand(list(paths), **more)
    return "; ".join(p.cause for p in caught.value.problems)


def test_a_wrong_date_is_refused_by_its_distance(tmp_path: Path) -> None:
    far = written(tmp_path / "far.csv", [*steady(), "9000000000,9000000000,9000000100,1"])
    assert "1 of 601 runs are 104,163 days away from all others" in refused(far)
    # 9,000,000,000 s - 599 x 600 s = 8,999,640,600 s = 104,162.51 days


def test_two_logs_with_a_gap_between_are_no_wrong_date(tmp_path: Path) -> None:
    later = [f"{4e6 + i * 600},{4e6 + i * 600},{4e6 + i * 600 + 3000},1" for i in range(600)]
    found = dcplan.demand([written(tmp_path / "two.csv", [*steady(), *later])], draws=0)
    assert found.value("demand.jobs") == 1200


def test_the_same_log_twice_is_refused(tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv", steady())
    again = written(tmp_path / "again.csv", steady())
    assert "its runs would count twice" in refused(one, again)


def test_a_job_of_a_billion_accelerators_is_a_slip(tmp_path: Path) -> None:
    log = written(tmp_path / "huge.csv", [*steady(), "0,0,10,1000000000"])
    assert "a job of 1,000,000,000 accelerators" in refused(log)


def test_flags_that_contradict_themselves(tmp_path: Path) -> None:
    log = written(tmp_path / "a.csv", steady())
    assert "2027-Q5" in refused(log, start="2027-Q5")
    assert "pool 'all' has 2 numbers" in refused(log, accelerators=["all=8", "all=9"])
    assert "a node of 100" in refused(log, accelerators=20, accelerators_per_node=100)


def test_python_takes_texts_paths_and_numbers(tmp_path: Path) -> None:
    log = written(tmp_path / "a.csv", steady())
    sizes = {
        dcplan.demand(given, accelerators=count, draws=0).value("demand.all.accelerators")
        for given, count in ((str(log), 8), ([str(log)], "8"), (log, [8]), ([log], {"all": 8}))
    }
    assert len(sizes) == 1
    assert "FILE is needed" in refused()


def test_a_size_is_above_the_offered_load(tmp_path: Path) -> None:
    """5 are busy at any time. A wait of 90 h is longer than the queue of four at the log's end."""
    log = written(tmp_path / "a.csv", steady())
    found = dcplan.demand(log, accelerators=8, wait_h=90, draws=0)
    assert found.status == "incomplete"
    messages = [w["message"] for w in found.warnings]
    assert any("the log is too short for this wait" in m for m in messages)
    assert any("take a shorter wait or a longer log" in m for m in messages)


def test_runs_that_have_not_ended_hold_their_accelerators() -> None:
    """A run from 0 s without an end and jobs until 1,000 s: it holds 4 for 1,000 s."""
    log = log_of([0.0, 100.0], [0.0, 100.0], [np.nan, 1000.0], [4, 1])
    work = recorded_work(log, split_waits(log, 8, 8)).work
    assert work.units.tolist() == [4, 1]
    assert work.run_s.tolist() == [1000.0, 900.0]


def test_clusters_without_a_size_are_named_in_the_block(tmp_path: Path) -> None:
    rows = [f"{row},a" for row in steady()]
    few = [f"{i * 9000},{i * 9000},{i * 9000 + 60},1,b" for i in range(20)]
    log = written(tmp_path / "two.csv", sorted([*rows, *few]), f"{HEADER},pool")
    request = DemandRequest(
        files=(log,), accelerators=("a=8", "b=4"), draws=0, growth_frac_per_quarter=0.0
    )
    found = demanded(request)
    assert "# b: no demand here, because the log has 20 jobs that ran" in found.block
    alone = demanded(replace(request, accelerators=("a=8",)))
    notes = [w["message"] for w in alone.result.warnings]
    assert "20 runs of pools without --accelerators have no answer: b" in notes


def test_pools_that_share_nodes_are_asked_about(tmp_path: Path) -> None:
    """Pools that use 8 in turn: their peaks add up to 16, and 8 were in use at most."""
    rows = [f"{i * 600},{i * 600},{i * 600 + 600},8,{'ab'[i % 2]}" for i in range(600)]
    log = written(tmp_path / "turns.csv", rows, f"{HEADER},pool")
    notes = [w["message"] for w in dcplan.demand(log, draws=0).warnings]
    assert any("add up to 16 accelerators, and at most 8" in n for n in notes)


def test_a_large_job_that_never_started_is_no_error(tmp_path: Path) -> None:
    log = written(tmp_path / "big.csv", [*steady(), "100,,,4096"])
    found = dcplan.demand(log, accelerators=8, draws=0)
    assert found.status == "ok"
    assert any("asks for 4,096 accelerators" in w["message"] for w in found.warnings)


def test_no_output_replaces_a_log_or_its_counters(tmp_path: Path) -> None:
    log = written(tmp_path / "a.csv", steady())
    samples = written(tmp_path / "b.csv", [], "time,gpu,SM_ACTIVE")
    before = [f.read_bytes() for f in (log, samples)]
    for out in (log, samples):
        args = ["demand", str(log), "--counters", str(samples), "-o", str(out), "-q"]
        ran = subprocess.run(
            [sys.executable, "-m", "dcplan", *args], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 2
        assert "the answer would replace it" in ran.stderr
    assert [f.read_bytes() for f in (log, samples)] == before


@pytest.mark.parametrize("given", ["gpu,a100=4=8,cpu=8", "cpu=8,gpu, a100=4=8"])
def test_names_of_pools_may_have_commas_and_equals_signs(tmp_path: Path, given: str) -> None:
    rows = [f"{i},{i},{i + 1000},1,{pool}" for i in range(4) for pool in ('"gpu,a100=4"', "cpu")]
    log = written(tmp_path / "jobs.csv", rows, f"{HEADER},pool")
    found = dcplan.demand([log], accelerators=[given], draws=0)
    waits = {r["cluster"]: r["accelerators"] for r in found.tables["recorded_waits"].records()}
    assert waits == {"gpu,a100=4": 8, "cpu": 8}
    assert "pool 'cpu' has 2 numbers" in refused(log, accelerators=[f"{given},cpu=9"])
    assert "no pool 'a100=4'" in refused(log, accelerators=["a100=4=8"])
