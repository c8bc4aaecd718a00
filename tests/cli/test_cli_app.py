"""The command line starts fast: `--help` loads no library that it does not need."""

from __future__ import annotations

import pkgutil
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcplan import cli
from dcplan.cli.app import SUMMARIES, load
from tests.cli.conftest import spawn

HEAVY = (
    "pandas",
    "numpy",
    "scipy",
    "pyomo",
    "highspy",
    "pydantic",
    "pydantic_core",
    "yaml",
    "rich.console",
)


def imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(re.findall(r"^import time:[^|]*\|[^|]*\|\s*(\S+)$", done.stderr, flags=re.MULTILINE))


@pytest.mark.parametrize("arguments", [("-m", "dcplan", "--help"), ("-c", "import dcplan.cli.app")])
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    names = imported(*arguments)
    assert "typer" in names  # the listing was read
    assert sorted(n for n in names for h in HEAVY if n == h or n.startswith(h + ".")) == []


def test_importing_dcplan_imports_no_library_at_all() -> None:
    names = imported("-c", "import dcplan")
    assert "dcplan" in names
    assert sorted(names & {*HEAVY, "typer", "rich", "dcplan.answers"}) == []


def seconds(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True, timeout=60)
    return time.perf_counter() - began


def ratio_of_medians() -> float:
    pairs = [(seconds("-c", "pass"), seconds("-m", "dcplan", "--help")) for _ in range(5)]
    bare, help_ = (statistics.median(column) for column in zip(*pairs, strict=True))
    return help_ / bare


def test_help_takes_at_most_12_times_a_bare_python() -> None:
    # medians of five; a machine busy with other work gets three tries more, since the limit is
    # about dcplan alone; 8 measured since the module of a verb is imported when it is called
    tries: list[float] = []
    while len(tries) < 4 and (not tries or tries[-1] > 12):
        tries.append(ratio_of_medians())
    assert tries[-1] <= 12, tries


@pytest.mark.parametrize("verb", SUMMARIES)
def test_the_summary_of_a_verb_is_the_first_line_of_its_help(verb: str) -> None:
    assert (load(verb).help or "").splitlines()[0] == SUMMARIES[verb]


def test_every_module_with_a_command_is_a_verb() -> None:
    verbs = {m.name.rstrip("_") for m in pkgutil.iter_modules(cli.__path__)}
    helpers = {"app", "command", "complete", "exports", "options", "output"}
    assert verbs - helpers == set(SUMMARIES)


@pytest.mark.parametrize(
    "verb", ["plan", "diff", "test", "sweep", "frontier", "explain", "tco", "check"]
)
def test_every_verb_that_solves_takes_no_progress(verb: str) -> None:
    """A script gives the flag to all of them."""
    ran = spawn(verb, "--help", cwd=Path())
    assert "--no-progress" in ran.out
