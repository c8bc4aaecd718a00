"""Loads of services by quarter and hour of the week, and the periods of the week of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.catalog.schema import LoadShape
from dcplan.demand.periods import Array, Periods, periods_of, week_of
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.terms import part_id
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Inference
from dcplan.scenario.schema.service import UserRegion
from dcplan.units import SECONDS_PER_DAY, TOKENS_PER_KTOKEN

MOST_PERIODS = 6
"""Periods of the week in a plan at most; more hours with different loads are joined."""


@dataclass(frozen=True)
class ServiceLoad:
    """Load of a service, or of its users in one region."""

    id: str
    """Id of the service, or of its part for a region."""
    given: Inference
    region: UserRegion | None
    average: tuple[float, ...]
    """Mean load by quarter [1,000 output tokens/s]."""
    week: Array | None
    """Load by hour of the week in UTC over its mean, shape (168,); None if constant."""
    peak_factor: float
    """Peak within an hour over the mean of the hour."""
    room_frac: float
    """Share of the throughput in use at the peak, at most."""


def service_loads(
    given: Inference, question: Question, log: InputLog, output_tokens: float, trace_rate: float
) -> list[ServiceLoad]:
    """Return the loads of a service: one, or one for each region of its users.

    Parameters
    ----------
    given : Inference
        The service.
    question : Question
        The scenario.
    log : InputLog
        Log of the inputs.
    output_tokens : float
        Mean output tokens of a request; not used for a load in tokens.
    trace_rate : float
        Mean request rate of the trace [1/s]; not used if a load is given.
    """
    key = f"workloads.inference.{given.id}"
    average = _average(given, question, log, output_tokens, trace_rate)
    peak = log.take(f"{key}.peak_factor", given.peak_factor)
    room = log.take(f"{key}.utilization_frac", given.utilization_frac)
    shape = _shape(given, question, log)
    if not given.regions:
        week = week_of(shape, given.utc_offset_h) if shape else None
        return [ServiceLoad(given.id, given, None, average, week, peak, room)]
    found = []
    for region in given.regions:
        share = log.take(f"{key}.regions.{region.id}.share_frac", region.share_frac)
        week = week_of(shape, region.utc_offset_h) if shape else None
        own = tuple(share * x for x in average)
        name = part_id(given.id, region.id)
        found.append(ServiceLoad(name, given, region, own, week, peak, room))
    return found


def _average(
    given: Inference, question: Question, log: InputLog, output_tokens: float, trace_rate: float
) -> tuple[float, ...]:
    """Return the mean load by quarter [1,000 output tokens/s]."""
    key, quarters = f"workloads.inference.{given.id}", question.scenario.horizon.quarters
    field = given.load_field
    if field == "trace":
        return (trace_rate * output_tokens / TOKENS_PER_KTOKEN,) * quarters
    series = log.series(f"{key}.{field}", getattr(given, field), quarters)
    each = 1.0
    if field == "requests_per_s":
        each = output_tokens
    if field == "users" and given.requests_per_user_day is not None:
        daily = log.take(f"{key}.requests_per_user_day", given.requests_per_user_day)
        each = daily / SECONDS_PER_DAY * output_tokens
    return tuple(x * each / TOKENS_PER_KTOKEN for x in series)


def _shape(given: Inference, question: Question, log: InputLog) -> Sequence[float]:
    """Return the relative load by local hour: of the scenario, a catalog row, or none."""
    if given.shape is None:
        return ()
    if isinstance(given.shape, str):
        row = log.catalog.get("load_shapes", given.shape, LoadShape)
        return row.load_frac
    shape = [x.value for x in given.shape]
    try:
        week_of(shape)
    except ValueError as error:
        i = [x.id for x in question.scenario.workloads.inference].index(given.id)
        path = ("workloads", "inference", i, "shape")
        raise InputError([question.tree.problem("DC004", f"shape: {error}", path)]) from error
    return shape


def week_periods(loads: Sequence[ServiceLoad]) -> Periods | None:
    """Return the periods of the week of all loads with a shape, or None if all are constant."""
    shaped = [x for x in loads if x.week is not None]
    if not shaped:
        return None
    weeks = np.array([x.week for x in shaped])
    return periods_of(weeks, [max(x.average) for x in shaped], MOST_PERIODS)
