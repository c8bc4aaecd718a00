"""Changes of dates: later deadlines, and starts, halls, power and deliveries that are earlier."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dcplan.answers.plan.headline import counted
from dcplan.answers.remedies.amounts import joined
from dcplan.answers.remedies.change import Change, Move
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import ScheduledJob, job_path
from dcplan.scenario.set_keys import key_of
from dcplan.units import DAYS_PER_QUARTER, quarter_index, quarter_name

LONGER = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Sizes of a later ``deadline_days`` to try, relative to the present one."""


def time_moves(question: Question) -> list[Move]:
    """Return every change of a date that could help; the model has no such limits.

    The largest size of a change in quarters is tried first: where it gives no plan, no smaller one
    does.
    """
    return [
        *(move for job in question.scenario.workloads.jobs for move in _of_job(job, question)),
        *_halls(question),
        *_power(question),
        *_deliveries(question),
    ]


def site_moves(question: Question) -> list[Move]:
    """Return the earlier power of a site together with each of its halls that is late."""
    power = {_site(move): move for move in _power(question)}
    found = []
    for hall in _halls(question):
        own = power.get(_site(hall))
        if own is not None:
            both_moves = sorted((hall, own), key=lambda move: -move.ladder[0])
            found.append(joined(both_moves))
    return found


def _site(move: Move) -> object:
    """Return the position of the site that a move changes."""
    change = move.change(1.0)
    return None if change is None else change.paths[0][1]


def _of_job(job: ScheduledJob, question: Question) -> Iterator[Move]:
    """Yield later deadlines and an earlier start of a job."""
    at = job_path(job.id, question.scenario)
    first, end = _horizon(question)
    if job.deadline_days is not None:
        yield _days_move(job.id, job.deadline_days.value, (*at, "deadline_days"), question)
    if job.deadline is not None:
        now = quarter_index(job.deadline)
        yield from _quarters_move(
            end - 1 - now,
            (*at, "deadline"),
            question,
            lambda n: (quarter_name(now + n), f"deadline of {job.id} {_quarters(n)} later"),
        )
    if job.start is not None:
        begin = quarter_index(job.start)
        yield from _quarters_move(
            begin - first,
            (*at, "start"),
            question,
            lambda n: (quarter_name(begin - n), f"start of {job.id} {_quarters(n)} earlier"),
        )


def _days_move(job: str, given: float, path: Path, question: Question) -> Move:
    """Return the move of a deadline in days, in steps of one day up to the horizon."""
    most = question.scenario.horizon.quarters * DAYS_PER_QUARTER
    key = key_of(path, question.scenario)

    def change(size: float) -> Change:
        days = math.floor(given) + max(math.ceil(given * size), 1)
        text = f"deadline_days of {job}: {days} days instead of {given:g} days"
        return Change((f"{key}={days}",), text, (path,))

    ladder = tuple(x for x in LONGER if given * (1.0 + x) <= most)
    return Move(change, ladder, screened=True)


def _halls(question: Question) -> Iterator[Move]:
    first, _ = _horizon(question)
    for i, site in enumerate(question.scenario.sites):
        for j, hall in enumerate(site.halls):
            if hall.available_from is None:
                continue
            yield from _earlier(
                quarter_index(hall.available_from),
                first,
                ("sites", i, "halls", j, "available_from"),
                question,
                f"hall {site.id}/{hall.id} available",
            )


def _power(question: Question) -> Iterator[Move]:
    """Yield the power of each site earlier, if it grows."""
    quarters = question.scenario.horizon.quarters
    for i, site in enumerate(question.scenario.sites):
        values = [x.value for x in site.utility_mw]
        rises = [t for t in range(1, len(values)) if values[t] > values[t - 1]]
        if not rises:
            continue
        name = site.id
        yield from _quarters_move(
            min(rises[-1], quarters - 1),
            ("sites", i, "utility_mw"),
            question,
            lambda n, name=name: (  # type: ignore[misc]  # the loop variable is bound now
                f"shift({-n})",
                f"every energization of {name} {_quarters(n)} earlier",
            ),
        )


def _deliveries(question: Question) -> Iterator[Move]:
    """Yield shorter lead times and earlier first deliveries of systems."""
    first, _ = _horizon(question)
    for i, entry in enumerate(question.scenario.supply):
        lead = entry.lead_quarters
        if lead is not None:
            yield from _lead(i, entry.system, lead, question)
        if entry.from_quarter is not None:
            begin = quarter_index(entry.from_quarter)
            path = ("supply", i, "from")
            yield from _earlier(begin, first, path, question, f"first delivery of {entry.system}")


def _lead(i: int, system: str, now: int, question: Question) -> Iterator[Move]:
    yield from _quarters_move(
        now,
        ("supply", i, "lead_quarters"),
        question,
        lambda n: (
            str(now - n),
            f"lead time of {system}: {_quarters(now - n)} instead of {_quarters(now)}",
        ),
        dated=False,
    )


def _earlier(now: int, first: int, path: Path, question: Question, what: str) -> Iterator[Move]:
    """Yield a date that is earlier by up to the quarters since the start of the horizon."""
    yield from _quarters_move(
        now - first,
        path,
        question,
        lambda n: (quarter_name(now - n), f"{what} {_quarters(n)} earlier"),
    )


def _quarters_move(
    most: int,
    path: Path,
    question: Question,
    step: Callable[[int], tuple[str, str]],
    *,
    dated: bool = True,
) -> Iterator[Move]:
    """Yield a move of up to ``most`` quarters; ``step`` gives value and words of n quarters."""
    if most < 1:
        return
    key = key_of(path, question.scenario)

    def change(size: float) -> Change:
        value, text = step(min(math.ceil(size), most))
        named = f" ({value})" if dated and not value.startswith("shift") else ""
        return Change((f"{key}={value}",), f"{text}{named}", (path,))

    yield Move(change, (float(most),))


def _horizon(question: Question) -> tuple[int, int]:
    """Return the index of the first quarter, and of the quarter after the last."""
    horizon = question.scenario.horizon
    first = quarter_index(horizon.start)
    return first, first + horizon.quarters


def _quarters(n: int) -> str:
    return counted(n, "quarter")
