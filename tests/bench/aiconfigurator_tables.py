"""Tables of the comparison with AIConfigurator: errors by class, on the rows that it answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.bench.aiconfigurator_requests import QUANTITIES, Case

REASONS = {
    "OOM": "does not fit into memory by its account",
    "HuggingFace": "no configuration of the model in the package",
    "no tables": "no tables of the accelerator and engine",
    "Cross-node EP": "no tables of exchanges of experts across nodes",
    "oe data": "no tables of experts of this shape and format",
    "oE data": "no tables of experts of this shape and format",
    "attention data": "no tables of attention of this shape and format",
}
"""Part of a refusal -> its class."""


def doubtful(case: Case) -> bool:
    """Return whether the row's 16 accelerators may be a misread layout of 4."""
    run = case.run
    return run.engine.id == "vllm" and run.prefill is None and run.accelerators == 16


GROUPS: Mapping[str, Callable[[Case], str]] = {
    "all": lambda _: "all",
    "kind": lambda c: "split" if c.run.prefill is not None else "aggregated",
    "engine": lambda c: c.run.engine.id,
    "accelerator": lambda c: c.run.accelerator.id,
    "model": lambda c: c.run.model_id,
    "layout": lambda c: "in doubt" if doubtful(c) else "others",
}
Columns = Mapping[str, Mapping[str, float]]


def table(cases: Sequence[Case], columns: Columns, quantity: str) -> list[str]:
    """Return the lines of a table of the errors of every column by class, in percent."""
    first = next(iter(columns.values()))
    cases = [c for c in cases if f"{c.run.id} {quantity}" in first and quantity in c.run.measured]
    lines = [f"| class | rows | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    for by, key in GROUPS.items():
        for name in sorted({key(c) for c in cases}):
            members = [c for c in cases if key(c) == name]
            cells = []
            for values in columns.values():
                error = np.array(
                    [
                        values[f"{c.run.id} {quantity}"] / c.run.measured[quantity] - 1
                        for c in members
                    ]
                )
                size = 100 * np.abs(error)
                cells.append(
                    f"{np.median(size):.1f} / {size.mean():.1f} / {100 * np.median(error):+.0f}"
                )
            lines.append(f"| {by}: {name} | {len(members)} | {' | '.join(cells)} |")
    return lines


def closer(cases: Sequence[Case], columns: Columns, quantity: str) -> str:
    """Return for each column of dcplan in how many rows it is nearer than the first column."""
    (name, first), *rest = columns.items()
    rows = [c for c in cases if f"{c.run.id} {quantity}" in first and quantity in c.run.measured]

    def size(values: Mapping[str, float], c: Case) -> float:
        return abs(float(np.log(values[f"{c.run.id} {quantity}"] / c.run.measured[quantity])))

    shares = [
        f"{other} nearer in {np.mean([size(v, c) < size(first, c) for c in rows]):.0%}"
        for other, v in rest
    ]
    return f"{quantity}, {len(rows)} rows, against {name}: {'; '.join(shares)}"


def difference(cases: Sequence[Case], columns: Columns, quantity: str) -> str:
    """Return how much lower the errors of dcplan are than those of the first column.

    The 90 % interval resamples whole classes of model, accelerator, engine and split, as rows of a
    class have errors in common.
    """
    names = list(columns)
    groups: dict[tuple[str, str, str, bool], list[list[float]]] = defaultdict(list)
    for c in cases:
        key = f"{c.run.id} {quantity}"
        if key in columns[names[0]]:
            row = [abs(columns[n][key] / c.run.measured[quantity] - 1) for n in names]
            groups[c.stratum].append(row)
    parts = [np.array(v) for _, v in sorted(groups.items())]
    rng = np.random.default_rng(1)
    text = []
    for word, middle in (("median", np.median), ("mean", np.mean)):
        drawn = []
        for _ in range(2000):
            chosen = np.concatenate([parts[i] for i in rng.integers(0, len(parts), len(parts))])
            size = middle(chosen, axis=0)
            drawn.append(100 * (size[0] - size[1:]))
        low, high = np.quantile(np.array(drawn), [0.05, 0.95], axis=0)
        text += [
            f"{word} {n}: {a:.0f} to {b:.0f}" for n, a, b in zip(names[1:], low, high, strict=True)
        ]
    return f"{quantity}: percentage points that the error of dcplan is lower by: {'; '.join(text)}"


def reason(text: str) -> str:
    """Return the class of a refusal, or the beginning of its text.

    >>> reason("RuntimeError: OOM: the model does not fit")
    'does not fit into memory by its account'
    """
    return next((v for k, v in REASONS.items() if k in text), text[:120])


def show(
    python: str, package: str, cases: Sequence[Case], answers: Mapping[str, Any], own: Columns
) -> None:
    """Print the tables of one release of AIConfigurator."""
    known = {k: a for k, a in answers.items() if "tpot_ms" in a}
    print(f"\n# AIConfigurator {package} ({python})")
    late = len(cases) - len(answers)
    print(f"{len(cases)} asked, {len(known)} answered, {late} not reached in the time")
    print(f"{sum(a['over_memory'] for a in known.values())} answered with a warning on the cache")
    used = Counter(
        (c.run.engine.id, known[c.run.id]["version"]) for c in cases if c.run.id in known
    )
    print("tables:", ", ".join(f"{e} {v}: {n}" for (e, v), n in sorted(used.items())))
    refused = Counter(
        (reason(answers[c.run.id]["refused"]), *c.stratum)
        for c in cases
        if "refused" in answers.get(c.run.id, {})
    )
    for (why, *stratum), n in sorted(refused.items()):
        print(f"refused {n}: {why}: {stratum}")
    columns = {
        f"AIConfigurator {package}": {
            f"{k} {q}": a[q] for k, a in known.items() for q in QUANTITIES
        },
        **own,
    }
    for quantity in QUANTITIES:
        print(f"\n{quantity}: median / mean of the absolute error, median error, percent")
        print("\n".join(table(cases, columns, quantity)))
        print(closer(cases, columns, quantity))
        print(difference(cases, columns, quantity))
