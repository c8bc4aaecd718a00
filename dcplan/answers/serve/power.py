"""Power of a service, and energy of an output token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.service.outcome import Outcome, Pool
from dcplan.inputs.serving.sizing.power import PoolLoad, pool_power_frac
from dcplan.serving.power import joules_per_token
from dcplan.units import W_PER_KW


@dataclass(frozen=True)
class ServicePower:
    """IT power of a service."""

    total_kw: float
    rated_kw: float
    """Rated IT power of all accelerators with their share of the systems."""
    with_system: bool
    """Whether the power of hosts, network cards and fans is included."""

    def j_per_token(self, tokens_per_s: float) -> float:
        """Return the energy of an output token [J]."""
        power, rate = np.array(self.total_kw * W_PER_KW), np.array(tokens_per_s)
        return float(joules_per_token(power, rate))


def power_of(found: Outcome) -> ServicePower | None:
    """Return the IT power of a service: accelerators by their use, and the rest of the systems.

    The share of a system that is no accelerator (hosts, network cards, fans, its own network) runs
    at its rated power. Spare accelerators are idle. None if the power is unknown.
    """
    return it_power(found.run, [(pool, _frac(found, pool)) for pool in found.pools])


def it_power(run: Hosted, used: Sequence[tuple[Pool, float]]) -> ServicePower | None:
    """Return the IT power of pools, each with the power of a serving accelerator over its TDP."""
    row, system, log = run.machine.accelerator, run.machine.system, run.log
    tdp = log.take(f"accelerators.{row.id}.tdp_kw", row.tdp_kw) if row.tdp_kw else None
    rated = None
    if system is not None and system.rated_kw is not None:
        rated = log.take(f"systems.{system.id}.rated_kw", system.rated_kw) / system.accelerators
    if tdp is None and rated is None:
        return None
    chip = tdp if tdp is not None else rated or 0.0
    rest = max((rated if rated is not None else chip) - chip, 0.0)
    if system is not None and system.own_network is not None:
        key = f"systems.{system.id}.own_network.kw"
        rest += log.take(key, system.own_network.kw) / system.accelerators
    idle = run.service.power["idle_frac"]
    busy = sum(pool.serving * (chip * frac + rest) for pool, frac in used)
    serving, spares = (sum(n) for n in zip(*((p.serving, p.spares) for p, _ in used), strict=True))
    without_work = spares + run.idle(serving)
    spare = without_work * (chip * idle + rest)
    count = serving + without_work
    return ServicePower(busy + spare, (chip + rest) * count, rated is not None)


def _frac(found: Outcome, pool: Pool) -> float:
    load = PoolLoad(pool.rate, pool.running, found.tpot_s.mean, pool.stable_rate)
    return pool_power_frac(found.run.work, pool.served, pool.layout, load, pool.name)
