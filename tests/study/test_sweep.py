"""Sweeps: every point a row, the same bytes whatever ran them, resumed wherever they were cut."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.engine.engines import Processes
from dcplan.errors import InputError
from dcplan.report.csvs import table_csv
from dcplan.result import Result
from dcplan.study.lines import Runner
from dcplan.study.store import Store
from dcplan.study.sweep.request import SweepRequest
from dcplan.study.sweep.run import laid_out, sweep
from tests.cli.conftest import TINY

POWER = "sites.s.utility_mw=0.1,1,2,3"
RATE = "finance.discount_rate=linspace(0.06,0.12,3)"
SETS = (POWER, RATE)
POINTS = 12
ALONE = ("--engine", "serial")
"""Starts sooner than processes, and writes as they do."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario that solves in a tenth of a second."""
    made = tmp_path_factory.mktemp("sweep") / "tiny.yaml"
    made.write_text(TINY, encoding="utf-8")
    return made


def text(result: Result) -> str:
    return table_csv(result.tables["points"])


@pytest.fixture(scope="module")
def whole(file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Store]:
    """The sweep in one go."""
    store = Store(tmp_path_factory.mktemp("points"))
    return sweep(laid_out(SweepRequest(str(file), sets=SETS)), Runner(store)), store


def test_every_point_is_a_row_and_an_infeasible_one_is_an_answer(
    whole: tuple[Result, Store],
) -> None:
    rows = whole[0].tables["points"].records()
    assert len(rows) == POINTS
    assert whole[0].exit_code == 0
    # 20 PFLOP/s of model FLOPs ask for more than 0.1 MW, whatever money costs
    assert [r["status"] for r in rows] == ["infeasible"] * 3 + ["ok"] * 9
    assert all(r["cost.npv_usd"] is None for r in rows[:3])
    # the same racks at a higher rate: what is left at the end is worth less, so the net cost rises
    costs = [float(str(r["cost.npv_usd"])) for r in rows[3:6]]
    assert costs == sorted(costs)
    effects = whole[0].tables["effects"].records()
    assert effects[0]["plans"] == 0
    assert {(r["axis"], r["unit"]) for r in effects} == {
        ("sites.s.utility_mw", "MW"),
        ("finance.discount_rate", ""),
    }


def test_a_point_is_the_plan_of_its_changes(file: Path, whole: tuple[Result, Store]) -> None:
    row = whole[0].tables["points"].records()[7]
    sets = [
        f"sites.s.utility_mw={row['sites.s.utility_mw']}",
        f"finance.discount_rate={row['finance.discount_rate']}",
    ]
    alone = plan(str(file), sets=sets)
    assert row["accelerators.total"] == alone.value("accelerators.total")
    assert float(str(row["cost.npv_usd"])) == pytest.approx(alone.value("cost.npv_usd"), rel=0.005)


def test_engines_and_shards_give_the_same_bytes(
    file: Path, whole: tuple[Result, Store], tmp_path: Path
) -> None:
    asked = SweepRequest(str(file), sets=SETS)
    two = sweep(laid_out(asked), Runner(Store(tmp_path / "two"), Processes(2)))
    assert text(two) == text(whole[0])
    parts = Store(tmp_path / "parts")
    later = sweep(laid_out(replace(asked, part="2/3")), Runner(parts))
    assert later.status == "ok"
    assert {r["status"] for r in later.tables["points"].records()} > {"pending"}
    for number in (3, 1):
        sweep(laid_out(replace(asked, part=f"{number}/3")), Runner(parts))
    together = sweep(laid_out(replace(asked, report_only=True)), Runner(parts))
    assert together.exit_code == 0
    assert text(together) == text(whole[0])


def test_nothing_known_is_solved_again(file: Path, whole: tuple[Result, Store]) -> None:
    again = sweep(laid_out(SweepRequest(str(file), sets=SETS)), Runner(whole[1]))
    assert again.run["points"] == {}
    assert text(again) == text(whole[0])


def test_collecting_too_early_leaves_pending_rows(file: Path, tmp_path: Path) -> None:
    early = sweep(
        laid_out(SweepRequest(str(file), sets=SETS, report_only=True)), Runner(Store(tmp_path))
    )
    assert early.exit_code == 4
    assert {r["status"] for r in early.tables["points"].records()} == {"pending"}


