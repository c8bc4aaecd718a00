"""Stops, checkpoints and spares of jobs on the hardware of places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import class_network, machine, policy, reclaimed
from dcplan.inputs.storage import unlimited
from dcplan.llm.tables import Array
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.targets import Target
from dcplan.reliability.job import Machine, Policy
from dcplan.reliability.outlook import Outlook, outlook
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario, Storage

FAR_DAYS = 1e5
"""Duration of runs without a feasible layout."""


class Outlooks:
    """Builder of outlooks; places with the same hardware share its stops and operation."""

    def __init__(self, question: Question, log: InputLog) -> None:
        self.question, self.log = question, log
        self._risks: dict[tuple[object, ...], tuple[Machine, Policy]] = {}

    def of(
        self,
        target: Target,
        pace: Pace,
        clean: Array,
        left: int | None = None,
        *,
        free: bool = False,
    ) -> Outlook:
        """Return stops, checkpoints and spares of a job at every count.

        Parameters
        ----------
        target : Target
            The place.
        pace : Pace
            The steps of the job at every count.
        clean : array
            Duration of the job without stops at every count. [days]
        left : int, optional
            Accelerators that are spares; None: as many as the operation of the place keeps.
        free : bool, default False
            Whether to ignore the rates of a storage of given capacity.
        """
        part, rules = self._risk(target, pace, free=free)
        if left is not None:
            rules = replace(rules, spares=left // part.node_accelerators)
        return outlook(
            part,
            rules,
            pace.accelerators,
            pace.checkpoint_bytes,
            pace.group,
            np.where(np.isfinite(clean), clean, FAR_DAYS),
        )

    def _risk(self, target: Target, pace: Pace, *, free: bool) -> tuple[Machine, Policy]:
        """Return the failures of the hardware of a place, and its operation."""
        key = (*risk_key(target), free)
        if key not in self._risks:
            scenario, cloud = self.question.scenario, is_cloud(target.place)
            row = self._system(target, cloud=cloud)
            size = float(
                pace.accelerators[pace.accelerators <= target.limit].max(initial=target.unit)
            )
            network = target.network or class_network(size, self.log)
            part, _ = machine(row, network, self.log, scenario.reliability)
            storage = unlimited(scenario.storage) if free else storage_at(target, scenario)
            rules = policy(scenario.reliability, storage, self.log, target.redundancy)
            alone = bool(target.parts or target.cuts.hours_per_year)
            rules = replace(rules, provider_spares=cloud, cuts=target.cuts)
            rules = replace(rules, pooled=rules.pooled and not alone)
            if target.offer is not None and target.offer.reclaims_per_instance_h > 0:
                part, rules = reclaimed(
                    part, rules, target.offer.reclaims_per_instance_h, target.offer.wait_h
                )
            self._risks[key] = part, rules
        return self._risks[key]

    def _system(self, target: Target, *, cloud: bool) -> System:
        """Return the system of a hall, or any system with the rented accelerator."""
        catalog = self.question.catalog
        if not cloud:
            return catalog.get("systems", target.system, System)
        rows = [
            r
            for r in catalog.table("systems", System).values()
            if r.accelerator == target.accelerator
        ]
        plain = System(
            id=target.accelerator,
            name=target.accelerator,
            source=catalog.get("accelerators", target.accelerator, Accelerator).source,
            accelerator=target.accelerator,
            accelerators=target.unit,
            form="server",
            cooling_modes=("air",),
        )
        return min(rows, key=lambda r: abs(r.accelerators - target.unit)) if rows else plain

    def last_goodput(self, target: Target, pace: Pace) -> float | None:
        """Return the goodput at the largest count, for the reason of an exclusion."""
        if not pace.accelerators.size or not np.isfinite(pace.step_time_s[-1]):
            return None
        clean = pace.clean_days(pace.step_time_s)
        return float(np.asarray(self.of(target, pace, clean).goodput.value)[-1])


def risk_key(target: Target) -> tuple[object, ...]:
    """Return what the stops and the operation of a place depend on."""
    reclaims = target.offer is not None and target.offer.reclaims_per_instance_h > 0
    cloud = is_cloud(target.place)
    cuts = target.cuts
    several = bool(target.parts)
    return (target.system, target.network, target.redundancy, cloud, reclaims, cuts, several)


def storage_at(target: Target, scenario: Scenario) -> Storage | None:
    """Return the storage of a place; a given capacity is not in the cloud."""
    storage = scenario.storage
    return unlimited(storage) if is_cloud(target.place) else storage
