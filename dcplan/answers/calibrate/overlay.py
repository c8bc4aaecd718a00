"""Overlay files: measured training terms of an accelerator, and a stack fitted to own runs."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from statistics import NormalDist

import numpy as np

from dcplan.answers.calibrate.constants import INTERVAL_SHARE, STACK, Kernels, group
from dcplan.answers.calibrate.own_runs import OwnFit
from dcplan.answers.calibrate.read import Measured
from dcplan.catalog.schema import Accelerator, Stack, TrainingTerms
from dcplan.inputs.training.stacks import EXPERT_FIELDS, spread_key
from dcplan.llm.device_terms import DeviceTerms, StackTerms
from dcplan.llm.kernel_fit import Fitted
from dcplan.training.shrinkage import half_width_frac

FIRST_LINE = "# Written by dcplan calibrate. Use it with --catalogs and the folder of this file."


def kernel_overlay(measured: Measured, row: Accelerator, found: Mapping[str, Fitted]) -> str:
    """Return one accelerator row with the measured training terms; the catalog gives the rest."""
    lines = [FIRST_LINE, "accelerators:", *_terms(row.id, found, measured)]
    return "\n".join(lines) + "\n"


def _terms(key: str, found: Mapping[str, Fitted], measured: Measured) -> Iterator[str]:
    """Return the lines of an accelerator row with measured terms."""
    data = measured.document.data
    runtime = data["cuda"] if data["cuda"].startswith("ROCm") else f"CUDA {data['cuda']}"
    source = f"dcplan calibrate, measured on {data['device']}, torch {data['torch']}, {runtime}"
    origin = f"source: {json.dumps(source)}, as_of: {json.dumps(data['date'])}"
    yield from (f"  - id: {key}", "    training:")
    for name, f in found.items():
        yield f"      # points: {f.points}, mean error: {f.error:.1%}"
        value = f"value: {f.value:.4g}, low: {f.low:.4g}, high: {f.high:.4g}"
        yield f"      {name}: {{{value}, {origin}}}"
    units = data["multiprocessors"]
    yield f"      multiprocessors: {{value: {units}, low: {units}, high: {units}, {origin}}}"


def bounds(fit: OwnFit, place: int) -> tuple[float, float]:
    """Return the interval of a fitted constant, as wide as those of the catalog."""
    spread = float(fit.found.spread(fit.chosen.priors.width)[place])
    reach = np.exp(spread * NormalDist().inv_cdf((1.0 + INTERVAL_SHARE) / 2.0))
    value = float(fit.found.value[place])
    return value / float(reach), min(value * float(reach), float(fit.chosen.priors.most[place]))


def spreads(fit: OwnFit) -> dict[str, float]:
    """Return the half width of the interval of each accelerator family, and of its experts' runs.

    It comes from the errors of runs that the fit did not see. It is at least the noise of a run, as
    five runs may agree by chance, and at most 1.
    """
    if fit.unseen is None:
        return {}
    keys = [spread_key(r.accelerator, moe=r.moe) for r in fit.runs]
    logs = np.log1p(fit.unseen)
    return {
        key: min(
            max(half_width_frac(logs[[k == key for k in keys]], INTERVAL_SHARE), fit.noise), 1.0
        )
        for key in sorted(set(keys))
        if keys.count(key) > 1
    }


def runs_overlay(
    fit: OwnFit, key: str, file: Path, kernels: Kernels, measured: Measured | None
) -> str:
    """Return the stack row, and the accelerator rows whose speeds the fit changed."""
    day = dt.datetime.fromtimestamp(file.stat().st_mtime, tz=dt.UTC).date().isoformat()
    title = f"dcplan calibrate --runs {file.name}: {len(fit.runs)} runs"
    origin = f"source: {json.dumps(title)}, as_of: {json.dumps(day)}"
    lines = [FIRST_LINE, "stacks:", f"  - id: {key}"]
    like = fit.origin.like
    if fit.origin.own is None or fit.origin.own.id != key:
        lines += [f"    name: {json.dumps(f'{fit.origin.text}, fitted to own runs')}"]
        if fit.origin.own is None and fit.origin.text != key:
            lines += [f"    aliases: [{json.dumps(fit.origin.text)}]"]
        lines += [
            f"    note: {json.dumps(f'what the runs do not say is that of {fit.origin.label}')}"
        ]
    elif fit.origin.own.releases:
        lines += ["    releases: []"]  # the row has the values of the release of the runs
    lines += [f"    source: {{title: {json.dumps(title)}, as_of: {json.dumps(day)}}}"]
    families = {str(r.accelerator.family or "generic") for r in fit.runs}
    lines += [f"    runs_on: {_plain(sorted({*like.runs_on, *families}))}"] if like.runs_on else []
    lines += list(_experts(fit))
    lines += list(_copied(fit))
    for item, i in fit.pairs():
        if item.on == STACK and item.name not in EXPERT_FIELDS:
            lines += [f"    {item.name}: {{{_value(fit, i)}, {origin}}}"]
    halves = ", ".join(f"{name}: {half:.3g}" for name, half in spreads(fit).items())
    lines += [f"    spreads: {{{halves}}}"] if halves else []
    parts = list(_accelerators(fit, kernels, measured, origin))
    return "\n".join([*lines, *(["accelerators:", *parts] if parts else [])]) + "\n"


def _value(fit: OwnFit, place: int) -> str:
    low, high = bounds(fit, place)
    return f"value: {fit.found.value[place]:.6g}, low: {low:.6g}, high: {high:.6g}"


def _copied(fit: OwnFit) -> Iterator[str]:
    """Return the fields of the prior's stack that the fit does not change, where they matter."""
    fitted = {item.name for item, _ in fit.pairs() if item.on == STACK}
    for f in fields(StackTerms):
        if f.name in EXPERT_FIELDS:
            continue
        value = getattr(fit.terms, f.name)
        default = Stack.model_fields[f.name].default
        absent = default is None and not value  # 0 where the row has no value
        endless = isinstance(value, float) and math.isinf(value)
        if f.name not in fitted and value != default and not absent and not endless:
            yield f"    {f.name}: {_plain(value)}"


