"""``dcplan train``: how long a model takes on how many accelerators, in which layout."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.plan import describe, inputs_of
from dcplan.answers.plan_tables import left_out
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Accelerator, Model, Parameter, System
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.planning.menu.build import build
from dcplan.planning.menu.jobs import hardware
from dcplan.planning.menu.ledger import Ledger
from dcplan.provenance import Quantity, Status
from dcplan.reliability.calendar import run_time
from dcplan.result import Metric, Result, Table
from dcplan.scenario.load import load
from dcplan.training.architecture import Architecture, from_config, model_flops_per_token
from dcplan.training.estimate import FULL_RECOMPUTE_FACTOR, Sweep, layout_of, sweep
from dcplan.units import HOURS_PER_DAY, KW_PER_MW, SECONDS_PER_DAY, si

GIB_PER_GB = 1e9 / 2**30
DEFAULT_BATCH_TOKENS = 4e6
"""Tokens of a step where none is given; the headline says so."""


def train(
    model: str | Path,
    *,
    system: str | None = None,
    accelerators: int | None = None,
    tokens: float | None = None,
    seq_len: int = 8192,
    global_batch_tokens: float | None = None,
    precision: str = "bf16",
    link_gbps: float | None = None,
    catalogs: Sequence[str] = (),
) -> Result:
    """Estimate training: of every job of a scenario, or of one model on one system.

    Parameters
    ----------
    model : str or Path
        A scenario file or packaged example (then the other arguments are not used), a catalog model,
        or a Hugging Face ``config.json``.
    system : str, optional
        Catalog system that carries the accelerators.
    accelerators : int, optional
        How many, at least 1.
    tokens : float, optional
        Training tokens; the catalog's where it has them. [-]
    seq_len : int, default 8192
        Tokens of a sequence. [-]
    global_batch_tokens : float, optional
        Tokens of a step; 4e6 where left out, marked as a default. [-]
    precision : str, default "bf16"
        bf16, fp16, fp8 or fp4.
    link_gbps : float, optional
        One-way rate of a NIC port; the system's own where left out. [Gb/s]
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When a name is unknown or an argument is missing.
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    name = str(model)
    if catalog.find("models", name, Model) is None and not name.endswith(".json"):
        if not name.endswith((".yaml", ".yml")):
            _refuse_unknown(name, catalog)
        return _scenario(name, catalogs)
    shape, published = _shape(catalog, name)
    row = _system(catalog, system)
    amount = tokens or published
    if accelerators is None or amount is None:
        missing = "--accelerators" if accelerators is None else "--tokens"
        raise InputError([Problem("DC050", f"{missing} is needed to train {name}", Place("train"))])
    ledger = Ledger(catalog)
    port = link_gbps or (row.scaleout_port_gbps.value if row.scaleout_port_gbps else 0.0)
    gb_per_s = (row.scaleout_ports or 0) / row.accelerators * port / 8.0
    spec = hardware(row.accelerator, precision, gb_per_s, ledger, moe=shape.moe_layers > 0)
    if isinstance(spec, str):
        raise InputError(
            [Problem("DC010", spec, Place("train"), help=f"dcplan catalog show accelerators {row.accelerator}")]
        )
    if gb_per_s <= 0:
        raise InputError(
            [
                Problem(
                    "DC010",
                    f"{row.id} has no scale-out ports in the catalog: give --link-gbps",
                    Place("train"),
                )
            ]
        )
    batch = global_batch_tokens or DEFAULT_BATCH_TOKENS
    ledger.take("tokens", Quantity(value=amount, status=Status.INPUT if tokens else Status.CATALOG))
    given = Status.INPUT if global_batch_tokens else Status.DEFAULT
    ledger.take("global_batch_tokens", Quantity(value=batch, status=given))
    began = time.perf_counter()
    result = sweep(shape, seq_len, batch, spec, np.array([accelerators], dtype=np.float64))
    seconds = time.perf_counter() - began
    what = f"{name} on {accelerators:,} x {row.accelerator} ({row.id}), {precision}"
    if not np.isfinite(result.step_time_s[0]):
        return _too_large(what, result, seconds)
    low, high = spec.achieved_low_frac / spec.achieved_frac, spec.achieved_high_frac / spec.achieved_frac
    metrics = _metrics(catalog, ledger, row, shape, seq_len, result, amount, (low, high), precision)
    days = metrics["days"].value
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{what}: {days:.1f} days (P50), {metrics['mfu_frac'].value:.1%} MFU, "
        f"{result.step_time_s[0]:.3g} s a step; {si(amount)} tokens, {si(batch)} a step"
        f"{'' if global_batch_tokens else ' (default: give --global-batch-tokens)'}",
        metrics=metrics,
        tables={"layout": _layout(result), "breakdown": _breakdown(result)},
        inputs=[row_.__dict__ for _, row_ in sorted(ledger.rows.items())],
        warnings=[
            {
                "code": "note",
                "message": "first form of the estimator: achieved fractions of measured runs, no per-operation model",
            }
        ],
        run={"seconds": round(seconds, 4)},
    )


