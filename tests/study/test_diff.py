"""Differences between two answers, and references to what stands at a git revision."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.common.result_blocks import inputs_of
from dcplan.answers.diff.answer import Side, differences
from dcplan.answers.diff.request import DiffRequest
from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.result import Metric, Result
from dcplan.scenario.load import load
from dcplan.scenario.revisions import checked_out
from dcplan.specs.plan.decided import DECISIONS
from dcplan.study.regression.diff import CHANGES
from dcplan.study.regression.diff import diff as answer
from dcplan.study.regression.refs import resolved
from tests.cli.conftest import TINY

EXPECT = """\
expect:
  - {id: cap, metric: cost.capex_usd, max: 7e6, owner: finance}
  - {id: drift, metric: cost.energy_usd, change_pct_max: 5}
"""


def diff(before: str, after: str, home: Path, **more: Any) -> Result:
    return answer(DiffRequest(before, after, **more), home)


def git(folder: Path, *words: str) -> str:
    who = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "commit.gpgsign=false",
    ]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one scenario committed, extended by another."""
    folder = tmp_path / "project"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios" / "tiny.yaml").write_text(TINY + EXPECT, encoding="utf-8")
    (folder / "scenarios" / "notes.yaml").write_text("- no scenario\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    monkeypatch.chdir(folder)
    return folder


def test_the_same_twice_differs_in_nothing(repository: Path) -> None:
    same = diff("git:HEAD", "scenarios/tiny.yaml", repository / ".dcplan", exit_code=True)
    assert (same.exit_code, same.headline) == (
        0,
        "git:HEAD against scenarios/tiny.yaml: no difference",
    )
    assert all(not same.tables[spec.name].rows for spec in CHANGES)


def test_a_change_is_told_with_both_places(repository: Path) -> None:
    file = repository / "scenarios" / "tiny.yaml"
    file.write_text(
        "# a comment more\n" + (TINY + EXPECT).replace("it_mw: 2,", "it_mw: 1.5,"), encoding="utf-8"
    )
    home = repository / ".dcplan"
    found = diff("git:HEAD", "scenarios", home, exit_code=True)
    assert found.exit_code == 1
    [change] = found.tables["inputs_changed"].records()
    assert (change["change"], change["key"], change["before"], change["after"]) == (
        "changed",
        "sites.s.halls.h.it_mw",
        2,
        1.5,
    )
    line = TINY[: TINY.index("it_mw")].count("\n") + 1
    assert str(change["before_at"]).startswith(f"git:HEAD:scenarios/tiny.yaml:{line}:")
    assert str(change["after_at"]).startswith(f"scenarios/tiny.yaml:{line + 1}:")
    capex = next(
        r for r in found.tables["metrics_changed"].records() if r["metric"] == "cost.capex_usd"
    )
    # fit-out is paid for the hall's 2,000 and 1,500 kW: 500 kW at the fit-out price of this cooling
    # less
    first, second = (plan(str(f)) for f in (home_file(home), file))
    assert capex["delta"] == pytest.approx(
        second.value("cost.capex_usd") - first.value("cost.capex_usd")
    )
    assert capex["verdict"] == "better"
    assert diff("git:HEAD", "scenarios", home).exit_code == 0


def home_file(home: Path) -> Path:
    return next((home / "revisions").glob("*/scenarios/tiny.yaml"))


def test_new_and_lost_scenarios_are_named(repository: Path) -> None:
    (repository / "scenarios" / "more.yaml").write_text(
        TINY.replace("name: tiny", "name: more"), encoding="utf-8"
    )
    found = diff("git:HEAD", "scenarios", repository / ".dcplan")
    assert [(r["scenario"], r["state"]) for r in found.tables["states"].records()] == [
        ("more.yaml", "added")
    ]


def test_saved_results_are_compared_by_what_they_hold(repository: Path, tmp_path: Path) -> None:
    made = plan("scenarios/tiny.yaml")
    other = plan("scenarios/tiny.yaml", sets=["sites.s.energy.usd_per_kwh=0.3"])
    for name, result in (("a", made), ("b", other)):
        (tmp_path / f"{name}.json").write_text(result.to_json(), encoding="utf-8")
    found = diff(str(tmp_path / "a.json"), str(tmp_path / "b.json"), repository / ".dcplan")
    keys = {r["key"] for r in found.tables["inputs_changed"].records()}
    assert any("usd_per_kwh" in str(k) for k in keys)
    assert found.tables["metrics_changed"].rows


def test_an_added_input_of_saved_results_has_the_default_before() -> None:
    def saved(key: str, value: float, status: str) -> Side:
        row = {"key": key, "value": value, "status": status, "at": "x.yaml:1:1"}
        return Side(Result("plan", "ok", 0, "", inputs=[row]))

    before = saved("finance.discount-rate", 0.1, "estimate")
    after = saved("finance.discount_rate", 0.12, "input")
    (row,) = differences("s", before, after).inputs
    assert (row.change, row.before, row.after) == ("changed", 0.1, 0.12)


def _answer(npv: float, gap: float, racks: float) -> Side:
    metrics = {
        "cost.npv_usd": Metric(npv, "USD"),
        "cost.energy_usd": Metric(npv / 10, "USD"),
        "solver.gap_frac": Metric(gap),
        "racks.total": Metric(racks),
        "cost.residual_usd": Metric(5.0, "USD"),
    }
    return Side(Result("plan", "ok", 0, "x", metrics=metrics))


def test_a_difference_below_the_gap_is_not_proved() -> None:
    # gaps of 0.5 % of 1,000: costs within 5 may be the same plan's
    found = differences("s", _answer(1000.0, 0.005, 4), _answer(1004.0, 0.001, 5))
    rows = {row.metric: row for row in found.metrics}
    assert rows["cost.npv_usd"].verdict == "≈ within solver tolerance"
    assert rows["cost.npv_usd"].within_gap is True
    assert rows["racks.total"].verdict == ""
    assert "cost.residual_usd" not in rows
    assert "solver.gap_frac" not in rows
    residual = replace(_answer(1000.0, 0.005, 4).result)
    residual.metrics = residual.metrics | {"cost.residual_usd": Metric(6.0, "USD")}
    kept = differences("s", _answer(1000.0, 0.005, 4), Side(residual)).metrics
    # value kept is better where it is more; within the gap of the costs nothing is proved
    assert [(row.metric, row.direction) for row in kept] == [("cost.residual_usd", "higher")]
    proved = differences("s", _answer(1000.0, 0.005, 4), _answer(1006.0, 0.001, 4)).metrics
    assert [row.verdict for row in proved if row.metric == "cost.npv_usd"] == ["worse"]


@pytest.mark.parametrize(
    ("verb", "key", "way"),
    [
        ("plan", "cost.energy_usd", "lower"),
        ("plan", "train.flagship.goodput_frac", "higher"),
        ("plan", "racks.dgx-h200", "neutral"),
        ("train", "train.capex_usd", "lower"),
        ("train", "train.mfu_frac", "higher"),
        ("tco", "rented.aws-p5.spot.npv_usd", "lower"),
        ("tco", "owned.irr_frac", "higher"),
        ("facility", "water.permit_it_mw", "higher"),
    ],
)
def test_every_verb_says_which_way_its_metrics_should_go(verb: str, key: str, way: str) -> None:
    old, new = (Result(verb, "ok", 0, "x", metrics={key: Metric(x)}) for x in (1.0, 2.0))
    (row,) = differences("s", Side(old), Side(new)).metrics
    assert (row.direction, row.verdict) == (
        way,
        {"lower": "worse", "higher": "better", "neutral": ""}[way],
    )


def test_decisions_differ_by_place_item_and_quarter(repository: Path) -> None:
    made = plan("scenarios/tiny.yaml")
    table = made.tables["decisions"]
    rows = DECISIONS.rows(table)
    i = next(n for n, row in enumerate(rows) if row.decision == "order")
    rows[i] = replace(rows[i], amount=rows[i].amount + 1)
    changed = DECISIONS.table(rows[1:] if i else rows)
    other = replace(made, tables=made.tables | {"decisions": changed})
    found = differences("s", Side(made), Side(other)).decisions
    assert {r.change for r in found} == ({"removed", "changed"} if i else {"changed"})
    assert any(r.decision == "order" and r.item == "dgx-h200" and r.quarter for r in found)


WRONG = {
    "git:nowhere": "DC006",
    "git:HEAD:../x.yaml": "DC0",
    "git:--output=x": "DC006",
    "nothing.yaml": "DC006",
}


@pytest.mark.parametrize(("text", "code"), WRONG.items())
def test_a_reference_to_nothing_is_refused(repository: Path, text: str, code: str) -> None:
    with pytest.raises(InputError) as error:
        diff(text, text, repository / ".dcplan")
    assert code in str(error.value)
    assert not (repository / "x").exists()


def test_links_of_a_revision_lead_nowhere(repository: Path) -> None:
    (repository / "scenarios" / "secret.yaml").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "link")
    root = checked_out("HEAD", repository, repository / ".dcplan")
    assert sorted(p.name for p in (root / "scenarios").iterdir()) == ["notes.yaml", "tiny.yaml"]
    assert checked_out("main", repository, repository / ".dcplan") == root


