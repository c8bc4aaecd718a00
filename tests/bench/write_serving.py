"""Write the fitted constants, factors, ports, spreads and power of serving into the catalog."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml
from scipy.optimize import nnls

from dcplan.answers.validation.measured_serving import kind_of
from dcplan.answers.validation.serving_tables import predict
from dcplan.inputs.serving.engines import CAPPED, MOST_FRAC, TERMS
from tests.bench import serving_data as fit

FOLDER = Path(__file__).resolve().parents[2] / "catalogs" / "serving"
LEAST = 0.02
"""Factors within this log distance of 1 are left out."""
COVER = 0.77
LEAST_ROWS = 12
"""Fewer held-out rows share the spread of the level above."""
WIDEST = 1.2


def write(data: fit.Data, x: np.ndarray, held_out: np.ndarray) -> None:
    """Write everything that the rows determine."""
    blocks = blocks_of(data, x)
    constants(blocks["base"][""])
    edit("families.yaml", "serving_families", lambda row: factors(row, blocks["family"]))
    ports = ports_of(data, x)
    spreads = spreads_of(data, held_out)
    power(data, x)
    measured = measured_on(data)
    edit("engines.yaml", "engines", lambda row: engine(row, blocks, ports, spreads, measured))


def blocks_of(data: fit.Data, x: np.ndarray) -> dict[str, dict[str, dict[str, float]]]:
    """Return log factors by level, group and constant."""
    out = {"base": {"": dict(zip(TERMS, x[: fit.K], strict=True))}}
    at = fit.K
    for name, _, groups, names, _ in data.levels:
        block = x[at : at + len(groups) * len(names)].reshape(len(groups), len(names))
        out[name] = {
            g: dict(zip(names, row, strict=True)) for g, row in zip(groups, block, strict=True)
        }
        at += block.size
    return out


def key(name: str) -> str:
    return name.replace("_", "-")


def constants(base: dict[str, float]) -> None:
    file = FOLDER / "constants.yaml"
    text = file.read_text()
    for name, log in base.items():
        value = float(f"{fit.PRIOR[name][0] * np.exp(log):.4g}")
        value = min(value, MOST_FRAC) if name in CAPPED else value
        text = re.sub(
            rf"(  - id: {key(name)}\n(?:    .*\n)*?    value: ).*", rf"\g<1>{value:g}", text
        )
    file.write_text(text)


def shown(logs: dict[str, float]) -> dict[str, float]:
    return {key(k): float(f"{np.exp(v):.4g}") for k, v in logs.items() if abs(v) > LEAST}


def factors(row: dict, level: dict[str, dict[str, float]]) -> None:
    found = shown(level.get(row["id"], {}))
    row.pop("factors", None)
    if found:
        row["factors"] = found
        row["source"] = {
            "title": "fitted by dcplan to catalogs/runs/serving_runs.csv (tests/bench/fit_serving.py)",
            "as_of": "2026-11",
        }


def engine(row: dict, blocks: dict, ports: dict, spreads: dict, measured: dict) -> None:
    found = shown(blocks["engine"].get(row["id"], {}))
    row.pop("factors", None)
    if found:
        row["factors"] = found
    for line in row.get("releases", ()):
        name = f"{row['id']}@{line['id']}"
        own = shown(blocks["release"].get(name, {}))
        for field, value in (("factors", own), ("ports", ports.get(name, {}))):
            line.pop(field, None)
            if value:
                line[field] = value
    row.pop("measured_on", None)
    if row["id"] in measured:
        row["measured_on"] = measured[row["id"]]
    row.pop("spreads", None)
    if row["id"] in spreads:
        row["spreads"] = spreads[row["id"]]


def measured_on(data: fit.Data) -> dict[str, list[str]]:
    """Return the accelerators with mature measured rows, by engine."""
    found: dict[str, set[str]] = defaultdict(set)
    for run, port in zip(data.runs, data.port, strict=True):
        if not port:
            found[run.engine.id].add(run.accelerator.id)
    return {engine: sorted(names) for engine, names in found.items()}


def ports_of(data: fit.Data, x: np.ndarray) -> dict[str, dict[str, float]]:
    """Return the median time over that of a mature port, by release and family."""
    r = fit.residuals(data, fit.terms_of(data, x))[: len(data.runs)]
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for i in np.flatnonzero(data.port & ~np.isnan(data.main)):
        run = data.runs[i]
        found[fit.line(run)][run.family].append(float(np.exp(-r[i])))
    return {k: {f: float(f"{np.median(v):.3g}") for f, v in g.items()} for k, g in found.items()}


def spreads_of(data: fit.Data, held_out: np.ndarray) -> dict[str, dict[str, float]]:
    """Return 80 % quantiles of held-out log errors by engine, quantity and kind of measurement."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (i, quantity), error in zip(*quantity_errors(data, held_out), strict=True):
        run = data.runs[i]
        if data.port[i]:
            continue
        name = quantity.replace("_", "-")
        for k in (name, f"{name}-{kind_of(run)}"):
            found[run.engine.id][k].append(abs(error))
    return {
        e: {
            k: float(f"{min(np.quantile(v, COVER), WIDEST):.3g}")
            for k, v in sorted(g.items())
            if len(v) >= LEAST_ROWS or k.count("-") < 2
        }
        for e, g in found.items()
    }


