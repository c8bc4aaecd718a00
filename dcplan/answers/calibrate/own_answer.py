"""Answer of ``dcplan calibrate --runs``: errors, constants and doubts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dcplan.answers.calibrate.constants import INTERVAL_SHARE, STACK
from dcplan.answers.calibrate.overlay import bounds, spreads
from dcplan.answers.calibrate.own_runs import OwnFit, candidates
from dcplan.answers.validation.runs.measured import read_table, unread_columns
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.llm.tables import Array
from dcplan.result import Metric, Result
from dcplan.specs.validation import calibrate as specs

INFORMED = 0.1
"""Share of the prior's variance that runs must remove before the table names them as the basis."""
MUCH_BETTER = 0.5
"""Error of another stack over that of the chosen one below which the answer names it."""
FAR_WIDTHS = 3.0
"""Widths from its prior beyond which a constant may stand in for something that is not fitted."""


def stack_key(fit: OwnFit, name: str | None) -> str:
    """Return the id of the overlay's stack: given, or made of the name in the file.

    Raises
    ------
    InputError
        When the given id is no id of a catalog row.
    """
    if name is None and fit.origin.own is not None:
        return fit.origin.own.id
    made = "-".join(re.findall(r"[a-z0-9]+", (name or fit.origin.text).lower()))
    if (name is not None and name != made) or not made:
        cause = f"{name or fit.origin.text!r} is not an id: lower-case letters, digits, hyphens"
        raise InputError(
            [Problem("DC050", cause, Place("--name"), help=f"--name {made or 'my-stack'}")]
        )
    return made


def answer(fit: OwnFit, key: str, catalog: Catalog, file: Path) -> Result:
    """Return the errors before, after and left out, and the constants."""
    others = candidates(catalog, fit, file)
    return Result(
        verb="calibrate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(fit, key),
        metrics=_metrics(fit),
        tables={
            specs.OWN_RUNS.name: specs.OWN_RUNS.table(_runs(fit)),
            specs.CONSTANTS.name: specs.CONSTANTS.table(_constants(fit)),
            specs.CANDIDATES.name: specs.CANDIDATES.table(
                specs.CandidateRow(name, count, error, name == fit.origin.like.id)
                for name, count, error in others
            ),
            specs.EXCLUDED.name: specs.EXCLUDED.table(
                specs.ExcludedRow(name, reason) for name, reason in fit.chosen.left.items()
            ),
        },
        warnings=[
            *unread_columns(read_table(file)),
            *({"code": "calibrate", "message": text} for text in _doubts(fit, key, others, file)),
        ],
    )


def _mean(errors: Array) -> float:
    return float(np.abs(errors).mean())


def _headline(fit: OwnFit, key: str) -> str:
    errors = f"{_mean(fit.before):.1%} before, {_mean(fit.after):.1%} after"
    if fit.unseen is not None:
        errors += f", {_mean(fit.unseen):.1%} for a run that the fit did not see"
    count = f"{len(fit.runs)} run{'s' if len(fit.runs) > 1 else ''}"
    return f"{key}, fitted to {count} from {fit.origin.label}: mean step-time error {errors}"


def _metrics(fit: OwnFit) -> dict[str, Metric]:
    found = {
        **specs.RUNS_FITTED(len(fit.runs)),
        **specs.ERROR_BEFORE(_mean(fit.before)),
        **specs.ERROR_BEFORE_MEDIAN(float(np.median(np.abs(fit.before)))),
        **specs.ERROR_AFTER(_mean(fit.after)),
        **specs.ERROR_AFTER_MEDIAN(float(np.median(np.abs(fit.after)))),
    }
    if fit.unseen is not None:
        found |= specs.ERROR_UNSEEN(_mean(fit.unseen))
        found |= specs.ERROR_UNSEEN_MEDIAN(float(np.median(np.abs(fit.unseen))))
    for family, half in spreads(fit).items():
        label = f"Half width of the 80% interval of a step time, {family}"
        found |= specs.INTERVAL_HALF_WIDTH(half, family, label=label)
    return found


def _runs(fit: OwnFit) -> Iterator[specs.OwnRunRow]:
    """Return the rows of the file in their order."""
    place = 0
    for at, row in enumerate(fit.table):
        key = row.get("id", "")
        if at in fit.refused:
            yield specs.OwnRunRow(key, f"unsupported: {fit.refused[at]}")
            continue
        yield specs.OwnRunRow(
            key,
            "ok",
            fit.runs[place].measured_s,
            float(fit.before[place]),
            float(fit.after[place]),
            None if fit.unseen is None else float(fit.unseen[place]),
        )
        place += 1


def _constants(fit: OwnFit) -> Iterator[specs.ConstantRow]:
    for item, i in fit.pairs():
        low, high = bounds(fit, i)
        informed = float(fit.found.informed[i])
        yield specs.ConstantRow(
            constant=item.name,
            on=fit.origin.label if item.on == STACK else item.on,
            prior=item.prior,
            fitted=float(fit.found.value[i]),
            low=low,
            high=high,
            moved_widths=float(fit.found.moved[i]),
            informed_frac=informed,
            basis="runs" if informed >= INFORMED else "prior",
        )


def _doubts(
    fit: OwnFit, key: str, others: list[tuple[str, int, float]], file: Path
) -> Iterator[str]:
    """Return what a user should know before the overlay is used."""
    origin = fit.origin
    if origin.own is None and not origin.chosen:
        why = f"the catalog has no stack {origin.text!r}" + (
            f" ({origin.hint})" if origin.hint else ""
        )
        usual = f"{origin.label} gives the priors, as the usual stack of the accelerator"
        yield f"{why}; {usual}; --like STACK chooses another one"
    if origin.own is not None and key not in (origin.own.id, *origin.own.aliases):
        yield f"write {key} into the column stack of {file.name} to compare it with the overlay"
    best = others[0] if others else None
    if best is not None and origin.own is None and best[2] < MUCH_BETTER * _mean(fit.before):
        yield (
            f"{best[0]} predicts these runs better before a fit ({best[2]:.1%}, not "
            f"{_mean(fit.before):.1%}): compare --like {best[0]}"
        )
    if fit.unseen is None:
        yield "one run gives no error of a run that the fit did not see: measure at least 5 layouts"
    elif _mean(fit.unseen) >= _mean(fit.before):
        yield (
            "do not use the overlay, because a run that the fit did not see has a larger error "
            f"({_mean(fit.unseen):.1%}) than with the catalog ({_mean(fit.before):.1%}): "
            "the runs are few, or differ in something that their columns do not say"
        )
    few = len(fit.runs) < round(INTERVAL_SHARE / (1.0 - INTERVAL_SHARE))
    if fit.unseen is not None and few:
        yield f"{len(fit.runs)} runs are too few for an interval that holds 80% of new runs"
    far = [i.name for i, at in fit.pairs() if abs(fit.found.moved[at]) > FAR_WIDTHS]
    if far:
        yield (
            f"{', '.join(far)} moved more than {FAR_WIDTHS:g} widths from the prior: check the "
            "columns of the runs, such as activation_recompute and micro_batch"
        )
    changed = sorted(
        {
            r.accelerator.id
            for r, now in zip(fit.runs, fit.fitted, strict=True)
            if r.device != now.device
        }
    )
    if changed:
        yield (
            f"the overlay also changes the speeds of {', '.join(changed)} for every stack: "
            "use it for this stack only"
        )
    if fit.refused:
        yield f"{len(fit.refused)} of {len(fit.table)} runs of {file.name} are not in the fit: see the table"