def test_a_part_is_incomplete_only_by_its_own_points(
    file: Path, whole: tuple[Result, Store], tmp_path: Path
) -> None:
    asked = SweepRequest(str(file), sets=SETS, report_only=True)
    store, first = Store(tmp_path), laid_out(replace(asked, part="1/2"))
    own = [point for line in first.own_lines for point in line]
    assert 0 < len(own) < POINTS
    for point in own:
        found = whole[1].get(point.key)
        assert found is not None
        store.put(point.key, found)
    done = sweep(first, Runner(store))
    assert (done.status, done.exit_code) == ("ok", 0)
    other = sweep(laid_out(replace(asked, part="2/2")), Runner(store))
    assert (other.status, other.exit_code) == ("incomplete", 4)


def test_a_wrong_point_is_a_row_with_its_cause_and_all_wrong_is_refused(
    file: Path, tmp_path: Path
) -> None:
    half = laid_out(SweepRequest(str(file), sets=("finance.discount_rate=0.08,-3",)))
    rows = sweep(half, Runner(Store(tmp_path)))
    assert rows.exit_code == 4
    wrong = rows.tables["points"].records()[1]
    assert wrong["status"] == "wrong"
    assert "DC004" in str(wrong["message"])
    with pytest.raises(InputError, match="DC004"):
        laid_out(SweepRequest(str(file), sets=("finance.discount_rate=-2,-3",)))
    with pytest.raises(InputError, match="DC014"):
        laid_out(SweepRequest(str(file), sets=("sites.x.utility_mw=1,2",)))


def test_retry_failed_solves_only_what_failed(file: Path, tmp_path: Path) -> None:
    asked, store = SweepRequest(str(file), sets=(RATE,)), Store(tmp_path)
    done = sweep(laid_out(asked), Runner(store))
    points = laid_out(asked).points
    broken = {
        "status": "crashed",
        "message": "x",
        "metrics": {},
        "gap_frac": None,
        "reproducible": True,
        "start": "",
    }
    store.put(points[2].key, broken)
    kept = sweep(laid_out(asked), Runner(store))
    assert (kept.exit_code, kept.tables["points"].records()[2]["status"]) == (4, "crashed")
    again = sweep(laid_out(replace(asked, retry_failed=True)), Runner(store))
    assert list(again.run["points"]) == ["2"]
    assert text(again) == text(done)


def test_a_torn_file_is_solved_again(file: Path, tmp_path: Path) -> None:
    asked, store = SweepRequest(str(file), sets=(RATE,)), Store(tmp_path)
    done = sweep(laid_out(asked), Runner(store))
    store.path(laid_out(asked).points[1].key).write_text('{"status": "o')
    again = sweep(laid_out(asked), Runner(store))
    assert list(again.run["points"]) == ["1"]
    assert text(again) == text(done)


