"""``dcplan tco``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.tco.request import TcoRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def tco(request: TcoRequest, output: Output) -> Result:
    """Compare owning with renting: a fleet, or a scenario's work all owned, all rented or both."""
    from dcplan.answers.tco.answer import tco as answer

    output.refuse_unwritable()
    return answer(request)
