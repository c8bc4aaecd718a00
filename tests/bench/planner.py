"""What a plan costs in time: ``python -m tests.bench.planner [FILE:GAP:SECONDS ...]``.

Prints seconds in all, of menu, of model and load, of the search, the proven gap and the peak memory; beside it the
straightforward way in the same run: one Pyomo model without steps or stages, HiGHS with its defaults, the same seconds.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import replace

from dcplan.planning.menu.build import build
from dcplan.planning.model.build import build_model
from dcplan.planning.solve import highs
from dcplan.planning.solve.run import solve_menu
from dcplan.scenario.load import load

GOALS = ("train-405b-in-90-days:0.001:60", "retrofit-air-hall:0.005:60", "three-site-build-out:0.01:180")


def measure(name: str, gap: float, limit_s: float) -> str:
    """One line of figures."""
    began = time.perf_counter()
    question = load(name)
    built = build(question)
    menu_s = time.perf_counter() - began
    solved = solve_menu(built.menu, question, gap=gap, time_limit_s=limit_s)
    total_s = time.perf_counter() - began
    made = time.perf_counter()
    matrix = highs.compile_model(build_model(replace(built.menu, margin_factor=1.0))[0])
    made_s = time.perf_counter() - made
    plain = highs.solve(matrix, gap=gap, time_limit_s=max(total_s - menu_s, 1.0))
    cost = solved.audit.npv_usd if solved.audit else float("nan")
    other = plain.objective * 1e6
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{name:28s} {total_s:6.1f} s, menu {menu_s / total_s:4.0%}, model and load {made_s / total_s:4.0%}, "
        f"gap {solved.gap_frac:.2%}, {peak_mb:.0f} MB; one stage in as long: gap {plain.gap_frac:.2%}, "
        f"cost x {other / cost:.4f}"
    )


def main() -> None:
    """Measure what the command line names, or the goals."""
    for text in sys.argv[1:] or GOALS:
        name, gap, limit = text.rsplit(":", 2)
        sys.stdout.write(measure(name, float(gap), float(limit)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
