"""Spares, late starts and storage in a plan: they enter what is bought, drawn and dated."""

from __future__ import annotations

from datetime import date
from functools import cache

import pytest

import dcplan
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.planning.problem.work.terms import RunOption
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.plans import planned

NAME = "train-405b-in-90-days"


@cache
def _plan(*sets: str) -> Result:
    return dcplan.plan(NAME, sets=list(sets))


def test_spares_are_held_besides_those_that_work() -> None:
    result = _plan()
    job = result.frame("jobs").iloc[0]
    parts = ("training_accelerators", "spare_accelerators", "idle_accelerators")
    assert job["accelerators"] == sum(job[x] for x in parts)
    assert job["spare_accelerators"] > 0
    assert result.value("accelerators.total") >= job["accelerators"]


def test_given_spares_are_taken() -> None:
    # 20 trays of 4 accelerators
    job = _plan("reliability.spares=20").frame("jobs").iloc[0]
    assert job["spare_accelerators"] == 80


def test_late_starts_lie_between_length_and_end() -> None:
    result = _plan()
    row = result.frame("schedule").iloc[0]
    assert (row["days_p50"], row["days"]) == pytest.approx(
        (result.value("train.flagship.days_p50"), result.value("train.flagship.days"))
    )
    start, middle, end = (
        date.fromisoformat(row[c]) for c in ("planned_start", "finish_p50", "finish")
    )
    assert (middle - start).days > row["days_p50"] + 10
    assert (end - start).days > row["days"] + 10
    assert row["finish"] == result.metrics["train.flagship.finish"].value
    # the median finish is the median duration and the effect of late starts after the start
    assert (middle - start).days == pytest.approx(row["days_p50"] + row["start_delay_days"], abs=1)
    assert row["confidence_frac"] == 0.8  # the default of the scenario format
    others = ("goodput_frac", "confidence_frac")
    shares = [row[c] for c in row.index if c.endswith("_frac") and c not in others]
    assert sum(shares) == pytest.approx(1.0)
    assert row["delivery_frac"] > 0


def test_a_fleet_in_service_starts_on_time() -> None:
    result = planned("meta-24k-h100")
    row = result.frame("schedule").iloc[0]
    assert row["delivery_frac"] == 0
    start, end = (date.fromisoformat(row[c]) for c in ("planned_start", "finish"))
    assert (end - start).days == pytest.approx(result.value("train.llama3.days"), abs=1)


def test_storage_comes_with_the_accelerators() -> None:
    """1 TB each in blocks of 590 TB at 590,000 USD: 1,000 USD an accelerator; 3 kW and an eighth
    of a rack a PB."""
    result = _plan()
    count = result.value("accelerators.total")
    row = result.frame("storage").iloc[0]
    assert row["usable_pb"] == pytest.approx(count / 1000)
    assert row["capex_usd"] == pytest.approx(count * 1000, rel=0.02)
    assert row["power_kw"] == pytest.approx(count / 1000 * 3, rel=0.02)
    assert row["racks"] == pytest.approx(count / 1000 / 8, rel=0.02)
    cost = result.frame("cost").set_index("line")["usd"]
    assert cost["storage"].iloc[0] == pytest.approx(row["capex_usd"])


def test_a_faster_level_costs_more() -> None:
    better, best = (
        _plan(f"storage.level={x}").frame("storage").iloc[0] for x in ("better", "best")
    )
    assert best["sized_by"] in {"read", "write"}
    assert best["read_gb_per_s"] > better["read_gb_per_s"]
    assert best["capex_usd"] > better["capex_usd"]


def test_given_capacity_is_all_there_is() -> None:
    # 2 PB in blocks of 0.59 PB at 590,000 USD
    row = _plan("storage.usable_pb=2").frame("storage").iloc[0]
    assert row["capex_usd"] == pytest.approx(2e6)
    assert row["power_kw"] == pytest.approx(6.0, rel=0.01)


def test_storage_below_data_and_checkpoints_is_said() -> None:
    """15.6e12 tokens x 4 bytes are 62 TB, 20 checkpoints of 5.7 TB are 114 TB: 0.176 PB do not fit
    0.1."""
    result = _plan("storage.usable_pb=0.1")
    assert result.frame("storage").iloc[0]["required_pb"] == pytest.approx(0.176, rel=0.01)
    assert any(w["code"] == "storage" and "0.176 PB" in w["message"] for w in result.warnings)
    assert not any(w["code"] == "storage" for w in _plan().warnings)


def test_unknown_tier_is_named_with_its_place() -> None:
    with pytest.raises(InputError) as caught:
        _plan("storage.tier=ddn-ai400x9")
    assert "ddn-ai400x9" in caught.value.problems[0].cause


