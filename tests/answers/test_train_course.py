"""Course of a run in `dcplan train`: rise of the batch, setbacks, elastic replicas, whole runs."""

from __future__ import annotations

from typing import Any

import pytest

import dcplan
from dcplan.answers.validation.whole_runs.table import whole_runs
from dcplan.catalog.schema.published import Published
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.validation import validate as specs

SMALL: dict[str, Any] = {
    "system": "dgx-h100",
    "accelerators": 64,
    "tokens": 1e12,
    "seq_len": 8192,
    "global_batch_tokens": 4194304,
    "layout": "tp=1,pp=1,zero=1,mbs=1",
}
BIG: dict[str, Any] = {"system": "dgx-h100", "accelerators": 131072, "global_batch_tokens": 16e6}


def _small(**more: Any) -> Result:
    return dcplan.train("llama-3.1-8b", **(SMALL | more))


@pytest.fixture(scope="module")
def plain() -> Result:
    return _small()


def test_a_ramp_is_a_run_in_phases(plain: Result) -> None:
    ramp = _small(batch_ramp="start=1048576,increment=1048576,tokens=3e11")
    phases = ramp.frame("phases")
    assert phases["tokens"].tolist() == pytest.approx([1e11, 1e11, 1e11, 7e11])
    assert phases["global_batch_tokens"].tolist() == pytest.approx([2**20, 2**21, 3 * 2**20, 2**22])
    # a smaller batch exchanges gradients and updates the weights more often
    assert ramp.value("train.days_p50") > plain.value("train.days_p50")
    by_hand = _small(
        phases=tuple(
            f"tokens={n},seq-len=8192,global-batch-tokens={b}"
            for n, b in ((1e11, 2**20), (1e11, 2**21), (1e11, 3 * 2**20), (7e11, 2**22))
        )
    )
    assert ramp.value("train.days_p50") == pytest.approx(by_hand.value("train.days_p50"))


def test_setbacks_make_the_run_longer_by_hand(plain: Result) -> None:
    # 1e12 / 4,194,304 = 238,419 steps; 10 rollbacks of 2,384 repeat a tenth of them
    days = plain.value("train.days_p50")
    found = _small(
        setbacks="rollbacks=10,rollback-steps=2384.19,manual-restarts=4,manual-restart-h=12,idle-frac=0.2"
    )
    assert found.value("train.days_p50") == pytest.approx((days * 1.1 + 2.0) / 0.8, rel=1e-5)
    lost = found.frame("time_losses").set_index("loss")["share_frac"]
    assert lost["idle"] == pytest.approx(0.2)
    assert lost.drop("production").sum() + found.value("train.goodput_frac") == pytest.approx(1.0)
    spread = [found.value(f"train.days_p{q}") / found.value("train.days_p50") for q in (10, 90)]
    usual = [plain.value(f"train.days_p{q}") / days for q in (10, 90)]
    assert spread == pytest.approx(usual, rel=1e-3)


def test_other_work_adds_hours_and_no_days(plain: Result) -> None:
    found = _small(setbacks="other-work-frac=0.368")
    assert found.value("train.days_p50") == plain.value("train.days_p50")
    for key in ("train.accelerator_hours", "train.energy_mwh", "train.cost_usd"):
        assert found.value(key) == pytest.approx(plain.value(key) / 0.632)


