"""``dcplan init``: five answers make a scenario that plans, on a terminal and in a script."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan.answers.reference.first_scenario import QUESTIONS, FirstAnswers, checked_answer
from dcplan.answers.reference.first_scenario import first_scenario as written
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.scenario.load import Question, load
from tests.cli.conftest import spawn

FIRST = "2027-Q1"


def question(folder: Path, given: FirstAnswers) -> Question:
    file = folder / "plan.yaml"
    file.write_text(written("p", given, load_catalog(), FIRST), encoding="utf-8")
    return load(str(file))


def test_the_answers_are_the_values_of_the_scenario(tmp_path: Path) -> None:
    """13 MW of utility power over 1.3 are 10 MW of IT power: 20 parts of 0.5 MW, and 10,000 kW over
    30 kW are 334 racks, in 20 parts of 17: 340."""
    given = FirstAnswers("us-columbus", "13", "train llama-3.1-70b 2e12", "2028-Q2", "50e6")
    scenario = question(tmp_path, given).scenario
    (site,), (job,) = scenario.sites, scenario.workloads.training
    (hall,) = site.halls
    assert (site.location, site.utility_mw[0].value) == ("us-columbus", 13)
    assert (hall.it_mw.value, hall.modules, hall.racks) == (10, 20, 340)
    assert (job.model, job.tokens.value, job.deadline) == ("llama-3.1-70b", 2e12, "2028-Q2")
    assert (scenario.horizon.start, scenario.horizon.quarters) == (FIRST, 6)  # to the deadline
    assert scenario.finance.budget_usd is not None
    assert scenario.finance.budget_usd[0].value == 50e6


def test_a_service_runs_for_two_years_from_its_quarter(tmp_path: Path) -> None:
    given = FirstAnswers(run="serve llama-3.1-70b 60", when="2027-Q3")
    scenario = question(tmp_path, given).scenario
    (service,) = scenario.workloads.inference
    assert scenario.horizon.quarters == 2 + 8
    assert service.requests_per_s is not None
    assert [q.value for q in service.requests_per_s][:4] == [0, 0, 60, 60]
    assert scenario.finance.budget_usd is None


@pytest.mark.parametrize("power", ["0.3", "1", "40", "1200"])
def test_every_size_can_be_built(tmp_path: Path, power: str) -> None:
    asked = question(tmp_path, FirstAnswers(power_mw=power, run="train llama-3.1-8b 1e12"))
    problem = build(asked).problem
    assert problem.placements
    assert problem.run_options


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("location", "us-ashbrn", 'did you mean "us-ashburn"?'),
        ("power_mw", "much", "a number from 0.1 to 10,000 MW is needed"),
        ("power_mw", "1_000", "a number from 0.1 to 10,000 MW is needed"),  # a text in YAML 1.2
        ("power_mw", "nan", "a number from 0.1 to 10,000 MW is needed"),
        ("run", "train", "`train MODEL TOKENS` or `serve MODEL REQUESTS_PER_S` is needed"),
        ("run", "train llama-3.1-405 1e12", 'did you mean "llama-3.1-405b"?'),
        ("run", "serve llama-3.1-8b -1", "a number above 0 is needed"),
        ("when", "soon", "a quarter such as 2027-Q1 is needed"),
        ("when", "2026-Q4", "a quarter from 2027-Q1 to 2035-Q1 is needed"),
        ("budget_usd", "0", "a number of USD above 0 is needed, or nothing"),
    ],
)
def test_a_wrong_answer_names_what_is_needed(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_answer(name, text, load_catalog(), FIRST)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["../own", "a b", "", "x: y"])
def test_a_name_is_that_of_a_file(name: str) -> None:
    with pytest.raises(InputError, match="letters and digits"):
        written(name, FirstAnswers(), load_catalog(), FIRST)


def test_a_script_gives_the_answers_as_flags(tmp_path: Path) -> None:
    words = ("--power-mw", "8", "--run", "train llama-3.1-8b 1e12", "--name", "own")
    ran = spawn("init", "new", *words, cwd=tmp_path)
    assert (ran.code, "next: dcplan plan new/scenarios/own.yaml" in ran.out) == (0, True)
    assert spawn("check", "new/scenarios/own.yaml", cwd=tmp_path).code == 0
    wrong = spawn("init", "x", "--power-mw", "a", "--run", "b", "--when", "c", cwd=tmp_path)
    assert (wrong.code, "3 errors" in wrong.err) == (2, True)
    both = spawn("init", "x", "--power-mw", "8", "--example", "starter", cwd=tmp_path)
    assert (both.code, "--power-mw would have no effect" in both.err) == (2, True)


@pytest.mark.slow
def test_a_terminal_asks_five_questions_and_the_scenario_plans(tmp_path: Path) -> None:
    """Every question is answered in turn; the wrong site is asked for again."""
    typed = ["us-ashbrn", "us-ashburn", "6", "train llama-3.1-8b 1e12", "", ""]
    said = at_terminal(["init", "new"], [f"{line}\n" for line in typed], tmp_path)
    assert 'did you mean "us-ashburn"?' in said
    assert all(text.split("?")[0] in said for text in QUESTIONS.values())
    ran = spawn("plan", "new/scenarios/my-plan.yaml", "--no-progress", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "run run takes" in ran.out


def at_terminal(words: list[str], typed: list[str], folder: Path) -> str:
    """Run a command on a terminal of its own and return what it shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dcplan", *words]
    with subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs) as run:
        os.close(theirs)
        os.write(ours, "".join(typed).encode())
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal closes with its last program
                break
            if not piece:
                break
            shown += piece
        assert run.wait(120) == 0, shown.decode()
    os.close(ours)
    return shown.decode()
