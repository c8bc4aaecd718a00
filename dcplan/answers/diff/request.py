"""What ``dcplan diff`` is asked: two references, and how far to solve each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import Catalogs, Sets, Variant
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class DiffRequest:
    """Two answers to compare."""

    before: Annotated[
        str,
        Flag(
            "a scenario, a folder of them, a result, git:REV or git:REV:path",
            metavar="A",
            argument=True,
        ),
    ]
    after: Annotated[
        str, Flag("the same; --set changes this one alone", metavar="B", argument=True)
    ]
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()
    exit_code: Annotated[bool, Flag("exit 1 where something differs")] = False
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time of each solve", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    no_cache: Annotated[bool, Flag("solve again what is known")] = False
