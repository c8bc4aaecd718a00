"""Own runs: reading, the stack that gives the priors, and the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcplan.answers.calibrate.constants import (
    Chosen,
    Item,
    Kernels,
    applied,
    choose,
    measured_device,
)
from dcplan.answers.validation.runs.measured import read_table
from dcplan.answers.validation.runs.rows import Reader, Row, Run, Unsupported
from dcplan.answers.validation.runs.tables import predict, setup_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import find_stack, known_stack, stack_of_software, unknown_stack
from dcplan.catalog.schema import Accelerator, Stack
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.stacks import default_stack, stack_refusal, stack_terms
from dcplan.llm.device_terms import StackTerms
from dcplan.llm.tables import Array
from dcplan.llm.tables import rows as rows_of
from dcplan.training.shrinkage import Predict, Shrunk, left_out, shrink
from dcplan.training.step import step

MOST_RATIO = 20.0
"""Ratio of a measured step to its forecast from which the unit of the step time must be wrong."""


@dataclass(frozen=True)
class Origin:
    """The stack of the runs, and the stack of the catalog that gives the priors."""

    text: str
    """Stack as the file names it."""
    like: Stack
    """Stack of the priors at one release; it has no releases itself."""
    label: str
    """Its id, with the release."""
    own: Stack | None
    """Stack of the file, if the catalog has it."""
    chosen: bool
    """Whether the user chose the stack of the priors."""
    hint: str
    """Known stack with a similar name; empty if there is none."""


@dataclass(frozen=True)
class OwnFit:
    """Runs of one stack with their errors before and after a fit."""

    origin: Origin
    table: tuple[Row, ...]
    runs: tuple[Run, ...]
    """Runs that the model supports, with the devices of the fit."""
    refused: dict[int, str]
    """Reason of each row of the table that it does not support."""
    chosen: Chosen
    found: Shrunk
    before: Array
    """Predicted over measured step time less 1, with the catalog."""
    after: Array
    unseen: Array | None
    """The same of each run with constants fitted to the others; None for one run."""
    fitted: tuple[Run, ...]
    """The runs with the fitted constants."""
    terms: StackTerms
    """Values of the stack of the priors."""
    noise: float
    """Error of a run that no constant explains."""

    @property
    def measured_s(self) -> Array:
        """Measured step times."""
        return np.array([r.measured_s for r in self.runs])

    def pairs(self) -> list[tuple[Item, int]]:
        """Return each constant with its place in the arrays of the fit."""
        return [(item, i) for i, item in enumerate(self.chosen.items)]


def origin_of(catalog: Catalog, table: Sequence[Row], file: Path, like: str | None) -> Origin:
    """Find the stack of a file and the stack that gives the priors.

    Raises
    ------
    InputError
        When the file has no runs, or runs of several stacks, or ``like`` is unknown.
    """
    names = sorted({row.get("stack", "") for row in table})
    place = Place(str(file), 1, 1)
    if len(names) != 1 or not names[0]:
        what = f"the column stack has {', '.join(repr(n) for n in names) or 'no row'}"
        cause = f"{what}: a calibration fits the runs of one stack"
        help_ = "keep one stack in a file, and give every run its name"
        raise InputError([Problem("DC053", cause, place, help=help_)])
    text = names[0]
    known = catalog.find("stacks", text, Stack)  # a release comes from the column software
    stacks = catalog.table("stacks", Stack)
    spelled = [name for row in stacks.values() for name in (row.id, *row.aliases)]
    hint = "" if known else did_you_mean(text, spelled)
    if like is not None:
        found = find_stack(catalog, like)
        if found is None:
            raise InputError([unknown_stack(catalog, like, Place("--like"))])
        return Origin(text, _alone(found), found.label, known, True, hint)
    if known is not None:
        each = [stack_of_software(known, row.get("software", "")) for row in table]
        newest = max(each, key=lambda row: len(row.past_releases))
        return Origin(text, _alone(newest), newest.label, known, False, "")
    ids = (row.get("accelerator_id", "") for row in table)
    parts = (catalog.find("accelerators", name, Accelerator) for name in ids)
    first = next((part for part in parts if part is not None), None)
    usual = default_stack(first) if first is not None else next(iter(stacks))
    found = known_stack(catalog, usual)
    return Origin(text, _alone(found), found.label, None, False, hint)


def _alone(row: Stack) -> Stack:
    """Return a stack at one release as a row without releases."""
    return row.model_copy(update={"releases": (), "version_after": None, "release": None})


def with_stack(catalog: Catalog, row: Stack) -> Catalog:
    """Return a catalog in which all runs of a stack have the values of one row, at any release."""
    return replace(
        catalog, rows={**catalog.rows, "stacks": {**catalog.rows["stacks"], row.id: _alone(row)}}
    )


def read_runs(
    catalog: Catalog, table: Sequence[Row], stack: str, file: Path
) -> tuple[list[Run], dict[int, str]]:
    """Read the runs with another stack; those that the model does not support have a reason.

    Raises
    ------
    InputError
        When no run is supported.
    """
    reader = Reader(catalog)
    runs: list[Run] = []
    refused: dict[int, str] = {}
    for place, row in enumerate(table):
        try:
            runs.append(reader.read({**row, "stack": stack}))
        except Unsupported as error:
            refused[place] = str(error)
    if not runs:
        why = "; ".join(f"{table[i].get('id', '')}: {refused[i]}" for i in list(refused)[:3])
        cause = f"no run can be predicted with the rules of {stack} ({why})"
        help_ = "complete the rows, or choose another stack with --like"
        raise InputError([Problem("DC053", cause, Place(str(file), 1, 1), help=help_)])
    return runs, refused


def predictor(log: InputLog, runs: Sequence[Run], items: Sequence[Item]) -> Predict:
    """Return the function that predicts all runs for several rows of constants at once.

    No fitted constant changes the memory, so recompute and offload of the runs stay.
    """
    known = coefficients(log)
    kept = predict(runs, known).setup

    def times(values: Array) -> Array:
        changed = [run for row in values for run in applied(runs, items, row)]
        at = np.tile(np.arange(len(runs)), len(values))
        setup = setup_of(changed, known)
        setup = replace(setup, layout=rows_of(kept.layout, at), recipe=rows_of(kept.recipe, at))
        return np.broadcast_to(step(setup).time_s, at.shape).reshape(len(values), len(runs))

    return times


def _refuse_implausible(runs: Sequence[Run], errors: Array, file: Path) -> None:
    """Refuse step times that are so far from any forecast that their unit must be wrong."""
    problems = [
        Problem(
            "DC053",
            f"{run.id}: a step of {run.measured_s:g} s is {ratio:.3g} times the forecast",
            Place(str(file)),
            help="step_time_s is in seconds; check the layout and the batch of the row too",
        )
        for run, error in zip(runs, errors, strict=True)
        if not 1.0 / MOST_RATIO < (ratio := 1.0 / (1.0 + float(error))) < MOST_RATIO
    ]
    if problems:
        raise InputError(problems)


def fit_runs(catalog: Catalog, file: Path, like: str | None, kernels: Kernels) -> OwnFit:
    """Fit the constants of a stack to the runs of a file.

    Parameters
    ----------
    like : str, optional
        Stack of the catalog that gives the priors.
    kernels : mapping
        Measured training terms by accelerator; empty without a measurement.
    """
    log = InputLog(catalog)
    table = read_table(file)
    origin = origin_of(catalog, table, file, like)
    read, refused = read_runs(with_stack(catalog, origin.like), table, origin.like.id, file)
    times = np.array([r.measured_s for r in read])
    known = origin.own is not None and origin.own.id == origin.like.id
    # runs of a known stack may be of several releases, as dcplan validate reads them
    first = read_runs(catalog, table, origin.like.id, file)[0] if known else read
    before = predict(first, coefficients(log)).step.time_s / times - 1.0
    _refuse_implausible(read, before, file)
    runs = [measured_device(run, kernels) for run in read]
    chosen = choose(log, runs, kernels)
    predicted = predictor(log, runs, chosen.items)
    noise = log.parameter("training", "own-run-noise-frac")
    found = shrink(predicted, times, chosen.priors, noise=noise)
    after = predicted(found.value[None, :])[0] / times - 1.0
    unseen = None
    if len(runs) > 1:
        unseen = np.expm1(left_out(predicted, times, chosen.priors, noise=noise))
    fitted = applied(runs, chosen.items, found.value)
    return OwnFit(
        origin,
        tuple(table),
        tuple(runs),
        refused,
        chosen,
        found,
        before,
        after,
        unseen,
        tuple(fitted),
        stack_terms(origin.like, runs[0].accelerator.family, log),
        noise,
    )


def candidates(catalog: Catalog, fit: OwnFit, file: Path) -> list[tuple[str, int, float]]:
    """Return each stack of the catalog with the runs that it supports and their mean error.

    Only stacks that run on the accelerators and support as many runs as the chosen one are compared.
    """
    log = InputLog(catalog)
    found = []
    for name in catalog.table("stacks", Stack):
        stack = known_stack(catalog, name)
        if any(stack_refusal(catalog, r.accelerator, stack) for r in fit.runs):
            continue
        try:
            runs, _ = read_runs(with_stack(catalog, stack), fit.table, name, file)
        except InputError:
            continue
        if len(runs) < len(fit.runs):
            continue
        times = np.array([r.measured_s for r in runs])
        error = np.abs(predict(runs, coefficients(log)).step.time_s / times - 1.0)
        found.append((name, len(runs), float(error.mean())))
    return sorted(found, key=lambda row: row[2])