def test_elastic_replicas_carry_a_run_that_stops_every_twenty_minutes() -> None:
    whole = dcplan.train("llama-3.1-405b", **BIG)
    elastic = dcplan.train(
        "llama-3.1-405b", **BIG, reliability="replica-accelerators=4096,stall-s=20"
    )
    assert whole.value("train.goodput_frac") < 0.6
    assert elastic.value("train.goodput_frac") > 0.88
    assert elastic.value("train.replicas") == 32
    assert 0.97 < elastic.value("train.replicas_training_frac") < 1
    # 47 planned stops of a job in 54 days, at any size (The Llama 3 Herd of Models)
    assert elastic.value("train.whole_job_stops_per_day") == pytest.approx(47 / 54, abs=0.01)
    stops = elastic.frame("interruptions").set_index("part")["stops_per_day"]
    assert stops["planned-maintenance"] == pytest.approx(0.87)
    assert stops.sum() == pytest.approx(24 / elastic.value("train.mttf_h"))
    assert "train.replicas" not in whole.metrics


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"batch_ramp": "start=1048576,tokens=1e11"}, "missing increment"),
        ({"batch_ramp": "start=1048576,increment=1000000,tokens=1e11"}, "does not lead from"),
        ({"batch_ramp": "start=1048576,increment=1048576,tokens=2e12"}, "tokens=2e12"),
        ({"batch_ramp": "start=8388608,increment=1048576,tokens=1e11"}, "start=8388608"),
        ({"setbacks": "rollbacks=3"}, "rollbacks and rollback-steps need each other"),
        ({"setbacks": "idle-frac=1"}, "idle-frac=1"),
        ({"setbacks": "rewinds=3,rollback-steps=3"}, "rewinds=3"),
        ({"reliability": "stall-s=20"}, "give replica_accelerators too"),
        (
            {"reliability": "replica-accelerators=60"},
            "a replica of 60 accelerators is more than half of the run's 64",
        ),
        ({"reliability": "replica-accelerators=8", "simulations": 10}, "no elastic replicas"),
        (
            {"reliability": "replica-accelerators=4", "layout": "tp=8,pp=1,mbs=1"},
            "a replica of 4 accelerators cannot hold the layout, which needs 8",
        ),
    ],
)
def test_a_wrong_course_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _small(**more)


def test_a_ramp_fixes_a_size_that_a_search_would_choose() -> None:
    with pytest.raises(InputError, match="--batch-ramp cannot be combined with --deadline-days"):
        dcplan.train(
            "llama-3.1-8b",
            system="dgx-h100",
            deadline_days=30,
            batch_ramp="start=1e6,increment=1e6,tokens=1e11",
        )


def test_a_whole_run_is_answered_with_and_without_its_course() -> None:
    row = Published.model_validate(
        {
            "id": "own-run",
            "name": "a run of ours",
            "source": "a hand count",
            "subject": "runs",
            "verb": "train",
            "ask": {"model": "llama-3.1-8b", **SMALL},
            "course": {"setbacks": "idle-frac=0.5"},
            "cause": "idle time",
            "figures": {"train.days_p50": 100.0},
        }
    )
    days = _small().value("train.days_p50")
    figure = specs.FigureRow(
        "own-run", "train.days_p50", "days", 100.0, None, None, 1.0, None, None, None, "far",
        "independent", None,
    )  # fmt: skip
    [found] = specs.WHOLE_RUNS.rows(whole_runs([row], [figure], ())["whole_runs"])
    assert found.plain_days_p50 == pytest.approx(days)
    assert found.days_p50 == pytest.approx(2 * days)
    assert found.inside == (found.days_p10 <= 100.0 <= found.days_p90)
    assert (found.course, found.cause) == ("--setbacks idle-frac=0.5", "idle time")
    # 64 accelerators for 100 days
    hours = row.model_copy(
        update={"figures": {"train.accelerator_hours": row.figures["train.days_p50"]}}
    )
    figure = specs.FigureRow(
        "own-run", "train.accelerator_hours", "h", 153_600.0, None, None, 1.0, None, None, None,
        "far", "independent", None,
    )  # fmt: skip
    [same] = specs.WHOLE_RUNS.rows(whole_runs([hours], [figure], ())["whole_runs"])
    assert same.published_days == pytest.approx(100.0)
    assert same.days_p90 == pytest.approx(found.days_p90)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"verb": "fabric"}, "asks `train`"), ({"subject": "goodput"}, "only rows of `runs`")],
)
def test_only_runs_have_a_course(wrong: dict[str, Any], why: str) -> None:
    row = {
        "id": "a", "name": "a", "source": "a hand count", "subject": "runs", "verb": "train",
        "ask": {"accelerators": "64"}, "course": {"setbacks": "idle-frac=0.5"},
        "figures": {"train.days_p50": 1.0},
    }  # fmt: skip
    Published.model_validate(row)
    with pytest.raises(ValueError, match=why):
        Published.model_validate(row | wrong)
