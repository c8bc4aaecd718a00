"""Request of ``dcplan validate``: a subject; for measured runs, the file and their grouping."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dcplan.catalog.subjects import SUBJECTS
from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag

TRAINING, SERVING = "training", "serving"
MEASURED = (TRAINING, SERVING)
"""Subjects with measured runs, packaged or from a file."""
PRICES = "price-performance"
"""Subject of published prices of tokens, packaged or from a file."""
POST_TRAINING = "post-training"
"""Subject of published fine-tuning and reinforcement learning runs."""
GROUPS = ("source", "accelerator", "stack", "arch", "engine", "model")
"""Groupings of the errors of measured runs."""
GROUPS_OF = {
    TRAINING: ("source", "accelerator", "stack", "arch"),
    SERVING: ("engine", "accelerator", "model", "source"),
}
"""Groupings of each subject; the first one of serving and ``stack`` of training are the defaults."""


@dataclass(frozen=True)
class ValidateRequest:
    """One subject: measured runs of training or serving, or published figures."""

    subject: Annotated[
        str,
        Flag(
            "subject of the comparison",
            choices=(*MEASURED, POST_TRAINING, PRICES, *SUBJECTS),
            metavar="SUBJECT",
            argument=True,
        ),
    ] = TRAINING
    runs: Annotated[
        Path | None, Flag("CSV of measured runs or prices (default: the packaged table)")
    ] = None
    group_by: Annotated[
        str | None,
        Flag(
            "grouping of the summary of measured runs (default: stack of training, engine of serving)",
            choices=GROUPS,
        ),
    ] = None
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()


def conflicts(request: ValidateRequest) -> list[Problem]:
    """Return the flags that the subject does not use."""
    if request.subject in MEASURED:
        known = GROUPS_OF[request.subject]
        if request.group_by is None or request.group_by in known:
            return []
        cause = f"--group-by {request.group_by} does not exist for {request.subject}"
        return [Problem("DC050", cause, Place("validate"), help=f"one of {', '.join(known)}")]
    if request.group_by is None and (request.runs is None or request.subject == PRICES):
        return []
    cause = "--group-by applies to training and serving, --runs also to price-performance"
    return [Problem("DC050", cause, Place("validate"))]
