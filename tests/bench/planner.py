"""What a plan costs in time: ``python -m tests.bench.planner [FILE:GAP:SECONDS ...]``.

Prints seconds in all, of menu, of model and load, of the search, the proven gap and the peak
memory; after it the straightforward way in the same run: one Pyomo model without steps or stages,
HiGHS with its defaults, the same seconds.

``python -m tests.bench.planner what-ifs [N]``: N demands of 0.8 to 1.2 times the retrofit
scenario's, each started from its neighbour's plan, against one solve from nothing. ``python -m
tests.bench.planner million``: one scenario, and the same with a thousand times the megawatts,
halls, demand and rented hardware. ``python -m tests.bench.planner seeds NAME:GAP:SECONDS ...``: each
with three seeds of HiGHS; a name of five numbers, such as ``4-12-14-6-16``, is a generated instance.
``python -m tests.bench.planner searches NAME:GAP:SECONDS ...``: each with one search, with two in
processes and with two on a local Dask cluster.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from dcplan.engine.dask_cluster import Dask
from dcplan.engine.engines import Processes
from dcplan.engine.request import Team
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.strategy import solve_problem
from dcplan.planning.solve.team import packed, solve_together
from dcplan.scenario.load import Question, load
from tests.bench.instances import instance

GOALS = (
    "train-405b-in-90-days:0.001:60",
    "retrofit-air-hall:0.005:60",
    "three-site-build-out:0.01:180",
)


def measure(name: str, gap: float, limit_s: float) -> str:
    """One line of figures."""
    began = time.perf_counter()
    question = load(name)
    built = build(question)
    menu_s = time.perf_counter() - began
    solved = solve_problem(built.problem, question, SolveRequest(gap=gap, time_limit_s=limit_s))
    total_s = time.perf_counter() - began
    made = time.perf_counter()
    matrix = compile_model(build_model(replace(built.problem, margin_factor=1.0))[0])
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


def what_ifs(
    count: int, *, screen: bool, name: str = "retrofit-air-hall", gap: float = 0.005
) -> str:
    """Seconds of many demands, each from its neighbor's plan, in those of one solve from nothing."""
    question = load(name)
    problem = build(question).problem
    began = time.process_time()
    solved = solve_problem(problem, question, SolveRequest(gap=gap, time_limit_s=120))
    single_s = time.process_time() - began
    gaps = []
    began = time.process_time()
    for i in range(count):
        factor = 0.8 + 0.4 * i / max(count - 1, 1)
        scaled = tuple(
            replace(c, wanted=tuple(x * factor for x in c.wanted)) for c in problem.demands
        )
        near = solved.integer_values or None
        solved = solve_problem(
            replace(problem, demands=scaled),
            question,
            SolveRequest(gap=gap, time_limit_s=60, near=near, screen=screen),
        )
        gaps.append(solved.gap_frac)
    all_s = time.process_time() - began
    return (
        f"one solve {single_s:.1f} s of CPU; {count} {'screened' if screen else 'complete'} what-ifs "
        f"{all_s:.1f} s = {all_s / single_s:.1f} solves; gaps {min(gaps):.2%} to {max(gaps):.2%}, "
        f"{sum(x <= 0.02 for x in gaps)} within 2 %, {sum(x <= gap + 1e-9 for x in gaps)} as asked"
    )


def million(gap: float = 0.01) -> str:
    """Seconds of a scenario and of the same times a thousand."""
    lines = []
    for factor in (1, 1000):
        scenario: dict[str, Any] = instance(1, 8, 6, 3, 2)
        for site in scenario["sites"]:
            site["halls"][1]["count"] = 1  # a scenario has at most 1,000 of a hall
            site["utility_mw"] = [x * factor for x in site["utility_mw"]]
            for hall in site["halls"]:
                hall["count"] = hall.get("count", 1) * factor
        for demand in scenario["workloads"]["capacity"]:
            demand["pflops_delivered"] = [x * factor for x in demand["pflops_delivered"]]
        scenario["cloud"]["max_accelerators"] *= factor
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scaled.yaml"
            file.write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
            question = load(str(file))
            began = time.process_time()
            problem = build(question).problem
            menu_s = time.process_time() - began
            solved = solve_problem(problem, question, SolveRequest(gap=gap, time_limit_s=300))
            all_s = time.process_time() - began
        lines.append(
            f"x {factor}: {all_s:.1f} s of CPU, menu {menu_s:.1f} s, gap {solved.gap_frac:.2%}"
        )
    return "\n".join(lines)


