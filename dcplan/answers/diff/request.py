"""Request of ``dcplan diff``: two references and the limits of each solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import Catalogs, Sets, Variant
from dcplan.specs.request import Flag

SIDES = 2
"""Number of compared answers."""


@dataclass(frozen=True)
class DiffRequest:
    """Two answers to compare."""

    before: Annotated[
        str,
        Flag(
            "scenario, folder of scenarios, saved result, git:REV or git:REV:path",
            metavar="A",
            argument=True,
        ),
    ]
    after: Annotated[
        str, Flag("same choices as A; --set applies to B only", metavar="B", argument=True)
    ]
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()
    labels: Annotated[
        tuple[str, ...],
        Flag(
            "name of A, then of B, in the report; give it twice", names=("--label",), metavar="NAME"
        ),
    ] = ()
    exit_code: Annotated[bool, Flag("exit with 1 if there is a difference")] = False
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time limit of each solve", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    no_cache: Annotated[bool, Flag("ignore stored plans and solve again")] = False
