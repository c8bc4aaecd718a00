"""``dcplan demand``: what recorded jobs waited for, and the accelerators that would keep their waits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dcplan.answers.demand.bills.answer import are_bills, bills_answer, refuse_bills_only
from dcplan.answers.demand.counters.answer import are_counters, counters_answer
from dcplan.answers.demand.incidents.answer import (
    are_incidents,
    incidents_answer,
    refuse_incidents_only,
)
from dcplan.answers.demand.jobs.answer import jobs_answer
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.requests import are_requests, refuse_requests_only, requests_answer
from dcplan.catalog.locate import data_dir
from dcplan.demand.log.jobs import JobLog
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.records.encoding import refuse_wide
from dcplan.result import Result
from dcplan.specs.verb import verb

EXAMPLES = "logs"
"""Folder of packaged logs."""


@dataclass(frozen=True)
class Demanded:
    """An answer with the block of workloads and the log that it came from."""

    result: Result
    block: str
    """Demand of a scenario as YAML; empty if there is none."""
    no_block: str
    """Why there is no demand of a scenario; empty if no cluster has a size."""
    log: JobLog | None
    """Jobs of the logs; None if they are requests to models."""


def demanded(request: DemandRequest) -> Demanded:
    """Read the logs and answer.

    Raises
    ------
    InputError
        When a log cannot be read, has no job with accelerators, or a flag does not fit the log.
    """
    request = replace(request, files=tuple(_found(f) for f in request.files))
    for file in request.counters:
        refuse_wide(file, "DC057")
    if are_bills(request):
        return Demanded(*bills_answer(request), None)
    refuse_bills_only(request)
    if are_incidents(request):
        return Demanded(*incidents_answer(request), None)
    refuse_incidents_only(request)
    if are_counters(request):
        return Demanded(counters_answer(request), "", "", None)
    if are_requests(request):
        return Demanded(*requests_answer(request), "", None)
    refuse_requests_only(request)
    return Demanded(*jobs_answer(request))


@dataclass
class DemandResult(Result):
    """An answer of ``demand``, with what a scenario takes of it."""

    block: str = ""
    """Demand or reliability of a scenario as YAML; empty if there is none."""
    no_block: str = ""
    """Why there is none."""

    def write_block(self, file: str | Path) -> Path:
        """Write the block to a file, which a scenario takes with ``extends:``.

        Raises
        ------
        InputError
            When there is no block (DC003), or the file cannot be written (DC006).
        """
        path = Path(file)
        if not self.block:
            cause = self.no_block or "there is no size, or no model for requests"
            raise InputError([Problem("DC003", cause, Place(str(path)))])
        try:
            path.write_text(self.block, encoding="utf-8")
        except OSError as error:
            cause = f"cannot write the file: {error.strerror}"
            raise InputError([Problem("DC006", cause, Place(str(path)))]) from error
        return path


@verb(DemandRequest, "demand")
def demand(request: DemandRequest) -> DemandResult:
    """Split the waits of recorded jobs and size the accelerators; or rate requests or incidents.

    Raises
    ------
    InputError
        When a log cannot be read, has no job with accelerators, or a flag does not fit the log.
    """
    found = demanded(request)
    return DemandResult(**vars(found.result), block=found.block, no_block=found.no_block)


def _found(path: Path) -> Path:
    """Return a file, or the packaged example of its name.

    Raises
    ------
    InputError
        When there is neither (DC006).
    """
    examples = data_dir("scenarios") / EXAMPLES
    example = examples / f"{path}.csv"
    if path.exists():
        refuse_wide(path, "DC057")
        return path
    if not path.suffix and example.is_file():
        return example
    near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
    near += [p.stem for p in examples.glob("*.csv")]
    hint = did_you_mean(path.name, near)
    raise InputError([Problem("DC006", "there is no such file", Place(str(path)), hint)])
