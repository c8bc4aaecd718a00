"""What ``dcplan validate`` is asked: a subject, and for training whose runs, summed up how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dcplan.catalog.subjects import SUBJECTS
from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag

TRAINING = "training"
GROUPS = ("source", "accelerator", "stack", "arch")
"""What the errors of training runs may be summed up by."""


@dataclass(frozen=True)
class ValidateRequest:
    """One subject: measured training runs, or what others published."""

    subject: Annotated[
        str,
        Flag(
            "what dcplan is compared on",
            choices=(TRAINING, *SUBJECTS),
            metavar="SUBJECT",
            argument=True,
        ),
    ] = TRAINING
    runs: Annotated[Path | None, Flag("CSV of measured runs; the packaged table if left out")] = (
        None
    )
    group_by: Annotated[str, Flag("summary of training runs by", choices=GROUPS)] = "stack"
    catalogs: Annotated[tuple[str, ...], Flag("overlay folder; repeatable, the last wins")] = ()


def conflicts(request: ValidateRequest) -> list[Problem]:
    """Return the flags that the subject does not use."""
    if request.subject == TRAINING or (request.runs is None and request.group_by == "stack"):
        return []
    return [Problem("DC050", "--runs and --group-by are of training runs", Place("validate"))]
