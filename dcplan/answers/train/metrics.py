"""Metrics of a training estimate: speed and memory of a step; days, energy, money and carbon of
the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.train.resolve import Asked
from dcplan.answers.train.schedule import Calendar, goodput_metrics
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer, Site, System
from dcplan.catalog.schema.market import CloudPrice
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import Ledger
from dcplan.llm.architecture import Architecture, model_flops_per_token, recomputed_frac
from dcplan.llm.tables import RECOMPUTE
from dcplan.provenance import Quantity, Status, first_day
from dcplan.result import Metric
from dcplan.training.grid import Case
from dcplan.training.search import Found
from dcplan.units import BYTES_PER_GIB, HOURS_PER_DAY, KW_PER_MW, SECONDS_PER_DAY, TERA


@dataclass(frozen=True)
class Span:
    """A phase of a run on the calendar, failures not counted."""

    tokens: float
    seq_len: int
    batch_tokens: float
    step_time_s: float
    penalty_frac: float = 0.0
    """Tokens more that low-communication training takes."""

    @property
    def clean_days(self) -> float:
        """Days at the predicted step time."""
        steps = self.tokens * (1.0 + self.penalty_frac) / self.batch_tokens
        return steps * self.step_time_s / SECONDS_PER_DAY


def speed_metrics(
    asked: Asked, case: Case, found: Found, time: float, sites: int
) -> dict[str, Metric]:
    """Step time, rates, utilization and memory of the fastest layout, the same at each of
    ``sites``.
    """
    spread = asked.spec.spread_frac
    tokens = case.global_batch * asked.seq_len * sites
    count = asked.accelerators
    flops = model_flops_per_token(asked.shape, asked.seq_len, asked.images) * tokens / time / count
    peak = asked.spec.peak_tflops * TERA
    low, high = time / (1.0 + spread), time * (1.0 + spread)
    rate = tokens / time / count
    used = (
        found.layouts["tp"][0]
        * found.layouts["pp"][0]
        * found.layouts["cp"][0]
        * found.layouts["dp"][0]
    )
    full = found.layouts["recompute"][0] >= RECOMPUTE.index("full")
    again = 1.0 + (recomputed_frac(asked.shape, asked.seq_len, asked.images) if full else 0.0)
    return {
        "step_time_s": Metric(time, "s", "One optimizer step", low, high),
        "tokens_per_s_per_accelerator": Metric(
            rate, "1/s", "Tokens of one accelerator", rate * time / high, rate * time / low
        ),
        "tflops_per_accelerator": Metric(
            flops / TERA, "TFLOP/s", "Model FLOP/s of one accelerator"
        ),
        "mfu_frac": Metric(flops / peak, "", _mfu_text(asked.shape)),
        "hfu_frac": Metric(
            flops / peak * again, "", "Hardware FLOPs utilization, full recompute counted"
        ),
        "memory_gib": Metric(
            float(found.memory_bytes[0]) / BYTES_PER_GIB, "GiB", "Peak memory of the fullest rank"
        ),
        "accelerators_used": Metric(
            float(used) / case.device.ranks * sites,
            "",
            "Accelerators that fill whole replicas; the rest are idle",
        ),
    }


def _mfu_text(shape: Architecture) -> str:
    attention = "causal attention" if shape.causal else "attention without a mask"
    return f"Model FLOPs utilization, {attention}{', vision tower counted' if shape.tower else ''}"


def calendar_metrics(
    catalog: Catalog, ledger: Ledger, asked: Asked, spans: Sequence[Span], found: Calendar
) -> dict[str, Metric]:
    """Days, goodput, accelerator-hours, energy, rent and carbon of the whole run."""
    p10, p50, p90 = (
        float(np.asarray(found.run.quantile_days(q)).reshape(-1)[0]) for q in (0.1, 0.5, 0.9)
    )
    hours = asked.accelerators * p50 * HOURS_PER_DAY
    metrics = {
        "days": Metric(p50, "days", "Median run time", p10, p90),
        "days_p10": Metric(p10, "days", "10th percentile"),
        "days_p50": Metric(p50, "days", "Median"),
        "days_p90": Metric(p90, "days", "90th percentile"),
        "accelerator_hours": Metric(hours, "h", "Median accelerator-hours"),
    } | goodput_metrics(found)
    kw = training_kw(ledger, asked.system)
    if kw is not None:
        mwh = kw / asked.system.accelerators * asked.power_frac * hours / KW_PER_MW
        flops = sum(
            model_flops_per_token(asked.shape, s.seq_len, asked.images) * s.tokens for s in spans
        )
        metrics["energy_mwh"] = Metric(mwh, "MWh", "IT energy, PUE not included")
        metrics["energy_j_per_flop"] = Metric(
            mwh * 3.6e9 / flops, "J", "IT energy of one model FLOP"
        )
        if asked.site is not None:
            grams = _grid_g_per_kwh(catalog, ledger, asked.site)
            metrics["carbon_t"] = Metric(mwh * grams / 1e3, "t", "CO2 of the energy")
    price = rent_usd_per_hour(catalog, ledger, asked)
    if price is not None:
        listed = (
            ""
            if asked.usd_per_accelerator_hour is not None
            else ", the median list price on demand"
        )
        metrics["cost_usd"] = Metric(
            hours * price,
            "USD",
            f"Rent at {price:.2f} USD an accelerator-hour{listed}",
            hours * price * p10 / p50,
            hours * price * p90 / p50,
        )
    return metrics


def rent_usd_per_hour(catalog: Catalog, ledger: Ledger, asked: Asked) -> float | None:
    """The given price, or the median on-demand price of the accelerator in the catalog; None where
    it has none.
    """
    if asked.usd_per_accelerator_hour is not None:
        given = Quantity(value=asked.usd_per_accelerator_hour, status=Status.INPUT)
        return ledger.take("usd_per_accelerator_hour", given)
    prices = [
        _latest(known) / offer.accelerators
        for offer in catalog.table("cloud", Offer).values()
        if offer.accelerator == asked.system.accelerator and offer.kind == "node"
        if (known := [price for price in offer.prices if price.term == "on-demand"])
    ]
    if not prices:
        return None
    source = f"median of the latest on-demand prices of {len(prices)} offers in the catalog"
    quantity = Quantity(
        value=median(prices),
        low=min(prices),
        high=max(prices),
        status=Status.DEFAULT,
        source=source,
    )
    return ledger.take("usd_per_accelerator_hour", quantity)


def _latest(prices: Sequence[CloudPrice]) -> float:
    """Median over the regions of an offer's latest day."""
    last = max(first_day(p.as_of) for p in prices)
    return median(p.usd_per_h.value for p in prices if first_day(p.as_of) == last)


def _grid_g_per_kwh(catalog: Catalog, ledger: Ledger, name: str) -> float:
    row = named(catalog, "sites", name, Site, "--site")
    if row.grid_g_per_kwh is None:
        raise InputError(
            [Problem("DC010", f"{row.id} has no grid intensity in the catalog", Place("--site"))]
        )
    return ledger.take(f"sites.{row.id}.grid_g_per_kwh", row.grid_g_per_kwh)


def training_kw(ledger: Ledger, system: System) -> float | None:
    """Average power of one system while it trains, or None where the catalog has no figure. [kW]"""
    own = system.average_kw.training
    if own is not None:
        return ledger.take(f"systems.{system.id}.average_kw.training", own)
    if system.rated_kw is None:
        return None
    rated = ledger.take(f"systems.{system.id}.rated_kw", system.rated_kw)
    return rated * ledger.parameter("power", "average-training-frac")
