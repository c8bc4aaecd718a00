"""Metrics of a service with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcplan.answers.serve.cost import Costed, accelerators_of
from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.passes.vision import Vision
from dcplan.answers.serve.service.outcome import Outcome, Pool
from dcplan.inputs.serving.engines import GENERIC
from dcplan.inputs.serving.sizing.states import kv_tokens
from dcplan.inputs.serving.spreads import spread_of
from dcplan.llm.architecture import Architecture
from dcplan.result import Metric
from dcplan.specs.metric import MetricSpec
from dcplan.specs.serve import passes
from dcplan.specs.serve import service as specs
from dcplan.units import GIGA, MILLI, TOKENS_PER_MTOKEN

COSTS = {"main": specs.COST, "owned": specs.OWNED_COST, "rented": specs.RENTED_COST}


@dataclass(frozen=True)
class Priced(Costed):
    """A service that generates text with its power and cost."""

    found: Outcome


def spread(run: Hosted, kind: str, quantity: str) -> float:
    """Return the factor of the 80 % interval of a quantity of the engine."""
    family = run.machine.accelerator.family or GENERIC
    engine, name = run.software.engine, run.machine.accelerator.id
    return math.exp(spread_of(run.log.catalog, engine, family, quantity, kind, accelerator=name))


def metrics_of(priced: Priced) -> dict[str, Metric]:
    """Return the metrics of a service; low and high are 80 % intervals of the engine."""
    found = priced.found
    run, at = found.run, found.at
    flow, tpot, ttft = (
        spread(run, found.kind, q) for q in ("output_tokens_per_s_total", "tpot_ms", "ttft_ms")
    )
    per_accelerator = found.tokens_per_s / found.serving
    given = run.rate is not None
    rate_low, rate_high = (found.rate, found.rate) if given else ranged(found.rate, flow)
    low, high = ranged(per_accelerator, 1.0 if given else flow)
    user = 1.0 / found.tpot_s.p50
    ends = min(found.main.most_requests, run.service.most_running * found.main.layout.dp)
    fewest, most = fewest_and_most(run, found.pools, found.rate, flow)
    return {
        **size_metrics(run.shape),
        **specs.TOKENS_PER_ACCELERATOR(per_accelerator, low=low, high=high),
        **specs.TOKENS_PER_USER(user, low=user / tpot, high=user * tpot),
        **specs.REQUESTS(found.rate, low=rate_low, high=rate_high),
        **_ms(specs.TTFT_P50, found.ttft_s.p50, ttft),
        **_ms(specs.TTFT_P90, found.ttft_s.p90, ttft),
        **_ms(specs.TPOT_P50, found.tpot_s.p50, tpot),
        **_ms(specs.TPOT_P90, found.tpot_s.p90, tpot),
        **(vision_metrics(run.vision) if run.vision else {}),
        **_asked(found, ttft, tpot),
        **specs.KV_TOKENS(kv_tokens(found.states, at)),
        **specs.CONCURRENCY_MAX(math.floor(ends), label=_ends_label(found)),
        **_energy(priced, flow),
        **cost_metrics(priced, COSTS, flow, "million output tokens"),
        **specs.ACCELERATORS(priced.accelerators, low=fewest, high=most),
        **specs.SPARES(found.spares),
        **specs.REPLICAS(sum(p.replicas for p in found.pools)),
        **specs.UTILIZATION(found.rate / found.rate_max),
        **specs.MOST_RATE(found.rate_max, low=found.rate_max / flow, high=found.rate_max * flow),
    }


def size_metrics(shape: Architecture) -> dict[str, Metric]:
    """Return the counted parameters of the model, all and those that one token uses."""
    return {**specs.PARAMS(shape.params / GIGA), **specs.ACTIVE_PARAMS(shape.active_params / GIGA)}


def _ends_label(found: Outcome) -> str:
    """Return what ends at the most requests of a replica, and at which context."""
    run, need = found.run, found.run.need
    slots = run.service.most_running * found.main.layout.dp
    full = found.main.most_requests >= slots
    what = "slots of a replica end" if full else "KV cache of a replica ends"
    context = need.input_tokens + need.output_tokens / 2.0
    return f"Requests at which the {what}, {context:,.0f} tokens each in the mean"


def ranged(value: float, factor: float) -> tuple[float, float]:
    """Return a value divided and multiplied by a factor."""
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


def vision_metrics(vision: Vision) -> dict[str, Metric]:
    """Return what the images add to a prompt."""
    return {**passes.IMAGE_TOKENS(vision.tokens), **passes.ENCODE(vision.encode_s / MILLI)}


def fewest_and_most(
    run: Hosted, pools: Sequence[Pool], rate: float, factor: float
) -> tuple[float, float]:
    """Return the accelerators for the load if the replicas serve more or less by a factor."""
    if run.rate is None or run.request.accelerators is not None:
        count = accelerators_of(run, pools)
        return count, count

    def needed(scale: float) -> float:
        return sum(
            (math.ceil(rate / (p.rate_max * scale)) + p.spare_replicas) * p.layout.accelerators
            for p in pools
        )

    return needed(factor), needed(1.0 / factor)


def power_metric(costed: Costed, factor: float) -> dict[str, Metric]:
    """Return the power of a service with its interval; none if it is unknown."""
    if costed.power is None:
        return {}
    kw = costed.power.total_kw
    label = None if costed.power.with_system else "Average power of the accelerators alone"
    high = min(kw * factor, costed.power.rated_kw)
    return specs.POWER(kw, low=kw / factor, high=high, label=label)


def _energy(priced: Priced, flow: float) -> dict[str, Metric]:
    if priced.power is None:
        return {}
    factor = spread(priced.found.run, priced.found.kind, "power_w")
    joule = priced.power.j_per_token(priced.found.tokens_per_s)
    low, high = ranged(joule, both(factor, flow))
    return {**power_metric(priced, factor), **specs.ENERGY(joule, low=low, high=high)}


def both(one: float, other: float) -> float:
    """Return the factor of the interval of a product of two independent quantities."""
    return math.exp(math.hypot(math.log(one), math.log(other)))


def cost_metrics(
    costed: Costed, basis: Mapping[str, MetricSpec], flow: float, per: str, results: float = 1e6
) -> dict[str, Metric]:
    """Return the cost of a number of results on each basis.

    Parameters
    ----------
    costed : Costed
        The service with its costs.
    basis : mapping
        ``main``, ``owned`` and ``rented`` -> the metric.
    flow : float
        Factor of the interval of the rate.
    per : str
        What the cost is of, for people.
    results : float, default a million
        Output tokens, sequences or images that the cost is of.
    """
    made: dict[str, Metric] = {}
    costs = {"main": costed.main_cost, "owned": costed.owned, "rented": costed.rented}
    for name, spec in basis.items():
        cost = costs[name]
        value = costed.per_million(cost)
        if cost is None or value is None:
            continue
        value *= results / TOKENS_PER_MTOKEN
        scale = value / cost.usd if cost.usd else 0.0
        low = (cost.low if cost.low is not None else cost.usd) * scale / flow
        high = (cost.high if cost.high is not None else cost.usd) * scale * flow
        label = None
        if name == "main":
            parts = "capital, maintenance, hall, energy"
            what = parts if cost is costed.owned else f"rent at {cost.usd:.2f} USD/h"
            label = f"Cost per {per}, {cost.basis}: {what}"
        made |= spec(value, low=low, high=high, label=label)
    return made
