"""Metrics of a training estimate: speed and memory of a step; days, energy and rent of the run."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.train.resolve import TrainRun
from dcplan.answers.train.schedule import PLANNED, Calendar, Part, first
from dcplan.catalog.rent import market_rent, rent_text
from dcplan.catalog.schema import Site, System
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.llm.architecture import Architecture, model_flops_per_token, recomputed_frac
from dcplan.llm.tables import RECOMPUTE
from dcplan.provenance import Quantity, Status
from dcplan.reliability.calendar import in_time_frac
from dcplan.result import Metric
from dcplan.specs.train import layouts as step_specs
from dcplan.specs.train import run as specs
from dcplan.units import BYTES_PER_GIB, GIGA, HOURS_PER_DAY, KG_PER_TONNE, KW_PER_MW, TERA

JOULES_PER_MWH = 3.6e9


def speed_metrics(main: Part) -> dict[str, Metric]:
    """Return step time, rates, utilization and memory of the main phase's chosen layout."""
    run, found, time = main.run, main.found, main.step_time_s
    tokens, count = main.case.global_batch * run.seq_len * run.parts, run.accelerators
    flops = model_flops_per_token(run.shape, run.seq_len, run.images) * tokens / time / count
    low, high = time / (1.0 + run.spec.spread_frac), time * (1.0 + run.spec.spread_frac)
    rate, mfu = tokens / time / count, flops / (run.spec.peak_tflops * TERA)
    layout = {key: first(column[:1]) for key, column in found.layouts.items()}
    used = layout["tp"] * layout["pp"] * layout["cp"] * layout["dp"]
    full = layout["recompute"] >= RECOMPUTE.index("full")
    again = 1.0 + (recomputed_frac(run.shape, run.seq_len, run.images) if full else 0.0)
    ties = {}
    if found.near is not None:
        ties = step_specs.FASTEST_STEP_TIME(float(found.near.step_time_s.min()))
        ties |= step_specs.SEARCH_TIES(found.near.step_time_s.size)
    return {
        **step_specs.PARAMS(run.shape.params / GIGA),
        **step_specs.ACTIVE_PARAMS(run.shape.active_params / GIGA),
        **step_specs.STEP_TIME(time, low=low, high=high),
        **ties,
        **step_specs.TOKENS_PER_S(rate, low=rate * time / high, high=rate * time / low),
        **step_specs.TFLOPS(flops / TERA),
        **step_specs.MFU(mfu, label=_mfu_text(run.shape)),
        **step_specs.HFU(mfu * again),
        **step_specs.MEMORY_GIB(float(found.memory_bytes[0]) / BYTES_PER_GIB),
        **step_specs.ACCELERATORS_USED(used / main.case.device.ranks * run.parts),
    }


def _mfu_text(shape: Architecture) -> str:
    attention = "causal attention" if shape.causal else "attention without a mask"
    return f"Model FLOPs utilization, {attention}{', vision tower included' if shape.tower else ''}"


def calendar_metrics(
    log: InputLog, run: TrainRun, parts: Sequence[Part], found: Calendar
) -> dict[str, Metric]:
    """Return days, goodput, accelerator-hours, energy, rent and carbon of the whole run."""
    p10, p50, p90 = (first(found.run.quantile_days(q)) for q in (0.1, 0.5, 0.9))
    own_frac = 1.0 - run.setbacks.other_work_frac
    hours = run.accelerators * p50 * HOURS_PER_DAY / own_frac
    metrics = {
        **specs.DAYS_P10(p10),
        **specs.DAYS_P50(p50, low=p10, high=p90),
        **specs.DAYS_P90(p90),
        **specs.ACCELERATOR_HOURS(hours),
        **goodput_metrics(found),
        **_energy_metrics(log, run, parts, hours),
    }
    price = rent_usd_per_hour(log, run)
    if price is not None:
        given = run.request.usd_per_accelerator_hour is not None
        usual = None if given else market_rent(log.catalog, run.system.accelerator)
        plain = f"Rent without spares at {price:.2f} USD per accelerator-hour"
        own = run.cost.accelerator_hours
        paid = hours if own is None else own.value
        metrics |= specs.RENT(
            paid * price,
            low=paid * price * p10 / p50 if own is None else None,
            high=paid * price * p90 / p50 if own is None else None,
            label=plain if usual is None else rent_text(usual),
        )
    return metrics


