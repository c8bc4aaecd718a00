"""``dcplan demand`` of counters: four measures, idle while allocated, groups, and refusals."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest

import dcplan
from dcplan.errors import EXIT_OK, InputError
from dcplan.result import Result

DATA = Path(__file__).parent.parent / "inputs" / "counters" / "data"
HEAD = "timestamp,Hostname,gpu,GPU_UTIL,SM_ACTIVE,PIPE_TENSOR_ACTIVE,POWER_USAGE"
SACCT = "JobID|JobIDRaw|Partition|User|State|Submit|Start|End|NNodes|NodeList|ReqTRES|AllocTRES\n"
JOBS = (
    "101|101|train|ada|COMPLETED|0|0|14400|1|gpu01|gres/gpu=4|gres/gpu=4\n"
    "102|102|dev|bob|COMPLETED|3600|3600|18000|1|gpu02|gres/gpu=4|gres/gpu=4\n"
)


def cluster(tmp_path: Path, *, labeled: bool = False, without: str = "") -> Path:
    """Two nodes of 4 accelerators, 6 h with a sample a minute: 48 accelerator-hours. Synthetic.

    Job 101 has gpu01 for 4 h and works all the time. Job 102 has gpu02 from 1 h to 5 h, works until
    2 h and then does nothing for 3 h. Work is GPU_UTIL 99, SM_ACTIVE 0.5, tensor 0.2.
    """
    lines = [HEAD + (",job_id,queue,user" if labeled else "")]
    owners = {"gpu01": ("101", "train", "ada"), "gpu02": ("102", "dev", "bob")}
    spans = {"gpu01": (0, 14_400, 14_400), "gpu02": (3_600, 7_200, 18_000)}
    for at in range(0, 21_600, 60):
        for node, (start, until, end) in spans.items():
            works = start <= at < until
            values = ("99,0.5,0.2,400" if works else "0,0,0,70").split(",")
            named = owners[node] if start <= at < end else ("", "", "")
            tail = ["", *named] if labeled else []
            lines += [",".join([str(at), node, str(g), *values, *tail[1:]]) for g in range(4)]
    file = tmp_path / "samples.csv"
    rows = [line.split(",") for line in lines]
    if without:
        out = rows[0].index(without)
        rows = [[x for i, x in enumerate(row) if i != out] for row in rows]
    file.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    return file


def jobs(tmp_path: Path) -> Path:
    file = tmp_path / "jobs.txt"
    file.write_text(SACCT + JOBS, encoding="utf-8")
    return file


def use(found: Result) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {
        str(r["measure"]): (r["accelerator_hours"], r["of_known_frac"], r["usd"])  # type: ignore[misc]
        for r in found.tables["accelerator_use"].records()
    }


EXPECTED = {
    "allocated": (32.0, 32 / 48, 64.0),  # 4 x 4 h + 4 x 4 h
    "busy": (20.0, 20 / 48, 40.0),  # 4 x 4 h + 4 x 1 h
    "SM-active": (10.0, 10 / 48, 20.0),  # half of it
    "tensor-active": (4.0, 4 / 48, 8.0),  # 0.2 of it
    "idle while allocated": (12.0, 12 / 32, 24.0),  # 4 x 3 h of 32
    "idle (allocated or free)": (28.0, 28 / 48, 56.0),  # and 4 x 2 h + 4 x 2 h free
}


def same(found: Result) -> None:
    got = use(found)
    for name, values in EXPECTED.items():
        assert got[name] == pytest.approx(values, rel=1e-9), name


def test_four_measures_by_labels_of_the_samples(tmp_path: Path) -> None:
    found = dcplan.demand([cluster(tmp_path, labeled=True)], own_usd_per_accelerator_hour=2.0)
    assert found.exit_code == EXIT_OK
    same(found)
    assert found.value("demand.idle_allocated_usd") == pytest.approx(24.0)
    assert found.value("demand.seen_frac") == pytest.approx(1.0)


@pytest.mark.parametrize("labeled", [True, False])
def test_queues_and_users_by_label_or_by_node_and_time(tmp_path: Path, labeled: bool) -> None:
    samples = cluster(tmp_path, labeled=labeled)
    log = {} if labeled else {"counters": [samples]}
    files = [samples] if labeled else [jobs(tmp_path)]
    found = dcplan.demand(files, own_usd_per_accelerator_hour=2.0, **log)
    same(found)
    rows = {(r["by"], r["group"]): r for r in found.tables["use_by_group"].records()}
    assert set(rows) == {("queue", "train"), ("queue", "dev"), ("user", "ada"), ("user", "bob")}
    dev = rows["queue", "dev"]
    assert dev["allocated_accelerator_hours"] == pytest.approx(16.0)
    assert dev["busy_frac"] == pytest.approx(0.25)
    assert dev["sm_active_frac"] == pytest.approx(0.125)
    assert dev["tensor_active_accelerator_hours"] == pytest.approx(0.8)
    assert dev["idle_allocated_frac"] == pytest.approx(0.75)
    assert dev["idle_allocated_usd"] == pytest.approx(24.0)
    assert rows["user", "ada"]["idle_allocated_accelerator_hours"] == 0.0


def test_without_jobs_nothing_is_said_to_be_allocated(tmp_path: Path) -> None:
    found = dcplan.demand([cluster(tmp_path)])
    got = use(found)
    assert got["allocated"][0] is None
    assert got["idle while allocated"][0] is None
    assert got["busy"][0] == pytest.approx(20.0)
    assert found.metrics["demand.idle_allocated_frac"].value is None
    (said,) = [w["message"] for w in found.warnings]
    assert "not separated into allocated and free" in said
    assert "name no job" in said


def test_a_log_without_nodes_says_what_its_jobs_held(tmp_path: Path) -> None:
    """Jobs held 4 x 4 h + 4 x 4 h; which accelerators is not known."""
    log = tmp_path / "jobs.csv"
    log.write_text("submit,start,end,n\n0,0,14400,4\n3600,3600,18000,4\n", encoding="utf-8")
    found = dcplan.demand([log], counters=[cluster(tmp_path)])
    assert use(found)["allocated"][0] is None
    assert any("held 32 accelerator-hours" in w["message"] for w in found.warnings)


def test_a_missing_counter_is_unknown_and_not_zero(tmp_path: Path) -> None:
    found = dcplan.demand([cluster(tmp_path, labeled=True, without="SM_ACTIVE")])
    got = use(found)
    assert got["SM-active"] == (None, None, None)
    assert got["idle while allocated"] == (None, None, None)
    assert got["busy"][0] == pytest.approx(20.0)
    assert found.metrics["demand.median_sm_active_frac"].value is None
    assert any("'SM-active': it is unknown" in w["message"] for w in found.warnings)
    rows = found.tables["use_by_group"].records()
    assert all(r["sm_active_accelerator_hours"] is None for r in rows)


def test_hours_without_samples_are_counted(tmp_path: Path) -> None:
    """Samples of an hour (from 2 h to before 3 h) are missing: 8 of 48 accelerator-hours."""
    file = cluster(tmp_path, labeled=True)
    head, *rows = file.read_text(encoding="utf-8").splitlines()
    kept = [r for r in rows if not 7_200 <= int(r.split(",")[0]) < 10_800]
    file.write_text("\n".join([head, *kept]) + "\n", encoding="utf-8")
    found = dcplan.demand([file])
    (row,) = found.tables["counter_coverage"].records()
    assert row["gaps"] == 8
    assert row["gap_accelerator_hours"] == pytest.approx(8.0)
    assert row["seen_accelerator_hours"] == pytest.approx(40.0)
    assert row["window_accelerator_hours"] == pytest.approx(48.0)
    gap = next(r for r in found.tables["log_findings"].records() if r["finding"] == "sample-gap")
    assert gap["count"] == 8
    assert "longest is 1 h" in str(gap["what"])


@pytest.mark.parametrize(
    ("name", "util", "sm", "power_w"),
    [("seren", 0.99, 0.50222, 96.5), ("kalos", 0.98, 0.33519, 101.5)],
)
def test_medians_of_acme(tmp_path: Path, name: str, util: float, sm: float, power_w: float) -> None:
    """Published: GPU_UTIL 99 % and 98 %, SM activity 50 % and 34 %, board power 97 W and 102 W.

    The slice has the value at each 5th percentile. One accelerator gets each of them for as long:
    the median of these hours must be the value at the 50th percentile. SM activity is in percent
    there, and a ratio in DCGM.
    """
    values = defaultdict(dict)
    with (DATA / "acme_util_cdf.csv").open(encoding="utf-8") as file:
        for r in csv.DictReader(file):
            if r["cluster"] == name:
                values[int(r["percentile"])][r["metric"]] = float(r["value"])
    samples = tmp_path / f"{name}.csv"
    with samples.open("w", encoding="utf-8") as file:
        file.write("timestamp,UUID,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_PROF_SM_ACTIVE,POWER_USAGE\n")
        for k, at in enumerate(sorted(values)):
            one = values[at]
            ratio = one["SM_ACTIVE"] / 100
            power = one["GPU_POWER_USAGE"]
            file.write(f"{15 * k},G,{one['DCGM_FI_DEV_GPU_UTIL']},{ratio},{power}\n")
    found = dcplan.demand([samples])
    assert found.value("demand.median_gpu_util_frac") == pytest.approx(util, abs=1e-9)
    assert found.value("demand.median_sm_active_frac") == pytest.approx(sm, abs=1e-9)
    assert found.value("demand.median_board_power_w") == pytest.approx(power_w, abs=1e-9)
    published = {"seren": (99, 50, 97), "kalos": (98, 34, 102)}[name]
    assert (round(util * 100), round(sm * 100)) == published[:2]
    assert power_w == pytest.approx(published[2], abs=0.51)  # half a watt of rounding


@pytest.mark.slow
def test_quotas_of_helios_strand_accelerators() -> None:
    """Jobs rebuilt from counts; the counts of the source give 29,771 accelerator-hours and 73.5 %."""
    caps = {"vc6YE": 208, "vcpDC": 56, "vcvlY": 96, "vcTJs": 48}
    caps |= {"vc8Sj": 48, "vcSoL": 32, "vcLJZ": 64, "vcMod": 64}
    found = dcplan.demand(
        [Path("helios-earth")],
        accelerators=[f"{k}={v}" for k, v in caps.items()],
        draws=0,
        wait_quantile=0.5,
        own_usd_per_accelerator_hour=2.0,
    )
    hours = found.value("demand.stranded_accelerator_hours")
    assert hours == pytest.approx(29_771, rel=0.005)
    assert hours == pytest.approx(29_653.7, abs=0.1)
    assert found.value("demand.stranded_usd") == pytest.approx(2.0 * hours)
    assert found.value("demand.pending_with_enough_idle_frac") == pytest.approx(0.7325, abs=1e-4)
    rows = found.tables["stranded_by_quota"].records()
    assert sum(float(r["stranded_accelerator_hours"]) for r in rows) == pytest.approx(hours)  # type: ignore[arg-type]


def test_one_queue_or_an_unknown_quota_strands_nothing_that_is_known() -> None:
    for caps in (["vcTJs=48"], []):
        found = dcplan.demand([Path("helios-earth")], accelerators=caps, draws=0, order="fifo")
        assert "stranded_by_quota" not in found.tables
        assert "demand.stranded_accelerator_hours" not in found.metrics


def test_flags_and_files_that_do_not_fit(tmp_path: Path) -> None:
    samples, log = cluster(tmp_path), jobs(tmp_path)
    with pytest.raises(InputError, match="not for samples of counters"):
        dcplan.demand([samples], accelerators=["8"], draws=3)
    with pytest.raises(InputError, match="samples of counters next to logs of jobs"):
        dcplan.demand([log, samples])
    other = tmp_path / "other.csv"
    other.write_text("submit,start,end,n\n0,0,14400,4\n", encoding="utf-8")
    with pytest.raises(InputError, match="columns missing"):
        dcplan.demand([log], counters=[other])
    other.write_text(f"{HEAD}\n0,a,0,1,0.5,0.1,100\n", encoding="utf-8")
    with pytest.raises(InputError, match="no accelerator has two samples"):
        dcplan.demand([other])


def test_the_answer_is_saved_with_its_files(tmp_path: Path) -> None:
    found = dcplan.demand([jobs(tmp_path)], counters=[cluster(tmp_path)])
    saved = json.loads(json.dumps(dict(found.scenario)))
    assert saved["demand"]["counters"][0].endswith("samples.csv")
    assert [r["kind"] for r in found.tables["log_files"].records()] == ["sacct", "counters"]
