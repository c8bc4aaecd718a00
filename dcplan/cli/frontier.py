"""``dcplan frontier``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dcplan.cli.command import Output, Stop, command
from dcplan.engine.request import Workers
from dcplan.study.frontier.request import FrontierRequest

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def frontier(request: FrontierRequest, workers: Workers, output: Output, stop: Stop) -> Result:
    """Show the trade-off between two metrics."""
    from dcplan.study.frontier.run import frontier as answer
    from dcplan.study.frontier.steps import LINE
    from dcplan.study.lines import Runner
    from dcplan.study.store import Memory, Store, home

    output.refuse_unwritable()
    shown = output.shows_progress and sys.stderr.isatty()
    store = Memory() if request.no_cache else Store(home() / "points")
    engine = workers.of(1 + (request.points - 2) // LINE)
    return answer(request, Runner(store, engine, stop), _show_steps if shown else None)


def _show_steps(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done} of {total} points")
