"""Metrics of a service without decode with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.serve.cost import Costed
from dcplan.answers.serve.metrics import (
    both,
    cost_metrics,
    fewest_and_most,
    power_metric,
    ranged,
    size_metrics,
    spread,
)
from dcplan.answers.serve.passes.kinds import IMAGE, TEXT
from dcplan.answers.serve.passes.outcome import PassOutcome
from dcplan.result import Metric
from dcplan.serving.passes import joules_per_item
from dcplan.specs.serve import passes as specs
from dcplan.specs.serve import service
from dcplan.units import MILLI, TOKENS_PER_MTOKEN

MEASURED, TIME = "static", "e2e_ms"
"""Kind and quantity of the measurements that the intervals are of: one batch from start to end."""
ITEM_COSTS = {
    "main": specs.ITEM_COST,
    "owned": specs.OWNED_ITEM_COST,
    "rented": specs.RENTED_ITEM_COST,
}
INPUT_COSTS = {
    "main": specs.INPUT_COST,
    "owned": specs.OWNED_INPUT_COST,
    "rented": specs.RENTED_INPUT_COST,
}
IMAGE_COSTS = {
    "main": specs.IMAGE_COST,
    "owned": specs.OWNED_IMAGE_COST,
    "rented": specs.RENTED_IMAGE_COST,
}
THOUSAND = 1e3


@dataclass(frozen=True)
class PricedPasses(Costed):
    """A service without decode with its power and cost."""

    found: PassOutcome


def metrics_of(priced: PricedPasses) -> dict[str, Metric]:
    """Return the metrics of a service; low and high are 80 % intervals of the engine."""
    found = priced.found
    run, items = found.run, f"{found.run.item}s".capitalize()
    flow, given = spread(run, MEASURED, TIME), run.rate is not None
    serving = found.fleet.accelerators
    each, scale = found.items_per_s / serving, 1.0 if given else flow
    fewest, most = fewest_and_most(run, found.pools, found.fleet.rate, flow)
    possible = np.where(found.points.possible[found.fleet.at], found.points.batch, 0.0)
    label = f"{items} per second and accelerator"
    low, high = ranged(each, scale)
    made = {**specs.ITEMS_PER_ACCELERATOR(each, low=low, high=high, label=label)}
    low, high = ranged(found.items_per_s, scale)
    made |= specs.ITEMS(found.items_per_s, low=low, high=high, label=f"{items} per second")
    if run.kind is TEXT:
        low, high = ranged(each * run.tokens, scale)
        made |= specs.INPUT_TOKENS(each * run.tokens, low=low, high=high)
    low, high = ranged(found.batch_s / MILLI, flow)
    return {
        **size_metrics(run.shape),
        **made,
        **specs.LATENCY(found.batch_s / MILLI, low=low, high=high),
        **specs.BATCH(found.batch, label=f"{items} of a batch"),
        **specs.BATCH_MAX(float(possible.max())),
        **_energy(priced, flow),
        **_costs(priced, flow),
        **service.ACCELERATORS(priced.accelerators, low=fewest, high=most),
        **service.SPARES(found.spares),
        **service.REPLICAS(found.fleet.replicas),
        **service.UTILIZATION(found.fleet.rate / found.fleet.rate_max),
        **specs.ITEMS_MAX(
            found.items_per_s_max,
            low=found.items_per_s_max / flow,
            high=found.items_per_s_max * flow,
        ),
    }


def _energy(priced: PricedPasses, flow: float) -> dict[str, Metric]:
    if priced.power is None:
        return {}
    found = priced.found
    run, factor = found.run, spread(found.run, MEASURED, "power_w")
    kw, rate = np.array(priced.power.total_kw), np.array(found.items_per_s)
    joule = float(joules_per_item(kw, rate))
    low, high = ranged(joule, both(factor, flow))
    label = f"IT energy per {run.item}, spares included"
    made = {
        **power_metric(priced, factor),
        **specs.ITEM_ENERGY(joule, low=low, high=high, label=label),
    }
    if run.kind is TEXT:
        scale = TOKENS_PER_MTOKEN / run.tokens
        made |= specs.TOKEN_ENERGY(joule * scale, low=low * scale, high=high * scale)
    return made


def _costs(priced: PricedPasses, flow: float) -> dict[str, Metric]:
    run = priced.found.run
    per = f"million {run.item}s"
    made = cost_metrics(priced, ITEM_COSTS, flow, per)
    if run.kind is TEXT:
        count = TOKENS_PER_MTOKEN / run.tokens
        made |= cost_metrics(priced, INPUT_COSTS, flow, "million input tokens", count)
    if run.kind is IMAGE:
        made |= cost_metrics(priced, IMAGE_COSTS, flow, "thousand images", THOUSAND)
    return made
