"""Measured runs as one setup of arrays, and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from dcplan.answers.validation.runs.rows import Run
from dcplan.llm.coefficients import Coefficients
from dcplan.llm.device_terms import device_table, recipe_table, stack_table
from dcplan.llm.operations import Setup
from dcplan.llm.tables import AgainTable, Array, LayoutTable, model_table
from dcplan.training.infer_recompute import lightest
from dcplan.training.memory import Memory, memory
from dcplan.training.step import Step, step


@dataclass(frozen=True)
class Prediction:
    """Step time and memory of each run, and whether the run fits."""

    setup: Setup
    fits: npt.NDArray[np.bool_]
    step: Step
    memory: Memory


def setup_of(runs: Sequence[Run], coefficients: Coefficients) -> Setup:
    """Return a setup with a row per run; :func:`lightest` sets recompute and offload."""

    def column(name: str) -> Array:
        return np.array([getattr(r, name) for r in runs], dtype=np.float64)

    devices, stacks = [r.device for r in runs], [r.stack for r in runs]
    recipes = [r.recipe for r in runs]
    stack = replace(stack_table(stacks), sequence_parallel=column("sequence_parallel"))
    zeros = np.zeros(len(runs))
    same = (
        "tp",
        "pp",
        "vpp",
        "dp",
        "cp",
        "ep",
        "micro_batch",
        "micro_batches",
        "zero",
        "shard",
        "seq_len",
        "trainable",
    )
    layout = LayoutTable(
        **{name: column(name) for name in same},
        etp=np.ones(len(runs)),
        recompute=zeros,
        schedule=zeros,
        offload=column("offload"),
        again=AgainTable(
            **{
                f.name: np.array([getattr(r.again, f.name) if r.again else -1.0 for r in runs])
                for f in fields(AgainTable)
            }
        ),
    )
    device = device_table(devices, stacks, recipes)
    shapes = model_table([r.shape for r in runs])
    return Setup(shapes, device, recipe_table(recipes, stacks), stack, layout, coefficients)


def predict(runs: Sequence[Run], coefficients: Coefficients) -> Prediction:
    """Predict the step time and the memory of each run."""
    given = np.array([r.recompute for r in runs], dtype=np.float64)
    chosen = lightest(setup_of(runs, coefficients), [r.stack for r in runs], given)
    return Prediction(chosen.setup, chosen.fits, step(chosen.setup), memory(chosen.setup))
