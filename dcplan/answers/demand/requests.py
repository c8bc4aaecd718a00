"""Logged requests to a model: rate, bursts, lengths, reuse of prompts, and the service of a scenario."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcplan.answers.demand.digits import short
from dcplan.answers.demand.request import DemandRequest
from dcplan.catalog.yaml12 import dump
from dcplan.demand.log.forecast import lead_quarters
from dcplan.demand.log.requests import Rate, rate_of, reused_frac
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.logs.checks import gaps, longest_gap
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.serving.traces import NAMES, Trace, read_trace
from dcplan.result import Result
from dcplan.specs.demand import requests as spec
from dcplan.specs.demand.log import FILES, FINDINGS, FileRow, FindingRow
from dcplan.specs.request import fields_of

KIND = "requests"
HEAD_BYTES = 65_536
"""Start of a file in which the names of its columns are."""
REMARK_GAP_H = 3.0
"""Pause between two requests that may be a gap of the export."""
REMARK_REQUESTS, REMARK_MEAN_S = 100, 60.0
"""Requests of a trace, and time between two of them, from which on the times may be milliseconds."""
REQUESTS_ONLY = frozenset(("model", "ttft_ms", "tpot_ms"))
JOBS_ONLY = frozenset(
    (
        *("timezone", "mig", "accelerators", "accelerators_per_node", "order", "quota", "loss_h"),
        *("cycle_s", "wait_h", "wait_quantile", "own_usd_per_accelerator_hour", "most_rented"),
        *("rent_usd_per_accelerator_hour", "draws", "seed", "start", "counters"),
    )
)
"""Flags that one kind of log does not use."""


def are_requests(request: DemandRequest) -> bool:
    """Return whether the logs are requests to models, by the flag or by the names of their columns."""
    if request.kind is not None:
        return request.kind == KIND
    try:
        with request.files[0].open("rb") as file:
            head = file.read(HEAD_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return False  # the reader of jobs reports the file
    return any(name in head.splitlines()[0] for name in NAMES["input"]) if head.strip() else False


def requests_answer(request: DemandRequest) -> tuple[Result, str]:
    """Return the answer and the service of a scenario; the service is empty without a model.

    Raises
    ------
    InputError
        When there is more than one file, it cannot be read, or the service lacks a limit.
    """
    file = request.files[0]
    if len(request.files) > 1:
        cause = "one trace of requests at a time: their times are not compared"
        raise InputError([Problem("DC050", cause, Place(str(request.files[1])))])
    limits = {"--ttft-ms": request.ttft_ms, "--tpot-ms": request.tpot_ms}
    lacking = [name for name, value in limits.items() if value is None]
    if request.model is not None and lacking:
        cause = f"a service with a model needs {' and '.join(lacking)}"
        raise InputError([Problem("DC003", cause, Place("--model"))])
    if request.model is not None and request.growth_frac_per_quarter is None:
        cause = "a log of requests shows no growth: a service of coming quarters needs it"
        problem = Problem("DC003", cause, Place("--model"), help="--growth-frac-per-quarter 0")
        raise InputError([problem])
    refuse(request, JOBS_ONLY, "only for logs of jobs")
    trace = read_trace(file, leave_out_failed=True)
    rate = rate_of(trace.arrivals_s)
    if not math.isfinite(rate.per_s):
        cause = f"all {len(trace.arrivals_s):,} requests have one time: their rate is unknown"
        raise InputError([Problem("DC055", cause, Place(str(file)))])
    reused = reused_frac(trace.block_hashes) if trace.block_hashes else None
    span_s = float(trace.arrivals_s[-1])
    metrics = spec.REQUESTS(len(trace.arrivals_s)) | spec.RATE(rate.per_s)
    metrics |= spec.PEAK_MINUTE(_known(rate.most))
    metrics |= spec.DISPERSION(_known(rate.dispersion)) | spec.PEAK(_known(rate.peak_frac))
    metrics |= spec.REUSED(reused)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    findings = _findings(trace, file)
    files = [FileRow(str(file), KIND, len(trace.arrivals_s), "0 s", f"{span_s:.0f} s", digest)]
    result = Result(
        verb="demand",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(trace, rate),
        scenario={"demand": {"files": [str(file)]}},
        metrics=metrics,
        tables={
            spec.LENGTHS.name: spec.LENGTHS.table(_lengths(trace, rate)),
            FILES.name: FILES.table(files),
            **({FINDINGS.name: FINDINGS.table(findings)} if findings else {}),
        },
        warnings=[
            {"code": "demand", "message": text}
            for text in (*_misleading(findings), *_warnings(request, span_s))
        ],
    )
    return result, _service(request, trace, rate, reused, digest) if request.model else ""


def refuse_requests_only(request: DemandRequest) -> None:
    """Refuse flags that logs of jobs do not use.

    Raises
    ------
    InputError
        With every such flag (DC050).
    """
    refuse(request, REQUESTS_ONLY, "only for logs of requests")


def refuse(request: DemandRequest, names: frozenset[str], why: str) -> None:
    """Refuse flags that another kind of log uses.

    Raises
    ------
    InputError
        With every flag of these names that is given (DC050).
    """
    given = [f for f in fields_of(DemandRequest) if f.name in names and not f.flag.python_only]
    given = [f for f in given if getattr(request, f.name) != f.default]
    if given:
        raise InputError([Problem("DC050", why, Place(f.spelled)) for f in given])


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _findings(trace: Trace, file: Path) -> tuple[FindingRow, ...]:
    """Return what a plain reading gets wrong."""
    return (*_failed(trace, file), *_gaps(trace, file), *_unit(trace, file))


def _failed(trace: Trace, file: Path) -> Iterator[FindingRow]:
    """Yield the requests that failed, counted."""
    if trace.failed:
        yield FindingRow(
            "failed-request",
            len(trace.failed),
            str(Place(str(file), trace.failed[0])),
            "requests of 0 output tokens",
            "left out: they failed",
        )


def _gaps(trace: Trace, file: Path) -> Iterator[FindingRow]:
    """Yield the pauses in which other weeks have requests, counted, as of a log of jobs."""
    found = gaps(trace.arrivals_s, REMARK_GAP_H)
    if not found:
        return
    at, detail = longest_gap(found, trace.arrivals_s)
    yield FindingRow(
        str(Trap.GAP),
        len(found),
        str(Place(str(file), int(trace.lines[at]))),
        f"pauses in which other weeks have requests: {detail}",
        "they count as time without requests; export them, or give the parts before and after apart",
    )


def _unit(trace: Trace, file: Path) -> Iterator[FindingRow]:
    """Yield a trace that is so slow that its times may be milliseconds."""
    times = trace.arrivals_s
    mean_s = float(times[-1]) / len(times)
    if len(times) >= REMARK_REQUESTS and mean_s > REMARK_MEAN_S and np.all(times % 1.0 == 0.0):
        yield FindingRow(
            "time-unit",
            len(times),
            str(Place(str(file), int(trace.lines[0]))),
            f"requests {mean_s:,.0f} s apart in whole numbers, as of milliseconds read as seconds",
            "read as seconds; name a column of milliseconds arrival_ms",
        )


def _headline(trace: Trace, rate: Rate) -> str:
    mean_in, mean_out = trace.input_tokens.mean(), trace.output_tokens.mean()
    bursts = (
        f"variance of a minute {rate.dispersion:,.3g} times that of requests at random"
        if math.isfinite(rate.dispersion)
        else "less than two minutes, so the bursts are unknown"
    )
    return (
        f"{rate.per_s:,.3g} requests/s of {mean_in:,.0f} input and {mean_out:,.0f} output tokens; "
        f"{bursts}"
    )


def _lengths(trace: Trace, rate: Rate) -> Iterator[spec.LengthRow]:
    for name, tokens in (("input", trace.input_tokens), ("output", trace.output_tokens)):
        p50, p95 = (float(x) for x in np.quantile(tokens, [0.5, 0.95], method="inverted_cdf"))
        mean = float(tokens.mean())
        yield spec.LengthRow(name, mean, p50, p95, float(tokens.max()), mean * rate.per_s)


def _misleading(findings: Sequence[FindingRow]) -> Iterator[str]:
    """Yield the findings after which the rate of the trace is not that of the service."""
    for f in findings:
        if f.finding != "failed-request":
            yield f"{f.count:,} {f.what} (first at {f.first_at}): {f.effect}"


def _warnings(request: DemandRequest, span_s: float) -> Iterator[str]:
    days = span_s / 86_400.0
    if days < 7.0:
        yield (
            f"the log has {days:.2g} days: it shows no week, so the load of other hours is unknown; "
            "give the service a shape and a peak_factor"
        )
    if request.model is None:
        yield (
            "give --model, --ttft-ms, --tpot-ms and --growth-frac-per-quarter for the service of a "
            "scenario (-o)"
        )


def _service(
    request: DemandRequest, trace: Trace, rate: Rate, reused: float | None, digest: str
) -> str:
    assert request.growth_frac_per_quarter is not None  # noqa: S101 - checked with the model
    growth = 1.0 + request.growth_frac_per_quarter
    name = "".join(c if c.isalnum() else "-" for c in request.files[0].stem).strip("-") or "service"
    lead = lead_quarters(0.0, float(trace.arrivals_s[-1]))
    rates = [short(rate.per_s * growth ** (lead + q)) for q in range(request.quarters)]
    service: dict[str, Any] = {
        "id": name,
        "model": request.model,
        "requests_per_s": rates if len(set(rates)) > 1 else rates[0],
        "isl": short(_mean(trace.input_tokens)),
        "osl": max(short(_mean(trace.output_tokens)), 2.0),
    }
    if math.isfinite(rate.peak_frac):
        service["peak_factor"] = short(rate.peak_frac)
    service["slo"] = {"ttft_ms": request.ttft_ms, "tpot_ms": request.tpot_ms}
    if reused:
        service["prefix_hit_frac"] = short(reused)
    source = f"# Requests of {request.files[0].name}, sha256 {digest}, read by dcplan demand\n"
    return source + dump({"workloads": {"inference": [service]}})


def _mean(tokens: npt.NDArray[np.int64]) -> float:
    return float(tokens.mean())
