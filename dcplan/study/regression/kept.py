"""Stored plans by the digest of their inputs: solved once, read again while nothing changes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any

from dcplan.answers.common.result_blocks import describe
from dcplan.answers.diff.answer import leaves
from dcplan.engine.engines import DONE, Chain, Engine, Serial
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.provenance import Path
from dcplan.result import Result, from_dict
from dcplan.scenario.expect import check_metrics, evaluate
from dcplan.scenario.load import Question
from dcplan.study.digest import content_key
from dcplan.study.regression.request import Wanted
from dcplan.study.store import Store

FIRST_KEY = re.compile(r"[\"']?dcplan[\"']?\s*:|\{.*dcplan")
"""Pattern that identifies a scenario among YAML files."""
MOST_LINES = 100_000


@dataclass(frozen=True)
class Kept:
    """A plan, its question, and whether it was in the store."""

    wanted: Wanted
    question: Question
    result: Result
    known: bool


def solve(wanted: Wanted, before: object) -> dict[str, Any]:
    """Solve a plan and return its document; an engine runs this function."""
    # the solver takes a second to import, and most plans are in the store
    from dcplan.answers.plan.answer import plan

    answer = plan(
        wanted.scenario,
        variant=wanted.variant,
        sets=wanted.sets,
        catalogs=wanted.catalogs,
        gap=wanted.gap,
        time_limit_s=wanted.time_limit_s,
    )
    again = wanted.question()
    return {
        "key": _key(again, wanted),
        "inputs": answer.scenario["inputs_sha256"],
        "now": again.digest,
        "result": answer.as_dict(),
    }


def _key(question: Question, wanted: Wanted) -> str:
    return content_key(
        question,
        {"verb": "plan", "gap": wanted.gap, "time_limit_s": wanted.time_limit_s, "whole": True},
    )


def plans(
    asked: Sequence[Wanted], store: Store, engine: Engine | None = None, *, no_cache: bool = False
) -> dict[Wanted, Kept]:
    """Return every plan; plans that are not in the store are solved.

    Raises
    ------
    InputError
        With the problems of all scenarios.
    RuntimeError
        When a solve fails because of a bug.
    """
    questions: dict[Wanted, Question] = {}
    keys: dict[Wanted, str] = {}
    problems: list[Problem] = []
    for wanted in asked:
        try:
            question = wanted.question()
        except InputError as error:
            problems += error.problems
            continue
        problems += check_metrics(question.scenario, question.catalog, question.tree)
        questions[wanted] = question
        keys[wanted] = _key(question, wanted)
    if problems:
        raise InputError(dict.fromkeys(problems))
    found: dict[str, Mapping[str, Any]] = {}
    for key in set(keys.values()):
        document = None if no_cache else store.get(key)
        if document is not None and _readable(document):
            found[key] = document
    known = set(found)
    missing = {key: wanted for wanted, key in keys.items() if key not in found}
    runner = engine if engine is not None and len(missing) > 1 else Serial()
    for done in runner.run([Chain((wanted,)) for wanted in missing.values()], solve, lambda: False):
        if done.status != DONE:
            msg = f"{done.task.scenario}: {done.message}"
            raise RuntimeError(msg)
        if done.value["key"] != keys[done.task] or done.value["inputs"] != done.value["now"]:
            cause = "the file, or a file that it names, changed during the run"
            raise InputError(
                [Problem("DC006", cause, Place(done.task.scenario), help="run it again")]
            )
        document = done.value["result"]
        found[keys[done.task]] = document
        if _settled(document):
            store.put(keys[done.task], document)
    return {
        w: Kept(w, questions[w], _again(found[keys[w]], questions[w]), keys[w] in known)
        for w in questions
    }


def _settled(document: Mapping[str, Any]) -> bool:
    """Whether another run finds the same result; a search that a time limit ended is repeated."""
    return bool(
        document["status"] in ("ok", "expectation_failed", "infeasible")
        or document["solver"].get("ended")
    )


def _readable(document: Mapping[str, Any]) -> bool:
    """Whether a stored document is a valid result."""
    try:
        return from_dict(document).verb == "plan" and _settled(document)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _again(document: Mapping[str, Any], question: Question) -> Result:
    """Return a stored plan as the answer to a question, with current places and expectations."""
    result = from_dict(document)
    values = {k: m.value for k, m in result.metrics.items()}
    expectations = evaluate(question.scenario.expect, values, variant=question.variant)
    status, code = result.status, result.exit_code
    if status in ("ok", "expectation_failed"):
        failed = any(e["passed"] is False and e["severity"] == "error" for e in expectations)
        status, code = ("expectation_failed", EXIT_NO) if failed else ("ok", EXIT_OK)
    old, new = result.status.replace("_", " "), status.replace("_", " ")
    file, places = str(result.scenario.get("path")), leaves(question.tree)
    return replace(
        result,
        headline=result.headline.replace(f", {old} (gap", f", {new} (gap"),
        status=status,
        exit_code=code,
        expectations=expectations if result.metrics else [],
        scenario=describe(question),
        inputs=[_placed(row, question, file, places) for row in result.inputs],
    )


def _placed(
    row: Mapping[str, Any], question: Question, old: str, places: Mapping[str, tuple[Any, Path]]
) -> Mapping[str, Any]:
    """Return an input with its current place; its line may have moved."""
    at = str(row.get("at") or "")
    if not at.startswith(old + ":"):
        return row
    found = places.get(str(row["key"]))
    place = str(question.tree.place(found[1])) if found else str(question.file)
    return {**row, "at": place}


def scenario_files(folder: File) -> list[File]:
    """Return the scenario files in a folder, found by their first key; skip other YAML files."""
    found = []
    for path in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.yml"))):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if not path.is_file():
            continue
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            if any(FIRST_KEY.match(line) for line in itertools.islice(stream, MOST_LINES)):
                found.append(path)
    return found
