"""Gates: what holds, what does not, what was not asked; and nothing solved that did not change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from dcplan.api.plan import plan
from dcplan.errors import InputError
from dcplan.report.ci import github, junit
from dcplan.result import Result
from dcplan.scenario.expect import evaluate
from dcplan.scenario.schema import Expectation
from dcplan.study.checks import check_all
from dcplan.study.regression import kept
from dcplan.study.regression.gates import gates
from dcplan.study.regression.request import GatesRequest, Wanted
from tests.cli.conftest import TINY, Ran, spawn
from tests.study.test_diff import git

EXPECT = """\
overrides:
  dear: {sites.s.energy.usd_per_kwh: 0.3}
scenarios:
  costly: [dear]
expect:
  - {id: cap, metric: cost.capex_usd, max: 5e6, owner: finance, note: "board, 100 %"}
  - {id: pue, metric: power.annual_pue, max: 2}
  - {id: soft, metric: accelerators.total, max: 8, severity: warn}
  - {id: drift, metric: cost.energy_usd, change_pct_max: 5, when: file}
  - {id: apart, metric: cost.energy_usd, change_max: 1, against: costly, when: file}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one scenario on main, and a change on a branch."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "tiny.yaml").write_text(TINY + EXPECT, encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verdicts(result: Result) -> dict[tuple[str, str], str]:
    return {
        (str(r["variant"]), str(r["id"])): str(r["result"])
        for r in result.tables["gates"].records()
    }


def test_every_gate_of_every_variant(project: Path) -> None:
    found = gates(GatesRequest(("scenarios",), base="git:main"), project / ".dcplan")
    assert found.exit_code == 1
    assert verdicts(found) == {
        ("", "cap"): "FAILED",
        ("costly", "cap"): "FAILED",
        ("", "pue"): "passed",
        ("costly", "pue"): "passed",
        ("", "soft"): "warning",
        ("costly", "soft"): "warning",
        ("", "drift"): "passed",
        ("costly", "drift"): "skipped",
        ("", "apart"): "passed",
        ("costly", "apart"): "skipped",
    }
    assert found.headline.startswith(
        "2 plans, 10 expectations: 4 passed, 2 FAILED, 2 warning, 2 skipped"
    )


def test_a_drift_from_the_base_fails_and_its_fall_does_not(project: Path) -> None:
    file = project / "scenarios" / "tiny.yaml"
    for price, verdict in ((0.2, "FAILED"), (0.01, "passed")):
        text = (TINY + EXPECT).replace(
            "    utility_mw: 4\n", f"    utility_mw: 4\n    energy: {{usd_per_kwh: {price}}}\n"
        )
        file.write_text(text, encoding="utf-8")
        found = gates(GatesRequest(("scenarios",), base="git:main"), project / ".dcplan")
        assert verdicts(found)["", "drift"] == verdict
        row = next(
            r for r in found.tables["gates"].records() if r["id"] == "drift" and not r["variant"]
        )
        # energy is the tariff times the same MWh: the change in percent is that of the tariff
        before, after = float(str(row["base"])), float(str(row["observed"]))
        assert f"(is {100 * (after - before) / before:+.4g} %)" in str(row["limit"])


def test_what_is_new_has_no_base(project: Path) -> None:
    (project / "scenarios" / "new.yaml").write_text(
        TINY.replace("name: tiny", "name: new") + EXPECT, encoding="utf-8"
    )
    found = gates(GatesRequest(("scenarios/new.yaml",), base="git:main"), project / ".dcplan")
    row = next(
        r for r in found.tables["gates"].records() if r["id"] == "drift" and not r["variant"]
    )
    assert (row["result"], row["reason"]) == ("skipped", "new: not in git:main")


