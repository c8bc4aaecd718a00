"""``dcplan doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def doctor(output: Output) -> Result:
    """Print versions, solver and paths for a bug report."""
    from dcplan.answers.reference.doctor import doctor as answer

    return answer()
