"""``dcplan sweep``."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import typer

from dcplan.cli.command import Output, Stop, command
from dcplan.engine.request import Workers
from dcplan.study.sweep.request import SweepRequest

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def sweep(request: SweepRequest, workers: Workers, output: Output, stop: Stop) -> None:
    """Plan many variants of a scenario: a grid, pairs or random samples.

    Axes come from `sweep:` in the file or from --set: K=a,b or K=choice(a,b),
    range(first,last,step) including last, linspace(a,b,n), logspace(a,b,n); with --sample
    also uniform(a,b), normal(m,s), lognormal(m,s), triangular(low,mode,high).
    """
    from dcplan.report.progress import Counter
    from dcplan.study.lines import Runner
    from dcplan.study.store import Store, home
    from dcplan.study.sweep.run import laid_out
    from dcplan.study.sweep.run import sweep as answer

    output.refuse_unwritable()
    layout = laid_out(request)
    store = Store(request.store or home() / "points")
    counter = Counter(sys.stderr, proofs=layout.proves) if output.shows_progress else None
    runner = Runner(store, workers.of(len(layout.values)), stop)
    result = answer(layout, runner, counter)
    output.write(result)
    say_how_to_go_on(result)
    raise typer.Exit(result.exit_code)


def say_how_to_go_on(result: Result) -> None:
    """Report on stderr how to continue if points are left."""
    if result.status not in ("interrupted", "incomplete") or "points" not in result.tables:
        return
    left = {row["status"] for row in result.tables["points"].records()}
    if left <= {"ok", "infeasible", "wrong", "gap"}:
        return
    from dcplan.cli.output import note

    words = [w for w in sys.argv[1:] if w not in ("--no-cache", "--report-only")]
    failed = bool(left & {"timeout", "error", "crashed"})
    flag = ["--retry-failed"] if failed and "--retry-failed" not in words else []
    note(f"continue with {shlex.join(['dcplan', *words, *flag])}")
