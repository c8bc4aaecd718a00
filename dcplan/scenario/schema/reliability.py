"""Failures, saves and recovery of jobs, and interruptions of their power."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import (
    EventHours,
    Fraction,
    Hours,
    NodeStops,
    NonNegative,
    Seconds,
    Slowdown,
    YearHours,
)
from dcplan.scenario.schema.base import Part, UnitShare, check_speed


class Reliability(Part):
    """Failure and recovery of jobs; missing fields come from ``catalogs/reliability``."""

    checkpoint: Literal["async", "blocking", "peer"] = "async"
    """Checkpoint method. async: copied to host memory and written in the background; peer: in
    addition, hosts keep copies for each other."""
    save_s: Seconds | None = None
    """Blocking time of a save. Default: computed from checkpoint size and write rate."""
    interval_s: Seconds | None = None
    """Training time between saves. Default: Daly's optimum."""
    restart_s: Seconds | None = None
    """Time from a stop to the next step, including detection and loading."""
    detection_s: Seconds | None = None
    """Time to notice and diagnose a failure. Default: `reliability/detection-h`."""
    stops_per_1000_node_days: NodeStops | None = None
    """Stop rate of one node, instead of the rates of its parts. A measured rate has the nodes with
    frequent failures in it, so it does not go with `lemon_nodes`."""
    replaced_frac: Fraction | None = None
    """Share of these stops after which the node is away for `repair_h`. Default: as for the parts."""
    spares: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    """Spare nodes of a job. Default: enough for 99% of the time."""
    pool_spares: bool = False
    """Whether the runs of one system in one hall of a plan share one set of spare nodes, enough for 99% of
    the time for all of them. Runs over several halls, runs that pause in interruptions, and layouts
    whose groups take several nodes keep spares of their own."""
    repair_h: Hours | None = None
    """Mean repair time of a failed node. Default: `reliability/node-repair-h`."""
    production_slowdown: Slowdown | None = None
    """Step time of the run divided by that of a tuned benchmark; 1 if the step time is measured."""
    early_life: bool = False
    """Whether a new cluster has more failures in its first month."""
    lemon_nodes: bool = False
    """Whether nodes with frequent failures stay in the cluster: the rates of the catalog are without
    them."""
    corruption_rollback_h: Hours | None = None
    """Training thrown away for one silent corruption that was found. Default:
    `reliability/corruption-rollback-h`."""
    replica_accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    """Accelerators of an elastic data-parallel replica: when it stops, the others train on. Default:
    every stop ends the complete job."""
    stall_s: NonNegative | None = None
    """Time that all replicas lose when one of them stops. Default: `reliability/replica-stall-s`."""
    rejoin_s: Seconds | None = None
    """Time from the stop of a replica until it trains again. Default: detection and restart."""
    whole_job_stops_per_day: NonNegative | None = None
    """Stops of the complete job with elastic replicas, at any size. Default: the planned stops of its
    parts, at most `reliability/whole-job-stops-per-day`."""

    interrupted_h_per_year: YearHours | None = None
    """Hours per year in which the grid takes back the power of the run, for `train`; in a plan, the
    sites state them. Default: none."""
    interruption_h: EventHours | None = None
    """Length of one of these interruptions. Default: `power/interruption-h`."""
    interrupted_power_frac: UnitShare | None = None
    """Share of the run's power that goes on meanwhile. Default: 0, the run pauses and restarts."""
    interrupted_speed_frac: UnitShare | None = None
    """Speed meanwhile over that at full power. Default: the share of the power."""

    @field_validator("lemon_nodes")
    @classmethod
    def _lemons(cls, asked: bool, info: ValidationInfo) -> bool:
        if asked and info.data.get("stops_per_1000_node_days") is not None:
            kind = "lemons"
            msg = (
                "nodes with frequent failures would count twice: the rate of "
                "stops_per_1000_node_days has them; leave lemon_nodes out"
            )
            raise PydanticCustomError(kind, msg)
        return asked

    @model_validator(mode="after")
    def _interruptions(self) -> Reliability:
        needs = ("interruption_h", "interrupted_power_frac", "interrupted_speed_frac")
        unused = [name for name in needs if getattr(self, name) is not None]
        if unused and self.interrupted_h_per_year is None:
            kind, msg = "interruptions", "{names} need interrupted_h_per_year: give it too"
            raise PydanticCustomError(kind, msg, {"names": " and ".join(unused)})
        check_speed(self.interrupted_power_frac, self.interrupted_speed_frac)
        return self

    @model_validator(mode="after")
    def _one_of_each(self) -> Reliability:
        if self.replaced_frac is not None and self.stops_per_1000_node_days is None:
            kind = "replaced"
            msg = "replaced_frac is a share of stops_per_1000_node_days: give it too"
            raise PydanticCustomError(kind, msg)
        if self.detection_s is not None and self.restart_s is not None:
            kind = "detection"
            raise PydanticCustomError(kind, "restart_s contains the detection: omit detection_s")
        return self

    @model_validator(mode="after")
    def _pool(self) -> Reliability:
        given = [x for x in ("spares", "replica_accelerators") if getattr(self, x) is not None]
        if self.pool_spares and given:
            kind = "pool"
            msg = "{names} is of each job, and pool_spares shares them: omit one of the two"
            raise PydanticCustomError(kind, msg, {"names": " and ".join(given)})
        return self

    @model_validator(mode="after")
    def _replicas(self) -> Reliability:
        needs = ("stall_s", "rejoin_s", "whole_job_stops_per_day")
        unused = [name for name in needs if getattr(self, name) is not None]
        if unused and self.replica_accelerators is None:
            kind = "replicas"
            msg = "only elastic replicas use {names}: give replica_accelerators too"
            raise PydanticCustomError(kind, msg, {"names": " and ".join(unused)})
        return self
