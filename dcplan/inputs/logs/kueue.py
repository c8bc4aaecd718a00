"""Runs from workloads of Kueue: the objects of ``kubectl get workloads -A -o json``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from dcplan.demand.log.jobs import JobLog, State, log_of
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.logs.cells import moments
from dcplan.inputs.logs.checks import note_gaps
from dcplan.inputs.logs.gres import Count, may_be_accelerator, names_accelerators, resources
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import Marks
from dcplan.inputs.logs.traps import Found, Trap, lacking
from dcplan.units import MILLI

VERSION = re.compile(r"kueue\.x-k8s\.io/(v1beta[12])")
FAILED = frozenset(("Failed", "AdmissionChecksRejected", "OutOfSync"))
EXPORT = "kubectl get workloads -A -o json"
QUANTITY = re.compile(r"(\d+)(m)?")
NAN = float("nan")
SAME_TOLERANCE = 1e-6


@dataclass(frozen=True)
class _Condition:
    holds: bool
    at_s: float
    because: str


Runs = dict[str, dict[str, Any]]
"""Last run of each workload by its identity."""


def read_kueue(path: str, data: Any, options: LogOptions, found: Found, runs: Runs) -> int:
    """Read the last runs of workloads; return the number of objects. A row is an object's position.

    The wait is from creation to the reservation of quota. A workload holds its accelerators until
    it is finished or deleted. Only its last run is known.

    Raises
    ------
    InputError
        When the file has no workloads.
    """
    items = data.get("items") if isinstance(data, dict) else None
    if items is None and isinstance(data, dict) and data.get("kind") == "Workload":
        items = [data]
    if not isinstance(items, list):
        cause = "no list of workloads"
        raise InputError([Problem("DC057", cause, Place(path), help=EXPORT)])
    workloads = finished = 0
    for i, item in enumerate(items, 1):
        place = Place(path, i)
        try:
            if item.get("kind", "Workload") != "Workload":
                found.add(Trap.OTHER_OBJECT, 1, place, str(item["kind"]))
                continue
            version = VERSION.fullmatch(str(item.get("apiVersion", "")))
            if version is None:
                found.add(Trap.SCHEMA_UNKNOWN, 1, place, str(item.get("apiVersion", "")))
            workloads += 1
            run = _run(item, options, found, place)
            key = str(item["metadata"].get("uid") or f"{run['user']}/{item['metadata']['name']}")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            found.bad(path, i, f"object {i} of the list {lacking(error)}", EXPORT)
            continue
        if key in runs:
            found.add(Trap.DUPLICATE, 1, place)
        runs[key] = {**run, "path": path, "line": i}
        finished += run["finished"]
    found.add(Trap.LAST_CONDITION, workloads, Place(path, 1))
    found.add(Trap.NO_FINISHED, int(workloads > 0 and not finished), Place(path, 1))
    return len(items)


def _conditions(status: Mapping[str, Any], *names: str) -> list[_Condition]:
    """Return the conditions of a workload by their names; a missing one does not hold."""
    given = {
        c["type"]: _Condition(
            c["status"] == "True", _time_s(c["lastTransitionTime"]), str(c.get("reason") or "")
        )
        for c in status.get("conditions") or ()
    }
    no = _Condition(holds=False, at_s=NAN, because="")
    return [given.get(name, no) for name in names]


def _ending(
    meta: Mapping[str, Any], reserved: _Condition, finished: _Condition
) -> tuple[float, State]:
    """Return when a workload ended and how: finished, deleted, or not yet.

    One that finished and never had its quota counts as canceled.
    """
    if finished.holds:
        if finished.because in FAILED:
            return finished.at_s, State.FAILED
        return finished.at_s, State.COMPLETED if reserved.holds else State.CANCELLED
    if meta.get("deletionTimestamp"):
        return _time_s(meta["deletionTimestamp"]), State.CANCELLED
    return NAN, State.RUNNING if reserved.holds else State.PENDING


def _run(
    item: Mapping[str, Any], options: LogOptions, found: Found, place: Place
) -> dict[str, Any]:
    """Return the last run of a workload.

    Raises
    ------
    KeyError, ValueError, TypeError, AttributeError
        When the object lacks a field, or one has the wrong type.
    """
    meta, spec, status = item["metadata"], item["spec"], item.get("status") or {}
    reserved, finished, evicted, requeued = _conditions(
        status, "QuotaReserved", "Finished", "Evicted", "Requeued"
    )
    admission = status.get("admission") or {}
    asked, held, per_node = _accelerators(spec, admission, options, found, place)
    submit = _time_s(meta["creationTimestamp"])
    start = reserved.at_s if reserved.holds else NAN
    eligible = submit
    if _evictions(status) or not isnan(evicted.at_s):
        found.add(Trap.EVICTED, 1, place, _past(status))
        times = [c.at_s for c in (evicted, requeued) if c.holds and not c.at_s > start]
        if times:
            submit = eligible = max(times)
        elif reserved.holds:
            found.add(Trap.READMITTED, 1, place)
            eligible = start
    end, state = _ending(meta, reserved, finished)
    if not finished.holds and state == State.CANCELLED:
        found.add(Trap.DELETED, 1, place)
    if held.total == 0.0 and asked.total == 0.0:
        _without(spec, held, found, place)
    elif isnan(start):
        found.add(Trap.NEVER_STARTED, 1, place)
    elif isnan(end):
        found.add(Trap.RUNNING, 1, place)
    if end < start:
        msg = "the end before the reservation of quota"
        raise ValueError(msg)
    because = evicted.because if evicted.holds else "" if reserved.holds else reserved.because
    return {
        "pool": str(admission.get("clusterQueue") or spec.get("queueName") or "all"),
        "user": str(meta.get("namespace") or ""),
        "reason": because,
        "submit_s": submit,
        "eligible_s": eligible if spec.get("active", True) or not isnan(start) else NAN,
        "start_s": start,
        "end_s": end,
        "accelerators": asked.total if isnan(start) else held.total,
        "requested": asked.total,
        "per_node": per_node,
        "limit_s": float(spec.get("maximumExecutionTimeSeconds") or NAN),
        "priority": float(spec["priority"]) if spec.get("priority") is not None else NAN,
        "state": int(state),
        "finished": finished.holds,
    }


def _without(spec: Mapping[str, Any], held: Count, found: Found, place: Place) -> None:
    """Count a workload that is left out."""
    if held.unknown:
        found.add(Trap.PARTITION_UNKNOWN, 1, place, ", ".join(held.names))
    elif held.others:
        found.add(Trap.GRES_UNKNOWN, 1, place, ", ".join(sorted({*held.others})))
    elif any(s["template"]["spec"].get("resourceClaims") for s in spec["podSets"]):
        found.add(Trap.DEVICE_CLAIM, 1, place)
    else:
        found.add(Trap.CPU_ONLY, 1, place)


def _accelerators(
    spec: Mapping[str, Any],
    admission: Mapping[str, Any],
    options: LogOptions,
    found: Found,
    place: Place,
) -> tuple[Count, Count, float]:
    """Return what a workload asks for, what it holds, and the most accelerators of a pod."""
    granted = {a["name"]: a for a in admission.get("podSetAssignments") or ()}
    asked, held, most = Count(), Count(), 0.0
    differs = False
    for pod_set in spec["podSets"]:
        pod = _pod(pod_set["template"]["spec"])
        one = resources(pod, options.mig_fractions)
        most = max(most, one.total)
        mine = granted.get(pod_set.get("name", "main"), {})
        counts = pod_set.get("count", 1), mine.get("count", pod_set.get("count", 1))
        asked, held = asked.plus(one, float(counts[0])), held.plus(one, float(counts[1]))
        devices = sum(n for name, n in pod.items() if names_accelerators(name)) * float(counts[1])
        usage = mine.get("resourceUsage") or {}
        quota = sum(_amount(a) for n, a in usage.items() if names_accelerators(n))
        differs |= bool(usage) and abs(quota - devices) > SAME_TOLERANCE
    if differs:
        found.add(Trap.QUOTA_DIFFERS, 1, place)
    if held.shares:
        found.add(Trap.PARTITION, 1, place)
    if held.unknown and held.total:
        found.add(Trap.PARTITION_UNKNOWN, 1, place, ", ".join(held.names))
    return asked, held, most or NAN


def _pod(spec: Mapping[str, Any]) -> dict[str, float]:
    """Return the resources of a pod: of its containers together, or of its largest first step."""
    total: dict[str, float] = {}
    for container in spec.get("containers") or ():
        for name, amount in _requests(container).items():
            total[name] = total.get(name, 0.0) + amount
    for container in spec.get("initContainers") or ():
        for name, amount in _requests(container).items():
            total[name] = max(total.get(name, 0.0), amount)
    return total


def _requests(container: Mapping[str, Any]) -> dict[str, float]:
    """Return devices that a container asks for; a limit without a request is the request."""
    asked = container.get("resources") or {}
    both = {**(asked.get("limits") or {}), **(asked.get("requests") or {})}
    found = {name: _amount(a) for name, a in both.items() if names_accelerators(name)}
    others = {name: str(a) for name, a in both.items() if may_be_accelerator(name)}
    whole = {name: _amount(a) if QUANTITY.fullmatch(a) else 1.0 for name, a in others.items()}
    return {**found, **whole}


def _amount(text: Any) -> float:
    """Return a quantity of accelerators: a whole number, or thousandths."""
    match = QUANTITY.fullmatch(str(text))
    if match is None:
        msg = f"quantity {text!r}"
        raise ValueError(msg)
    return float(match[1]) * (MILLI if match[2] else 1.0)


def _evictions(status: Mapping[str, Any]) -> float:
    listed = (status.get("schedulingStats") or {}).get("evictions") or ()
    requeues = (status.get("requeueState") or {}).get("count") or 0
    return sum(float(e.get("count") or 0) for e in listed) or float(requeues)


def _past(status: Mapping[str, Any]) -> str:
    """Return the time of earlier runs, where the object has it; v1beta1 misspells the field."""
    names = ("accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")
    past = next((status[n] for n in names if status.get(n)), None)
    return "" if past is None else f"{past} s of earlier runs of the first one"


def _time_s(text: str) -> float:
    found = moments([str(text)])
    if found.bad or found.local[0] or isnan(found.value_s[0]):
        msg = f"time {text!r}"
        raise ValueError(msg)
    return float(found.value_s[0])


def kueue_log(found_runs: Runs, found: Found) -> JobLog | None:
    """Return the table of runs; None when no workload has accelerators."""
    runs = [run for run in found_runs.values() if run["accelerators"] > 0.0]
    if not runs:
        return None
    paths = list(dict.fromkeys(r["path"] for r in runs))
    file = np.array([paths.index(r["path"]) for r in runs])
    marks = Marks(found, paths, file, np.array([r["line"] for r in runs]))
    note_gaps(np.array([r["submit_s"] for r in runs]), marks)
    names = {
        name: tuple(dict.fromkeys(r[name] for r in runs if r[name]))
        for name in ("pool", "user", "reason")
    }
    codes: dict[str, Any] = {
        name: [known.index(r[name]) if r[name] else -1 for r in runs]
        for name, known in names.items()
    }
    numbers = ("eligible_s", "requested", "per_node", "limit_s", "priority", "state")
    others: dict[str, Any] = {name: [r[name] for r in runs] for name in numbers}
    times = [r[k] for r in runs for k in ("submit_s", "start_s", "end_s") if not isnan(r[k])]
    last = max(times)
    busy = [(last if isnan(r["end_s"]) else r["end_s"]) - r["start_s"] for r in runs]
    return log_of(
        [r["submit_s"] for r in runs],
        [r["start_s"] for r in runs],
        [r["end_s"] for r in runs],
        [r["accelerators"] for r in runs],
        pools=names["pool"],
        users=names["user"],
        reasons=names["reason"],
        busy_s=busy,
        **codes,
        **others,
    )