def test_only_what_changed_is_solved(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[str] = []
    real = kept.solve
    monkeypatch.setattr(
        kept, "solve", lambda w, before: solved.append(w.variant or "file") or real(w, before)
    )
    home, file = project / ".dcplan", project / "scenarios" / "tiny.yaml"
    first = gates(GatesRequest(("scenarios",)), home)
    assert sorted(solved) == ["costly", "file"]
    again = gates(GatesRequest(("scenarios",)), home)
    assert len(solved) == 2
    assert "2 from the store, 0 solved" in again.headline
    assert [r["observed"] for r in again.expectations] == [
        r["observed"] for r in first.expectations
    ]
    # a limit, a comment and the tariff of one variant: only that one's plan depends on any of them
    text = "# moved\n" + (TINY + EXPECT).replace("max: 5e6", "max: 9e6").replace(
        "usd_per_kwh: 0.3", "usd_per_kwh: 0.4"
    )
    file.write_text(text, encoding="utf-8")
    changed = gates(GatesRequest(("scenarios",)), home)
    assert solved[2:] == ["costly"]
    assert verdicts(changed)["", "cap"] == "passed"
    assert all(str(r["at"]).startswith("scenarios/tiny.yaml:") for r in changed.expectations)


def test_flags_for_moods(project: Path) -> None:
    home = project / ".dcplan"
    file = project / "scenarios" / "tiny.yaml"
    assert gates(GatesRequest(("scenarios",), exit_zero=True), home).exit_code == 0
    file.write_text((TINY + EXPECT).replace("max: 5e6", "max: 9e6"), encoding="utf-8")
    assert gates(GatesRequest(("scenarios",)), home).exit_code == 0
    assert gates(GatesRequest(("scenarios",), error_on_warning=True), home).exit_code == 1


def test_the_worst_ending_wins(project: Path) -> None:
    (project / "scenarios" / "full.yaml").write_text(
        TINY.replace("name: tiny", "name: full").replace("utility_mw: 4", "utility_mw: 0.1")
        + EXPECT,
        encoding="utf-8",
    )
    found = gates(GatesRequest(("scenarios",), exit_zero=True), project / ".dcplan")
    assert (found.exit_code, found.status) == (3, "infeasible")
    lost = [r for r in found.tables["gates"].records() if r["scenario"] == "scenarios/full.yaml"]
    assert {r["result"] for r in lost} == {"skipped"}
    assert {r["reason"] for r in lost} == {"no plan: infeasible"}


def test_unknown_metrics_and_bases_are_wrong_input(project: Path) -> None:
    file = project / "scenarios" / "tiny.yaml"
    file.write_text(
        (TINY + EXPECT)
        .replace("cost.capex_usd", "cost.capx_usd")
        .replace("against: costly", "against: cosy")
    )
    with pytest.raises(InputError) as error:
        gates(GatesRequest(("scenarios",)), project / ".dcplan")
    assert {p.code for p in error.value.problems} == {"DC040", "DC013"}
    assert 'did you mean "costly"?' in str(error.value)
    file.write_text(TINY + EXPECT)
    with pytest.raises(InputError, match="DC006"):
        gates(GatesRequest(("scenarios",), base="git:nowhere"), project / ".dcplan")
    with pytest.raises(InputError, match="DC013"):
        gates(GatesRequest(("scenarios",), variant="nothing"), project / ".dcplan")


@pytest.mark.parametrize(
    ("limits", "before", "after", "passed"),
    [
        ({"change_max": 5}, 10, 15, True),
        ({"change_max": 5}, 10, 15.1, False),
        ({"change_max": 5}, 10, -50, True),
        ({"change_min": -5}, 10, 5, True),
        ({"change_min": -5}, 10, 4.9, False),
        ({"change_pct_max": 50}, 10, 15, True),
        ({"change_pct_max": 50}, -10, -4, False),
        ({"change_pct_min": -50}, 10, 4, False),
        ({"change_pct_max": 5}, 0, 0, True),
        ({"change_pct_max": 5}, 0, 1, False),
        ({"max": 20, "change_max": 5}, 10, 15, True),
    ],
)
def test_changes(limits: dict[str, float], before: float, after: float, passed: bool) -> None:
    e = Expectation.model_validate({"id": "e", "metric": "m", **limits})
    [row] = evaluate([e], {"m": after}, {"base": {"m": before}})
    assert row["passed"] is passed


def test_check_of_a_folder_finds_everything_wrong_at_once(project: Path) -> None:
    assert check_all(["scenarios"]).headline == "2 plans in 1 scenarios: no error found"
    for name, old, new in (("a", "it_mw: 2", "it_mw: -2"), ("b", "dgx-h200", "dgx-h20")):
        (project / "scenarios" / f"{name}.yaml").write_text(
            TINY.replace(old, new), encoding="utf-8"
        )
    with pytest.raises(InputError) as error:
        check_all(["scenarios"])
    assert {str(p.place).split(":")[0] for p in error.value.problems} == {
        "scenarios/a.yaml",
        "scenarios/b.yaml",
    }


def test_on_the_command_line(project: Path) -> None:
    ran: Ran = spawn("test", "scenarios", "--base", "git:main", "-f", "github", cwd=project)
    assert ran.code == 1
    assert ran.out.startswith("::error file=scenarios/tiny.yaml,line=")
    wrong = spawn("check", "nowhere.yaml", "-f", "github", cwd=project)
    assert (wrong.code, wrong.out.split("::")[1].split()[0]) == (2, "error")
    junit_refused = spawn("check", "scenarios", "-f", "junit", cwd=project)
    assert junit_refused.code == 2


def test_a_base_without_figures_is_no_base(project: Path) -> None:
    """A plan that there is not has no cost of 0, from which everything grows for ever."""
    (project / "full.yaml").write_text(
        TINY.replace("utility_mw: 4", "utility_mw: 0.1"), encoding="utf-8"
    )
    found = gates(GatesRequest(("scenarios",), base="full.yaml"), project / ".dcplan")
    row = next(
        r for r in found.tables["gates"].records() if r["id"] == "drift" and not r["variant"]
    )
    assert (row["result"], row["reason"]) == ("skipped", "the base has no plan")
    (project / "broken.yaml").write_text("dcplan: 1\nname: [", encoding="utf-8")
    with pytest.raises(InputError, match="DC001"):
        gates(GatesRequest(("scenarios",), base="broken.yaml"), project / ".dcplan")


def test_one_variant_alone_is_judged_as_among_others(project: Path) -> None:
    file = project / "scenarios" / "tiny.yaml"
    text = (
        TINY
        + EXPECT
        + "  - {id: grown, metric: cost.energy_usd, change_pct_max: 1, against: file, when: costly}\n"
    )
    file.write_text(text, encoding="utf-8")
    alone = verdicts(gates(GatesRequest(("scenarios",), variant="costly"), project / ".dcplan"))
    assert (
        alone["costly", "grown"]
        == verdicts(gates(GatesRequest(("scenarios",)), project / ".dcplan"))["costly", "grown"]
        == "FAILED"
    )


def test_gates_that_are_gone_are_told(project: Path) -> None:
    file = project / "scenarios" / "tiny.yaml"
    file.write_text(
        (TINY + EXPECT).replace("  - {id: pue, metric: power.annual_pue, max: 2}\n", ""),
        encoding="utf-8",
    )
    found = gates(GatesRequest(("scenarios",), base="git:main"), project / ".dcplan")
    assert [w["message"] for w in found.warnings] == [
        "tiny.yaml: expectations of git:main that are removed: pue"
    ]
    assert "::warning title=dcplan (gone)::tiny.yaml: expectations" in github(found)


def test_an_infeasible_plan_is_no_green_tick(project: Path) -> None:
    file = project / "scenarios" / "tiny.yaml"
    file.write_text((TINY + EXPECT).replace("utility_mw: 4", "utility_mw: 0.1"), encoding="utf-8")
    found = gates(GatesRequest(("scenarios",)), project / ".dcplan")
    assert found.exit_code == 3
    assert "2 INFEASIBLE" in found.headline
    assert github(found).count("::error") == 2
    assert "cheapest tested remedy: " in github(found)
    root = Xml.fromstring(junit(found))  # noqa: S314 - our own text
    assert [s.get("errors") for s in root] == ["2"]


def test_a_file_that_changes_during_a_run_is_not_kept_under_its_old_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, home = project / "scenarios" / "tiny.yaml", project / ".dcplan"
    before, real = file.read_text(), kept.solve

    def meddled(wanted: Wanted, given: object) -> dict[str, object]:
        file.write_text(before.replace("[0, 20]", "[0, 100]"), encoding="utf-8")
        return real(wanted, given)

    monkeypatch.setattr(kept, "solve", meddled)
    with pytest.raises(InputError, match="changed during the run"):
        gates(GatesRequest(("scenarios",)), home)
    monkeypatch.setattr(kept, "solve", real)
    file.write_text(before, encoding="utf-8")
    assert "0 from the store" in gates(GatesRequest(("scenarios",)), home).headline


def test_kept_documents_that_are_none_are_made_anew(project: Path) -> None:
    home = project / ".dcplan"
    gates(GatesRequest(("scenarios",)), home)
    for path, text in zip(
        sorted((home / "plans").rglob("*.json")), ("{}", "[" * 5000), strict=True
    ):
        path.write_text(text)
    assert "0 from the store, 2 solved" in gates(GatesRequest(("scenarios",)), home).headline


@pytest.mark.parametrize("name", ["bom", "quoted"])
def test_a_folder_leaves_no_scenario_out(project: Path, name: str) -> None:
    text = "\ufeff" + TINY if name == "bom" else TINY.replace("dcplan: 1", '"dcplan": 1')
    (project / "scenarios" / "other.yaml").write_text(text, encoding="utf-8")
    os.mkfifo(project / "scenarios" / "pipe.yaml")
    (project / "scenarios" / "dead.yaml").symlink_to("nowhere")
    assert check_all(["scenarios"]).headline == "3 plans in 2 scenarios: no error found"
    with pytest.raises(InputError, match="DC013"):
        check_all(["scenarios"], variant="typo")


KNOWN = """
import sys
from pathlib import Path
from dcplan.study.regression.gates import gates
from dcplan.study.regression.request import GatesRequest
found = gates(GatesRequest(("scenarios",)), Path(".dcplan"))
assert "2 from the store, 0 solved" in found.headline, found.headline
print(sorted({"pyomo", "highspy", "scipy", "pandas", "matplotlib"} & set(sys.modules)))
"""


def test_known_plans_are_judged_without_the_solver(project: Path) -> None:
    gates(GatesRequest(("scenarios",)), project / ".dcplan")
    done = subprocess.run(
        [sys.executable, "-c", KNOWN], cwd=project, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_when_is_judged_by_plan_as_by_test(project: Path) -> None:
    """`plan --variant costly` is of that variant: what holds for it is asked, what holds for the
    file is not."""
    file = project / "scenarios" / "tiny.yaml"
    limits = "".join(
        f"  - {{id: {i}, metric: cost.npv_usd, max: 1, when: {w}}}\n"
        for i, w in (("here", "costly"), ("there", "file"))
    )
    file.write_text(
        TINY + EXPECT.split("expect:", maxsplit=1)[0] + "expect:\n" + limits, encoding="utf-8"
    )
    rows = {e["id"]: e["passed"] for e in plan(str(file), variant="costly").expectations}
    assert rows == {"here": False, "there": None}
    assert {e["id"]: e["passed"] for e in plan(str(file)).expectations} == {
        "here": None,
        "there": False,
    }


@pytest.mark.parametrize(("limit", "passed"), [(20.0, None), (5.0, False)])
def test_what_was_not_compared_has_not_passed(limit: float, passed: bool | None) -> None:
    e = Expectation.model_validate({"id": "e", "metric": "m", "max": limit, "change_max": 1})
    [row] = evaluate([e], {"m": 10.0})
    assert row["passed"] is passed
    assert row["reason"].startswith("no base")


def test_a_change_of_the_command_line_is_compared_with_the_unchanged_base(project: Path) -> None:
    """Energy at 0.3 instead of the site's price: the drift of energy cost is above 5 %."""
    change = {"sites.s.energy.usd_per_kwh": 0.3}
    asked = GatesRequest(
        ("scenarios",), "git:main", sets=tuple(f"{k}={v}" for k, v in change.items())
    )
    result = gates(asked, project / ".dcplan")
    assert verdicts(result)["", "drift"] == "FAILED"
    plain = gates(GatesRequest(("scenarios",), "git:main"), project / ".dcplan")
    assert verdicts(plain)["", "drift"] == "passed"
    words = ("--set", "sites.s.energy.usd_per_kwh=0.3", "--base", "git:main")
    ran = spawn("test", "scenarios", *words, cwd=project)
    assert ran.code == 1
    assert "FAIL" in ran.out


def test_junit_has_the_seconds_of_each_plan_and_none_of_a_stored_one(project: Path) -> None:
    for known in (False, True):
        result = gates(GatesRequest(("scenarios",)), project / ".dcplan")
        (suite,) = Xml.fromstring(junit(result)).iter("testsuite")  # noqa: S314 - our own text
        cases = [float(case.attrib["time"]) for case in suite.iter("testcase")]
        assert (float(suite.attrib["time"]) == 0.0) is known
        assert sum(cases) == pytest.approx(float(suite.attrib["time"]), abs=0.002)
        assert sum(seconds > 0 for seconds in cases) == (0 if known else 2)  # a case for each plan
