"""Output for CI services: JUnit XML, and GitHub annotations of faulty lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from dcplan.errors import Problem
from dcplan.report.text.numbers import limits_text, observed_text, printable
from dcplan.result import Result

MOST = 10
"""Largest number of annotations of one kind that GitHub shows for a step."""


def junit(result: Result) -> str:
    """Return expectations as JUnit XML.

    There is one suite per scenario and one case per expectation; warnings are output.
    """
    suites = Xml.Element("testsuites", name="dcplan")
    by: dict[str, list[Mapping[str, Any]]] = {}
    for e in result.expectations:
        by.setdefault(str(e["scenario"]), []).append(e)
    without_plan = plans_without_answer(result)
    for plan in without_plan:
        by.setdefault(str(plan["scenario"]), [])
    times = _seconds(result)
    for name, rows in by.items():
        own = [plan for plan in without_plan if plan["scenario"] == name]
        failed = [e for e in rows if e["passed"] is False and e["severity"] == "error"]
        skipped = [e for e in rows if e["passed"] is None]
        suite = Xml.SubElement(
            suites,
            "testsuite",
            name=_xml(name),
            tests=str(len(rows) + len(own)),
            failures=str(len(failed)),
            errors=str(len(own)),
            skipped=str(len(skipped)),
            time=f"{sum(s for (scenario, _), s in times.items() if scenario == name):.3f}",
        )
        for row in rows:
            seconds = times.pop((name, str(row.get("variant") or "")), 0.0)
            _case(suite, name, row, seconds)
        for plan in own:
            case = Xml.SubElement(
                suite,
                "testcase",
                classname=_xml(name),
                name=_xml(f"plan {plan['variant']}".strip()),
            )
            Xml.SubElement(case, "error", message=_xml(str(plan["answer"])))
    Xml.indent(suites)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, encoding="unicode") + "\n"
    )


def _seconds(result: Result) -> dict[tuple[str, str], float]:
    """Return the seconds of each plan, by scenario and variant; 0 for a stored plan."""
    plans = result.run.get("plans", ())
    return {(str(p["scenario"]), str(p["variant"])): float(p["seconds"]) for p in plans}


def _case(suite: Xml.Element, name: str, e: Mapping[str, Any], seconds: float) -> None:
    """Add one expectation; the first one of a plan has the time of the plan."""
    title = f"{e['id']} [{e['variant']}]" if e.get("variant") else str(e["id"])
    file, line, _ = place_of(str(e.get("at") or ""))
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=_xml(name),
        name=_xml(title),
        file=_xml(file),
        line=str(line),
        time=f"{seconds:.3f}",
    )
    if e["passed"] is None:
        Xml.SubElement(case, "skipped", message=_xml(str(e["reason"])))
    elif not e["passed"]:
        text = _xml(summary_line(e))
        if e["severity"] == "error":
            Xml.SubElement(case, "failure", message=text).text = _xml(str(e.get("note") or ""))
        else:
            Xml.SubElement(case, "system-out").text = text


def plans_without_answer(result: Result) -> list[dict[str, Any]]:
    """Return the scenarios without a plan: infeasible, or not found in time."""
    table = result.tables.get("plans")
    return (
        [dict(r) for r in table.records() if r["status"] not in ("ok", "expectation_failed")]
        if table
        else []
    )


def summary_line(e: Mapping[str, Any]) -> str:
    """Return an expectation and its observed value in one line."""
    observed = "" if e["observed"] is None else f" = {observed_text(e)}"
    owner = f" (owner: {e['owner']})" if e.get("owner") else ""
    asked = f", expected {limits_text(e)}" if e["limit"] else ""
    return f"{e['metric']}{observed}{asked}{owner}" + (f": {e['note']}" if e.get("note") else "")


def github(result: Result) -> str:
    """Return failed expectations as GitHub annotations, errors first, then a line for the log."""
    failed = [e for e in result.expectations if e["passed"] is False]
    lines: list[str] = []
    for kind, severity in (("error", "error"), ("warning", "warn")):
        rows = [e for e in failed if e["severity"] == severity]
        lines += [
            _note(kind, str(e["id"]), str(e.get("at") or ""), summary_line(e)) for e in rows[:MOST]
        ]
        lines += [f"… and {len(rows) - MOST} more"] * (len(rows) > MOST)
    lines += [
        _plain(f"skipped {e['scenario']} {e['id']}: {e['reason']}")
        for e in result.expectations
        if e["passed"] is None
    ]
    lines += [
        _note("error", str(row["status"]), f"{row['scenario']}:1:1", str(row["answer"]))
        for row in plans_without_answer(result)
    ][:MOST]
    lines += [
        _note("warning", str(w["code"]), "", str(w["message"]))
        for w in result.warnings
        if w["code"] == "gone"
    ]
    lines += [_note("error", *found) for found in conflicts(result)][:MOST]
    return "\n".join([*lines, _plain(result.headline)]) + "\n"


def conflicts(result: Result) -> Iterator[tuple[str, str, str]]:
    """Yield code, place and text of each reason for infeasibility, of one scenario or of many."""
    names = {"conflict": ("place", "cause", "remedy"), "checked": ("at", "finding", "help")}
    for table, (place, cause, remedy) in names.items():
        for row in result.tables[table].records() if table in result.tables else ():
            if row.get("code"):
                text = "; ".join(str(x) for x in (row[cause], row[remedy]) if x)
                yield str(row["code"]), str(row[place] or ""), text


def problem_notes(problems: Iterable[Problem]) -> str:
    """Return input errors as GitHub annotations."""
    found = list(problems)
    lines = [
        _note(
            "error",
            p.code,
            str(p.place or ""),
            "; ".join(x for x in (p.cause, p.hint, p.help) if x),
        )
        for p in found[:MOST]
    ]
    return "\n".join([*lines, *[f"… and {len(found) - MOST} more"] * (len(found) > MOST)]) + "\n"


def _note(kind: str, title: str, at: str, text: str) -> str:
    """Return one annotation; its text cannot end it or start another.

    Examples
    --------
    >>> _note("error", "a,b", "x.yaml:3:5", "50 % more" + chr(10) + "::error::forged")
    '::error file=x.yaml,line=3,col=5,title=dcplan (a%2Cb)::50 %25 more%0A::error::forged'
    """
    file, line, column = place_of(at)
    where = [f"file={_property(file)}", f"line={line}", f"col={column}"] if file and line else []
    return f"::{kind} {','.join([*where, f'title=dcplan ({_property(title)})'])}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plain(text: str) -> str:
    """Return a line of the log that the runner cannot read as a command.

    This holds for any name of a scenario.
    """
    return printable(text).replace("::", ": :").replace("##[", "# #[")


def place_of(at: str) -> tuple[str, int, int]:
    """Return file relative to the working folder, line and column.

    Examples
    --------
    >>> place_of("a.yaml:3:5"), place_of("--set x")
    (('a.yaml', 3, 5), ('--set x', 0, 0))
    """
    parts = at.rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
        file = os.path.relpath(parts[0]) if os.path.isabs(parts[0]) else parts[0]  # noqa: PTH117 - text, not a file
        return file, int(parts[1]), int(parts[2])
    return at, 0, 0


def _xml(text: str) -> str:
    """Return text without characters that XML does not allow."""
    return printable(text)
