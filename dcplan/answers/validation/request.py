"""Request of ``dcplan validate``: a subject; for training, the runs and their grouping."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dcplan.catalog.subjects import SUBJECTS
from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag

TRAINING = "training"
GROUPS = ("source", "accelerator", "stack", "arch")
"""Groupings of the errors of training runs."""


@dataclass(frozen=True)
class ValidateRequest:
    """One subject: measured training runs or published figures."""

    subject: Annotated[
        str,
        Flag(
            "subject of the comparison",
            choices=(TRAINING, *SUBJECTS),
            metavar="SUBJECT",
            argument=True,
        ),
    ] = TRAINING
    runs: Annotated[Path | None, Flag("CSV of measured runs (default: the packaged table)")] = None
    group_by: Annotated[str, Flag("grouping of the summary of training runs", choices=GROUPS)] = (
        "stack"
    )
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()


def conflicts(request: ValidateRequest) -> list[Problem]:
    """Return the flags that the subject does not use."""
    if request.subject == TRAINING or (request.runs is None and request.group_by == "stack"):
        return []
    return [
        Problem("DC050", "--runs and --group-by apply to training runs only", Place("validate"))
    ]
