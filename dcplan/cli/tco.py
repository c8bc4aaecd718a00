"""``dcplan tco``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.tco.request import TcoRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def tco(request: TcoRequest, output: Output) -> Result:
    """Own or rent: compare a fleet with every rent of it, or work all owned, all rented, or both."""
    from dcplan.answers.tco.answer import tco as answer

    output.refuse_unwritable()
    return answer(request)
