"""Fit the constants of the serving model to the measured rows, and judge them on rows left out.

    python -m tests.bench.fit_serving             fit and print errors
    python -m tests.bench.fit_serving --write     and write constants, factors and spreads
    python -m tests.bench.fit_serving --folds     leave one accelerator and model out at a time, in
    five folds; these residuals make the spreads
    python -m tests.bench.fit_serving --loso      leave one source out at a time; the accuracy for
    measurements that the fit has not seen

Constants are physical and shared. A factor belongs to an accelerator family, an engine or a line of
its releases, never to a row, a model or a source. Each has a prior width in log, so that what the
rows do not show stays at the value of the level above. The loss is the robust log ratio of the
predicted and measured value; an engine line of n rows weighs as n / sqrt(1 + n/30).
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter

import numpy as np

from dcplan.answers.validation.serving_cells import CLOSED
from dcplan.answers.validation.serving_rows import ServingRun
from dcplan.inputs.serving.engines import TERMS
from tests.bench.serving_data import (
    ALONE_UNIT,
    QUANTITIES,
    STRENGTH,
    TTFT_UNIT,
    UNIT,
    Data,
    K,
    data_of,
    line,
    predicted,
    prior,
    read,
    residuals,
    size,
    terms_of,
)


def fit(
    data: Data,
    use: np.ndarray,
    rounds: int = 12,
    x: np.ndarray | None = None,
    verbose: bool = False,
) -> np.ndarray:
    """Gauss-Newton with reweighting; ``use`` picks rows."""
    count = Counter(line(r) for r in data.runs)
    weight = np.array([1 / np.sqrt(1 + count[line(r)] / 30) for r in data.runs])
    weight = weight / weight.mean() * use * ~data.port
    have = np.concatenate([~np.isnan(data.main), ~np.isnan(data.ttft)])
    weight = np.concatenate([weight, 0.5 * weight]) * have
    n = len(data.runs)
    alone = np.array([r.mode != CLOSED for r in data.runs])
    unit = np.concatenate([np.full(n, UNIT), np.where(alone, ALONE_UNIT, TTFT_UNIT)])
    precision = prior(data) * STRENGTH
    x = np.zeros(size(data)) if x is None else x.copy()

    def loss(y: np.ndarray) -> float:
        r = residuals(data, terms_of(data, y))
        return float(
            (weight * (np.sqrt(1 + (r / unit) ** 2) - 1)).sum() + 0.5 * (precision * y * y).sum()
        )

    for step in range(rounds):
        log = terms_of(data, x)
        r = residuals(data, log)
        slope = np.zeros((2 * n, K))
        for j, k in enumerate(TERMS):
            moved = dict(log)
            moved[k] = log[k] + 1e-3
            slope[:, j] = (residuals(data, moved) - r) / 1e-3
        slope = np.clip(slope, -20, 20)
        matrix = np.zeros((2 * n, x.size))
        matrix[:, :K] = slope
        at, rows = K, np.arange(2 * n)
        for _, group, groups, names, _ in data.levels:
            twice = np.concatenate([group, group])
            for j, k in enumerate(names):
                matrix[rows, at + twice * len(names) + j] = slope[:, TERMS.index(k)]
            at += len(groups) * len(names)
        w = weight / np.sqrt(1 + (r / unit) ** 2) / unit**2
        weighted = matrix * w[:, None]
        normal = matrix.T @ weighted + np.diag(precision)
        gradient = weighted.T @ r + precision * x
        move = -np.linalg.solve(normal + np.diag(np.diag(normal)) * 1e-3, gradient)
        scale, before = min(1.0, 0.7 / np.abs(move).max()), loss(x)
        while scale > 1e-3 and loss(x + scale * move) > before:
            scale /= 2
        if verbose:
            print(f"round {step}: loss {before:.1f}, step {scale:.3f}", flush=True)
        if scale <= 1e-3:
            break
        x = x + scale * move
    return x


def kinds(data: Data) -> np.ndarray:
    out = []
    for i, r in enumerate(data.runs):
        q = ("tpot", "ttft", "e2e", "rate")[data.which[i]]
        out.append(f"{'apart' if r.prefill else r.mode} {q}" if not data.port[i] else "early port")
    return np.array(out)


def show(r: np.ndarray, groups: np.ndarray, title: str, use: np.ndarray) -> None:
    print(title)
    for g in sorted(set(groups[use])):
        e = np.exp(r[use & (groups == g)]) - 1
        if e.size >= 4:
            size = 100 * np.abs(e)
            print(
                f"  {g[:60]:60s} n={e.size:5d} median {np.median(size):5.1f} mean {size.mean():6.1f}"
                f" p90 {np.quantile(size, 0.9):6.1f} bias {100 * np.median(e):+5.1f}"
            )


def fold_of(data: Data) -> np.ndarray:
    """Return the fold of each row: rows of one accelerator and model share it."""

    def fold(run: ServingRun) -> int:
        name = f"{run.accelerator.id}|{run.model_id}".encode()
        return int(hashlib.md5(name, usedforsecurity=False).hexdigest(), 16) % 5

    return np.array([fold(r) for r in data.runs])


def held_out(
    data: Data, start: np.ndarray | None = None, rounds: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals and predictions of rows whose accelerator and model were left out."""
    fold, out = fold_of(data), np.zeros(2 * len(data.runs))
    values = np.zeros((len(data.runs), len(QUANTITIES)))
    for f in range(5):
        x = fit(data, (fold != f).astype(float), rounds, start)
        r = residuals(data, terms_of(data, x))
        twice = np.concatenate([fold == f] * 2)
        out[twice] = r[twice]
        values[fold == f] = predicted(data, terms_of(data, x))[fold == f]
    return out, values


