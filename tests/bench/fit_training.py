"""Fit the training model's parameters to the measured runs, and judge them with each source left
out.

    python -m tests.bench.fit_training            fit and print what would change in the catalogs
    python -m tests.bench.fit_training --write    and write it there
    python -m tests.bench.fit_training --loso     leave one source out at a time; coverage of the
    intervals

Parameters are named, physical and shared: by an accelerator, by a family, by a stack, by a recipe.
None belongs to a run or a source. Each has a prior (kernel tables, measured matmul, measured
bandwidths) with a width, so that what the runs do not show stays where measurement of the parts put
it. The loss is soft-L1 on the logarithm of the step time; a source of n runs weighs as sqrt(n/(1 +
n/10)).
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from dcplan.answers.validation.runs.rows import Reader, Run, Unsupported
from dcplan.answers.validation.runs.tables import setup_of
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Recipe, Stack
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.devices import CLOCKED, clock_ratio
from dcplan.inputs.training.stacks import spread_frac
from dcplan.llm.operations import Setup
from dcplan.training.infer_recompute import lightest
from dcplan.training.maturity import maturity_frac
from dcplan.training.step import step
from tests.bench.training_parameters import MATURITY, PARAMETERS, WAY_FIELDS, Parameter

ROOT = Path(__file__).resolve().parents[2]
COEFFICIENTS = coefficients(InputLog(load()))
UNIT = 0.06
"""Residual at which the loss turns from square to linear."""


def read_runs() -> list[Run]:
    """The runs of ``catalogs/runs`` that the model takes."""
    reader, runs = Reader(load()), []
    with (ROOT / "catalogs/runs/training_runs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                runs.append(reader.read(row))
            except Unsupported:
                continue
    return runs


def applied(runs: Sequence[Run], values: np.ndarray) -> list[Run]:
    """Runs with the catalog values replaced."""
    device: dict[str, dict[str, float]] = defaultdict(dict)
    family: dict[str, dict[str, float]] = defaultdict(dict)
    stack: dict[str, dict[str, float]] = defaultdict(dict)
    recipe: dict[str, dict[str, float]] = defaultdict(dict)
    release: dict[str, dict[str, float]] = defaultdict(dict)
    way: dict[str, dict[str, float]] = defaultdict(dict)
    shared: dict[str, float] = {}
    of = {
        "accelerators": device,
        "families": family,
        "stacks": stack,
        "releases": release,
        "dispatchers": way,
    }
    for parameter, value in zip(PARAMETERS, values, strict=True):
        for row in parameter.rows:
            if parameter.kind == "training":
                shared[row] = float(value)
            elif parameter.kind == "recipes":
                recipe[row][parameter.field] = float(value)
            else:
                of[parameter.kind][row][parameter.field] = float(value)
    changed = []
    catalog = load()
    recipes = catalog.table("recipes", Recipe)
    names = {(r.gemm, r.operand_bytes.value, r.gather_bytes.value): k for k, r in recipes.items()}
    for run in runs:
        clock = clock_ratio(catalog, run.accelerator)
        mature = 1.0
        if run.age_quarters is not None:
            mature = maturity_frac(run.age_quarters, *(shared[name] for name in MATURITY))
        inherited = {
            k: min(v * clock, 1.0) if k in CLOCKED else v
            for k, v in family[run.accelerator.family or ""].items()
        }
        own = {
            k
            for k in type(run.accelerator.training).model_fields
            if getattr(run.accelerator.training, k) is not None
        }
        fields = {k: v for k, v in inherited.items() if k not in own} | device[run.accelerator.id]
        fields = {k: v * mature if k in CLOCKED else v for k, v in fields.items()}
        if run.accelerator.family in {"ampere", "volta", "tpu"} and "attention_frac" in fields:
            fields["portable_attention_frac"] = fields["attention_frac"]
        name = names[run.recipe.gemm, run.recipe.operand_bytes, run.recipe.gather_bytes]
        software = dict(stack[run.stack_id])
        for version in run.releases:
            software |= release[f"{run.stack_id}@{version}"]
        software |= way[f"{run.stack_id}:{run.stack.dispatcher}"]
        changed.append(
            replace(
                run,
                device=replace(run.device, **fields),
                stack=replace(run.stack, **software),
                recipe=replace(run.recipe, **recipe[name]),
            )
        )
    return changed


def present() -> np.ndarray:
    """Values the catalogs hold."""
    rows = load().rows
    found = []
    for p in PARAMETERS:
        if p.kind == "training":
            found.append(rows["training"][p.rows[0]].value.value)
            continue
        if p.kind == "dispatchers":
            name, way = p.rows[0].split(":")
            found.append(getattr(rows["stacks"][name].dispatchers[way], WAY_FIELDS[p.field]).value)
            continue
        if p.kind == "releases":
            found.append(_of_release(rows["stacks"], p))
            continue
        row = rows[p.kind][p.rows[0]]
        holder = (
            getattr(row, "terms", None)
            if p.kind == "families"
            else getattr(row, "training", None)
            if p.kind == "accelerators"
            else row
        )
        value = getattr(holder, p.field, None)
        found.append(value.value if value is not None else p.prior)
    return np.array(found)


def _of_release(stacks: Mapping[str, object], p: Parameter) -> float:
    name, version = p.rows[0].split("@")
    row = stacks[name]
    assert isinstance(row, Stack)
    (release,) = [r for r in row.releases if r.version == version]
    value = getattr(release, p.field)
    return p.prior if value is None else float(value.value)


def weights(runs: Sequence[Run]) -> np.ndarray:
    """Weight of each run: a large source counts more than a small one, but not in proportion."""
    count: dict[str, int] = defaultdict(int)
    for run in runs:
        count[run.source] += 1
    found = np.array([1.0 / np.sqrt(1.0 + count[r.source] / 10.0) for r in runs])
    return found / found.mean()


def modes(runs: Sequence[Run]) -> Callable[[Sequence[Run]], Setup]:
    """Set-up with the recompute modes that the present values choose; they stay while the fit
    moves."""
    given = np.array([r.recompute for r in runs])
    chosen = lightest(setup_of(runs, COEFFICIENTS), [r.stack for r in runs], given).setup

    def build(changed: Sequence[Run]) -> Setup:
        setup = setup_of(changed, COEFFICIENTS)
        kept = replace(
            setup.recipe,
            grad_bytes=chosen.recipe.grad_bytes,
            optimizer_bytes=chosen.recipe.optimizer_bytes,
        )
        return replace(setup, layout=chosen.layout, recipe=kept)

    return build


def fit(runs: Sequence[Run], start: np.ndarray, weight: np.ndarray, rounds: int) -> np.ndarray:
    """Parameters that minimise the loss, priors counted in."""
    measured = np.array([r.measured_s for r in runs])
    prior = np.log([p.prior for p in PARAMETERS])
    width = np.array([p.width for p in PARAMETERS])
    most = np.log([min(p.most, p.prior * 30.0) for p in PARAMETERS])
    build = modes(applied(runs, start))

    def residuals(x: np.ndarray) -> np.ndarray:
        times = step(build(applied(runs, np.exp(x)))).time_s
        return np.concatenate([np.log(times / measured) * weight / UNIT, (x - prior) / width])

    begin = np.minimum(np.log(start), most - 1e-6)
    found = least_squares(
        residuals, begin, bounds=(prior - 4.0, most + 1e-9), loss="soft_l1", max_nfev=rounds
    )
    return np.exp(found.x)


def errors(runs: Sequence[Run], values: np.ndarray) -> np.ndarray:
    """Logarithm of predicted over measured step time."""
    changed = applied(runs, values)
    return np.log(step(modes(changed)(changed)).time_s / np.array([r.measured_s for r in runs]))


def report(runs: Sequence[Run], error: np.ndarray, key: Callable[[Run], str]) -> None:
    """Mean absolute error and bias by group."""
    groups: dict[str, list[float]] = defaultdict(list)
    for run, e in zip(runs, error, strict=True):
        groups[key(run)].append(float(e))
    for name, found in sorted(groups.items()):
        e = np.array(found)
        mean, far = np.mean(np.abs(np.expm1(e))), np.quantile(np.abs(e), 0.8)
        print(f"{name:48s} n {len(e):4d}  mae {mean:6.1%}  bias {np.mean(e):+6.1%}  p80 {far:6.1%}")


def write(values: np.ndarray) -> None:
    """Put values into the catalog files, in place."""
    for parameter, value in zip(PARAMETERS, values, strict=True):
        if parameter.kind in {"releases", "dispatchers"}:
            _write_inside(parameter, value)
            continue
        for row in parameter.rows:
            for file in sorted((ROOT / "catalogs").rglob("*.yaml")):
                text = file.read_text(encoding="utf-8")
                block = re.search(
                    rf"^  - id: {re.escape(row)}\n(?:(?!  - id: ).*\n?)*", text, re.MULTILINE
                )
                if not block or not re.search(rf"^{parameter.kind}:", text, re.MULTILINE):
                    continue
                new, n = re.subn(
                    rf"(?<![a-z_]){parameter.field}: [\d.]+"
                    if parameter.kind != "training"
                    else r"(?<=value: {value: )[\d.]+",
                    f"{parameter.field}: {value:.4g}"
                    if parameter.kind != "training"
                    else f"{value:.4g}",
                    block.group(0),
                )
                if n:
                    file.write_text(text.replace(block.group(0), new), encoding="utf-8")


def _write_inside(parameter: Parameter, value: float) -> None:
    """Put the value of a release or a dispatcher into its line of the stacks file."""
    file = ROOT / "catalogs" / "stacks" / "stacks.yaml"
    text = file.read_text(encoding="utf-8")
    for row in parameter.rows:
        name, part = re.split("[@:]", row)
        block = re.search(rf"^  - id: {name}\n(?:(?!  - id: ).*\n?)*", text, re.MULTILINE)
        assert block is not None
        line = rf'version: "{re.escape(part)}"' if "@" in row else rf"^      {part}:"
        field = WAY_FIELDS.get(parameter.field, parameter.field)
        pattern = rf"({line}.*?(?<![a-z_]){field}: )[\d.]+"
        new, n = re.subn(pattern, rf"\g<1>{value:.4g}", block.group(0), flags=re.MULTILINE)
        assert n == 1, row
        text = text.replace(block.group(0), new)
    file.write_text(text, encoding="utf-8")


def leave_one_out(runs: Sequence[Run]) -> np.ndarray:
    """Errors of each source with parameters that never saw it; the start is the prior, not the
    full fit."""
    prior = np.array([p.prior for p in PARAMETERS])
    weight, found = weights(runs), np.zeros(len(runs))
    sources = sorted({family_of_source(r.source) for r in runs})
    for source in sources:
        out = np.array([family_of_source(r.source) == source for r in runs])
        values = fit(runs, prior, np.where(out, 0.0, weight), 10)
        found[out] = errors(runs, values)[out]
    return found


def spread_of(run: Run) -> float:
    """Half width of the printed interval."""
    stack = load().get("stacks", run.stack_id, Stack)
    return spread_frac(InputLog(load()), run.accelerator, stack, moe=run.moe)


def family_of_source(source: str) -> str:
    """The same study in another precision, or another size of table, is one source."""
    return re.sub(r"-(bf16|fp8|multi|single)$", "", source)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--loso", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    runs = read_runs()
    start = present()
    if args.loso:
        error = leave_one_out(runs)
        report(runs, error, lambda r: family_of_source(r.source))
        report(
            runs, error, lambda r: f"{r.stack_id} {r.accelerator.id} {'moe' if r.moe else 'dense'}"
        )
        absolute = np.abs(np.expm1(error))
        inside = np.abs(error) <= np.log1p([spread_of(r) for r in runs])
        print(
            f"all: mae {absolute.mean():.1%}, median {np.median(absolute):.1%}, interval {np.mean(inside):.1%}"
        )
        return
    values = fit(runs, start, weights(runs), args.rounds)
    for p, was, now in zip(PARAMETERS, start, values, strict=True):
        pull = np.log(now / p.prior) / p.width
        what = f"{p.kind:12s} {','.join(p.rows)[:40]:40s} {p.field:24s}"
        print(f"{what} {was:9.4g} -> {now:9.4g}  ({pull:+.1f} widths from prior {p.prior:g})")
    error = errors(runs, values)
    report(runs, error, lambda r: f"{r.stack_id} {r.accelerator.id} {'moe' if r.moe else 'dense'}")
    absolute = np.abs(np.expm1(error))
    print(f"all: mae {absolute.mean():.1%}, median {np.median(absolute):.1%}")
    if args.write:
        write(values)


if __name__ == "__main__":
    main()
