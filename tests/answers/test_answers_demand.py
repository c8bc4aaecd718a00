"""``dcplan demand``: waits of real queues, sizes, refusals, and the block of a scenario."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

import dcplan
from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.request import DemandRequest
from dcplan.errors import EXIT_INCOMPLETE, EXIT_OK, InputError
from dcplan.units import HOURS_PER_QUARTER, SECONDS_PER_DAY

CAPS = ("vcTJs=48", "vcMod=64", "vc6YE=208")


def write_log(path: Path, seed: int, *, jobs: int = 600, wait_s: float = 0.0) -> Path:
    """Write a log of single jobs that start at once, or after the same wait."""
    random = np.random.default_rng(seed)
    submit = np.cumsum(random.exponential(2_000.0, jobs))
    run = random.exponential(20_000.0, jobs)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["submit", "wait", "run", "n", "user"])
        writer.writerows(
            [f"{s:.3f}", wait_s, f"{r:.3f}", 1, f"u{k % 5}"]
            for k, (s, r) in enumerate(zip(submit, run, strict=True))
        )
    return path


@pytest.fixture(scope="module")
def helios() -> dcplan.Result:
    return dcplan.demand(
        [Path("helios-earth")], accelerators=CAPS, accelerators_per_node=8, draws=6
    )


def test_the_parts_of_every_wait_add_up(helios: dcplan.Result) -> None:
    for row in helios.tables["recorded_waits"].records():
        names = [f"{x}_frac" for x in ("before", "short", "scattered", "behind", "cycle", "policy")]
        assert math.fsum(float(row[n]) for n in names) == pytest.approx(1.0, abs=1e-9)  # type: ignore[arg-type]
        assert row["little_gap_frac"] == pytest.approx(0.0, abs=1e-3)


def test_sizes_of_real_queues_and_a_refusal(helios: dcplan.Result) -> None:
    """vc6YE borrowed up to 40 of 208 accelerators: its replay is off by more than 2."""
    rows = {str(r["cluster"]): r for r in helios.tables["sizes"].records()}
    assert rows["vc6YE"]["accelerators"] is None
    assert "factor" in str(rows["vc6YE"]["why_not"])
    for name in ("vcTJs", "vcMod"):
        row = rows[name]
        assert float(row["replay_error_factor"]) <= 2.0  # type: ignore[arg-type]
        assert row["p10_accelerators"] <= row["p90_accelerators"]  # type: ignore[operator]
        assert row["accelerators"] % 8 == 0  # type: ignore[operator]
        assert row["accelerators"] > row["offered_accelerators"]  # type: ignore[operator]
    assert helios.exit_code == EXIT_OK
    assert helios.value("demand.accelerators") == pytest.approx(
        sum(float(rows[n]["accelerators"]) for n in ("vcTJs", "vcMod"))  # type: ignore[arg-type]
    )


def test_a_shorter_wait_needs_no_fewer_accelerators() -> None:
    def size(wait_h: float) -> float:
        found = dcplan.demand(
            [Path("helios-earth")], accelerators=["vcTJs=48"], wait_h=wait_h, draws=0
        )
        return found.value("demand.vcTJs.accelerators")

    sizes = [size(w) for w in (0.0, 1.0, 12.0)]
    assert sizes == sorted(sizes, reverse=True)


def test_no_size_from_waits_that_hardware_does_not_shorten(tmp_path: Path) -> None:
    """All jobs wait exactly 2 h on a cluster with enough idle accelerators: all of it is policy."""
    log = write_log(tmp_path / "held.csv", 1, wait_s=7_200.0)
    found = dcplan.demand([log], accelerators=["64"], cycle_s=0.0, draws=0)
    row = found.tables["recorded_waits"].records()[0]
    assert row["policy_frac"] == pytest.approx(1.0)
    assert any("more hardware does not shorten" in w["message"] for w in found.warnings)
    # the size keeps the target for the capacity part of the waits, of which there is none
    assert found.value("demand.all.accelerators") < 30


def test_few_jobs_give_no_size(tmp_path: Path) -> None:
    log = write_log(tmp_path / "few.csv", 2, jobs=50)
    found = dcplan.demand([log], accelerators=["64"])
    assert found.exit_code == EXIT_INCOMPLETE
    assert "at least 200" in found.headline


def test_the_block_installs_the_accelerators_of_the_replay(tmp_path: Path) -> None:
    """hours / (hours of a quarter x use) is the size, for each quarter and variant.

    Demand grows by 10 % a quarter from the middle of the log (of days, without dates) on.
    """
    request = DemandRequest(
        files=(Path("helios-earth"),),
        accelerators=("vcTJs=48", "vcMod=64"),
        accelerators_per_node=8,
        draws=6,
        quarters=3,
        growth_frac_per_quarter=0.1,
        start="2027-Q1",
    )
    found = demanded(request)
    data = yaml.safe_load(found.block)
    sizes = {str(r["cluster"]): r for r in found.result.tables["sizes"].records()}
    assert found.log is not None
    days = {}
    for k, pool in enumerate(found.log.pools):
        at_s = found.log.submit_s[found.log.pool == k]
        days[pool] = float(at_s[-1] - at_s[0]) / SECONDS_PER_DAY
    for entry in data["workloads"]["capacity"]:
        row = sizes[entry["id"]]
        hours = entry["accelerator_hours"]
        lead = 0.5 + days[entry["id"]] * 24 / HOURS_PER_QUARTER / 2
        assert hours[0] / HOURS_PER_QUARTER / entry["utilization_frac"] == pytest.approx(
            float(row["accelerators"]) * 1.1**lead,  # type: ignore[arg-type]
            rel=1e-5,
        )
        assert hours[2] / hours[0] == pytest.approx(1.21, rel=1e-5)
        high = data["overrides"]["demand-p90"][
            f"workloads.capacity.{entry['id']}.accelerator_hours"
        ]
        assert high[0] / hours[0] == pytest.approx(
            float(row["p90_accelerators"]) / float(row["accelerators"]),  # type: ignore[arg-type]
            rel=1e-5,
        )
    assert sum(data["uncertainty"]["hedge"]["weights"].values()) == pytest.approx(1.0)
    assert "sha256" in found.block


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"accelerators": ["vcTJ=48"]}, "no pool 'vcTJ'"),
        ({"accelerators": ["48", "vcTJs=48"]}, "not both"),
        ({"accelerators": ["many"]}, "whole number"),
        ({"accelerators": ["vcTJs=4"]}, "larger than the cluster"),
        ({"quota": ["vcTJs=48"]}, "shared cluster"),
        ({"mig": ["1g.10gb=2"]}, "share up to 1"),
        ({"mig": ["1g.10gb=0.125"]}, "no partition '1g.10gb'"),
    ],
)
def test_flags_that_do_not_fit_the_log_are_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dcplan.demand([Path("helios-earth")], **fields)


def test_pools_of_a_shared_cluster_have_quotas() -> None:
    wide = dcplan.demand([Path("helios-earth")], accelerators=["900"], draws=0, wait_h=4.0)
    assert [r["cluster"] for r in wide.tables["recorded_waits"].records()] == ["all"]
    with pytest.raises(InputError, match="no pool 'vcX'"):
        dcplan.demand([Path("helios-earth")], accelerators=["900"], quota=["vcX=8"])


def write_requests(path: Path) -> Path:
    """Ten minutes with 30 and 90 requests a minute in turn; every prompt repeats the block 1."""
    lines = ["arrival_s,input_tokens,output_tokens,hash_ids"]
    for minute in range(10):
        count = 30 if minute % 2 else 90
        lines += [
            f"{60 * minute + 59 * k / count:.3f},1000,100,1 {minute} {k}" for k in range(count)
        ]
    path.write_text("\n".join([*lines, "600,1000,100,1"]) + "\n", encoding="utf-8")
    return path


def test_requests_have_a_rate_and_its_variation(tmp_path: Path) -> None:
    """601 requests in 600 s. Steps of 30 and 90: mean 60, variance 900, dispersion 15, peak 1.5."""
    found = dcplan.demand([write_requests(tmp_path / "r.csv")])
    assert found.value("demand.requests_per_s") == pytest.approx(601 / 600)
    assert found.value("demand.dispersion") == pytest.approx(15.0)
    assert found.value("demand.peak_frac") == pytest.approx(1.5)
    assert found.value("demand.peak_minute_requests") == 90
    row = found.tables["lengths"].records()[1]
    assert row["tokens_per_s"] == pytest.approx(100 * 601 / 600)
    assert 0.3 < found.value("demand.reused_prefix_frac") < 1.0


def test_requests_that_failed_are_left_out_and_counted(tmp_path: Path) -> None:
    """A row of BurstGPT without response tokens is a failure, not a request of no length."""
    rows = [
        f"{t},GPT-4,{100 + t},{0 if t == 30 else 20},0,Conversation log" for t in range(0, 300, 10)
    ]
    log = tmp_path / "burst.csv"
    header = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
    log.write_text("\n".join([header, *rows]) + "\n")
    found = dcplan.demand([log])
    assert found.value("demand.requests") == 29
    (row,) = found.frame("log_findings").to_dict("records")
    # the fourth request is in line 5
    assert (row["finding"], row["count"]) == ("failed-request", 1)
    assert row["first_at"].endswith("burst.csv:5")


def test_requests_without_a_length_of_time_have_no_rate_and_short_logs_no_bursts(
    tmp_path: Path,
) -> None:
    log = tmp_path / "r.csv"
    header = "TIMESTAMP,ContextTokens,GeneratedTokens"
    log.write_text(f"{header}\n2023-11-16 18:15:46,374,44\n2023-11-16 18:15:46,37,4\n")
    with pytest.raises(InputError, match="all 2 requests have one time"):
        dcplan.demand([log])
    log.write_text(f"{header}\n2023-11-16 18:15:00,374,44\n2023-11-16 18:16:00,37,4\n")
    limits = {"model": "llama-3.1-8b", "ttft_ms": 500, "tpot_ms": 50}
    found = dcplan.demand([log], growth_frac_per_quarter=0.0, **limits)
    assert found.value("demand.requests_per_s") == pytest.approx(2 / 60)
    for name in ("dispersion", "peak_frac", "peak_minute_requests"):
        assert found.metrics[f"demand.{name}"].value is None
    assert "bursts are unknown" in found.headline
    (service,) = yaml.safe_load(found.block)["workloads"]["inference"]
    assert "peak_factor" not in service


def test_requests_become_a_service_that_a_scenario_takes(tmp_path: Path) -> None:
    log = write_requests(tmp_path / "r.csv")
    fields = {"model": "llama-3.1-70b", "ttft_ms": 2000.0, "tpot_ms": 50.0}
    block = demanded(
        DemandRequest(files=(log,), quarters=2, growth_frac_per_quarter=0.5, **fields)
    ).block  # type: ignore[arg-type]
    service = yaml.safe_load(block)["workloads"]["inference"][0]
    # the log is 10 minutes; the middle of the quarter that follows is half a quarter later
    first = 601 / 600 * 1.5**0.5
    assert service["requests_per_s"] == pytest.approx([first, 1.5 * first], rel=1e-4)
    assert (service["isl"], service["osl"], service["peak_factor"]) == (1000.0, 100.0, 1.5)
    with pytest.raises(InputError, match="--tpot-ms"):
        dcplan.demand([log], model="llama-3.1-70b", ttft_ms=100.0)
    with pytest.raises(InputError, match="one trace"):
        dcplan.demand([log, log])


def test_no_size_where_the_accelerators_are_unknown_and_the_peak_explains_no_wait() -> None:
    found = dcplan.demand([Path("helios-earth")], draws=0)
    rows = {str(r["cluster"]): r for r in found.tables["sizes"].records()}
    assert rows["vc6YE"]["accelerators"] is None
    assert "set --accelerators" in str(rows["vc6YE"]["why_not"])
    assert found.exit_code == EXIT_INCOMPLETE


def test_what_could_run_elsewhere_has_a_break_even() -> None:
    """Own hours at 2 USD and rented ones at 5 USD: an added accelerator pays from 40 % use on."""
    found = dcplan.demand(
        [Path("helios-earth")],
        accelerators=["vcTJs=48"],
        draws=0,
        own_usd_per_accelerator_hour=2.0,
        rent_usd_per_accelerator_hour=5.0,
    )
    rows = found.tables["shortage"].records()
    burst = [float(r["burst_accelerator_hours_per_week"]) for r in rows]  # type: ignore[arg-type]
    assert burst == sorted(burst, reverse=True)
    for row, hours in zip(rows, burst, strict=True):
        expected = 2.0 * 168 * float(row["accelerators"]) + 5.0 * hours  # type: ignore[arg-type]
        assert row["usd_per_week"] == pytest.approx(expected)
    costs = [float(r["usd_per_week"]) for r in rows]  # type: ignore[arg-type]
    best = costs.index(min(costs))
    assert found.value("demand.vcTJs.cheapest_accelerators") == rows[best]["accelerators"]
    for k in range(1, len(rows)):  # more accelerators pay if and only if their use is above 40 %
        use = float(rows[k]["marginal_use_frac"])  # type: ignore[arg-type]
        assert (costs[k] < costs[k - 1]) == (use > 2.0 / 5.0)


def long_log(path: Path, weeks: int, growth_frac_per_week: float) -> Path:
    """Write a log of jobs of one hour on two accelerators, evenly spaced, more each week."""
    lines = ["submit,wait,run,n"]
    for week in range(weeks):
        count = round(60 * (1.0 + growth_frac_per_week) ** week)
        lines += [f"{604800 * (week + k / count):.2f},0,3600,2" for k in range(count)]
    path.write_text("\n".join([*lines, f"{604800 * weeks},0,3600,2"]) + "\n", encoding="utf-8")
    return path


def test_the_demand_of_coming_quarters_follows_the_growth_of_a_long_log(tmp_path: Path) -> None:
    """1 % a week: 60 x 1.01^39 = 88 jobs in the last week, 98 in the middle of the next quarter.
    98 jobs x 2 accelerators x 1 h / 168 h = 1.16."""
    log = long_log(tmp_path / "long.csv", 40, 0.01)
    found = dcplan.demand([log], accelerators=["8"], draws=0, quarters=1, start="2027-Q1")
    row = found.tables["demand_ahead"].records()[0]
    assert row["quarter"] == "2027-Q1"
    assert row["offered_accelerators"] == pytest.approx(1.16, rel=0.06)
    assert row["p10_accelerators"] < row["offered_accelerators"] < row["p90_accelerators"]  # type: ignore[operator]
    assert row["origins"] == 24


def test_the_block_of_a_scenario_is_written_from_python(tmp_path: Path) -> None:
    """The same text as ``-o`` writes; an answer without a block says why."""
    log = long_log(tmp_path / "long.csv", 20, 0.0)
    more = {"accelerators": ["8"], "draws": 0, "quarters": 1, "growth_frac_per_quarter": 0.0}
    found = dcplan.demand([log], **more)
    file = found.write_block(tmp_path / "demand.yaml")
    request = DemandRequest(files=(log,), **{**more, "accelerators": ("8",)})  # type: ignore[arg-type]
    assert file.read_text(encoding="utf-8") == demanded(request).block == found.block
    hours = yaml.safe_load(found.block)["workloads"]["capacity"][0]["accelerator_hours"]
    assert hours == [pytest.approx(60 * 2 / 168 * 2_191.5, rel=0.01)]  # 60 jobs x 2 a week
    none = dcplan.demand([log], **{**more, "growth_frac_per_quarter": None, "quarters": 4})
    with pytest.raises(InputError, match="needs 56"):
        none.write_block(tmp_path / "none.yaml")


def test_a_short_log_has_no_coming_demand_without_a_growth() -> None:
    request = DemandRequest(files=(Path("helios-earth"),), accelerators=("vcTJs=48",), draws=0)
    found = demanded(request)
    assert found.block == ""
    assert "4 whole weeks, and a forecast of 4 quarters needs 56" in found.no_block
    assert found.result.tables["demand_ahead"].rows == ()


def test_a_log_without_starts_has_sizes_that_nothing_checks(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    submit = np.cumsum(random.exponential(2_000.0, 400))
    lines = [
        "submit,run,n",
        *(
            f"{s:.2f},{r:.2f},1"
            for s, r in zip(submit, random.exponential(20_000.0, 400), strict=True)
        ),
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = dcplan.demand([tmp_path / "log.csv"], draws=0)
    row = found.tables["sizes"].records()[0]
    assert row["replay_error_factor"] is None
    assert row["order"] == "backfill"
    assert row["accelerators"] > row["offered_accelerators"]  # type: ignore[operator]
    assert found.tables["recorded_waits"].records()[0]["wait_p95_h"] is None
    assert any("nothing checks the sizes" in w["message"] for w in found.warnings)


def test_a_file_that_is_not_there_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="helios-earth"):
        dcplan.demand([Path("helios-erth")])


def test_flags_of_the_other_kind_of_log_are_refused(tmp_path: Path) -> None:
    log = write_requests(tmp_path / "r.csv")
    with pytest.raises(InputError, match="only for logs of jobs"):
        dcplan.demand([log], accelerators=["8"])
    with pytest.raises(InputError, match="only for logs of requests"):
        dcplan.demand([Path("helios-earth")], model="llama-3.1-70b")
    with pytest.raises(InputError, match="shows no growth"):
        dcplan.demand([log], model="llama-3.1-70b", ttft_ms=1e3, tpot_ms=50.0)


def test_run_times_sizes_ends_and_the_mean_queue_by_hand(tmp_path: Path) -> None:
    """Runs of 1 h x 2, 3 h x 4 and 8 h x 1 wait for 0, 1 and 0 h in a log of 8 h; one never starts.

    Mean run (1 + 3 + 8) / 3 = 4 h; mean size 7 / 3; hours 2 + 12 + 8 = 22, failed 12 of them;
    one hour of wait in 8 h: 0.125 runs in the queue on average; 22 of 8 x 8 h in use.
    """
    log = tmp_path / "ends.csv"
    log.write_text(
        "submit,start,end,n,state\n"
        "0,0,3600,2,COMPLETED\n0,3600,14400,4,FAILED\n0,0,28800,1,COMPLETED\n0,,7200,4,CANCELLED\n"
    )
    found = dcplan.demand([log], accelerators=["8"], draws=0)
    (jobs,) = found.tables["recorded_jobs"].records()
    assert (jobs["jobs"], jobs["run_p50_h"], jobs["run_mean_h"], jobs["run_most_h"]) == (3, 3, 4, 8)
    assert (jobs["accelerators_p50"], jobs["accelerators_most"]) == (2, 4)
    assert jobs["accelerators_mean"] == pytest.approx(7 / 3)
    assert jobs["accelerator_hours"] == pytest.approx(22)
    ends = {r["outcome"]: r for r in found.tables["job_outcomes"].records()}
    assert {k: (r["jobs"], r["jobs_frac"]) for k, r in ends.items()} == {
        "failed": (1, 0.25), "completed": (2, 0.5), "cancelled": (1, 0.25),
    }  # fmt: skip
    assert ends["failed"]["accelerator_hours_frac"] == pytest.approx(12 / 22)
    (waits,) = found.tables["recorded_waits"].records()
    assert waits["waiting_mean"] == pytest.approx(0.125)
    assert waits["used_frac"] == pytest.approx(22 / 64)


def test_a_log_without_ends_by_name_has_no_outcomes(helios: dcplan.Result) -> None:
    assert helios.tables["job_outcomes"].rows == ()


def test_queues_of_one_log_share_its_time(tmp_path: Path) -> None:
    """Pool b waits 1 h in a log of 4 h that pool a fills: 0.25 runs, and 1 of 2 x 4 h in use."""
    log = tmp_path / "two.csv"
    log.write_text("submit,start,end,n,pool\n0,0,14400,1,a\n3600,7200,10800,1,b\n")
    found = dcplan.demand([log], accelerators=["a=1", "b=2"], draws=0)
    row = next(r for r in found.tables["recorded_waits"].records() if r["cluster"] == "b")
    assert (row["waiting_mean"], row["used_frac"]) == (0.25, 0.125)
