"""The scenario schema (Pydantic v2, unknown fields are errors)."""

from __future__ import annotations

from dcplan.scenario.schema.site import Hall, Interruptible, Onsite, Site
from dcplan.scenario.schema.top import Finance, Horizon, Scenario
from dcplan.scenario.schema.work import (
    Capacity,
    Cloud,
    Expectation,
    Fleet,
    GivenFabric,
    Job,
    Reliability,
    Storage,
    Supply,
)

__all__ = [
    "Capacity",
    "Cloud",
    "Expectation",
    "Finance",
    "Fleet",
    "GivenFabric",
    "Hall",
    "Horizon",
    "Interruptible",
    "Job",
    "Onsite",
    "Reliability",
    "Scenario",
    "Site",
    "Storage",
    "Supply",
]
