"""Why a layout is not chosen, and refusals: no memory, or a limit below the floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dcplan.answers.serve.hosted import reach
from dcplan.answers.serve.resolve import ServeRun, limits_of
from dcplan.answers.serve.service.outcome import Outcome
from dcplan.answers.serve.service.rates import RunRates
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import WeightFormat
from dcplan.errors import Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.setups import Checkpoint, memory_terms, served_of, service
from dcplan.inputs.serving.sizing.states import States, kv_tokens
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.memory import largest_stage_frac
from dcplan.serving.search import Layout, layouts, requests_held
from dcplan.serving.tables import Array
from dcplan.specs.serve import options as specs
from dcplan.units import GIGA, MILLI

MOST_TRIED = 1024
"""Accelerators of a replica up to which a fitting layout is looked for."""
NARROWER = ("fp8", "nvfp4", "int4")
"""Formats that are tried where a model does not fit."""


def layout_rows(found: Outcome) -> list[specs.LayoutRow]:
    """Return every layout with its best point and the reason against it, the best first."""
    rates, states = found.rates, found.states
    rows = []
    order: dict[str, float] = {}
    chosen = {str(p.layout) for p in found.pools}
    for at, layout in enumerate(found.run.layouts):
        value, running = _best(rates, at)
        order[str(layout)] = -(value or 0.0)
        if found.played is not None:
            # the formulas order the layouts; only a replay tells their throughput
            value, running = _replayed(found) if str(layout) in chosen else (None, None)
        rows.append(
            specs.LayoutRow(
                str(layout),
                layout.accelerators,
                value,
                running,
                float(states.tpot_floor_s[at]) / MILLI,
                float(states.ttft_floor_s[at]) / MILLI,
                kv_tokens(states, at),
                why_not(found, at),
            )
        )
    rows.sort(key=lambda r: (r.layout not in chosen, order[r.layout], r.layout))
    return rows


def _replayed(found: Outcome) -> tuple[float, float]:
    """Return tokens per second and accelerator of the fewest replicas, and the requests that run."""
    pool = found.main
    value = pool.rate_max * found.run.need.output_tokens / pool.layout.accelerators
    return value, pool.running


def _best(rates: RunRates, at: int) -> tuple[float | None, float | None]:
    """Return tokens per second and accelerator at the highest rate, and the requests that run."""
    if rates.bound[at] <= 0.0:
        return None, None
    if at in rates.searched:
        most = rates.searched[at]
        if most <= 0.0:
            return None, None
        running = rates.latency(at, most).running * rates.copy(at).copies
        return rates.value(at), running
    found = rates.states.found
    within = (found.steady.tpot_s[at] <= rates.run.tpot_s) & (found.possible[at] > 0)
    value = np.where(within, found.tokens_per_s_per_accelerator[at], 0.0)
    column = int(np.argmax(value))
    return float(value[column]), float(found.steady.running[at, column])


def why_not(found: Outcome, at: int) -> str:
    """Return the reason against a layout; ``chosen`` for the chosen one."""
    if any(p.layout == found.run.layouts[at] for p in found.pools):
        return "chosen"
    return _impossible(found, at) or _worse(found, at)


def _impossible(found: Outcome, at: int) -> str:
    """Return the limit that a layout does not keep; empty if it keeps all."""
    states, run = found.states, found.run
    short = _short_gb(states)[at]
    if short > 0.0 and states.space_bytes[at] > 0.0:
        return f"does not fit: {_cache_text(states, at)}"
    if short > 0.0:
        return f"does not fit: {short:,.1f} GB more memory per accelerator needed"
    if states.tpot_floor_s[at] > run.tpot_s:
        return f"TPOT floor {states.tpot_floor_s[at] / MILLI:,.1f} ms above the limit"
    if states.ttft_floor_s[at] > run.ttft_s:
        return f"TTFT floor {states.ttft_floor_s[at] / MILLI:,.0f} ms above the limit"
    if found.rates.searched.get(at) == 0.0:
        return f"a limit is not met by {run.request.quantile:.0%} of the requests at any rate"
    return ""


def _worse(found: Outcome, at: int) -> str:
    """Return why a layout within the limits is not chosen."""
    rates, run = found.rates, found.run
    best = rates.value(found.at) if rates.searched.get(found.at) else None
    value = _best(rates, at)[0]
    if found.played is not None:
        if at in found.failed:
            return f"the replay is not within the limits on {found.failed[at]:,} accelerators"
        if not best or not value or value >= best:
            return "not replayed: the queue formulas put it behind others"
        return f"{1.0 - value / best:.0%} fewer tokens/s per accelerator by the formulas"
    if best and value and value < best:
        return f"{1.0 - value / best:.0%} fewer tokens/s per accelerator"
    if run.request.disaggregated:
        return "another layout serves more requests per accelerator in its pool"
    if run.rate or run.request.accelerators or run.request.concurrency:
        return "more accelerators for the load, in complete replicas"
    return "fewer tokens/s per accelerator in an open loop"


def _short_gb(states: States) -> Array:
    """Return the memory that the longest request lacks on an accelerator [GB]; at most 0 if it fits.

    A request is on one copy of attention, so the other copies do not hold a part of it.
    """
    x = states.served.layout
    model = states.served.model
    each = sequence_bytes(model, x, np.array(states.work.need.longest))
    each = each * largest_stage_frac(model, x)
    return np.asarray((each - states.space_bytes) / GIGA)


def _cache_text(states: States, at: int) -> str:
    """Return what the cache of one copy of attention holds and what the longest request needs."""
    work = states.work
    held = kv_tokens(states, at) / work.layouts[at].dp
    return f"the cache holds {held:,.0f} tokens, and a request needs {work.need.longest:,.0f}"


def refusals(rates: RunRates) -> list[Problem]:
    """Return why a run serves nothing: memory, or a limit below the floor."""
    states = rates.states
    if not (states.fits > 0).any():
        return [_does_not_fit(rates.run, states)]
    return list(_below_floor(rates))


def _does_not_fit(run: ServeRun, states: States) -> Problem:
    short = _short_gb(states)
    at = int(np.argmin(short))
    layout = run.layouts[at]
    there = float(states.memory.usable_frac[0]) * run.service.device["memory_bytes"] / GIGA
    more = f"; {_cache_text(states, at)}" if states.space_bytes[at] > 0.0 else ""
    cause = (
        f"{run.title} does not fit: {layout} needs {there + short[at]:,.1f} GB per accelerator, "
        f"and the engine has {there:,.1f} GB on each of the {layout.accelerators:,}{more}"
    )
    fixes = [x for x in (_count_that_fits(run), _format_that_fits(run)) if x]
    help_text = f"it fits with {' or '.join(fixes)}" if fixes else "choose a larger accelerator"
    return Problem("DC032", cause, Place("serve"), help=help_text)


def _count_that_fits(run: ServeRun) -> str:
    domain = reach(run.machine, run.service)
    tried = layouts(limits_of(run.shape, domain, MOST_TRIED))
    able = _fitting(run, tried)
    if not able:
        return ""
    best = min(able, key=lambda x: (x.accelerators, x.pp, -x.tp))
    return f"-n {best.accelerators} ({best})"


def _fitting(run: ServeRun, tried: list[Layout]) -> list[Layout]:
    served, memory = served_of([run.service], tried), memory_terms([run.service])
    fits = requests_held(served, memory, run.need)
    return [x for x, n in zip(tried, fits, strict=True) if n >= 1.0]


def _format_that_fits(run: ServeRun) -> str:
    """Return the widest narrower precision at which the model fits the same layouts."""
    catalog, size = run.log.catalog, run.software.precision.weight_bytes.value
    for name in NARROWER:
        form = catalog.get("formats", name, WeightFormat)
        if form.weight_bytes.value >= size:
            continue
        row = model_of(catalog, run.model)
        point = Checkpoint(run.shape, row, form, run.software.cache_kind)
        found = service(
            InputLog(catalog),
            point,
            run.machine.accelerator,
            run.software.engine,
            run.software.release,
            nic_gb_per_s=run.machine.nic_gb_per_s,
            domain=run.machine.domain,
        )
        if not isinstance(found, str) and _fitting(replace(run, service=found), list(run.layouts)):
            return f"--precision {name}"
    return ""


def _below_floor(rates: RunRates) -> Iterator[Problem]:
    states, run = rates.states, rates.run
    fits = states.fits > 0
    tpot, ttft = (np.where(fits, x, np.inf) for x in (states.tpot_floor_s, states.ttft_floor_s))
    if tpot.min() > run.tpot_s:
        yield _floor(run, "tpot", run.request.tpot_ms, tpot, "time per output token")
    if ttft.min() > run.ttft_s:
        yield _floor(run, "ttft", run.request.ttft_ms, ttft, "time to first token")
    if tpot.min() > run.tpot_s or ttft.min() > run.ttft_s:
        return
    both = (tpot <= run.tpot_s) & (ttft <= run.ttft_s)
    if not both.any():
        at = int(np.argmin(np.where(tpot <= run.tpot_s, ttft, np.inf)))
        cause = (
            f"{run.title}: no layout has both floors within the limits; {run.layouts[at]} has a "
            f"TPOT of {tpot[at] / MILLI:,.1f} ms and a TTFT of {ttft[at] / MILLI:,.0f} ms with one "
            "request"
        )
        yield Problem("DC034", cause, Place("serve"), help=f"--ttft-ms {rounded_up(ttft[at])}")
        return
    near = np.where(both, tpot / run.tpot_s + ttft / run.ttft_s, np.inf)
    yield _not_at_quantile(run, tpot, ttft, int(np.argmin(near)))


def _not_at_quantile(run: ServeRun, tpot: Array, ttft: Array, at: int) -> Problem:
    load = ""
    if run.request.concurrency and run.request.accelerators:
        load = f" with {run.request.concurrency:,} concurrent requests on -n {run.request.accelerators:,}"
    cause = (
        f"{run.title}: no layout keeps both limits for {run.request.quantile:.0%} of the "
        f"requests{load}; the nearest, {run.layouts[at]}, has a TPOT of {tpot[at] / MILLI:,.1f} ms "
        f"and a TTFT of {ttft[at] / MILLI:,.0f} ms with one request"
    )
    help_text = "a limit of about twice the floor leaves room for a queue; or lower --quantile"
    return Problem("DC034", cause, Place("serve"), help=help_text)


def _floor(run: ServeRun, key: str, limit_ms: float, floor_s: Array, name: str) -> Problem:
    at = int(np.argmin(floor_s))
    cause = (
        f"{run.title}: --{key}-ms {limit_ms:g} is below the floor of the {name}, "
        f"{floor_s[at] / MILLI:,.1f} ms with {run.layouts[at]} and one request"
    )
    help_text = f"--{key}-ms {rounded_up(floor_s[at])} or more"
    return Problem("DC034", cause, Place(f"--{key}-ms"), help=help_text)


def rounded_up(seconds: float) -> str:
    """Return milliseconds with some room above a floor, rounded up to two digits.

    Examples
    --------
    >>> rounded_up(0.01234), rounded_up(0.512)
    ('15', '620')
    """
    value = 1.2 * seconds / MILLI
    digit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return f"{np.ceil(value / digit - 1e-9) * digit:g}"
