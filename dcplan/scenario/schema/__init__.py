"""The scenario schema (Pydantic v2, unknown fields are errors)."""

from __future__ import annotations

from dcplan.scenario.schema.assets import Asset, Existing, HardwareLease, Order
from dcplan.scenario.schema.demand import Capacity, Demand, Reference
from dcplan.scenario.schema.expectation import Expectation
from dcplan.scenario.schema.jobs import Job, PostTrainingJob, ScheduledJob
from dcplan.scenario.schema.places.energy import Matching, PowerContract
from dcplan.scenario.schema.places.hall import Hall, Upgrade
from dcplan.scenario.schema.places.links import Link
from dcplan.scenario.schema.places.site import Interruptible, Onsite, Site
from dcplan.scenario.schema.queue import Queued
from dcplan.scenario.schema.reliability import Reliability
from dcplan.scenario.schema.service import Inference
from dcplan.scenario.schema.top import Finance, Horizon, Scenario, demand_path, job_path
from dcplan.scenario.schema.uncertainty import Hedge, Uncertainty
from dcplan.scenario.schema.work import Cloud, Fleet, GivenFabric, Storage, Supply

__all__ = [
    "Asset",
    "Capacity",
    "Cloud",
    "Demand",
    "Existing",
    "Expectation",
    "Finance",
    "Fleet",
    "GivenFabric",
    "Hall",
    "HardwareLease",
    "Hedge",
    "Horizon",
    "Inference",
    "Interruptible",
    "Job",
    "Link",
    "Matching",
    "Onsite",
    "Order",
    "PostTrainingJob",
    "PowerContract",
    "Queued",
    "Reference",
    "Reliability",
    "Scenario",
    "ScheduledJob",
    "Site",
    "Storage",
    "Supply",
    "Uncertainty",
    "Upgrade",
    "demand_path",
    "job_path",
]
