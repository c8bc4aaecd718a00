"""Logged jobs: what they waited for, the size that keeps a wait, and the demand of a scenario."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.demand.ahead import Ahead, ahead
from dcplan.answers.demand.block import block_of, why_no_block
from dcplan.answers.demand.clusters import Recording, clusters_of
from dcplan.answers.demand.counters import tables as counter_tables
from dcplan.answers.demand.counters.answer import metrics_of, tables_of
from dcplan.answers.demand.counters.counted import Counted, counted
from dcplan.answers.demand.jobs import tables, words
from dcplan.answers.demand.quotas import Quotas, quotas_of
from dcplan.answers.demand.recorded import jobs_row, outcome_rows
from dcplan.answers.demand.refusals import refuse_flags, refuse_log, refuse_shares
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import Sized, sized
from dcplan.answers.demand.steps import Reporter, Stage
from dcplan.demand.log.jobs import JobLog
from dcplan.errors import EXIT_INCOMPLETE, EXIT_OK, InputError, Place, Problem
from dcplan.inputs.logs.gres import Shares
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.read import ReadJobs, read_jobs
from dcplan.inputs.logs.traps import Trap
from dcplan.result import Metric, Result, Table
from dcplan.specs.demand import counters as counter_spec
from dcplan.specs.demand import jobs as job_spec
from dcplan.specs.demand import log as spec
from dcplan.specs.demand import sizes as size_spec
from dcplan.units import SECONDS_PER_DAY


def jobs_answer(request: DemandRequest) -> tuple[Result, str, str, JobLog]:
    """Return the answer, the demand of a scenario, why there is none if it is empty, and the jobs.

    Raises
    ------
    InputError
        When a log cannot be read, has no job with accelerators, or a flag does not fit the log.
    """
    refuse_flags(request)
    options = _options(request)
    reporter = Reporter(request.progress)
    reporter.say(Stage.READ)
    read = read_jobs(request.files, options)
    refuse_log(read)
    refuse_shares(options)
    log = read.log
    if not np.any(log.started):
        cause = "no job of these logs asks for accelerators and has started"
        raise InputError([Problem("DC057", cause, Place(str(request.files[0])))])
    seen = counted(request, log) if request.counters else None
    starts_known = all(f.kind is not Trap.NO_START for f in read.findings)
    reporter.say(Stage.WAITS)
    clusters = clusters_of(request, log, starts_known=starts_known)
    sizes = [sized(request, c) for c in clusters]
    then = [ahead(request, x) for x in sizes]
    result = _result(request, read, clusters, sizes, then)
    quotas = quotas_of(request, log, clusters, starts_known=starts_known)
    return (
        _with_use(result, quotas, seen),
        block_of(request, sizes, then, _source(request, read)),
        why_no_block(sizes, then),
        log,
    )


def _options(request: DemandRequest) -> LogOptions:
    shares: dict[str, float] = {}
    for text in request.mig:
        name, _, number = text.partition("=")
        try:
            shares[name] = float(number)
        except ValueError:
            shares[name] = -1.0
        if not name or not 0.0 < shares[name] <= 1.0:
            cause = f"{text!r}: a profile and a share up to 1 are needed, such as 1g.10gb=0.142857"
            raise InputError([Problem("DC051", cause, Place("--mig"))])
    return LogOptions(kind=request.kind, timezone=request.timezone, mig_fractions=Shares(shares))


def _result(
    request: DemandRequest,
    read: ReadJobs,
    clusters: tuple[Recording, ...],
    sizes: list[Sized],
    then: list[Ahead],
) -> Result:
    given = [x for x in sizes if x.accelerators is not None]
    waits = [tables.wait_row(c) for c in clusters]
    log = read.log
    days = float(log.submit_s[-1] - log.submit_s[0]) / SECONDS_PER_DAY
    metrics = spec.JOBS(len(log)) | spec.DAYS(days)
    if given:
        metrics |= size_spec.TOTAL(sum(x.accelerators or 0.0 for x in given))
    for row, found in zip(waits, sizes, strict=True):
        metrics |= _of_cluster(request, row, found)
    return Result(
        verb="demand",
        status="ok" if given else "incomplete",
        exit_code=EXIT_OK if given else EXIT_INCOMPLETE,
        headline=words.headline(request, waits, sizes),
        scenario={"demand": _saved(request)},
        metrics=metrics,
        tables={
            spec.FILES.name: spec.FILES.table(tables.file_rows(read.files)),
            spec.FINDINGS.name: spec.FINDINGS.table(tables.finding_rows(read)),
            spec.WAITS.name: spec.WAITS.table(waits),
            job_spec.JOB_SIZES.name: job_spec.JOB_SIZES.table(map(jobs_row, clusters)),
            job_spec.OUTCOMES.name: job_spec.OUTCOMES.table(
                r for c in clusters for r in outcome_rows(c)
            ),
            spec.REASONS.name: spec.REASONS.table(
                r for c in clusters for r in tables.reason_rows(c)
            ),
            size_spec.SIZES.name: size_spec.SIZES.table(map(tables.size_row, sizes)),
            size_spec.REPLAY.name: size_spec.REPLAY.table(
                r for x in sizes for r in tables.replay_rows(x)
            ),
            size_spec.SHORTAGE.name: size_spec.SHORTAGE.table(
                r for x in sizes for r in tables.shortage_rows(request, x)
            ),
            size_spec.AHEAD.name: size_spec.AHEAD.table(
                r
                for x, a in zip(sizes, then, strict=True)
                for r in tables.ahead_rows(request, x, a)
            ),
            size_spec.RULES.name: size_spec.RULES.table(
                r for x in sizes for r in tables.rule_rows(x)
            ),
        },
        warnings=[
            {"code": "demand", "message": text}
            for text in (*words.misleading(read.findings), *words.notes(log, clusters, sizes))
        ],
    )


def _with_use(result: Result, quotas: Quotas | None, seen: Counted | None) -> Result:
    """Return the answer with what quotas left idle, and with the use that counters show."""
    if quotas is not None:
        strands = counter_spec.STRANDED_BY_QUOTA
        more = {strands.name: strands.table(quotas.rows())}
        result = replace(
            result, metrics=result.metrics | quotas.metrics(), tables=result.tables | more
        )
    if seen is None:
        return result
    files, findings = result.tables[spec.FILES.name], result.tables[spec.FINDINGS.name]
    more = {
        **tables_of(seen),
        spec.FILES.name: _joined(files, spec.FILES.table(counter_tables.file_rows(seen))),
        spec.FINDINGS.name: _joined(
            findings, spec.FINDINGS.table(counter_tables.finding_rows(seen))
        ),
    }
    said = [{"code": "demand", "message": text} for text in counter_tables.notes(seen)]
    return replace(
        result,
        headline=f"{result.headline}; counters: {counter_tables.headline(seen)}",
        metrics=result.metrics | metrics_of(seen),
        tables=result.tables | more,
        warnings=[*result.warnings, *said],
    )


def _joined(one: Table, other: Table) -> Table:
    return replace(one, rows=(*one.rows, *other.rows))


def _of_cluster(request: DemandRequest, row: spec.WaitRow, found: Sized) -> dict[str, Metric]:
    name = row.cluster
    metrics = spec.OFFERED(tables.size_row(found).offered_accelerators, name)
    if row.short_frac is not None:
        metrics |= spec.CAPACITY_FRAC(words.capacity_frac(row), name)
        metrics |= spec.POLICY_FRAC(row.policy_frac, name)
    if found.fidelity is not None:
        metrics |= size_spec.FACTOR(found.factor, name)
    if found.accelerators is not None:
        low, high = found.interval or (None, None)
        metrics |= size_spec.ACCELERATORS(found.accelerators, name, low=low, high=high)
    priced = [r for r in tables.shortage_rows(request, found) if r.usd_per_week is not None]
    if priced:
        cheapest = min(priced, key=lambda r: r.usd_per_week or 0.0)
        metrics |= size_spec.CHEAPEST(cheapest.accelerators, name)
        metrics |= size_spec.CHEAPEST_USD(cheapest.usd_per_week, name)
    return metrics


def _saved(request: DemandRequest) -> dict[str, Any]:
    """Return the request as it is saved with the answer, without defaults."""
    default = DemandRequest(files=request.files)
    own = {k: v for k, v in vars(request).items() if k != "progress"}
    given = {k: v for k, v in own.items() if v != getattr(default, k)}
    files = [str(f) for f in request.files]
    lists = {k: [*map(_text, v)] if isinstance(v, tuple) else v for k, v in given.items()}
    return {"files": files, **lists}


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _source(request: DemandRequest, read: ReadJobs) -> str:
    """Return the comment at the top of the block: where its numbers come from."""
    lines = ["# Demand from logs, written by dcplan demand; a scenario takes it with extends:"]
    lines += [f"# {Path(f.path).name}, sha256 {f.sha256}" for f in read.files]
    target = f"{request.wait_quantile:.0%} of the jobs wait at most {request.wait_h:g} h"
    lines.append(f"# Target: {target}. P10 and P90: sizes with sampled weeks of the log.")
    return "\n".join(lines) + "\n"
