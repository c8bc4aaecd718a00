"""Every metric that a plan prints may stand in ``expect:``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcplan
from dcplan.result import Result
from dcplan.scenario.expect import check_metrics
from dcplan.scenario.load import load
from dcplan.scenario.schema import Expectation
from dcplan.specs import registry
from dcplan.specs.plan import metrics as specs
from tests.answers.test_answers_uncertainty import TEXT
from tests.plans import planned

IDS = st.text(st.sampled_from("ab-_.019"), min_size=1)


def refused(file: str | Path, keys: list[str]) -> list[str]:
    """Return the keys that a scenario may not expect, by the causes of the problems."""
    question = load(str(file))
    gates = [
        Expectation(id=f"e{i}", metric=key, max="2027-Q3" if specs.FINISH.ids_in(key) else 1)
        for i, key in enumerate(keys)
    ]
    scenario = question.scenario.model_copy(update={"expect": gates})
    return [p.cause for p in check_metrics(scenario, question.catalog, question.tree)]


@pytest.fixture(scope="module")
def unsure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unsure") / "unsure.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_plan_with_futures_prints_nothing_that_cannot_be_expected(unsure: Path) -> None:
    plain, hedged = dcplan.plan(unsure), dcplan.plan(unsure, hedge=True)
    assert "uncertainty.npv_usd_cvar" in plain.metrics
    assert "hedge.npv_usd" in hedged.metrics
    assert refused(unsure, [*plain.metrics, *hedged.metrics]) == []


@pytest.mark.parametrize("name", ["train-405b-in-90-days", "fleet-renewal"])
def test_a_packaged_plan_prints_nothing_that_cannot_be_expected(name: str) -> None:
    result = planned(name, gap=0.05)
    assert refused(name, list(result.metrics)) == []


def test_goodput_and_spares_of_a_run_can_be_expected() -> None:
    name = "train-405b-in-90-days"
    assert refused(name, ["train.flagship.goodput_frac", "train.flagship.spares"]) == []
    assert len(refused(name, ["train.other.goodput_frac", "uncertainty.npv_usd_p50"])) == 2


def test_every_metric_of_a_plan_is_declared_with_its_unit(unsure: Path) -> None:
    results: list[Result] = [planned("train-405b-in-90-days", gap=0.05), dcplan.plan(unsure)]
    for result in results:
        for key, metric in result.metrics.items():
            spec = registry.metric_of("plan", key)
            assert spec is not None, key
            assert spec in (specs.UNSERVED, specs.UNSERVED_RUNS) or spec.unit == metric.unit, key


@given(IDS)
def test_ids_are_read_back_from_a_key(name: str) -> None:
    for spec in (specs.RACKS, specs.DAYS, specs.GOODPUT, specs.UNSERVED):
        assert spec.ids_in(spec.at(name)) == (name,)
