"""SARIF 2.1.0 for code scanning: errors of scenarios and failed expectations, with their lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from dcplan import __version__
from dcplan.errors import CODES, MEANINGS, Problem
from dcplan.report.ci import conflicts, place_of, plans_without_answer, summary_line
from dcplan.result import Result

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
EXPECTATION = "expectation"
NO_PLAN = "no-plan"
RULES = {
    EXPECTATION: (
        "a metric is outside the limit of `expect:`",
        "The plan has a value that the scenario does not allow. `dcplan explain METRIC` describes it.",
    ),
    NO_PLAN: (
        "the scenario has no plan",
        "It is infeasible, or no plan was found in time. `dcplan plan FILE` shows the reason.",
    ),
} | {code: (CODES[code], MEANINGS[code]) for code in CODES}
"""Rule -> its title and what to do."""
LEVELS = {"error": "error", "warn": "warning", "warning": "warning"}
Finding = tuple[str, str, str, str]
"""Rule, level, place as ``file:line:col``, and text."""


def sarif_of_problems(problems: Iterable[Problem]) -> str:
    """Return input errors as a SARIF log."""
    return _log(
        (
            p.code,
            LEVELS[p.severity],
            str(p.place or ""),
            "; ".join(x for x in (p.cause, p.hint, p.help) if x),
        )
        for p in problems
    )


def sarif(result: Result) -> str:
    """Return failed expectations, missing plans and their reasons as a SARIF log.

    Notes have no line and are not in it.
    """
    return _log(_findings(result))


def _findings(result: Result) -> Iterator[Finding]:
    for e in result.expectations:
        if e["passed"] is False:
            text = f"{e['id']}: {summary_line(e)}"
            yield EXPECTATION, LEVELS[str(e["severity"])], str(e.get("at") or ""), text
    for row in plans_without_answer(result):
        yield NO_PLAN, "error", f"{row['scenario']}:1:1", str(row["answer"])
    for code, at, text in conflicts(result):
        yield code, "error", at, text


def _log(findings: Iterable[Finding]) -> str:
    """Return the log; a finding without a line is at the first line of its file."""
    found = list(findings)
    used = sorted({rule for rule, *_ in found})
    rules = [
        {"id": rule, "shortDescription": {"text": RULES[rule][0]}, "help": {"text": RULES[rule][1]}}
        for rule in used
    ]
    results = [
        {
            "ruleId": rule,
            "ruleIndex": used.index(rule),
            "level": level,
            "message": {"text": text},
            "locations": [_location(at)],
        }
        for rule, level, at, text in found
    ]
    driver = {"name": "dcplan", "version": __version__, "rules": rules}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _location(at: str) -> dict[str, Any]:
    file, line, column = place_of(at)
    region = {"startLine": max(line, 1), "startColumn": max(column, 1)}
    where = {"uri": quote(file or "."), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": where, "region": region}}