def test_worse_reliability_never_makes_a_run_shorter() -> None:
    days = []
    for rate in (0.5, 2, 6):
        problem = build(load(NAME, sets=[f"reliability.stops_per_1000_node_days={rate}"])).problem
        days.append(min(c.days_p50 * c.accelerators for c in problem.run_options))
    assert days == sorted(days)
    assert days[0] < days[-1]


def test_rented_accelerators_hold_no_spares() -> None:
    problem = build(load("retrofit-air-hall")).problem
    rented = [c for c in problem.run_options if c.on_cloud]
    assert rented
    assert all(c.spares == 0 for c in rented)


def test_a_data_set_comes_on_top() -> None:
    # 20 PB in blocks of 0.59 PB at 590,000 USD: 20 M USD more
    plain, more = (
        _plan().frame("storage").iloc[0],
        _plan("storage.dataset_tb=20000").frame("storage").iloc[0],
    )
    assert more["usable_pb"] - plain["usable_pb"] == pytest.approx(20, abs=0.2)
    assert more["capex_usd"] - plain["capex_usd"] == pytest.approx(20e6, rel=0.02)


def test_a_price_that_nothing_uses_is_said() -> None:
    notes = [w["message"] for w in _plan("prices.effective-training-frac.value=0.5").warnings]
    assert "prices.effective-training-frac is not used by this plan" in notes
    notes = [w["message"] for w in _plan("prices.restart-h.value=0.1").warnings]
    assert not any("restart-h" in note for note in notes)


def test_only_a_deadline_counts_late_starts() -> None:
    """By the end of 2027-Q4, delays counted, the run must start earlier than one that has no
    deadline."""
    free = build(load(NAME, sets=["workloads.training.flagship.may_wait=true"])).problem
    tied = build(load(NAME, sets=["workloads.training.flagship.deadline=2027-Q4"])).problem
    assert not any(c.lead_months for c in free.run_options)
    just_in_time = max(c.start_month for c in tied.run_options if not c.lead_months)
    assert just_in_time < max(c.start_month for c in free.run_options)
    # hardware that serves a quarter ahead takes the delay up: these may start later
    assert max(c.start_month for c in tied.run_options if c.lead_months) > just_in_time


def test_spares_that_are_too_few_are_named_in_the_refusal() -> None:
    sets = [
        "reliability.spares=0",
        "reliability.repair_h=168",
        "reliability.stops_per_1000_node_days=20",
    ]
    problem = build(load(NAME, sets=sets)).problem
    reasons = [x.reason for x in problem.excluded if x.kind == "job"]
    assert any("goodput" in reason for reason in reasons)


def test_hardware_may_serve_ahead_of_a_dated_run() -> None:
    """The last start before a deadline needs racks a quarter before it: the plan orders them in
    time."""
    sets = [
        "workloads.training.flagship.deadline=2027-Q4",
        "workloads.training.flagship.start=2027-Q4",
        "finance.empty_hall_residual_frac=1",
    ]
    result = _plan(*sets, "workloads.training.flagship.tokens=5e12")
    row = result.frame("schedule").iloc[0]
    serves, start = (date.fromisoformat(row[c]) for c in ("serves_from", "planned_start"))
    assert (start - serves).days >= 90
    racks = result.frame("racks").iloc[0]
    assert racks["serves_from"] <= "2027-Q3"
    assert date.fromisoformat(row["finish"]) <= date(2027, 12, 31)


def test_the_decisions_of_such_a_plan_come_back() -> None:
    sets = [
        "workloads.training.flagship.deadline=2027-Q4",
        "workloads.training.flagship.start=2027-Q4",
    ]
    sets.append("workloads.training.flagship.tokens=5e12")
    first = _plan(*sets)
    again = dcplan.plan(NAME, sets=sets, fix_decisions=first)
    assert again.value("cost.npv_usd") == pytest.approx(first.value("cost.npv_usd"))


def test_a_job_that_fills_its_hall_takes_what_is_left_as_spares() -> None:
    """As many as the hall takes on one job: no spare is left, and lost nodes are waited for, six
    hours each."""
    most = build(load(NAME)).problem.placements
    racks = next(p for p in most if p.system == "gb200-nvl72").max_racks_unit
    sets = [f"workloads.training.flagship.accelerators={racks * 72}", "reliability.repair_h=6"]
    run_options = [
        c for c in build(load(NAME, sets=sets)).problem.run_options if c.system == "gb200-nvl72"
    ]
    assert run_options
    assert all(c.spares == 0 for c in run_options)
    assert all(c.outlook["goodput_frac"] < 0.9 for c in run_options)


def test_data_that_come_too_slowly_lengthen_a_plan_s_runs() -> None:
    slow = build(load(NAME, sets=["storage.level=good", "storage.bytes_per_token=1e6"])).problem
    assert all("too slow" in x.reason for x in slow.excluded if x.kind == "job")
    assert not slow.run_options