def _refuse_unknown(name: str, catalog: Catalog) -> None:
    """Say so when a name is neither a model nor a packaged scenario."""
    examples = [p.stem for p in data_dir("scenarios").glob("*.yaml")]
    if name in examples or Path(name).is_file():
        return
    hint = did_you_mean(name, [*catalog.rows["models"], *examples])
    cause = f"{name!r} is neither a catalog model, a config.json nor a scenario"
    raise InputError([Problem("DC010", cause, Place("train"), hint, "dcplan catalog list models")])


def _shape(catalog: Catalog, name: str) -> tuple[Architecture, float | None]:
    row = catalog.find("models", name, Model)
    if row is not None:
        try:
            return from_config(row.config), row.training_tokens.value if row.training_tokens else None
        except ValueError as error:
            raise InputError([Problem("DC010", f"{row.id}: {error}", Place("train"))]) from error
    import json

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


def _metrics(
    catalog: Catalog,
    ledger: Ledger,
    system: System,
    shape: Architecture,
    seq_len: int,
    result: Sweep,
    tokens: float,
    speed: tuple[float, float],
    precision: str,
) -> dict[str, Metric]:
    step, count = float(result.step_time_s[0]), float(result.accelerators[0])
    goodput = catalog.get("reliability", "effective-training-frac", Parameter).value
    ledger.take("reliability.effective-training-frac", goodput)
    low, high = goodput.bounds
    clean = tokens / result.tokens_per_step * step / SECONDS_PER_DAY
    run = run_time(clean, speed[0] / speed[1], goodput.value, low, high)
    flops = result.flops_per_step / step / count
    peak = getattr(catalog.get("accelerators", system.accelerator, Accelerator), f"{precision}_tflops").value * 1e12
    recompute = FULL_RECOMPUTE_FACTOR if result.layouts["full"][0] else 1.0
    kw = _training_kw(catalog, ledger, system) / system.accelerators
    mwh = count * kw * run.p50_days * HOURS_PER_DAY / KW_PER_MW
    total = model_flops_per_token(shape, seq_len) * tokens
    return {
        "step_time_s": Metric(step, "s", "One optimizer step", step / speed[1], step / speed[0]),
        "tokens_per_s_per_accelerator": Metric(
            result.tokens_per_step / step / count, "1/s", "Tokens of one accelerator"
        ),
        "tflops_per_accelerator": Metric(flops / 1e12, "TFLOP/s", "Model FLOP/s of one accelerator"),
        "mfu_frac": Metric(flops / peak, "", "Model FLOPs utilization, causal attention"),
        "hfu_frac": Metric(flops / peak * recompute, "", "Hardware FLOPs utilization, recompute counted"),
        "memory_gib": Metric(float(result.memory_gb[0]) * GIB_PER_GB, "GiB", "Peak memory of the first stage"),
        "days": Metric(run.p50_days, "days", "Median run time", run.quantile_days(0.1), run.quantile_days(0.9)),
        "days_p10": Metric(run.quantile_days(0.1), "days", "10th percentile"),
        "days_p50": Metric(run.p50_days, "days", "Median"),
        "days_p90": Metric(run.quantile_days(0.9), "days", "90th percentile"),
        "accelerator_hours": Metric(count * run.p50_days * HOURS_PER_DAY, "h", "Median accelerator-hours"),
        "goodput_frac": Metric(goodput.value, "", "Effective training time over wall-clock time", low, high),
        "energy_mwh": Metric(mwh, "MWh", "IT energy, PUE not included"),
        "energy_j_per_flop": Metric(mwh * 3.6e9 / total, "J", "IT energy of one model FLOP"),
        "accelerators_used": Metric(
            float(result.used[0]), "", "Accelerators that fill whole replicas; the rest are idle"
        ),
        "search.layouts": Metric(result.tried, "", "Layouts tried"),
        "search.feasible": Metric(int(result.feasible[0]), "", "Layouts that fit memory"),
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


def _scenario(name: str, catalogs: Sequence[str]) -> Result:
    """The job menu of a scenario: every non-dominated way to run each job."""
    question = load(name, catalogs=catalogs)
    built = build(question)
    rows = []
    seen = set()
    for c in built.menu.configs:
        key = (c.job, c.place, c.system, c.accelerators, c.precision)
        if key in seen:
            continue
        seen.add(key)
        layout = " ".join(f"{k}={v}" for k, v in c.layout.items())
        rows.append((c.job, c.place, c.system, c.accelerators, c.precision, c.days_p50, c.days, c.mfu_frac, layout))
    columns = (
        "job",
        "place",
        "system",
        "accelerators",
        "precision",
        "p50_days",
        "days",
        "mfu_frac",
        "layout",
    )
    jobs = len({r[0] for r in rows})
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{question.scenario.name}: {len(rows)} ways to run {jobs} of {len(built.menu.jobs)} jobs",
        scenario=describe(question),
        tables={"configs": Table(columns, tuple(sorted(rows))), "left_out": left_out(built.menu)},
        inputs=inputs_of(built),
    )
