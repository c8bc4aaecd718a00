"""``dcplan init``: what it writes works, proved by running the workflow's own shell steps on a
branch."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import dcplan
from tests.cli.conftest import TINY, spawn
from tests.study.test_diff import git

EXPECT = """\
expect:
  - {id: cap, metric: cost.capex_usd, max: 7e6, owner: finance}
  - {id: drift, metric: cost.npv_usd, change_pct_max: 5, against: base}
"""
GH = """#!/bin/sh
echo "$@" >> "$CALLS"
while [ $# -gt 0 ]; do [ "$1" = --body-file ] && cat "$2" >> "$CALLS.body"; shift; done
"""


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """A clone of a repository whose main has a scenario; a branch makes power dearer and the hall
    larger."""
    origin = tmp_path / "origin"
    (origin / "scenarios").mkdir(parents=True)
    (origin / "scenarios" / "tiny.yaml").write_text(TINY + EXPECT, encoding="utf-8")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "first")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    clone = tmp_path / "clone"
    git(clone, "checkout", "-qb", "larger")
    text = (TINY + EXPECT).replace("it_mw: 2,", "it_mw: 6,")
    (clone / "scenarios" / "tiny.yaml").write_text(text, encoding="utf-8")
    git(clone, "commit", "-qam", "a larger hall")
    return clone


def environment(branch: Path, **more: str) -> dict[str, str]:
    """Of a runner: dcplan on the path, and a `gh` that writes down how it was called."""
    tools = branch.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name, text in (
        ("gh", GH),
        ("dcplan", f'#!/bin/sh\nexec {sys.executable} -m dcplan "$@"\n'),
    ):
        (tools / name).write_text(text)
        (tools / name).chmod((tools / name).stat().st_mode | stat.S_IXUSR)
    return {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "CALLS": str(branch.parent / "calls"),
        **more,
    }


def run(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "-eo", "pipefail", "-c", script]
    return subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_the_github_workflow_gates_a_change_and_reports_it(branch: Path) -> None:
    assert spawn("init", ".", "--ci", "github", cwd=branch).code == 0
    (branch / "scenarios" / "starter.yaml").unlink()
    workflow = yaml.safe_load((branch / ".github" / "workflows" / "dcplan.yml").read_text())
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    steps = {step["name"]: step for step in workflow["jobs"]["plan"]["steps"] if "name" in step}
    summary = branch.parent / "summary.md"
    env = environment(branch, BASE="main", GITHUB_STEP_SUMMARY=str(summary), PR="7")
    done = {
        name: run(steps[name]["run"], branch, env)
        for name in ("check", "test", "report", "comment")
    }
    assert {name: d.returncode for name, d in done.items()} == {
        "check": 0,
        "test": 1,
        "report": 0,
        "comment": 0,
    }, done
    # a hall three times as large is fitted out for three times as many kW: over the cap, and 5 %
    # beyond the base
    noted = [line for line in done["test"].stdout.splitlines() if line.startswith("::error")]
    assert ["dcplan (cap)" in noted[0], "dcplan (drift)" in noted[1], len(noted)] == [True, True, 2]
    assert "file=scenarios/tiny.yaml,line=" in noted[0]
    assert "sites.s.halls.h.it\\_mw" in summary.read_text()
    assert 'failures="2"' in (branch / "dcplan-junit.xml").read_text()
    assert "pr comment 7 --edit-last --create-if-none" in (branch.parent / "calls").read_text()
    assert (branch.parent / "calls.body").read_text() == (branch / "dcplan-diff.md").read_text()
    # what dcplan keeps is none of git's
    assert ".dcplan" not in git(branch, "status", "--porcelain")


def test_a_change_that_alters_no_plan_passes(branch: Path) -> None:
    spawn("init", ".", "--ci", "github", cwd=branch)
    (branch / "scenarios" / "starter.yaml").unlink()
    (branch / "scenarios" / "tiny.yaml").write_text(
        "# a word more\n" + TINY + EXPECT, encoding="utf-8"
    )
    workflow = yaml.safe_load((branch / ".github" / "workflows" / "dcplan.yml").read_text())
    steps = {step["name"]: step for step in workflow["jobs"]["plan"]["steps"] if "name" in step}
    summary = branch.parent / "summary.md"
    env = environment(branch, BASE="main", GITHUB_STEP_SUMMARY=str(summary))
    assert run(steps["test"]["run"], branch, env).returncode == 0
    assert run(steps["report"]["run"], branch, env).returncode == 0
    assert "no difference" in summary.read_text()


def test_the_gitlab_job_gates_a_change_and_reports_it(branch: Path) -> None:
    assert spawn("init", ".", "--ci", "gitlab", cwd=branch).code == 0
    (branch / "scenarios" / "starter.yaml").unlink()
    job = yaml.safe_load((branch / ".gitlab-ci.yml").read_text())["capacity-plan"]
    env = environment(branch, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    before = "\n".join(line for line in job["before_script"] if not line.startswith("pip "))
    assert run(before + "\n" + "\n".join(job["script"]), branch, env).returncode == 1
    assert run("\n".join(job["after_script"]), branch, env).returncode == 0
    assert 'failures="2"' in (branch / "dcplan-junit.xml").read_text()
    assert "it\\_mw" in (branch / "dcplan-diff.md").read_text()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    first = spawn("init", "new", "--example", "retrofit-air-hall", cwd=tmp_path)
    assert (first.code, "next: dcplan plan new/scenarios/retrofit-air-hall.yaml" in first.out) == (
        0,
        True,
    )
    written = {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()}
    assert {p.name for p in written} == {"retrofit-air-hall.yaml", "scenario.json"}
    again = spawn("init", "new", "--example", "retrofit-air-hall", "--ci", "github", cwd=tmp_path)
    assert again.code == 2
    assert "2 errors" in again.err
    assert {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()} == written
    assert spawn("init", "new", "--example", "retrofit-air-hall", "--force", cwd=tmp_path).code == 0
    assert spawn("check", "new/scenarios", cwd=tmp_path).code == 0


def test_init_starts_from_packaged_examples_alone(tmp_path: Path) -> None:
    for name in ("../../../etc/passwd", "/etc/passwd", "startr"):
        ran = spawn("init", "new", "--example", name, cwd=tmp_path)
        assert ran.code == 2
        assert "no packaged example" in ran.err
    assert 'did you mean "starter"' in ran.err
    assert not (tmp_path / "new").exists()


ACTION = Path(__file__).parents[2] / "action.yml"


def test_the_workflows_install_the_version_that_wrote_them(tmp_path: Path) -> None:
    for service, file in (("github", ".github/workflows/dcplan.yml"), ("gitlab", ".gitlab-ci.yml")):
        assert spawn("init", service, "--ci", service, cwd=tmp_path).code == 0
        text = (tmp_path / service / file).read_text()
        assert f'install "dcplan=={dcplan.__version__}"' in text
        assert "VERSION" not in text


def test_the_action_gates_a_change_and_reports_it(branch: Path) -> None:
    """The shell steps of action.yml run as a runner runs them; only the installation is left out."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    given = {name: spec["default"] for name, spec in action["inputs"].items()}
    given["base"] = "git:origin/main"
    output, summary = branch.parent / "output", branch.parent / "summary.md"
    done = {}
    for name in ("check", "test", "report"):
        values = {
            key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], text)
            for key, text in steps[name]["env"].items()
        }
        env = environment(branch, GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary))
        done[name] = run(steps[name]["run"], branch, env | values)
    assert {name: d.returncode for name, d in done.items()} == {"check": 0, "test": 1, "report": 0}
    assert output.read_text() == "exit-code=1\n"
    assert "::error file=scenarios/tiny.yaml" in done["test"].stdout
    found = json.loads((branch / "dcplan.sarif").read_text())["runs"][0]["results"]
    assert {x["ruleId"] for x in found} == {"expectation"}
    assert "failures=" in (branch / "dcplan-junit.xml").read_text()
    assert "it\\_mw" in summary.read_text()


def test_the_hook_checks_the_files_that_it_is_given(branch: Path) -> None:
    (hook,) = yaml.safe_load((ACTION.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    files = re.compile(hook["files"])
    assert files.search("scenarios/tiny.yaml")
    assert not files.search("docs/a.yaml")
    env = environment(branch)
    assert run(f"{hook['entry']} scenarios/tiny.yaml", branch, env).returncode == 0
    (branch / "scenarios" / "tiny.yaml").write_text("dcplan: 1\n", encoding="utf-8")
    assert run(f"{hook['entry']} scenarios/tiny.yaml", branch, env).returncode == 2
