"""Every exit code, seen from outside by a real process."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan.result import from_dict
from dcplan.specs.no_plan import REMEDIES
from tests.cli.conftest import TINY, Ran, spawn

BOOM = """\
import sys
import dcplan.answers.plan.answer as answers

def boom(*arguments, **keywords):
    raise RuntimeError("the injected fault")

answers.plan = boom
from dcplan.__main__ import main
main()
"""


def test_plan_of_the_main_example_exits_0(train_405b: tuple[Ran, Path]) -> None:
    ran, _ = train_405b
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["exit_code"] == 0


def test_failed_expectation_exits_1_and_prints_the_plan(tmp_path: Path) -> None:
    # 20 PFLOP/s delivered at 0.6 use from 989 TFLOP/s chips needs > 33 of them at any MFU below 1:
    # > USD 1 M of capex
    expect = "expect:\n  - {id: cheap, metric: cost.capex_usd, max: 1e6, owner: finance}\n"
    (tmp_path / "dear.yaml").write_text(TINY + expect, encoding="utf-8")
    ran = spawn("plan", "dear.yaml", "-q", cwd=tmp_path)
    assert ran.code == 1, ran.err
    assert ran.out.startswith("tiny: ")
    assert "FAIL cheap: cost.capex_usd" in ran.out
    assert "(owner: finance)" in ran.out


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "tiny.yaml", "--gap", "0.1", "--gap=0.2"),
        ("plan", "tiny.yaml", "-f", "json", "--format", "csv"),
        ("fabric", "--nodes", "4", "--nodes", "5"),
        ("catalog", "list", "-f", "csv", "-f", "json"),
    ],
)
def test_an_option_with_one_value_is_refused_if_it_is_given_twice(
    here: Callable[..., Ran], words: tuple[str, ...]
) -> None:
    ran = here(*words)
    assert ran.code == 2
    assert " takes one value and is given 2 times; give it once" in " ".join(ran.err.split())
    assert ran.out == ""


@pytest.mark.usefixtures("tiny")
def test_lists_and_switches_add_up(here: Callable[..., Ran], tmp_path: Path) -> None:
    words = ("--export", "csv", "--export", "md,json", "-o", "out", "-q", "-q")
    assert here("plan", "tiny.yaml", *words).code == 0
    assert {"csv", "tiny.md", "tiny.json"} <= {x.name for x in (tmp_path / "out").iterdir()}


def test_failed_warning_expectation_exits_0(here: Callable[..., Ran], tiny: Path) -> None:
    expect = "expect:\n  - {id: cheap, metric: cost.capex_usd, max: 1e6, severity: warn}\n"
    tiny.write_text(TINY + expect, encoding="utf-8")
    ran = here("plan", "tiny.yaml", "-q")
    assert ran.code == 0, ran.err
    assert "warn cheap: cost.capex_usd" in ran.out


def test_layout_that_does_not_fit_exits_1_and_names_one_that_does(here: Callable[..., Ran]) -> None:
    # 405e9 weights and gradients at 2 + 4 bytes over 8 of 512 ranks: 304 GB of 80
    asked = ("train", "llama-3.1-405b", "--system", "dgx-h100", "-n", "512", "--tokens", "1e12")
    ran = here(*asked, "--global-batch-tokens", "8388608", "--layout", "tp=8", "-f", "json")
    assert ran.code == 1, ran.err
    document = json.loads(ran.out)
    assert (document["status"], document["exit_code"]) == ("does_not_fit", 1)
    assert "too much; nearest layout that fits: tp=" in document["headline"]


def test_wrong_layout_exits_2_with_every_reason(here: Callable[..., Ran]) -> None:
    asked = ("train", "llama-3.1-70b", "--system", "dgx-h100", "-n", "512", "--tokens", "1e12")
    ran = here(*asked, "--layout", "tp=3,pp=2,vpp=99,ep=2")
    assert (ran.code, ran.out) == (2, "")
    for part in (
        "--layout: error[DC052]",
        "tp 3 does not divide",
        "pp x vpp = 198",
        "the model has no experts",
    ):
        assert part in ran.err


def test_wrong_file_exits_2_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        TINY.replace("utility_mw: 4", "utilty_mw: 4"), encoding="utf-8"
    )
    ran = spawn("plan", "bad.yaml", cwd=tmp_path)
    assert ran.code == 2
    assert ran.out == ""
    assert "bad.yaml:7:5: error[DC002]" in ran.err  # line 7 of TINY, column of the key
    assert 'did you mean "utility_mw"?' in ran.err


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("plan", "no-such-file.yaml"), ("no-such-file.yaml", "DC006")),
        (("plan", "tiny.yaml", "--nope"), ("No such option", "--nope")),
        (("plan", "tiny.yaml", "--set", "sites.s.utility_mw"), ("DC014", "expected key=value")),
        (
            ("plan", "tiny.yaml", "--set", "sites.s.utilty_mw=3"),
            ("DC0", 'did you mean "utility_mw"'),
        ),
        (
            ("plan", "tiny.yaml", "--set", "systems=[dgx-h20]"),
            ("DC010", 'did you mean "dgx-h200"?'),
        ),
        (("plan", "tiny.yaml", "--variant", "late"), ("DC013", "late")),
        (("plan", "tiny.yaml", "--gap", "-1"), ("--gap", "a number from 0 is needed")),
        (
            ("train", "llama-3.1-70b", "--system", "dgx-h10", "-n", "8", "--tokens", "1e9"),
            ("DC010", '"dgx-h100"'),
        ),
        (("train", "llama-3.1-70b", "--precision", "fp9"), ("DC050", "fp9")),
        (("train", "llama-3.1-70b", "--precision", "bf16,fp88"), ("DC050", 'did you mean "fp8"')),
        (("train", "llama-3.1-70b", "--stack", "nemoo"), ("DC010", "nemoo")),
        (("train", "llama-3.1-70b", "--list", "0"), ("--list", "a whole number from 1")),
        (
            ("train", "llama-3.1-70b", "--usd-per-accelerator-hour", "-1"),
            ("--usd-per-accelerator-hour",),
        ),
        (
            ("serve", "llama-3.1-70b", "--system", "dgx-h10", "--isl", "8", "--osl", "8"),
            ("DC010", 'did you mean "dgx-h100"?'),
        ),
        (
            (
                "serve",
                "llama-3.1-405b",
                "--system",
                "dgx-h100",
                "-n",
                "1",
                "--isl",
                "8",
                "--osl",
                "8",
            ),
            ("DC032", "does not fit", "-n "),
        ),
        (("serve", "llama-3.1-70b", "--rate", "0"), ("--rate", "a number from")),
        (("validate", "--group-by", "stak"), ("DC050", 'did you mean "stack"')),
        (("validate", "--runs", "tiny.yaml"), ("tiny.yaml:1:1", "DC053", "columns missing")),
        (("catalog", "show", "dgx-h10"), ("DC010", 'did you mean "dgx-h100"?')),
        (("catalog", "list", "sytems"), ("DC010", 'did you mean "systems"?')),
        (("show", "tiny.yaml"), ("tiny.yaml", "not a dcplan result")),
        (("plan", "tiny.yaml", "--fix-decisions", "absent.json"), ("absent.json", "DC006")),
        (("plan", "tiny.yaml", "--catalogs", "no-such-folder"), ("no-such-folder",)),
    ],
)
def test_wrong_request_exits_2_and_says_what(
    here: Callable[..., Ran], tiny: Path, arguments: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    ran = here(*arguments)
    assert ran.code == 2, ran.err
    assert ran.out == ""
    for part in shown:
        assert part in ran.err
    assert "Traceback" not in ran.err


def test_unknown_id_in_set_is_named_as_an_id_of_that_list(
    here: Callable[..., Ran], tiny: Path
) -> None:
    ran = here("plan", "tiny.yaml", "--set", "sites.q.utility_mw=3")
    assert ran.code == 2
    assert "prices" not in ran.err  # the key has nothing to do with prices
    assert "'q'" in ran.err or '"q"' in ran.err


def test_unknown_metric_in_expect_exits_2_with_its_place(
    here: Callable[..., Ran], tiny: Path
) -> None:
    tiny.write_text(TINY + "expect:\n  - {id: a, metric: cost.npw_usd, max: 1}\n", encoding="utf-8")
    line = TINY.count("\n") + 2
    ran = here("check", "tiny.yaml")
    assert ran.code == 2
    assert (
        f"tiny.yaml:{line}:21: error[DC040]" in ran.err
    )  # 20 characters stand before the metric's name
    assert 'did you mean "cost.npv_usd"?' in ran.err


def test_demand_above_supply_exits_3_without_solving(here: Callable[..., Ran], tiny: Path) -> None:
    # at most 40 racks x 4 servers x 8 x 0.989 PFLOP/s dense BF16 (H200) < 1266 PFLOP/s
    ran = here("plan", "tiny.yaml", "--set", "workloads.capacity.r.pflops_delivered=[0, 1266]")
    assert ran.code == 3, ran.err
    assert "Why there is no plan" in ran.out
    assert "DC030" in ran.out
    assert "lower the demand" in ran.out
    assert "saved to .dcplan" in ran.err
    kept = json.loads(Path(".dcplan/tiny.json").read_text(encoding="utf-8"))
    assert (kept["status"], kept["exit_code"]) == ("infeasible", 3)
    assert kept["tables"]["conflict"]["rows"]


def test_budget_far_too_small_is_proved_infeasible_and_exits_3(tmp_path: Path, tiny: Path) -> None:
    ran = spawn("plan", "tiny.yaml", "--set", "finance.budget_usd=1000", cwd=tmp_path)
    assert ran.code == 3, ran.err
    first = ran.out.splitlines()[0]
    assert "proved infeasible" in first
    kept = json.loads((tmp_path / ".dcplan" / "tiny.json").read_text(encoding="utf-8"))
    assert kept["exit_code"] == 3
    assert kept["solver"]["status"] == "infeasible"
    found = REMEDIES.rows(from_dict(kept).tables["remedies"])
    assert f"cheapest tested remedy: {found[0].change}" in first
    assert any(row.change.startswith("budget: ") for row in found)


def test_the_named_remedy_allows_a_plan(here: Callable[..., Ran], tiny: Path) -> None:
    poor = ("--set", "finance.budget_usd=1000")
    refused = here("plan", "tiny.yaml", "-f", "json", "-q", *poor)
    found = REMEDIES.rows(from_dict(json.loads(refused.out)).tables["remedies"])
    remedy = next(row for row in found if row.change.startswith("budget: "))
    allowed = here("plan", "tiny.yaml", "-q", *poor, *shlex.split(remedy.options))
    assert allowed.code == 0, allowed.err
    # the natural step of a budget is 1 M USD: one step less is not enough
    usd = float(remedy.options.partition("=")[2])
    less = here("plan", "tiny.yaml", "-q", "--set", f"finance.budget_usd={usd - 1e6}")
    assert less.code == 3


def test_bug_exits_70_without_a_traceback(tmp_path: Path, tiny: Path) -> None:
    ran = spawn("plan", "tiny.yaml", cwd=tmp_path, program=("-c", BOOM))
    assert ran.code == 70
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert "this is a bug in dcplan: RuntimeError: the injected fault" in ran.err
    assert "--debug" in ran.err


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyError, ZeroDivisionError])
def test_bug_exits_70_with_a_traceback_on_debug(
    here: Callable[..., Ran], tiny: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    import dcplan.answers.plan.answer as answers

    def boom(*_: object, **__: object) -> None:
        raise error("the injected fault")

    monkeypatch.setattr(answers, "plan", boom)
    quiet, loud = here("plan", "tiny.yaml"), here("plan", "tiny.yaml", "--debug")
    assert (quiet.code, loud.code) == (70, 70)
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err
    assert "the injected fault" in loud.err


def test_ctrl_c_outside_a_solve_exits_130(
    here: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dcplan.study import checks

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checks, "check", pressed)
    ran = here("check", "train-405b-in-90-days")
    assert ran.code == 130
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("command", "reader"),
    [("catalog list accelerators", "head -1"), ("schema catalog", "true"), ("--help", "true")],
)
def test_a_closed_pipe_is_no_error(tmp_path: Path, command: str, reader: str) -> None:
    # `true` ends before dcplan has written anything, so the write always meets a closed pipe
    line = f"set -o pipefail; {sys.executable} -m dcplan {command} | {reader}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


TOO_DEAR = "expect:\n  - {id: cheap, metric: cost.capex_usd, max: 1e6}\n"


@pytest.mark.parametrize("reader", ["cat", "true"])
@pytest.mark.parametrize(
    ("flags", "expect", "code"),
    [("", "", 0), ("-f json", TOO_DEAR, 1), ("--set finance.budget_usd=1000", "", 3)],
)
def test_a_closed_pipe_keeps_the_exit_code(
    tiny: Path, reader: str, flags: str, expect: str, code: int
) -> None:
    # `true` ends before the plan is written, so every write to stdout meets a closed pipe
    tiny.write_text(TINY + expect, encoding="utf-8")
    assert _piped(tiny, f"{flags} | {reader}") == (code, "")


def test_a_pipe_that_takes_both_streams_keeps_the_exit_code(tiny: Path) -> None:
    # after the answer, an infeasible plan writes to stderr where it was kept
    assert _piped(tiny, "--set finance.budget_usd=1000 2>&1 | true") == (3, "")
    assert (tiny.parent / ".dcplan" / "tiny.json").exists()


def _piped(file: Path, rest: str) -> tuple[int, str]:
    """Exit code of dcplan in a pipe, and what it wrote to stderr besides where the plan is kept."""
    line = f"set -o pipefail; {sys.executable} -m dcplan plan {file.name} -q {rest}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=file.parent, capture_output=True, check=False, timeout=120
    )
    said = [x for x in done.stderr.decode().splitlines() if not x.startswith("saved to ")]
    return done.returncode, "\n".join(said)


@pytest.mark.slow
def test_time_limit_before_the_gap_exits_4_and_keeps_what_there_is(tmp_path: Path) -> None:
    ran = spawn("plan", "three-site-build-out", "--time-limit", "0.1", cwd=tmp_path)
    assert ran.code == 4, ran.err
    assert "saved to .dcplan/three-site-build-out.json; continue with" in ran.err
    assert "continue with dcplan plan three-site-build-out --time-limit" in ran.err
    kept = json.loads(
        (tmp_path / ".dcplan" / "three-site-build-out.json").read_text(encoding="utf-8")
    )
    assert (kept["status"], kept["exit_code"]) == ("incomplete", 4)
    assert kept["solver"]["reproducible"] is False


def test_resume_command_repeats_the_question(
    here: Callable[..., Ran], tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dcplan.answers.plan.answer as answers
    from dcplan.result import Result

    cut = Result("plan", "incomplete", 4, "tiny: no plan yet", scenario={"name": "tiny"})
    monkeypatch.setattr(answers, "plan", lambda *_, **__: cut)
    ran = here(
        "plan", "tiny.yaml", "--set", "sites.s.utility_mw=3", "--gap", "0.001", "--time-limit", "30"
    )
    assert ran.code == 4
    command = next(line for line in ran.err.splitlines() if "; continue with " in line)
    assert "--set sites.s.utility_mw=3" in command
    assert "--gap 0.001" in command
    assert float(command.split("--time-limit ")[1].split()[0]) > 30


@pytest.mark.slow
@pytest.mark.parametrize("wait_s", [6.0, 25.0])
def test_ctrl_c_in_a_solve_exits_130_and_keeps_the_best_answer(
    tmp_path: Path, wait_s: float
) -> None:
    command = [
        sys.executable,
        "-m",
        "dcplan",
        "plan",
        "three-site-build-out",
        "--time-limit",
        "200",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
    ) as child:
        time.sleep(wait_s)
        assert child.poll() is None, "it ended before it was interrupted"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=150)
    assert child.returncode == 130, err.decode()
    assert b"Traceback" not in err
    kept = json.loads(
        (tmp_path / ".dcplan" / "three-site-build-out.json").read_text(encoding="utf-8")
    )
    assert (kept["status"], kept["exit_code"]) == ("interrupted", 130)
    assert kept["solver"]["reproducible"] is False
    assert out.decode().startswith("three-site-build-out: ")
    assert "no plan found" in kept["headline"] or kept["metrics"]["accelerators.total"]["value"] > 0