def _energy_metrics(
    log: InputLog, run: TrainRun, parts: Sequence[Part], hours: float
) -> dict[str, Metric]:
    kw = training_kw(log, run.system)
    if kw is None:
        return {}
    mwh = kw / run.system.accelerators * run.request.power_limit_frac * hours / KW_PER_MW
    flops = sum(
        model_flops_per_token(run.shape, p.run.seq_len, run.images) * p.run.tokens for p in parts
    )
    metrics = {**specs.ENERGY(mwh), **specs.ENERGY_PER_FLOP(mwh * JOULES_PER_MWH / flops)}
    if run.request.site is not None:
        grams = _grid_g_per_kwh(log, run.request.site)
        metrics |= specs.CARBON(mwh * grams / KG_PER_TONNE)
    return metrics


def goodput_metrics(found: Calendar) -> dict[str, Metric]:
    """Return goodput, interruptions, checkpoints and spares."""
    good, tier = found.outlook.goodput, found.outlook.recovery.durable
    per_day = found.of("stops_per_day")
    stops = per_day * found.p50_days * (1.0 - found.lost["waiting"])
    planned = sum(found.stops_of(key, x) for key, _, x in found.stops.by_part if key == PLANNED)
    unplanned_frac = 1.0 - planned / max(per_day, 1e-30)
    low, usual, high = found.outlook.slowdown
    return {
        **specs.GOODPUT(first(good.value), low=first(good.low), high=first(good.high)),
        **specs.PRODUCTION_SLOWDOWN(usual, low=low, high=high),
        **specs.INTERRUPTIONS(stops),
        **specs.INTERRUPTIONS_UNPLANNED(stops * unplanned_frac),
        **specs.MTTF(HOURS_PER_DAY / per_day),
        **specs.CHECKPOINT_SIZE(found.size_bytes / TERA),
        **specs.CHECKPOINT_SAVE(first(tier.save_s)),
        **specs.CHECKPOINT_INTERVAL(first(tier.interval_s)),
        **specs.SPARES(found.of("spares")),
        **_replica_metrics(found),
    }


def _replica_metrics(found: Calendar) -> dict[str, Metric]:
    """Return the elastic replicas and their mean share that trains; none without them."""
    if not found.outlook.elastic:
        return {}
    lost = found.lost
    # what is left before replicas are missing: goodput plus everything lost after it
    after = first(found.outlook.goodput.value) + lost["slow"] + lost["waiting"]
    return {
        **specs.REPLICAS(found.of("replicas")),
        **specs.REPLICAS_TRAINING(after / max(after + lost["absent"], 1e-30)),
        **specs.WHOLE_JOB_STOPS(found.of("whole_stops_per_day")),
    }


def in_time_metric(found: Calendar, deadline_days: float) -> dict[str, Metric]:
    """Return the probability of finishing by the deadline."""
    label = f"Probability of finishing within {deadline_days:g} days"
    return specs.IN_TIME(in_time_frac(found.run, deadline_days), label=label)


def rent_usd_per_hour(log: InputLog, run: TrainRun) -> float | None:
    """Return the given price, or that of an index or the offers of the catalog, or None."""
    given = run.request.usd_per_accelerator_hour
    if given is not None:
        quantity = Quantity(value=given, status=Status.INPUT)
        return log.take("usd_per_accelerator_hour", quantity)
    usual = market_rent(log.catalog, run.system.accelerator)
    return None if usual is None else log.take("usd_per_accelerator_hour", usual)


def _grid_g_per_kwh(log: InputLog, name: str) -> float:
    row = named(log.catalog, "sites", name, Site, "--site")
    if row.grid_g_per_kwh is None:
        cause = f"{row.id} has no grid carbon intensity in the catalog"
        raise InputError([Problem("DC010", cause, Place("--site"))])
    return log.take(f"sites.{row.id}.grid_g_per_kwh", row.grid_g_per_kwh)


def rated_kw(system: System) -> float | None:
    """Return the rated power of one system with its own network, or None if unknown [kW]."""
    if system.rated_kw is None:
        return None
    return system.rated_kw.value + (system.own_network.kw.value if system.own_network else 0.0)


def training_kw(log: InputLog, system: System) -> float | None:
    """Return the average power of one system during training, or None if unknown [kW].

    Its own network takes its power at any load.
    """
    key, extra = f"systems.{system.id}", 0.0
    if system.own_network is not None:
        extra = log.take(f"{key}.own_network.kw", system.own_network.kw)
    if system.average_kw.training is not None:
        return log.take(f"{key}.average_kw.training", system.average_kw.training) + extra
    if system.rated_kw is None:
        return None
    rated = log.take(f"{key}.rated_kw", system.rated_kw)
    return rated * log.parameter("power", "average-training-frac") + extra
