"""``dcplan demand`` with incidents: rates, delays, lemon nodes, jobs, the overlay, refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

import dcplan
from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.incidents.answer import are_incidents
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.train.key_values import read_recovery
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load

H, DAY = 3_600, 86_400
RUN = {"model": "llama-3.1-8b", "system": "dgx-h100", "accelerators": 1024}


def write(path: Path, rows: list[str], head: str = "node,start,detected,repaired,part") -> Path:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def rsc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,300 outages of 2,000 nodes in 100 days, no node more than once: 6.5 in 1,000 node-days."""
    rows = [f"n{k},{k * 6_000},{k * 6_000 + 150},{k * 6_000 + 12 * H},gpu" for k in range(1_300)]
    return write(tmp_path_factory.mktemp("rsc") / "rsc.csv", rows)


@pytest.fixture(scope="module")
def answer(rsc: Path) -> dcplan.Result:
    return dcplan.demand(
        [rsc],
        nodes=2_000,
        window="0/8640000",
        accelerators_per_node=8,
        job_nodes=[128, 2_048, 16_384],
        job_days=2.0,
    )


def test_rscs_rate_gives_its_published_projections(answer: dcplan.Result) -> None:
    """Kokolis et al. 2024: 1.8 h at 16,384 accelerators, 0.23 h at 131,072."""
    assert answer.value("demand.stops_per_1000_node_days") == pytest.approx(6.5)
    rows = answer.tables["jobs_by_size"].records()
    assert [r["accelerators"] for r in rows] == [1_024, 16_384, 131_072]
    assert rows[1]["mttf_h"] == pytest.approx(1.8, abs=0.01)
    assert rows[2]["mttf_h"] == pytest.approx(0.23, abs=0.005)
    # measured 7.9 h with lemon nodes: one rate of a node does not give it
    assert rows[0]["mttf_h"] == pytest.approx(28.8, abs=0.1)
    assert rows[0]["clean_frac"] == pytest.approx(math.exp(-128 * 2 * 6.5e-3))
    assert float(rows[0]["mttf_h_low"]) < float(rows[0]["mttf_h"]) < float(rows[0]["mttf_h_high"])  # type: ignore[arg-type]
    assert any("larger than the cluster" in w["message"] for w in answer.warnings)


def test_rates_by_accelerator_hour_and_delays(answer: dcplan.Result) -> None:
    rate = answer.tables["failure_rates"].records()[0]
    # 1,300 over 200,000 node-days x 24 h x 8: 33.85 in a million
    assert rate["per_million_accelerator_hours"] == pytest.approx(1_300 / 38.4)
    rows = {str(r["delay"]): r for r in answer.tables["incident_delays"].records()[::-1]}
    assert rows["detection"]["mean_h"] == pytest.approx(150 / H)
    assert rows["away"]["p50_h"] == pytest.approx(12.0)
    assert rows["repair"]["p95_h"] == pytest.approx(12.0 - 150 / H)
    # 1,300 times half a day of 200,000 node-days
    assert answer.value("demand.down_frac") == pytest.approx(650 / 200_000)
    assert answer.value("demand.lemon_nodes") == 0
    assert answer.value("demand.lemon_factor") == 1.0


def test_lemon_nodes_and_the_rate_without_them(tmp_path: Path) -> None:
    rows = [f"bad,{k * DAY},,{k * DAY + H},nic" for k in range(10)]
    rows += [f"n{k},{k * DAY},,{k * DAY + H},gpu" for k in range(30)]
    log = write(tmp_path / "x.csv", rows)
    found = dcplan.demand([log], nodes=100, window=f"0/{100 * DAY}")
    lemon = found.tables["lemon_nodes"].records()
    assert [(r["node"], r["outages"], r["most_often"], r["down_h"]) for r in lemon] == [
        ("bad", 10, "nic", 10.0)
    ]
    assert lemon[0]["expected"] == pytest.approx(0.4)
    assert found.value("demand.stops_per_1000_node_days") == pytest.approx(4.0)
    rest = 30 / (99 * 100) * 1e3
    assert found.value("demand.without_lemons_per_1000_node_days") == pytest.approx(rest)
    assert found.value("demand.lemon_factor") == pytest.approx(4.0 / rest)
    parts = {str(r["name"]): r["failures"] for r in found.tables["failure_rates"].records()}
    assert parts == {"outages": 40, "gpu": 30, "nic": 10}


