"""Power of a service, and energy of an output token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.resolve import ServeRun
from dcplan.answers.serve.service.outcome import Outcome, Pool
from dcplan.serving.power import PowerTerms, Step, joules_per_token, power_frac, use_of
from dcplan.serving.tables import Array
from dcplan.units import W_PER_KW


@dataclass(frozen=True)
class ServicePower:
    """IT power of a service."""

    total_kw: float
    accelerator_frac: float
    """Mean power of a serving accelerator over its thermal design power."""
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
    return it_power(found.run, [(pool, _frac(found.run, pool, found)) for pool in found.pools])


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
    mean = sum(pool.serving * frac for pool, frac in used) / serving
    without_work = spares + run.idle(serving)
    spare = without_work * (chip * idle + rest)
    count = serving + without_work
    return ServicePower(busy + spare, mean, (chip + rest) * count, rated is not None)


def _frac(run: ServeRun, pool: Pool, found: Outcome) -> float:
    """Return the power of a serving accelerator over its thermal design power.

    A replica has no work in a share :math:`e^{-B}` of the time, with B requests in the mean. One of
    a prefill pool has work in a share of its rate over its stable rate.
    """
    terms = PowerTerms(**{k: np.array(v) for k, v in run.service.power.items()})
    need = run.need
    context = np.array(need.input_tokens + need.output_tokens / 2.0)
    prompts = pool.rate * (need.input_tokens - need.cached_tokens)
    step = np.array(found.tpot_s.mean * run.plan.tokens_per_step)
    running, share = pool.running, 1.0 - math.exp(-pool.running)
    plan = run.plan
    more = Step(plan.draft_tokens + 1.0, plan.draft_tokens * plan.draft_frac)
    if pool.name == "prefill":
        together, step = _prompt_step(run, pool)
        more = Step(prompt_tokens=together * (need.input_tokens - need.cached_tokens))
        running, share = 0.0, min(pool.rate / pool.stable_rate, 1.0)
    if pool.name == "decode":
        prompts = 0.0
    share = max(share, 1e-9)
    use = use_of(
        pool.served, np.array(running / share), context, step, np.array(prompts / share), more
    )
    busy = float(np.max(power_frac(terms, use)))
    return share * busy + (1.0 - share) * run.service.power["idle_frac"]


def _prompt_step(run: ServeRun, pool: Pool) -> tuple[float, Array]:
    """Return the prompts of a full step of a prefill replica, and the time of the step.

    The stable rate holds what the clock holds: cached tokens, and the prompts of one step.
    """
    fresh = max(run.need.input_tokens - run.need.cached_tokens, 1.0)
    together = max(run.service.step_tokens / fresh, 1.0)
    return together, np.array(together * pool.layout.dp / pool.stable_rate)
