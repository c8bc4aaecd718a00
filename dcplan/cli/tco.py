"""``dcplan tco``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.tco.request import TcoRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def tco(request: TcoRequest, output: Output) -> Result:
    """Compare the cost of owning, renting and combining both over the horizon."""
    from dcplan.api.tco import tco as answer

    output.refuse_unwritable()
    return answer(request)
