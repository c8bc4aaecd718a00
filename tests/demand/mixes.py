"""Mixes of job classes that ask for different parts of the rules, with a pool for each."""

from __future__ import annotations

from math import inf

from dcplan.demand.classes import JobClass as C

MIXES: dict[str, tuple[list[C], int]] = {
    "small jobs": ([C("a", 1, 2.0, 10.0, 1.0), C("b", 1, 0.5, 20.0, 0.5)], 32),
    "gangs": ([C("a", 1, 2.0, 8.0, 1.0), C("b", 8, 1.5, 1.5), C("c", 16, 1.0, 0.4, 0.5)], 52),
    # the reservation of the wide gang leaves few accelerators to the many that would pass it
    "small jobs pass": (
        [
            C("many", 1, 1.5, 8.0, 0.5),
            C("gang", 8, 1.0, 0.8, 0.5),
            C("wide", 16, 1.0, 0.4, 0.5, priority=1),
        ],
        32,
    ),
    "priorities": (
        [
            C("low", 2, 1.0, 8.0, 1.0),
            C("mid", 4, 1.0, 2.0, 0.5, priority=1),
            C("top", 8, 0.5, 1.0, priority=2),
        ],
        33,
    ),
    "preemption": (
        [
            C("bulk", 1, 3.0, 6.0, 1.0, preemptible=True, loss_h=0.5),
            C("gang", 4, 2.0, 1.0, 0.5, priority=1, preemptible=True, loss_h=inf),
            C("top", 8, 1.0, 0.8, 0.5, priority=2),
        ],
        40,
    ),
    "quotas": (
        [
            C("a", 1, 1.0, 12.0, 1.0, most_accelerators=16.0),
            C("b", 8, 1.0, 1.2, 0.5, priority=1, most_accelerators=24.0),
            C("c", 2, 2.0, 2.5, 1.0, most_accelerators=14.0),
        ],
        40,
    ),
    "shares and gangs": (
        [
            C("notebook", 1 / 7, 2.0, 28.0, 1.0, priority=1),
            C("lora", 0.25, 1.0, 12.0, 0.5, preemptible=True, loss_h=0.25),
            C("gang", 8, 1.5, 1.2, 0.5, priority=2),
        ],
        30,
    ),
}
WEEK = [34 if h % 24 < 8 else 22 for h in range(168)]
"""Night hours have more accelerators than the day."""
WEEKLY = [
    C("firm", 4, 1.0, 3.0, 0.5, priority=1),
    C("bulk", 2, 2.0, 2.0, 1.0, preemptible=True, loss_h=0.5),
    C("own", 8, 1.5, 0.3, priority=2, preemptible=True),
]
