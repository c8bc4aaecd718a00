"""Candidates that are made once for equal inputs, and searches that are left out, change no problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dcplan.planning.problem.build import build
from dcplan.planning.problem.work.jobs.candidates import JobCandidates
from dcplan.planning.problem.work.jobs.paces import Asked, Paces
from dcplan.planning.problem.work.jobs.timelines import Timeline
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.scenario.load import Question, load
from tests.bench.instances import instance


@pytest.fixture
def question(tmp_path: Path) -> Question:
    """One site, eight quarters, six systems, three fabrics and a run, so that larger runs are tried."""
    file = tmp_path / "one.yaml"
    file.write_text(yaml.safe_dump(instance(1, 8, 6, 3, 2), sort_keys=False), encoding="utf-8")
    return load(str(file))


def test_layouts_above_the_first_short_run_change_no_problem(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    refine = Paces.refine

    def counted(self: Paces, chosen: Iterable[tuple[Asked, Iterable[int]]]) -> None:
        wanted = [(one, set(places)) for one, places in chosen]
        searched.append(sum(len(places) for _, places in wanted))
        refine(self, wanted)

    def every(
        self: JobCandidates, places: list[int], time: Timeline, target: Target, terms: JobTerms
    ) -> list[int]:
        return places

    monkeypatch.setattr(Paces, "refine", counted)
    short = build(question).problem
    monkeypatch.setattr(JobCandidates, "_unsure", every)
    whole = build(question).problem
    assert short.run_options == whole.run_options
    assert short.later == whole.later
    assert searched[0] < 0.6 * searched[1]


def test_a_changed_option_is_that_of_dataclasses(question: Question) -> None:
    run = build(question).problem.run_options[0]
    moved = run.changed({"place": "a/b", "accelerators": 64})
    assert moved == replace(run, place="a/b", accelerators=64)
    assert run.starting(5) == replace(run, start_month=5)
    early = {"end_days": run.ahead_days, "outlook": run.ahead_outlook}
    ahead = replace(run, start_month=5, lead_months=3)
    assert run.starting(5, 3) == replace(ahead, **early)  # type: ignore[arg-type]
