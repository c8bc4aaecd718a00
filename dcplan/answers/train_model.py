"""One model on one system: the sweep of layouts, and the metrics of the fastest."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Model, Parameter, System
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.planning.menu.jobs import hardware
from dcplan.planning.menu.ledger import Ledger
from dcplan.provenance import Quantity, Status
from dcplan.reliability.calendar import run_time
from dcplan.result import Metric, Result, Table
from dcplan.training.architecture import Architecture, from_config, model_flops_per_token
from dcplan.training.estimate import FULL_RECOMPUTE_FACTOR, Hardware, Sweep, layout_of, sweep
from dcplan.units import HOURS_PER_DAY, KW_PER_MW, SECONDS_PER_DAY, si

GIB_PER_GB = 1e9 / 2**30
DEFAULT_BATCH_TOKENS = 4e6
"""Tokens of a step where none is given; the headline says so."""


@dataclass(frozen=True)
class Ask:
    """What the command line asks: names as typed, amounts or None where left out."""

    model: str
    system: str | None
    accelerators: int | None
    tokens: float | None
    seq_len: int
    global_batch_tokens: float | None
    precision: str
    link_gbps: float | None


@dataclass(frozen=True)
class _Case:
    """The ask with every name looked up: what the sweep is run on."""

    shape: Architecture
    system: System
    spec: Hardware
    accelerators: int
    tokens: float
    seq_len: int
    batch_tokens: float
    precision: str


def train_model(ask: Ask, catalog: Catalog) -> Result:
    """Estimate one model on one system: sweep the layouts, keep the fastest, put it on the calendar."""
    ledger = Ledger(catalog)
    case = _case(ask, catalog, ledger)
    began = time.perf_counter()
    count = np.array([case.accelerators], dtype=np.float64)
    result = sweep(case.shape, case.seq_len, case.batch_tokens, case.spec, count)
    seconds = time.perf_counter() - began
    system = case.system
    what = f"{ask.model} on {case.accelerators:,} x {system.accelerator} ({system.id}), {case.precision}"
    if not np.isfinite(result.step_time_s[0]):
        return _too_large(what, result, seconds)
    metrics = _metrics(catalog, ledger, case, result)
    note = "first form of the estimator: achieved fractions of measured runs, no per-operation model"
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{what}: {metrics['days'].value:.1f} days (P50), {metrics['mfu_frac'].value:.1%} MFU, "
        f"{result.step_time_s[0]:.3g} s a step; {si(case.tokens)} tokens, {si(case.batch_tokens)} a step"
        f"{'' if ask.global_batch_tokens else ' (default: give --global-batch-tokens)'}",
        metrics=metrics,
        tables={"layout": _layout(result), "breakdown": _breakdown(result)},
        inputs=[asdict(row) for _, row in sorted(ledger.rows.items())],
        warnings=[{"code": "note", "message": note}],
        run={"seconds": round(seconds, 4)},
    )


def _case(ask: Ask, catalog: Catalog, ledger: Ledger) -> _Case:
    """Look up every name of the ask; refuse what is missing."""
    shape, published = _shape(catalog, ask.model)
    system = _system(catalog, ask.system)
    tokens = ask.tokens or published
    if ask.accelerators is None or tokens is None:
        missing = "--accelerators" if ask.accelerators is None else "--tokens"
        raise InputError([Problem("DC050", f"{missing} is needed to train {ask.model}", Place("train"))])
    port = ask.link_gbps or (system.scaleout_port_gbps.value if system.scaleout_port_gbps else 0.0)
    gb_per_s = (system.scaleout_ports or 0) / system.accelerators * port / 8.0
    spec = hardware(system.accelerator, ask.precision, gb_per_s, ledger, moe=shape.moe_layers > 0)
    if isinstance(spec, str):
        help_ = f"dcplan catalog show accelerators {system.accelerator}"
        raise InputError([Problem("DC010", spec, Place("train"), help=help_)])
    if gb_per_s <= 0:
        cause = f"{system.id} has no scale-out ports in the catalog: give --link-gbps"
        raise InputError([Problem("DC010", cause, Place("train"))])
    batch = ask.global_batch_tokens or DEFAULT_BATCH_TOKENS
    ledger.take("tokens", Quantity(value=tokens, status=Status.INPUT if ask.tokens else Status.CATALOG))
    given = Status.INPUT if ask.global_batch_tokens else Status.DEFAULT
    ledger.take("global_batch_tokens", Quantity(value=batch, status=given))
    return _Case(shape, system, spec, ask.accelerators, tokens, ask.seq_len, batch, ask.precision)


def _shape(catalog: Catalog, name: str) -> tuple[Architecture, float | None]:
    row = catalog.find("models", name, Model)
    if row is not None:
        try:
            return from_config(row.config), row.training_tokens.value if row.training_tokens else None
        except ValueError as error:
            raise InputError([Problem("DC010", f"{row.id}: {error}", Place("train"))]) from error
    try:
        return from_config(json.loads(Path(name).read_text(encoding="utf-8"))), None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError([Problem("DC010", f"not a model config: {error}", Place(name))]) from error


def _system(catalog: Catalog, name: str | None) -> System:
    if name is None:
        raise InputError(
            [
                Problem(
                    "DC050",
                    "--system is needed to train a catalog model",
                    Place("train"),
                    help="dcplan catalog list systems",
                )
            ]
        )
    row = catalog.find("systems", name, System)
    if row is None:
        hint = did_you_mean(name, catalog.rows["systems"])
        raise InputError(
            [Problem("DC010", f"no systems row {name!r}", Place("train"), hint, "dcplan catalog list systems")]
        )
    return row


def _metrics(catalog: Catalog, ledger: Ledger, case: _Case, result: Sweep) -> dict[str, Metric]:
    step, count = float(result.step_time_s[0]), float(result.accelerators[0])
    achieved = case.spec.achieved_frac
    slow, fast = case.spec.achieved_low_frac / achieved, case.spec.achieved_high_frac / achieved
    rate = result.tokens_per_step / step / count
    flops = result.flops_per_step / step / count
    accelerator = catalog.get("accelerators", case.system.accelerator, Accelerator)
    peak = getattr(accelerator, f"{case.precision}_tflops").value * 1e12
    recompute = FULL_RECOMPUTE_FACTOR if result.layouts["full"][0] else 1.0
    memory_gib = float(result.memory_gb[0]) * GIB_PER_GB
    speed = {
        "step_time_s": Metric(step, "s", "One optimizer step", step / fast, step / slow),
        "tokens_per_s_per_accelerator": Metric(rate, "1/s", "Tokens of one accelerator"),
        "tflops_per_accelerator": Metric(flops / 1e12, "TFLOP/s", "Model FLOP/s of one accelerator"),
        "mfu_frac": Metric(flops / peak, "", "Model FLOPs utilization, causal attention"),
        "hfu_frac": Metric(flops / peak * recompute, "", "Hardware FLOPs utilization, recompute counted"),
        "memory_gib": Metric(memory_gib, "GiB", "Peak memory of the first stage"),
    }
    clean = case.tokens / result.tokens_per_step * step / SECONDS_PER_DAY
    used = "Accelerators that fill whole replicas; the rest are idle"
    return {
        **speed,
        **_calendar(catalog, ledger, case, clean, slow / fast),
        "accelerators_used": Metric(float(result.used[0]), "", used),
        "search.layouts": Metric(result.tried, "", "Layouts tried"),
        "search.feasible": Metric(int(result.feasible[0]), "", "Layouts that fit memory"),
    }


def _calendar(
    catalog: Catalog, ledger: Ledger, case: _Case, clean_days: float, spread_frac: float
) -> dict[str, Metric]:
    """Days, accelerator-hours and energy of the whole run, failures as one effective-time ratio."""
    goodput = catalog.get("reliability", "effective-training-frac", Parameter).value
    ledger.parameter("reliability", "effective-training-frac")
    low, high = goodput.bounds
    run = run_time(clean_days, spread_frac, goodput.value, low, high)
    p10, p50, p90 = run.quantile_days(0.1), run.p50_days, run.quantile_days(0.9)
    hours = case.accelerators * p50 * HOURS_PER_DAY
    mwh = _training_kw(catalog, ledger, case.system) / case.system.accelerators * hours / KW_PER_MW
    flops = model_flops_per_token(case.shape, case.seq_len) * case.tokens
    return {
        "days": Metric(p50, "days", "Median run time", p10, p90),
        "days_p10": Metric(p10, "days", "10th percentile"),
        "days_p50": Metric(p50, "days", "Median"),
        "days_p90": Metric(p90, "days", "90th percentile"),
        "accelerator_hours": Metric(hours, "h", "Median accelerator-hours"),
        "goodput_frac": Metric(goodput.value, "", "Effective training time over wall-clock time", low, high),
        "energy_mwh": Metric(mwh, "MWh", "IT energy, PUE not included"),
        "energy_j_per_flop": Metric(mwh * 3.6e9 / flops, "J", "IT energy of one model FLOP"),
    }


def _training_kw(catalog: Catalog, ledger: Ledger, system: System) -> float:
    own = system.average_kw.training
    if own is not None:
        return ledger.take(f"systems.{system.id}.average_kw.training", own)
    if system.rated_kw is None:
        raise InputError([Problem("DC010", f"{system.id} has no power figure in the catalog", Place("train"))])
    return ledger.take(f"systems.{system.id}.rated_kw", system.rated_kw) * ledger.parameter(
        "power", "average-training-frac"
    )


def _layout(result: Sweep) -> Table:
    layout = layout_of(result, 0)
    return Table(tuple(layout), (tuple(layout.values()),))


def _breakdown(result: Sweep) -> Table:
    step = float(result.step_time_s[0])
    rows = tuple((name, float(part[0]), float(part[0]) / step) for name, part in result.parts_s.items())
    return Table(("part", "time_s", "share_frac"), rows)


def _too_large(what: str, result: Sweep, seconds: float) -> Result:
    return Result(
        verb="train",
        status="does_not_fit",
        exit_code=EXIT_NO,
        headline=f"{what}: no layout of {result.tried} fits the memory",
        metrics={
            "search.layouts": Metric(result.tried, "", "Layouts tried"),
            "search.feasible": Metric(0, "", "Layouts that fit memory"),
        },
        run={"seconds": round(seconds, 4)},
    )