def test_json_of_a_difference_is_plain(repository: Path) -> None:
    found = diff(
        "scenarios/tiny.yaml",
        "scenarios/tiny.yaml",
        repository / ".dcplan",
        sets=("sites.s.utility_mw=3",),
    )
    data = json.loads(found.to_json())
    assert data["verb"] == "diff"
    assert [c["name"] for c in data["tables"]["metrics_changed"]["columns"]][:5] == [
        "scenario",
        "metric",
        "before",
        "after",
        "delta",
    ]


def test_a_revision_with_paths_that_leave_it_is_refused(repository: Path) -> None:
    """A tree that git's own commands would not make: `..` as a folder."""
    blob = git(repository, "hash-object", "-w", "scenarios/tiny.yaml").strip()
    inner = b"100644 pwned.yaml\0" + bytes.fromhex(blob)
    (repository / "inner").write_bytes(inner)
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "inner").strip()
    (repository / "outer").write_bytes(b"40000 ..\0" + bytes.fromhex(tree))
    outer = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "outer").strip()
    commit = git(repository, "commit-tree", outer, "-m", "evil").strip()
    with pytest.raises(InputError, match="has a path that leaves the repository"):
        checked_out(commit, repository, repository / ".dcplan")
    assert not list(repository.rglob("pwned.yaml"))
    assert not list(repository.parent.glob("pwned.yaml"))


