"""How long commands take, as a user waits for them: ``python -m tests.bench.commands [RUNS]``
prints README's table.

Each command is a process of its own, from its start to its end; the least of the runs counts,
because other work on the machine only ever adds.
"""

from __future__ import annotations

import subprocess
import sys
import time

COMMANDS = (
    ("the plan of the smallest example, audited", "plan train-405b-in-90-days"),
    ("two halls retrofitted over eight quarters, gap 0.5 %", "plan retrofit-air-hall"),
    ("assets, orders, inference, commitments, 500 sampled futures", "plan fleet-renewal"),
    (
        "every layout of 405B on 16,384 accelerators",
        "train llama-3.1-405b --system dgx-h100 -n 16384",
    ),
    (
        "a network of 1,016 accelerators to the cable",
        "fabric --nodes 127 --system dgx-h100 --fabric ib-ndr-400",
    ),
    (
        "PUE and water of a hall over a year's weather",
        "facility --site us-ashburn --cooling direct-liquid-tower --system gb300-nvl72 --it-mw 50",
    ),
    ("own or rent, line by line, 2,000 sampled futures", "tco own-or-rent-1024-h200"),
    ("604 measured training runs predicted", "validate"),
)


def seconds(command: str, runs: int) -> float:
    """Least wall-clock time of some runs. [s]"""
    best = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        call = [sys.executable, "-m", "dcplan", *command.split(), "-q"]
        subprocess.run(call, capture_output=True, check=True)
        best = min(best, time.perf_counter() - began)
    return best


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("| question | command | seconds |\n|---|---|---|")
    for what, command in COMMANDS:
        print(f"| {what} | `dcplan {command}` | {seconds(command, runs):.1f} |", flush=True)


if __name__ == "__main__":
    main()
