"""The menu of a service is what `dcplan serve` finds, and its latency at the highest load is within
the limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan import cache
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.serving.sizing import options
from dcplan.inputs.serving.sizing.options import KeyedWork, keyed, replicas, sized
from dcplan.planning.audit.work.latency import service_latencies
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.services.spec import hosted, spec_of
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.scenario.load import Question, load

TEXT = """
dcplan: 1
name: menu
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 12
    halls:
      - {id: liquid, racks: 120, rack_kw_max: 160, it_mw: 8, cooling: [direct-liquid-tower], existing: true}
systems: [dgx-h200, gb200-nvl72]
fabrics: [ib-ndr-400]
workloads:
  inference:
    - SERVICE
"""
HALL = "ashburn/liquid"
SYSTEMS = ("dgx-h200", "gb200-nvl72")
CHAT = (
    "{id: chat, model: llama-3.1-70b, isl: 2048, osl: 512, slo: {ttft_ms: 1500, tpot_ms: 40}, "
    "tokens_per_s: {start: 2e5, growth_frac_per_quarter: 0.15, from: 2027-Q2}MORE}"
)
DEEP = (
    "{id: deep, model: deepseek-v3, isl: 4096, osl: 1024, slo: {ttft_ms: 3000, tpot_ms: 50}, "
    "tokens_per_s: {start: 50000, from: 2027-Q2, growth_frac_per_quarter: 0}, disaggregated: never, "
    "shape: [1,1,1,1,1,1,2,3,4,5,6,6,6,6,6,6,6,6,6,5,4,3,2,1]}"
)
ASKED: dict[str, dict[str, Any]] = {
    "chat": {"isl": 2048.0, "osl": 512.0, "ttft_ms": 1500.0, "tpot_ms": 40.0},
    "deep": {"isl": 4096.0, "osl": 1024.0, "ttft_ms": 3000.0, "tpot_ms": 50.0},
}
MODELS = {"chat": "llama-3.1-70b", "deep": "deepseek-v3"}
Case = tuple[Question, PlanningProblem]


def case_of(folder: Path, service: str) -> Case:
    file = folder / "menu.yaml"
    file.write_text(TEXT.replace("SERVICE", service), encoding="utf-8")
    question = load(file)
    return question, build(question).problem


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return case_of(tmp_path_factory.mktemp("chat"), CHAT.replace("MORE", ""))


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return case_of(tmp_path_factory.mktemp("deep"), DEEP)


def as_served(problem: PlanningProblem, service: str, system: str) -> None:
    """Compare the replica of a system with that of `dcplan serve` at the highest load."""
    asked, demand = ASKED[service], problem.demands[0]
    found = demand.replica[HALL, system]
    rate = 1000.0 * max(demand.wanted) / asked["osl"]
    result = dcplan.serve(MODELS[service], system=system, rate=rate, **asked)
    (pool,) = result.tables["pools"].records()
    assert found.layout == pool["layout"]
    assert found.accelerators == pool["accelerators_per_replica"]
    most = float(str(pool["requests_per_s_max"]))
    assert found.requests_per_s == pytest.approx(most, rel=1e-6)
    tokens = most * asked["osl"] / found.accelerators / 1000.0
    assert demand.each[HALL, system] == pytest.approx(tokens, rel=1e-6)
    assert demand.spare_replicas == pool["spare_replicas"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_menu_of_chat_is_that_of_serve(chat: Case, system: str) -> None:
    as_served(chat[1], "chat", system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_menu_of_a_large_model_is_that_of_serve(deep: Case, system: str) -> None:
    """The load of the highest hour is 50,000 tokens/s times 6 over the mean 89 / 24 of the shape."""
    assert deep[1].demands[0].wanted[1] == pytest.approx(50.0 * 6.0 / (89.0 / 24.0))
    as_served(deep[1], "deep", system)


def planned(demand: DemandTerms, system: str, busy: float) -> Decisions:
    """Three serving replicas with the spares, used in part."""
    index = (demand.id, HALL, "direct-liquid-tower", system, 1)
    size = demand.replica[HALL, system].accelerators
    number = 3 + demand.spare_replicas
    return Decisions(serving={index: busy * 3 * size}, replicas={index: number})


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("busy", [1.0, 0.6, 0.1])
def test_audited_latency_is_that_of_serve_and_within_the_limits(
    chat: Case, system: str, busy: float
) -> None:
    question, problem = chat
    demand = problem.demands[0]
    replica = demand.replica[HALL, system]
    (found,) = service_latencies(problem, planned(demand, system, busy), question)
    rate = busy * replica.requests_per_s
    assert found.requests_per_s == pytest.approx(rate, rel=1e-9)
    # the limits hold up to the tolerance of the search of the rate
    assert found.ttft_ms <= 1500.0 * (1 + 1e-6)
    assert found.tpot_ms <= 40.0 * (1 + 1e-6)
    if busy == 1.0:  # the highest rate is where one of the limits ends it
        assert max(found.ttft_ms / 1500.0, found.tpot_ms / 40.0) > 0.99
    one = dcplan.serve(
        MODELS["chat"],
        system=system,
        rate=rate,
        layout=replica.layout.replace("tp", "tp="),
        **ASKED["chat"],
    )
    assert found.ttft_ms == pytest.approx(one.value("serve.ttft_ms_p90"), rel=1e-6)
    assert found.tpot_ms == pytest.approx(one.value("serve.tpot_ms_p90"), rel=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_audit_sees_an_overloaded_replica(chat: Case, system: str) -> None:
    """A quarter more than the highest rate misses a limit; the audit does not lower the rate."""
    question, problem = chat
    (found,) = service_latencies(problem, planned(problem.demands[0], system, 1.25), question)
    assert not (found.ttft_ms <= 1500.0 and found.tpot_ms <= 40.0)


@pytest.mark.slow
@pytest.mark.parametrize("busy", [1.0, 0.5, 0.05])
def test_audited_latency_of_two_pools_is_within_the_limits(tmp_path: Path, busy: float) -> None:
    """Both pools at the same share of their highest rate; the limits are 3,000 ms and 50 ms."""
    service = DEEP.replace("never", "same-system")
    question, problem = case_of(tmp_path, service)
    pair = problem.pairs[0]
    d = Decisions()
    for name in (pair.prefill, pair.decode):
        one = planned(problem.demand(name), "dgx-h200", busy)
        d.serving |= one.serving
        d.replicas |= one.replicas
    (found,) = service_latencies(problem, d, question)
    assert found.demand.id == pair.decode
    assert found.requests_per_s == pytest.approx(
        busy * problem.demand(pair.decode).replica[HALL, "dgx-h200"].requests_per_s
    )
    assert 0.0 < found.ttft_ms <= 3000.0 * (1 + 1e-6)
    assert 0.0 < found.tpot_ms <= 50.0 * (1 + 1e-6)


def works(question: Question, system: str, rtt_s: float) -> list[KeyedWork]:
    log = InputLog(question.catalog)
    spec = spec_of(question.scenario.workloads.inference[0], question, log)
    machine = machine_of(question.catalog, system)
    assert isinstance(machine, Machine)
    found = hosted(spec, machine, log, 50.0, rtt_s)
    return [keyed(x.work) for x in found if not isinstance(x, str)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_network_time_to_the_users_never_raises_the_rate(chat: Case, system: str) -> None:
    """Network time lowers the limit of the time to first token: no layout serves more."""
    question, _ = chat
    before: dict[str, float] = {}
    best: list[float] = []
    for rtt_s in (0.0, 0.2, 0.8, 1.3, 1.45):
        (work,) = works(question, system, rtt_s)
        rates = sized(work)
        assert rates.states.work.limits.ttft_s == pytest.approx(1.5 - rtt_s)
        found = {x.layout: x.requests_per_s for x in replicas(work)}
        names = [str(x) for x in work.work.layouts]
        own = {n: rates.most(names.index(n)) for n in {*found, *before}}
        for name, most in before.items():
            assert own[name] <= most * (1 + 1e-9)
        before = own
        each = [x.requests_per_s / x.accelerators for x in replicas(work)]
        best.append(max(each, default=0.0))
    assert best == sorted(best, reverse=True)
    assert best[0] > best[-1]


def test_replicas_and_pairs_of_an_earlier_process_are_read(
    chat: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rates of other latency limits are searched."""
    question, _ = chat
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    (work,) = works(question, "dgx-h200", 0.0)
    (farther,) = works(question, "dgx-h200", 0.2)
    made = []
    for name in ("_replicas", "_best_pair"):
        own = getattr(options, name)
        monkeypatch.setattr(options, name, lambda *x, own=own: made.append(x) or own(*x))
    found = []
    for _ in range(2):
        replicas.cache_clear()
        options.best_pair.cache_clear()
        found.append((replicas(work), options.best_pair(work, work)))
    assert found[0] == found[1]
    assert found[0][0]
    assert len(made) == 2
    replicas(farther)
    assert len(made) == 3