def test_comments_and_expectations_change_no_key(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere.yaml"
    other.write_text(
        "# moved\n" + TINY + "expect:\n  - {id: a, metric: cost.npv_usd, max: 1}\n",
        encoding="utf-8",
    )
    first, second = (laid_out(SweepRequest(str(f), sets=(RATE,))).points for f in (file, other))
    assert [p.key for p in first.values()] == [p.key for p in second.values()]
    changed = tmp_path / "changed.yaml"
    changed.write_text(TINY.replace("it_mw: 2", "it_mw: 2.5"), encoding="utf-8")
    assert laid_out(SweepRequest(str(changed), sets=(RATE,))).points[0].key != first[0].key


def command(*more: str) -> list[str]:
    sets = [word for text in SETS for word in ("--set", text)]
    return [
        sys.executable,
        "-m",
        "dcplan",
        "sweep",
        "tiny.yaml",
        *sets,
        "--no-progress",
        "-f",
        "csv",
        *more,
    ]


def stored(folder: Path) -> int:
    return sum(1 for _ in folder.glob("??/*.json"))


@pytest.mark.parametrize(
    "after", [1, pytest.param(6, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.slow)]
)
def test_killed_at_any_moment_and_resumed_it_gives_the_same_bytes(
    file: Path, whole: tuple[Result, Store], tmp_path: Path, after: int
) -> None:
    points = tmp_path / "points"
    running = subprocess.Popen(
        command("--store", str(points), *ALONE), cwd=file.parent, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + 60
    while stored(points) < after and time.monotonic() < end:
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert after <= stored(points) < POINTS + 1
    done = subprocess.run(
        command("--store", str(points), *ALONE), cwd=file.parent, capture_output=True, check=True
    )
    assert done.stdout.decode() == text(whole[0])


def test_ctrl_c_keeps_what_there_is_and_says_how_to_go_on(
    file: Path, whole: tuple[Result, Store], tmp_path: Path
) -> None:
    points = tmp_path / "points"
    running = subprocess.Popen(
        command("--store", str(points), *ALONE),
        cwd=file.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while stored(points) < 4:
        time.sleep(0.002)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    rows = list(csv.DictReader(io.StringIO(out.decode())))
    assert len(rows) == POINTS
    assert sum(r["status"] == "pending" for r in rows) > 0
    assert "continue with dcplan sweep tiny.yaml" in err.decode()
    done = subprocess.run(
        command("--store", str(points), *ALONE), cwd=file.parent, capture_output=True, check=True
    )
    assert done.stdout.decode() == text(whole[0])


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler and two workers on the loopback, as an administrator starts them."""
    address = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [
            *dask,
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(address),
        ],
        stderr=subprocess.DEVNULL,
    )
    while not address.exists():
        time.sleep(0.05)
    workers = [
        subprocess.Popen(
            [
                *dask,
                "worker",
                "--scheduler-file",
                str(address),
                "--nthreads",
                "1",
                "--no-dashboard",
                "--no-nanny",
                "--local-directory",
                str(tmp_path / f"w{i}"),
                "--host",
                "127.0.0.1",
            ],
            stderr=subprocess.DEVNULL,
        )
        for i in range(2)
    ]
    yield json.loads(address.read_text())["address"], workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_loses_nothing(
    file: Path,
    whole: tuple[Result, Store],
    tmp_path: Path,
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
) -> None:
    address, workers = cluster
    points = tmp_path / "points"
    running = subprocess.Popen(
        command("--store", str(points), "--engine", "dask", "--scheduler", address),
        cwd=file.parent,
        stdout=subprocess.PIPE,
    )
    seen: dict[Path, int] = {}
    while running.poll() is None and stored(points) < 5:
        time.sleep(0.005)
    workers[0].kill()
    seen = {p: p.stat().st_mtime_ns for p in points.glob("??/*.json")}
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    assert out.decode() == text(whole[0])
    # nothing is done twice: what was there when the worker died was not written again
    assert all(p.stat().st_mtime_ns == when for p, when in seen.items())


def test_an_address_where_nobody_listens_is_refused(file: Path) -> None:
    words = command("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    done = subprocess.run(words, cwd=file.parent, capture_output=True, check=False)
    assert done.returncode == 2
    assert "no Dask scheduler at tcp://127.0.0.1:9" in done.stderr.decode()


SPELLINGS = [
    ("sites.s.utility_mw=1,2", "sites.0.utility_mw=3,4"),
    ("sites.s.utility_mw=1,2", 'sites."s".utility_mw=3'),
    ("finance.discount_rate=0.1,0.2", "finance.discount_rate=0.3"),
]


@pytest.mark.parametrize("sets", SPELLINGS)
def test_one_input_is_set_once_however_it_is_spelt(file: Path, sets: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="set more than once"):
        laid_out(SweepRequest(str(file), sets=sets))


def test_a_file_that_changes_during_a_sweep_poisons_nothing(file: Path, tmp_path: Path) -> None:
    mine, store = tmp_path / "mine.yaml", Store(tmp_path / "points")
    mine.write_text(TINY, encoding="utf-8")
    asked = SweepRequest(str(mine), sets=(RATE,))
    plan_ = laid_out(asked)
    mine.write_text(TINY.replace("[0, 20]", "[0, 100]"), encoding="utf-8")
    found = sweep(plan_, Runner(store))
    assert {r["status"] for r in found.tables["points"].records()} == {"error"}
    assert "changed during the run" in str(found.tables["points"].records()[0]["message"])
    mine.write_text(TINY, encoding="utf-8")
    again = sweep(laid_out(replace(asked, retry_failed=True)), Runner(store))
    assert text(again) == text(
        sweep(laid_out(SweepRequest(str(file), sets=(RATE,))), Runner(Store(tmp_path / "fresh")))
    )


BAD = [
    "{}",
    '{"status": [1], "metrics": []}',
    '{"status": "ok", "metrics": {}, "start": ""}',
    "[" * 9000,
    '{"status": "infeasible", "metrics": {}, "start": "zzz"}',
]


@pytest.mark.parametrize("bad", BAD)
def test_a_kept_document_that_is_none_is_made_anew(file: Path, tmp_path: Path, bad: str) -> None:
    asked, store = SweepRequest(str(file), sets=(RATE,)), Store(tmp_path)
    done = sweep(laid_out(asked), Runner(store))
    for path in tmp_path.rglob("*.json"):
        path.write_text(bad)
    assert text(sweep(laid_out(asked), Runner(store))) == text(done)