@pytest.mark.parametrize(
    "bad",
    [
        "reliability.spares=1000000000",
        "reliability.interval_s=1e-300",
        "reliability.restart_s=1e18",
        "reliability.repair_h=1e18",
    ],
)
def test_impossible_habits_are_refused_with_their_place(bad: str) -> None:
    with pytest.raises(InputError):
        load(NAME, sets=[bad])


@pytest.mark.parametrize("deadline", ["2027-Q3", "2027-Q4"])
def test_the_median_end_is_before_the_end_at_the_asked_confidence(deadline: str) -> None:
    """Where hardware must serve a quarter ahead, what it takes up of a delay is taken up of the
    median, too."""
    result = dcplan.plan(
        "train-405b-in-90-days", sets=[f"workloads.training.flagship.deadline={deadline}"]
    )
    [row] = result.tables["schedule"].records()
    assert str(row["finish_p50"]) <= str(row["finish"])
    assert str(row["planned_start"]) < str(row["finish_p50"])


def _fixed(*sets: str) -> RunOption:
    """Return the shortest run of 4,608 accelerators."""
    count = "workloads.training.flagship.accelerators=4608"
    found = build(load(NAME, sets=[count, *sets])).problem.run_options
    options = [c for c in found if c.system == "gb200-nvl72"]
    return min(options, key=lambda c: c.days)


def test_a_small_storage_lengthens_a_run_by_its_checkpoints() -> None:
    """0.1 PB of 0.59 PB blocks of 60.3 GB/s write 10.22 GB/s: 5.68 TB take 556 s, not 16 s of the
    level's 360 GB/s, so checkpoints are farther apart."""
    free = _fixed()
    slow = _fixed("storage.usable_pb=0.1")
    facts = slow.outlook
    assert facts["given_write_gb_per_s"] == pytest.approx(0.1 / 0.59 * 60.3)
    assert facts["checkpoint_write_s"] == pytest.approx(405.9e9 * 14 / 10.22e9, rel=0.01)
    assert facts["level_write_s"] == pytest.approx(405.9e9 * 14 / (4608 * 0.078125e9), rel=0.01)
    assert facts["checkpoint_interval_s"] == pytest.approx(facts["checkpoint_write_s"], rel=0.01)
    assert free.outlook["checkpoint_interval_s"] < 400
    assert slow.days - free.days == pytest.approx(facts["storage_lost_days"])
    assert 0.1 < facts["storage_lost_days"] < 3


def test_a_small_storage_lengthens_a_step_by_its_data() -> None:
    """2e6 bytes a token and a batch of 16.8e6 tokens are 33.6 TB a step; 1 PB of blocks of
    120.68 GB/s reads 204.5 GB/s: 164 s a step."""
    sets = ("storage.usable_pb=1", "workloads.training.flagship.tokens=2e11")
    size = load(NAME).scenario.workloads.training[0].global_batch_tokens.value
    slow = _fixed(*sets, "storage.bytes_per_token=2e6")
    assert slow.step_time_s == pytest.approx(size * 2e6 / (1 / 0.59 * 120.68e9), rel=0.01)
    # at the level's 720 GB/s of 4,608 accelerators
    assert slow.outlook["free_step_s"] == pytest.approx(size * 2e6 / 720e9, rel=0.01)
    assert slow.outlook["storage_lost_days"] > 10


def test_a_large_given_storage_changes_no_run() -> None:
    free = _fixed()
    large = _fixed("storage.usable_pb=20")
    assert large.days == free.days
    assert large.outlook["storage_lost_days"] == 0


def test_a_plan_says_what_its_storage_costs_and_what_is_too_slow() -> None:
    slow = [w["message"] for w in _plan("storage.usable_pb=0.01").warnings]
    assert any("reads 2.05 GB/s and writes 1.02 GB/s" in x and "days are lost" in x for x in slow)
    problem = build(load(NAME, sets=["storage.usable_pb=0.0001"])).problem
    reasons = [x.reason for x in problem.excluded if x.kind == "job"]
    assert all("the given storage reads" in x for x in reasons)


def test_a_storage_of_almost_nothing_takes_no_rack_position() -> None:
    # 0.00001 PB are 1.25e-6 rack positions, below what a solver can tell from a full hall
    hall = build(load(NAME, sets=["storage.usable_pb=0.00001"])).problem.halls[0]
    assert hall.storage_racks == 0
    assert hall.storage_usd == pytest.approx(10.0)


def test_rented_runs_do_not_wait_for_the_given_storage() -> None:
    problem = build(load("retrofit-air-hall", sets=["storage.usable_pb=0.0001"])).problem
    assert not any("storage_lost_days" in c.outlook for c in problem.run_options if c.on_cloud)