def test_users_farther_than_the_limit_cannot_be_served(chat: Case) -> None:
    question, _ = chat
    log = InputLog(question.catalog)
    spec = spec_of(question.scenario.workloads.inference[0], question, log)
    machine = machine_of(question.catalog, "dgx-h200")
    assert isinstance(machine, Machine)
    assert "1,500 ms, exceeds the limit of the TTFT" in str(hosted(spec, machine, log, 50.0, 1.5))


def test_given_throughput_is_compared_with_the_model(chat: Case, tmp_path: Path) -> None:
    """A note where it differs by more than 15 %; the plan uses the given value, in the replicas of the model."""
    computed = 1000.0 * chat[1].demands[0].each[HALL, "dgx-h200"]
    for factor, noted in ((2.0, True), (1.1, False), (0.8, True)):
        value = f"{factor * computed:.3f}"
        more = f", tokens_per_s_per_accelerator: {{dgx-h200: {value}}}"
        _, problem = case_of(tmp_path, CHAT.replace("MORE", more))
        (demand,) = problem.demands
        assert demand.each[HALL, "dgx-h200"] == pytest.approx(factor * computed / 1000.0, rel=1e-4)
        assert {(HALL, "dgx-h200"), (HALL, "gb200-nvl72")} <= set(demand.replica)
        notes = [x for x in problem.warnings if "the serving model has" in x]
        assert len(notes) == noted
        if noted:
            assert f"({factor:.2f} times)" in notes[0]