def family_of_source(source: str) -> str:
    """Return the source without its edition: all editions of one table are left out together."""
    plain = re.sub(r" \(.*\)| v?[\d.]+$", "", source)
    return "InferenceX" if plain.startswith("InferenceX") else plain


def left_out_sources(data: Data, rounds: int = 10) -> np.ndarray:
    """Return residuals of rows whose complete source was left out; every fit starts at the priors."""
    source, out = (
        np.array([family_of_source(r.source) for r in data.runs]),
        np.zeros(2 * len(data.runs)),
    )
    for name in sorted(set(source)):
        x = fit(data, (source != name).astype(float), rounds)
        twice = np.concatenate([source == name] * 2)
        out[twice] = residuals(data, terms_of(data, x))[twice]
        print(f"left out: {name}", flush=True)
    return out


def report(data: Data, r: np.ndarray, title: str, deep: bool = True) -> None:
    n = len(data.runs)
    use = ~np.isnan(data.main)
    show(r[:n], kinds(data), title, use)
    some = ~np.isnan(data.ttft) & ~data.port
    show(
        r[n:],
        np.array([f"ttft {r.mode}{' apart' if r.prefill else ''}" for r in data.runs]),
        "",
        some,
    )
    if deep:
        show(r[:n], np.array([line(x) for x in data.runs]), "by line", use)
        closed = use & np.array([x.mode == CLOSED for x in data.runs])
        show(r[:n], np.array([x.model_id for x in data.runs]), "closed, by model", closed)
        show(
            r[:n], np.array([x.accelerator.id for x in data.runs]), "closed, by accelerator", closed
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--loso", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rounds", type=int, default=14)
    given = parser.parse_args()
    data = data_of(read())
    if given.loso:
        r = left_out_sources(data)
        report(data, r, "each source left out")
        source = np.array([family_of_source(x.source) for x in data.runs])
        named = np.array([f"{a}: {k}" for a, k in zip(source, kinds(data), strict=True)])
        show(r[: len(data.runs)], named, "by source", ~np.isnan(data.main))
        loaded = ~np.isnan(data.ttft) & ~data.port
        show(r[len(data.runs) :], source, "time to first token, by source", loaded)
        return
    if given.folds or given.write:
        r, values = held_out(data)
        report(data, r, "held out")
    x = fit(data, np.ones(len(data.runs)), given.rounds, verbose=True)
    report(data, residuals(data, terms_of(data, x)), "fitted")
    if given.write:
        from tests.bench.write_serving import write

        write(data, x, values)


if __name__ == "__main__":
    main()
