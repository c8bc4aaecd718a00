"""Metrics of a service with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.answers.serve.cost import HourCost, usd_per_million
from dcplan.answers.serve.power import ServicePower
from dcplan.answers.serve.service.outcome import Outcome
from dcplan.answers.serve.service.states import kv_tokens
from dcplan.inputs.serving.engines import GENERIC
from dcplan.inputs.serving.spreads import spread_of
from dcplan.result import Metric
from dcplan.specs.metric import MetricSpec
from dcplan.specs.serve import service as specs
from dcplan.units import MILLI


@dataclass(frozen=True)
class Priced:
    """A service with its power and cost."""

    found: Outcome
    power: ServicePower | None
    owned: HourCost | None
    rented: HourCost | None

    @property
    def accelerators(self) -> int:
        """Accelerators with spares."""
        return self.found.serving + self.found.spares

    def per_million(self, cost: HourCost | None) -> float | None:
        """Return the cost of a million output tokens on one basis."""
        if cost is None:
            return None
        return usd_per_million(cost.usd, self.accelerators, self.found.tokens_per_s)

    @property
    def main_cost(self) -> HourCost | None:
        """The owned cost, or else the rented one."""
        return self.owned or self.rented

    @property
    def usd_per_million(self) -> float:
        """Cost of a million output tokens for the order of systems; infinite if unknown."""
        value = self.per_million(self.main_cost)
        return math.inf if value is None else value


def spread(found: Outcome, quantity: str) -> float:
    """Return the factor of the 80 % interval of a quantity of the engine."""
    family = found.run.machine.accelerator.family or GENERIC
    engine = found.run.software.engine
    return math.exp(spread_of(found.run.log.catalog, engine, family, quantity, found.kind))


def metrics_of(priced: Priced) -> dict[str, Metric]:
    """Return the metrics of a service; low and high are 80 % intervals of the engine."""
    found = priced.found
    run, at = found.run, found.at
    flow, tpot, ttft = (
        spread(found, q) for q in ("output_tokens_per_s_total", "tpot_ms", "ttft_ms")
    )
    per_accelerator = found.tokens_per_s / found.serving
    given = run.rate is not None
    rate_low, rate_high = (found.rate, found.rate) if given else _range(found.rate, flow)
    low, high = _range(per_accelerator, 1.0 if given else flow)
    user = 1.0 / found.tpot_s.p50
    ends = min(found.main.most_requests, run.service.most_running * found.main.layout.dp)
    fewest, most = _accelerators(priced, flow)
    return {
        **specs.TOKENS_PER_ACCELERATOR(per_accelerator, low=low, high=high),
        **specs.TOKENS_PER_USER(user, low=user / tpot, high=user * tpot),
        **specs.REQUESTS(found.rate, low=rate_low, high=rate_high),
        **_ms(specs.TTFT_P50, found.ttft_s.p50, ttft),
        **_ms(specs.TTFT_P90, found.ttft_s.p90, ttft),
        **_ms(specs.TPOT_P50, found.tpot_s.p50, tpot),
        **_ms(specs.TPOT_P90, found.tpot_s.p90, tpot),
        **_asked(found, ttft, tpot),
        **specs.KV_TOKENS(kv_tokens(found.states, at)),
        **specs.CONCURRENCY_MAX(math.floor(ends), label=_ends_label(found)),
        **_energy(priced, flow),
        **_costs(priced, flow),
        **specs.ACCELERATORS(priced.accelerators, low=fewest, high=most),
        **specs.SPARES(found.spares),
        **specs.REPLICAS(sum(p.replicas for p in found.pools)),
        **specs.UTILIZATION(found.rate / found.rate_max),
        **specs.MOST_RATE(found.rate_max, low=found.rate_max / flow, high=found.rate_max * flow),
    }


def _ends_label(found: Outcome) -> str:
    """Return what ends at the most requests of a replica, and at which context."""
    run, need = found.run, found.run.need
    slots = run.service.most_running * found.main.layout.dp
    full = found.main.most_requests >= slots
    what = "slots of a replica end" if full else "KV cache of a replica ends"
    context = need.input_tokens + need.output_tokens / 2.0
    return f"Requests at which the {what}, {context:,.0f} tokens each in the mean"


def _range(value: float, factor: float) -> tuple[float, float]:
    return value / factor, value * factor


def _ms(
    spec: MetricSpec, seconds: float, factor: float, label: str | None = None
) -> dict[str, Metric]:
    value = seconds / MILLI
    return spec(value, low=value / factor, high=value * factor, label=label)


def _asked(found: Outcome, ttft: float, tpot: float) -> dict[str, Metric]:
    """Return the latencies at the asked quantile where no other metric has it."""
    asked = found.run.request.quantile
    if asked in (0.5, 0.9):
        return {}
    at = f"at the asked quantile, {asked:.4g}"
    return {
        **_ms(specs.TTFT_ASKED, found.ttft_s.asked, ttft, f"Time to first token {at}"),
        **_ms(specs.TPOT_ASKED, found.tpot_s.asked, tpot, f"Time per output token {at}"),
    }


def _accelerators(priced: Priced, factor: float) -> tuple[float, float]:
    """Return the accelerators for the load if the replicas serve more or less."""
    found = priced.found
    if found.run.rate is None or found.run.request.accelerators is not None:
        return priced.accelerators, priced.accelerators

    def count(scale: float) -> float:
        sizes = ((p, p.layout.accelerators) for p in found.pools)
        return sum(
            (math.ceil(found.rate / (p.rate_max * scale)) + p.spare_replicas) * n for p, n in sizes
        )

    return count(factor), count(1.0 / factor)


def _energy(priced: Priced, flow: float) -> dict[str, Metric]:
    if priced.power is None:
        return {}
    kw, factor = priced.power.total_kw, spread(priced.found, "power_w")
    joule = priced.power.j_per_token(priced.found.tokens_per_s)
    label = None if priced.power.with_system else "Average power of the accelerators alone"
    both = math.hypot(math.log(factor), math.log(flow))
    low, high = _range(joule, math.exp(both))
    return {
        **specs.POWER(
            kw, low=kw / factor, high=min(kw * factor, priced.power.rated_kw), label=label
        ),
        **specs.ENERGY(joule, low=low, high=high),
    }


def _costs(priced: Priced, flow: float) -> dict[str, Metric]:
    """Return the cost of a million tokens on each basis."""
    made: dict[str, Metric] = {}
    main = priced.main_cost
    for spec, cost in (
        (specs.COST, main),
        (specs.OWNED_COST, priced.owned),
        (specs.RENTED_COST, priced.rented),
    ):
        value = priced.per_million(cost)
        if cost is None or value is None:
            continue
        scale = value / cost.usd if cost.usd else 0.0
        low = (cost.low if cost.low is not None else cost.usd) * scale / flow
        high = (cost.high if cost.high is not None else cost.usd) * scale * flow
        label = None
        if spec is specs.COST:
            parts = "capital, maintenance, hall, energy"
            what = parts if cost is priced.owned else f"rent at {cost.usd:.2f} USD/h"
            label = f"Cost per million output tokens, {cost.basis}: {what}"
        made |= spec(value, low=low, high=high, label=label)
    return made