def test_an_open_repair_is_longer_than_it_is_so_far(tmp_path: Path) -> None:
    """Repairs of 1, 2 and 3 h, and one open for 10 h: mean (1 + 2 + 3 + 10) / 3, median 2 h."""
    rows = [f"n{k},0,0,{k * H}," for k in (1, 2, 3)] + [f"n9,{90 * H},{90 * H},,"]
    found = dcplan.demand([write(tmp_path / "x.csv", rows)], nodes=20, window=f"0/{100 * H}")
    row = next(r for r in found.tables["incident_delays"].records() if r["delay"] == "repair")
    assert (row["ended"], row["still_open"], row["p50_h"], row["p95_h"]) == (3, 1, 2.0, None)
    assert row["mean_h"] == pytest.approx(16 / 3)


def test_the_overlay_reaches_a_run_and_a_scenario(tmp_path: Path, rsc: Path) -> None:
    window = "0/8640000"
    found = demanded(DemandRequest(files=(rsc,), nodes=2_000, window=window))
    file = tmp_path / "overlay.yaml"
    file.write_text(found.block, encoding="utf-8")
    block = yaml.safe_load(found.block)["reliability"]
    assert block["stops_per_1000_node_days"]["value"] == 6.5
    # 80 % of Garwood; 1,300 is large: 1.2816 / sqrt(1300) = 3.55 %
    assert block["stops_per_1000_node_days"]["low"] == pytest.approx(6.5 * 0.965, rel=2e-3)
    assert block["stops_per_1000_node_days"]["high"] == pytest.approx(6.5 * 1.037, rel=2e-3)
    assert (block["repair_h"]["value"], block["replaced_frac"]) == (12.0, 1)
    assert block["detection_s"]["value"] == 150.0
    run = dcplan.train(**RUN, reliability=str(file))
    # 128 nodes: 24 h / (128 x 6.5e-3)
    assert run.value("train.mttf_h") == pytest.approx(28.85, abs=0.01)
    inputs = {row["key"]: row for row in run.inputs}
    assert inputs["reliability.repair_h"]["value"] == 12.0
    assert str(inputs["reliability.detection_s"]["at"]).startswith(str(file))
    assert "reliability.detection-h" not in inputs
    same = "stops-per-1000-node-days=6.5,replaced-frac=1,repair-h=12,detection-s=150"
    typed = dcplan.train(**RUN, reliability=same)
    assert run.value("train.goodput_frac") == typed.value("train.goodput_frac")
    # the interval of the rate makes the interval of the goodput wider
    wide, narrow = (r.metrics["train.goodput_frac"] for r in (run, typed))
    assert wide.high - wide.low > narrow.high - narrow.low  # type: ignore[operator]
    more = dcplan.train(**RUN, reliability=f"{file},spares=9")
    assert more.value("train.spares") == 9 * 8


def test_nodes_that_stay_need_no_spares() -> None:
    spares = [
        dcplan.train(
            **RUN, reliability=f"stops-per-1000-node-days=6.5,repair-h=100,replaced-frac={x}"
        ).value("train.spares")
        for x in (0, 0.5, 1)
    ]
    assert spares[0] == 0
    assert spares[1] < spares[2]


