"""Rows of Slurm's accounting, from ``sacct --json``: the layouts of its data_parser versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.logs.sacct import EXPORT, SlurmRows
from dcplan.inputs.logs.traps import Trap, lacking

TAG = re.compile(r"v?0\.0\.(\d+)")
OLDEST, NEWEST = 37, 44
"""Layouts that the reader knows: dbv0.0.37 (Slurm 21.08) to v0.0.44 (25.11)."""


def read_sacct_json(path: str, data: Any, rows: SlurmRows) -> int:
    """Read the jobs of ``sacct --json``; return their number. A row is the position of its job.

    From v0.0.39 on a number is an object {set, infinite, number}, from v0.0.40 on the state is a
    list; a job is read by what it holds, so that both layouts give the same row. Steps inside a job
    are not runs.

    Raises
    ------
    InputError
        When the file has no jobs, or no job has accelerators in a form that is known.
    """
    jobs = data.get("jobs") if isinstance(data, dict) else None
    if not isinstance(jobs, list):
        cause = "no list of jobs: this is not the output of sacct --json"
        raise InputError([Problem("DC057", cause, Place(path), help=EXPORT)])
    tag = _tag(data.get("meta"))
    match = TAG.search(tag)
    if match is None or not OLDEST <= int(match[1]) <= NEWEST:
        rows.found.add(Trap.SCHEMA_UNKNOWN, 1, Place(path), tag or "no data_parser")
    taken: list[dict[str, str]] = []
    lines: list[int] = []
    for i, job in enumerate(jobs, 1):
        try:
            taken.append(_row(job))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            rows.found.bad(path, i, f"job {i} of the list {lacking(error)}", EXPORT)
            continue
        lines.append(i)
    if taken:
        rows.take({name: [row[name] for row in taken] for name in taken[0]}, lines, path)
    return len(jobs)


def _tag(meta: Any) -> str:
    """Return the name of the layout."""
    fields = meta if isinstance(meta, Mapping) else {}
    plugin = fields.get("plugin") or fields.get("plugins")
    if not isinstance(plugin, Mapping):
        return ""
    return str(plugin.get("data_parser") or plugin.get("type") or "")


def _value(field: Any) -> str:
    """Return a plain number, or that of {set, infinite, number}; empty without one."""
    if isinstance(field, Mapping):
        if field.get("infinite"):
            return "UNLIMITED"
        return str(field["number"]) if field.get("set") else ""
    return "" if field is None else str(field)


def _moment(field: Any) -> str:
    """Return a time; 0 is none."""
    text = _value(field)
    return "" if text in ("0", "0.0", "UNLIMITED") else text


def _row(job: Mapping[str, Any]) -> dict[str, str]:
    """Return a job as the cells that ``sacct -P`` would print."""
    time, state = job["time"], job["state"]
    current = state["current"]
    number = job["job_id"]
    user = job.get("user") or (job.get("association") or {}).get("user")
    suspended = time.get("suspended")
    if isinstance(suspended, Mapping) and "seconds" in suspended:
        suspended = suspended["seconds"]
    planned = time.get("planned")
    return {
        "jobid": _id(job, number),
        "jobidraw": str(number),
        "cluster": str(job.get("cluster") or ""),
        "partition": str(job.get("partition") or ""),
        "user": str(user or ""),
        "qos": str(job.get("qos") or ""),
        "state": str(current[0] if isinstance(current, list) else current),
        "reason": str(state.get("reason") or ""),
        "sluid": str(job.get("sluid") or ""),
        "submit": _moment(time["submission"]),
        "eligible": _moment(time.get("eligible")),
        "start": _moment(time["start"]),
        "end": _moment(time["end"]),
        "elapsedraw": _value(time.get("elapsed")),
        "planned": _value(planned),
        "suspended": _value(suspended),
        "timelimitraw": _value(time.get("limit")),
        "priority": _value(job.get("priority")),
        "nnodes": _value(job.get("allocation_nodes")),
        "nodelist": str(job.get("nodes") or ""),
        "reqnodes": "",
        "restarts": _value(job.get("restart_cnt")),
        "reqtres": _tres(job["tres"].get("requested")),
        "alloctres": _tres(job["tres"].get("allocated")),
        "submitline": str(job.get("submit_line") or ""),
    }


def _id(job: Mapping[str, Any], number: int) -> str:
    array, het = job.get("array") or {}, job.get("het") or {}
    leader = int(_value(het.get("job_id")) or 0)
    if leader:
        return f"{leader}+{_value(het.get('job_offset')) or 0}"
    leader = int(_value(array.get("job_id")) or 0)
    if not leader:
        return str(number)
    if array.get("task"):
        return f"{leader}_[{array['task']}]"
    task = _value(array.get("task_id"))
    return f"{leader}_{task}" if task else str(number)


def _tres(entries: Any) -> str:
    """Return {type, name, count} entries as a TRES text."""
    return ",".join(
        f"{e['type']}{'/' + e['name'] if e.get('name') else ''}={e['count']}"
        for e in entries or ()
        if e["type"] == "gres"
    )