def _experts(fit: OwnFit) -> Iterator[str]:
    """Return the dispatchers of the prior's stack, with fitted host times, and its expert paths."""
    like = fit.origin.like
    fitted = {i.name: float(fit.found.value[n]) / i.prior for i, n in fit.pairs() if i.on == STACK}
    scale = fitted.get("moe_host_ms", 1.0)
    if like.dispatchers:
        yield "    dispatchers:"
    for name, way in like.dispatchers.items():
        text = (
            f"host_ms: {way.host_ms.value * scale:.6g}, passes_frac: {way.passes_frac.value:.6g}, "
            f"rate_frac: {way.rate_frac.value:.6g}, combined: {_plain(way.combined)}"
        )
        yield f"      {name}: {{{text}}}"
    if like.experts:
        yield "    experts:"
    for family, path in like.experts.items():
        text = f"graphs: {path.graphs}, overlap: {_plain(path.overlap)}"
        yield f"      {family}: {{dispatcher: {path.dispatcher}, {text}}}"


def _plain(value: object) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, str | bool | int):
        return json.dumps(value)
    if isinstance(value, Iterable):
        return f"[{', '.join(str(x) for x in value)}]"
    return f"{value:.6g}"


def _accelerators(
    fit: OwnFit, kernels: Kernels, measured: Measured | None, origin: str
) -> Iterator[str]:
    """Return the rows of the accelerators whose speeds differ from the catalog's."""
    known = set(TrainingTerms.model_fields)
    known &= {f.name for f in fields(DeviceTerms)}
    changes: dict[str, dict[str, float]] = {r.accelerator.id: {} for r in fit.runs}
    groups = {r.accelerator.id: group(r) for r in fit.runs}
    for run, now in zip(fit.runs, fit.fitted, strict=True):  # runs may use other attention kernels
        changes[run.accelerator.id] |= {
            name: float(getattr(now.device, name))
            for name in sorted(known)
            if getattr(now.device, name) != getattr(run.device, name)
        }
    for key, changed in sorted(changes.items()):
        factors = [i.name for i, _ in fit.pairs() if i.on == groups[key]]
        if key in kernels and measured is not None:
            kept = {k: f for k, f in kernels[key].items() if k not in changed}
            yield from _terms(key, kept, measured)
        elif changed:
            yield from (f"  - id: {key}", "    training:")
        if changed:
            yield f"      # fitted to own runs: {', '.join(factors)}"
            yield from (f"      {k}: {{value: {v:.6g}, {origin}}}" for k, v in changed.items())