def test_a_variant_of_the_overlay_is_without_lemon_nodes(tmp_path: Path) -> None:
    rows = [f"bad,{k * DAY},,{k * DAY + H},nic" for k in range(10)]
    rows += [f"n{k},{k * DAY},,{k * DAY + H},gpu" for k in range(30)]
    log = write(tmp_path / "x.csv", rows)
    found = demanded(DemandRequest(files=(log,), nodes=100, window=f"0/{100 * DAY}"))
    (tmp_path / "overlay.yaml").write_text(found.block, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(
        "extends: overlay.yaml\ndcplan: 1\nname: own\n"
        "horizon: {start: 2027-Q1, quarters: 2}\n"
        "sites:\n  - {id: dc, location: us-ashburn, utility_mw: 4, halls: [{id: a, racks: 64,"
        " existing: true, rack_kw_max: 44, it_mw: 3, cooling: [airside-economizer-water-chiller]}]}\n"
        "systems: [dgx-h100]\nfabrics: [ib-ndr-400]\n"
        "supply: [{system: dgx-h100, lead_quarters: 0}]\n"
        "workloads: {training: [{id: run, model: llama-3.1-8b, tokens: 2e12,"
        " precision: [bf16], seq_len: 8192, global_batch_tokens: 4e6, deadline: 2027-Q2}]}\n",
        encoding="utf-8",
    )
    name = str(tmp_path / "own.yaml")
    asked = [load(name, variant=v) for v in (None, "without-lemons")]
    plain, better = (q.scenario.reliability.stops_per_1000_node_days for q in asked)
    assert plain is not None
    assert better is not None
    assert plain.value == pytest.approx(4.0)
    assert better.value == pytest.approx(30 / 9_900 * 1e3, rel=1e-5)
    lasts = [max(c.days_p50 * c.accelerators for c in build(q).problem.run_options) for q in asked]
    assert lasts[1] < lasts[0]  # fewer stops end the same run earlier


def test_lemon_nodes_of_a_measured_rate_are_not_counted_twice(tmp_path: Path) -> None:
    rows = [f"bad,{k * DAY},,{k * DAY + H},nic" for k in range(10)]
    rows += [f"n{k},{k * DAY},,{k * DAY + H},gpu" for k in range(30)]
    log = write(tmp_path / "x.csv", rows)
    found = demanded(DemandRequest(files=(log,), nodes=100, window=f"0/{100 * DAY}"))
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(found.block, encoding="utf-8")
    # the rate of the overlay has the lemon node: 40 outages of 100 nodes in 100 days
    rate = read_recovery(str(overlay), "--reliability").stops_per_1000_node_days
    assert rate is not None
    assert rate.value == pytest.approx(4.0)
    for text in (f"{overlay},lemon-nodes=true", "stops_per_1000_node_days=4,lemon_nodes=true"):
        with pytest.raises(InputError, match="nodes with frequent failures would count twice"):
            read_recovery(text, "--reliability")
    scenario = tmp_path / "own.yaml"
    scenario.write_text(
        "extends: overlay.yaml\ndcplan: 1\nname: own\nhorizon: {start: 2027-Q1, quarters: 2}\n"
        "sites:\n  - {id: dc, location: us-ashburn, utility_mw: 4, halls: [{id: a, racks: 64,"
        " existing: true, rack_kw_max: 44, it_mw: 3, cooling: [airside-economizer-water-chiller]}]}\n"
        "systems: [dgx-h100]\nreliability: {lemon_nodes: true}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="leave lemon_nodes out") as caught:
        load(str(scenario))
    assert any("own.yaml:8:" in str(p.place) for p in caught.value.problems), caught.value


def test_kinds_are_recognized_by_their_columns(tmp_path: Path, rsc: Path) -> None:
    jobs = write(tmp_path / "jobs.csv", ["0,1,2,4,n1"], "submit,start,end,n,node")
    assert are_incidents(DemandRequest(files=(rsc,)))
    assert not are_incidents(DemandRequest(files=(jobs,)))
    assert not are_incidents(DemandRequest(files=(rsc,), kind="csv"))
    assert are_incidents(DemandRequest(files=(jobs,), kind="incidents"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "number of nodes"),
        ({"nodes": 2_000, "wait_h": 4.0}, "not for logs of incidents"),
        ({"nodes": 2_000, "quarters": 8}, "not for logs of incidents"),
        ({"nodes": 2_000, "model": "llama-3.1-8b"}, "--model: error.*not for logs of incidents"),
    ],
)
def test_flags_of_other_logs_are_refused(rsc: Path, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dcplan.demand([rsc], **fields)


@pytest.mark.parametrize("field", [{"nodes": 4}, {"window": "0/9"}, {"job_days": 2.0}])
def test_flags_of_incidents_are_refused_for_jobs(field: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="only for logs of incidents"):
        dcplan.demand([Path("helios-earth")], **field)


def test_a_quiet_window_has_an_upper_end_and_no_overlay(tmp_path: Path) -> None:
    log = write(tmp_path / "x.csv", [])
    found = demanded(DemandRequest(files=(log,), nodes=100, window=f"0/{10 * DAY}"))
    rate = found.result.metrics["demand.stops_per_1000_node_days"]
    # 3.689 over 1,000 node-days
    assert (rate.value, rate.low, rate.high) == (0.0, 0.0, pytest.approx(3.689, abs=1e-3))
    assert (found.block, "no outage" in found.no_block) == ("", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workloads: {}\n", "no reliability: in the file"),
        ("reliability: {spares: 4}\nsites: []\n", "'sites' is not read here"),
        ("reliability: {spare: 4}\n", "unknown field 'spare'"),
        ("reliability: {replaced_frac: 1}\n", "share of stops_per_1000_node_days"),
        ("reliability: {detection_s: 60, restart_s: 90}\n", "contains the detection"),
    ],
)
def test_a_wrong_overlay_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "o.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_recovery(str(file), "--reliability")
