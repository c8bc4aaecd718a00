"""The packaged campus of 300 MW: four halls, a second site, a run over the halls and one over both sites."""

from __future__ import annotations

import resource
from typing import Any

import pytest

import dcplan

NAME = "campus-300-mw"


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def planned() -> tuple[dcplan.Result, float]:
    began = _cpu_s()
    return dcplan.plan(NAME), _cpu_s() - began


def rows(result: dcplan.Result, table: str) -> list[dict[str, Any]]:
    return result.tables[table].records()


@pytest.mark.slow
def test_a_campus_of_300_mw_is_planned_within_2_percent_in_180_s(
    planned: tuple[dcplan.Result, float],
) -> None:
    result, cpu_s = planned
    assert cpu_s < 180.0
    assert result.value("solver.gap_frac") <= 0.02
    assert not [x for x in rows(result, "checks") if x["result"] != "ok"]


@pytest.mark.slow
def test_the_campus_uses_its_four_halls_up_to_its_grid_power(
    planned: tuple[dcplan.Result, float],
) -> None:
    result, _ = planned
    last = [x for x in rows(result, "fleet") if x["quarter"] == "2029-Q2"]
    campus = {x["hall"]: x["accelerators"] for x in last if x["hall"].startswith("campus/")}
    assert set(campus) == {"campus/h1", "campus/h2", "campus/h3", "campus/h4"}
    assert min(campus.values()) > 20_000
    assert sum(campus.values()) > 100_000
    peak_mw = max(x["facility_mw"] for x in rows(result, "power") if x["site"] == "campus")
    assert 270.0 <= peak_mw <= 300.0


@pytest.mark.slow
def test_each_run_of_the_campus_is_split_and_train_finds_its_days(
    planned: tuple[dcplan.Result, float],
) -> None:
    result, _ = planned
    jobs = {x["job"]: x for x in rows(result, "jobs")}
    assert jobs["two-site"]["place"] == "campus/h4 + west/h1"
    halls = jobs["frontier"]["place"].split(" + ")
    assert len(halls) >= 2
    assert all(x.startswith("campus/") for x in halls)
    ends = {(x["link"], x["hall"]) for x in rows(result, "links")}
    assert ends == {("ring", x) for x in halls} | {
        ("long-haul", x) for x in ("campus/h4", "west/h1")
    }
    job = jobs["two-site"]
    alone = dcplan.train(
        "scenarios/models/moe-10t.json",
        system="gb300-nvl72",
        accelerators=job["training_accelerators"] + job["idle_accelerators"],
        tokens=100e12,
        seq_len=8192,
        global_batch_tokens=536_870_912,
        precision="fp8",
        start="2028-Q2",
        layout=job["layout"].replace(" ", ","),
        wan_sites=2,
        wan_gbps=12_800,
        wan_rtt_ms=next(x["rtt_ms"] for x in rows(result, "links") if x["link"] == "long-haul"),
        local_steps=50,
        extra_tokens_frac=0.02,
    )
    # the network of a run alone has other switches than that of its halls: 0.3 % more interruptions
    assert alone.value("train.days_p50") == pytest.approx(job["days_p50"], rel=0.01)
    assert alone.value("train.step_time_s") == pytest.approx(job["step_time_s"], rel=1e-3)