def test_a_changed_model_file_is_a_changed_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, layers in (("one", 80), ("two", 40)):
        (tmp_path / name).mkdir()
        config = {
            "model_type": "llama",
            "hidden_size": 8192,
            "num_hidden_layers": layers,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "intermediate_size": 28672,
            "vocab_size": 128256,
        }
        (tmp_path / name / "m.json").write_text(json.dumps(config), encoding="utf-8")
        (tmp_path / name / "s.yaml").write_text(
            TINY.replace("llama-3.1-70b", "m.json"), encoding="utf-8"
        )
    found = diff("one/s.yaml", "two/s.yaml", tmp_path / ".dcplan")
    assert [str(r["key"]).rsplit(".", 1)[1] for r in found.tables["inputs_changed"].records()] == [
        "model"
    ]


def test_a_saved_result_takes_no_changes(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(plan("scenarios/tiny.yaml").to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="--set changes scenarios only"):
        diff(
            "scenarios/tiny.yaml",
            str(tmp_path / "a.json"),
            repository / ".dcplan",
            sets=("sites.s.utility_mw=3",),
        )


def test_no_figures_are_compared_with_a_plan_that_there_is_not(repository: Path) -> None:
    found = diff(
        "scenarios/tiny.yaml",
        "scenarios/tiny.yaml",
        repository / ".dcplan",
        sets=("sites.s.utility_mw=0.1",),
    )
    assert found.tables["metrics_changed"].rows == ()
    [state] = found.tables["states"].records()
    assert str(state["after"]).startswith("infeasible: ")


def test_a_default_that_is_replaced_has_its_value_before(repository: Path) -> None:
    found = diff(
        "scenarios/tiny.yaml",
        "scenarios/tiny.yaml",
        repository / ".dcplan",
        sets=("finance.discount_rate=0.2",),
    )
    [row] = found.tables["inputs_changed"].records()
    assert (row["change"], row["before"], row["after"]) == (
        "changed",
        0.1,
        0.2,
    )  # catalogs/finance: 10 % a year


def test_a_path_that_a_revision_lacks_is_wrong_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base that was mistyped must not make every gate `new` and so pass; a file that is new has
    no base, and may."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("dcplan: 1\n", encoding="utf-8")
    for call in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *call], check=True)
    (tmp_path / "b.yaml").write_text("dcplan: 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="HEAD has no nonexist"):
        resolved("git:HEAD:nonexist", "a.yaml", tmp_path / "store")
    assert resolved("git:HEAD", "b.yaml", tmp_path / "store").files == {}


@pytest.mark.parametrize("saved", [True, False])
def test_a_run_that_may_wait_is_a_changed_input(saved: bool) -> None:
    """In saved answers and in scenarios: one side leaves the default, the other gives `true`."""
    key = "workloads.training.flagship.may_wait"
    sides = []
    for sets in ((), (f"{key}=true",)):
        question = load("train-405b-in-90-days", sets=sets)
        result = Result("plan", "ok", 0, "", inputs=inputs_of(build(question)))
        sides.append(Side(result, None if saved else question))
    found = differences("x", *sides).inputs
    assert [(x.key, x.before) for x in found] == [(key, "false")]
    assert str(found[0].after).lower() == "true"


def test_two_alternatives_of_one_file_have_their_labels(repository: Path) -> None:
    home = repository / ".dcplan"
    path = "scenarios/tiny.yaml"
    more = {"sets": ("sites.s.energy.usd_per_kwh=0.2",), "labels": ("today", "dear power")}
    found = diff(path, path, home, **more)
    assert found.headline.startswith("today against dear power: net present cost +USD ")
    assert found.scenario["name"] == "today..dear power"
    assert diff(path, path, home, labels=("a", "b")).headline == "a against b: no difference"


@pytest.mark.parametrize("labels", [("one",), ("a", "b", "c"), ("same", "same")])
def test_labels_are_two_different_names(repository: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="two different names are needed, of A and of B"):
        diff("scenarios/tiny.yaml", "scenarios/tiny.yaml", repository / ".dcplan", labels=labels)