def _question(name: str) -> Question:
    """The scenario of a name, or of the numbers of a generated instance."""
    sizes = name.split("-")
    if not all(x.isdigit() for x in sizes):
        return load(name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "generated.yaml"
        scenario = instance(*(int(x) for x in sizes))
        file.write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
        return load(str(file))


def seeds(text: str, count: int = 3) -> str:
    """CPU seconds of candidates and of the solve, gap, plan and bound for each seed."""
    name, gap, limit = text.rsplit(":", 2)
    began = time.process_time()
    question = _question(name)
    problem = build(question).problem
    lines = [f"{name}: candidates {time.process_time() - began:.1f} s of CPU"]
    for seed in range(count):
        began, wall = time.process_time(), time.perf_counter()
        request = SolveRequest(gap=float(gap), time_limit_s=float(limit), seed=seed)
        solved = solve_problem(problem, question, request)
        lines.append(
            f"  seed {seed}: {time.process_time() - began:.1f} s of CPU, {time.perf_counter() - wall:.1f} s, "
            f"{solved.status}, gap {solved.gap_frac:.2%}, plan {solved.value:.4f}, "
            f"bound {solved.bound:.4f} {solved.ended}"
        )
    return "\n".join(lines)


def _cpu_s() -> float:
    """CPU time of this process and of its ended children."""
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(x.ru_utime + x.ru_stime for x in used)


def searches(text: str) -> str:
    """Wall and CPU seconds, gap, plan and bound of one search and of two on each engine."""
    name, gap, limit = text.rsplit(":", 2)
    question = _question(name)
    problem = build(question).problem
    lines = [f"{name}: {len(packed((problem, question))) / 1e6:.1f} MB to each worker"]
    teams = {"one": None, "processes": Team(Processes(2), 2), "dask": Team(Dask(None, 2), 2)}
    for what, team in teams.items():
        began, wall = _cpu_s(), time.perf_counter()
        request = SolveRequest(gap=float(gap), time_limit_s=float(limit), team=team)
        solved = solve_together(problem, question, request)
        wall_s = time.perf_counter() - wall
        for (
            child
        ) in multiprocessing.active_children():  # idle workers: their time counts at their end
            child.terminate()
            child.join()
        lines.append(
            f"  {what}: {wall_s:.1f} s, {_cpu_s() - began:.1f} s of CPU, {solved.status}, gap "
            f"{solved.gap_frac:.2%}, plan {solved.value:.4f} of search {solved.seed}, bound "
            f"{solved.bound:.4f}, {len(packed(solved)) / 1e6:.1f} MB back, "
            f"{solved.searches_ended} ended"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure what the command line names, or the goals."""
    words = sys.argv[1:]
    if words[:1] == ["what-ifs"]:
        for screen in (True, False):
            sys.stdout.write(what_ifs(int((*words, "100")[1]), screen=screen) + "\n")
        return
    if words == ["million"]:
        sys.stdout.write(million() + "\n")
        return
    each = {"seeds": seeds, "searches": searches}.get(words[0] if words else "")
    if each is not None:
        for text in words[1:]:
            sys.stdout.write(each(text) + "\n")
            sys.stdout.flush()
        return
    for text in words or GOALS:
        name, gap, limit = text.rsplit(":", 2)
        sys.stdout.write(measure(name, float(gap), float(limit)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
