"""Five runs of an unknown stack: the error of its other runs before and after `dcplan calibrate`.

    python -m tests.bench.own_runs                     packaged runs under another name
    python -m tests.bench.own_runs --more runs.csv     and the stacks of another table

Each line takes the runs of one stack on one accelerator, with the rules and priors of another
stack: five random ones are fitted, and up to 40 others predicted.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.calibrate.constants import choose
from dcplan.answers.calibrate.own_runs import predictor, with_stack
from dcplan.answers.validation.runs.rows import Reader, Row, Run, Unsupported
from dcplan.catalog.loader import load
from dcplan.catalog.releases import known_stack
from dcplan.inputs.log import InputLog
from dcplan.llm.tables import Array
from dcplan.training.shrinkage import shrink

RUNS = Path(__file__).resolve().parents[2] / "catalogs" / "runs" / "training_runs.csv"
H100, A100, H100_500W = "nvidia_h100_sxm", "nvidia_a100_80_sxm", "nvidia_h100_hbm2e_500w"
PAIRS = (
    ("composer-fsdp", H100, "torchtitan"),
    ("composer-fsdp", H100, "megatron-core"),
    ("composer-fsdp", "nvidia_a100_40_sxm", "megatron-core"),
    ("composer-fsdp", "nvidia_a100_40_sxm", "torchtitan"),
    ("megatron-deepspeed", A100, "megatron-core"),
    ("megatron-2021", A100, "megatron-core"),
    ("megatron-2021", A100, "torchtitan"),
    ("jax-xla", H100, "megatron-core"),
    ("jax-xla", H100, "composer-fsdp"),
    ("megatron-core", H100, "torchtitan"),
    ("megatron-core", H100, "automodel-fsdp"),
    ("megatron-core", "nvidia_b200_sxm", "automodel-fsdp"),
    ("torchtitan", H100_500W, "megatron-core"),
    ("torchtitan", H100_500W, "composer-fsdp"),
)
LIKES = (
    "torchtitan",
    "megatron-core",
    "composer-fsdp",
    "deepspeed",
    "automodel-fsdp",
    "torch-compile",
)
"""Stacks that give the priors of another table."""
FEW, MOST = 5, 40


def packaged(stack: str, accelerator: str) -> list[Row]:
    """Complete dense rows of a stack; torchtitan's without a pipeline.

    With one, they state the micro-batch of the whole pipeline: a rule that no constant can fit.
    """
    with RUNS.open(encoding="utf-8", newline="") as file:
        return [
            r
            for r in csv.DictReader(file)
            if (r["stack"], r["accelerator_id"]) == (stack, accelerator)
            and (r["complete"], r["arch"]) == ("yes", "dense")
            and (stack != "torchtitan" or r["pp"] == "1")
        ]


def read(rows: Sequence[Row], like: str) -> list[Run]:
    """Rows with the rules of another stack, as far as it supports them."""
    reader, found = Reader(with_stack(load(), known_stack(load(), like))), []
    for row in rows:
        try:
            found.append(reader.read({**row, "stack": like}))
        except Unsupported:
            continue
    return found


def draws(runs: Sequence[Run], count: int) -> Array:
    """Mean error of the unseen runs before and after a fit to five, one row a draw."""
    log, rng, found = InputLog(load()), np.random.default_rng(0), []
    noise = log.parameter("training", "own-run-noise-frac")
    for _ in range(count):
        order = [runs[i] for i in rng.permutation(len(runs))]
        seen, unseen = order[:FEW], order[FEW : FEW + MOST]
        chosen = choose(log, seen, {})
        times = np.array([r.measured_s for r in seen])
        fit = shrink(predictor(log, seen, chosen.items), times, chosen.priors, noise=noise)
        both = np.vstack([chosen.priors.value, fit.value])
        predicted = predictor(log, unseen, chosen.items)(both)
        found.append(np.abs(predicted / [r.measured_s for r in unseen] - 1.0).mean(axis=1))
    return np.array(found)


def main() -> None:
    """Print one line a pair, and the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--more", type=Path)
    args = parser.parse_args()
    cases: list[tuple[str, str, str, Sequence[Row]]] = [
        (s, a, like, packaged(s, a)) for s, a, like in PAIRS
    ]
    if args.more:
        with args.more.open(encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        cases += [(table[0]["stack"], table[0]["accelerator_id"], like, table) for like in LIKES]
    means = []
    for stack, accelerator, like, rows in cases:
        runs = read(rows, like)
        errors = draws(runs, args.draws)
        means.append(errors.mean(axis=0))
        before, after = means[-1]
        halved = np.mean(errors[:, 1] <= errors[:, 0] / 2.0)
        print(
            f"{stack:20s} {accelerator:24s} like {like:16s} n {len(runs):4d}  "
            f"{before:6.1%} -> {after:6.1%}  halved {halved:4.0%}  worst {errors[:, 1].max():6.1%}"
        )
    before, after = np.mean(means, axis=0)
    print(f"all pairs: {before:.1%} -> {after:.1%}")


if __name__ == "__main__":
    main()