def quantity_errors(data: fit.Data, folds: np.ndarray) -> tuple[list[tuple[int, str]], list[float]]:
    """Return log errors of every measured quantity; ``folds`` are the held-out predictions."""
    keys, errors = [], []
    for i, run in enumerate(data.runs):
        for j, quantity in enumerate(fit.QUANTITIES):
            value = run.measured.get(quantity)
            if value:
                keys.append((i, quantity))
                errors.append(float(np.log(folds[i, j] / value)))
    return keys, errors


def power(data: fit.Data, x: np.ndarray) -> None:
    """Fit the power of each family with rows, and of all families together."""
    frac, use, family = power_rows(data, x)
    whole = power_fit(frac, use)
    file = FOLDER / "power.yaml"
    text = file.read_text()
    for name, value in whole.items():
        text = re.sub(rf"(  - id: {name}\n(?:    .*\n)*?    value: ).*", rf"\g<1>{value:.3g}", text)
    file.write_text(text)

    def change(row: dict) -> None:
        row.pop("power", None)
        own = family == row["id"]
        if own.sum() >= LEAST_ROWS:
            row["power"] = {k: float(f"{v:.3g}") for k, v in power_fit(frac[own], use[own]).items()}

    edit("families.yaml", "serving_families", change)


def power_rows(data: fit.Data, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return measured power over TDP, the use of memory and peak, and the family, of each row."""
    terms = fit.engine_terms(data, fit.terms_of(data, x))
    setup = replace(data.setup, served=replace(data.setup.served, terms=terms))
    p = predict(setup)
    measured = np.array([r.measured.get("power_w", np.nan) for r in data.runs])
    frac = measured / (setup.tdp_w * setup.accelerators)
    have = np.isfinite(frac) & (frac > 0.1) & ~data.port
    return (
        frac[have],
        np.stack([p.memory_use, p.compute_use], 1)[have],
        np.array([r.family for r in data.runs])[have],
    )


def power_fit(frac: np.ndarray, use: np.ndarray) -> dict[str, float]:
    """Fit power shares to relative errors, not negative, with weights that fall with the error."""
    matrix = np.column_stack([np.ones(len(frac)), use]) / frac[:, None]
    weight = np.ones(len(frac))
    for _ in range(20):
        found, _ = nnls(matrix * weight[:, None], weight)
        weight = 1 / np.sqrt(np.maximum(np.abs(matrix @ found - 1), 0.03))
    return dict(
        zip(("power-busy-frac", "power-memory-frac", "power-compute-frac"), found, strict=True)
    )


def edit(name: str, kind: str, change: Callable[[dict], None]) -> None:
    file = FOLDER / name
    text = file.read_text()
    head = "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))
    rows = yaml.safe_load(text)[kind]
    for row in rows:
        change(row)
    file.write_text(head + f"{kind}:\n" + "".join(dump(row) for row in rows))


def flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(str(v) for v in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"') + '"'
    return f"{value:g}" if isinstance(value, float) else str(value)


def dump(row: dict) -> str:
    text = f"  - id: {row['id']}\n"
    for k, v in row.items():
        if k == "id":
            continue
        if k == "releases":
            text += "    releases:\n" + "".join(f"      - {flow(r)}\n" for r in v)
        elif k == "cache_precision":
            text += f"    {k}: {v}\n"
        else:
            text += f"    {k}: {flow(v)}\n"
    return text
