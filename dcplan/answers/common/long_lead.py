"""Equipment of power and cooling with long lead times, from the catalog."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.catalog.schema import Parameter
from dcplan.catalog.schema.base import SourceText
from dcplan.inputs.log import InputLog

CONNECTION_LEAD = ("substation-transformer", "power-transformer")
"""Equipment of the utility connection, whose date the scenario gives."""
HALL_LEAD = ("switchgear", "generator", "pad-transformer", "chiller", "ups", "distribution")
"""Equipment of a new hall."""


@dataclass(frozen=True)
class LeadTime:
    """Weeks from the order to the delivery."""

    weeks: float
    low_weeks: float
    high_weeks: float
    source: SourceText


def lead_time(equipment: str, log: InputLog) -> LeadTime:
    """Return the lead time of one kind of equipment with its bounds and source."""
    key = f"lead-{equipment}-weeks"
    row = log.catalog.get("facility", key, Parameter)
    return LeadTime(log.parameter("facility", key), *row.value.bounds, row.source)
