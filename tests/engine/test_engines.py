"""Engines: the same values whatever runs them, and a killed worker loses nothing but its own task."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan.engine.dask_cluster import Dask
from dcplan.engine.engines import (
    CRASHED,
    DONE,
    ERROR,
    PATIENCE_S,
    Chain,
    Done,
    Engine,
    Processes,
    Serial,
)

ENGINES: dict[str, Callable[[], Engine]] = {
    "serial": Serial,
    "processes": lambda: Processes(2),
    "dask": lambda: Dask(None, 2),
}


def follow(task: int, before: int | None) -> int:
    """Ten times what came before, and the task."""
    if task < 0:
        msg = f"no {task}"
        raise ValueError(msg)
    return 10 * (before or 0) + task


def die(task: tuple[int, str], before: object) -> int:
    """Kill the worker at the task that says so; count every start in a file."""
    number, folder = task
    with (Path(folder) / "starts").open("a") as stream:
        stream.write(f"{number}\n")
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return number


def never() -> bool:
    return False


def ran(engine: Engine, chains: list[Chain]) -> list[Done]:
    return sorted(engine.run(chains, follow, never), key=lambda d: abs(d.task))


@pytest.mark.parametrize("name", ENGINES)
def test_every_task_is_given_the_value_before_it(name: str) -> None:
    # 7 -> 71, 712; 3 fails, so 4 follows 7 * 10 + 2 = 72: 724
    done = ran(ENGINES[name](), [Chain((1, 2), 7), Chain((-3, 4), 72), Chain((5,)), Chain(())])
    assert [(d.status, d.value) for d in done] == [
        (DONE, 71),
        (DONE, 712),
        (ERROR, None),
        (DONE, 724),
        (DONE, 5),
    ]
    assert done[2].message == "ValueError: no -3"


def test_a_task_that_kills_its_worker_is_given_up_and_the_others_are_done_once(
    tmp_path: Path,
) -> None:
    chains = [
        Chain(tuple((i, str(tmp_path)) for i in range(first, first + 3)))
        for first in range(0, 12, 3)
    ]
    done = list(Processes(2).run(chains, die, never))
    assert sorted(d.task[0] for d in done) == list(range(12))
    assert {d.task[0]: d.status for d in done if d.status != DONE} == {5: CRASHED}
    starts = Counter((tmp_path / "starts").read_text().split())
    # its own three starts: one beside others, two alone; the one beside it may have been lost with
    # the pool once
    assert starts.pop("5") == 3
    assert sum(n - 1 for n in starts.values()) <= 1


def test_a_stop_ends_the_run_soon() -> None:
    began, asked = time.monotonic(), iter([False, False, True])
    done = list(
        Processes(2).run(
            [Chain((1, 2, 3, 4)), Chain((5, 6, 7, 8))], follow, lambda: next(asked, True)
        )
    )
    assert len(done) < 8
    assert time.monotonic() - began < 8


ORPHANS = """
import sys, time
from dcplan.engine.engines import Chain, Processes, idle
if __name__ == "__main__":
    for _ in Processes(2).run([Chain((0.1, 60.0)), Chain((0.1, 60.0))], idle, lambda: False):
        print("ready", flush=True)
"""


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    mine = _children(parent.pid)
    assert len(mine) >= 2
    parent.kill()
    parent.wait()
    end = time.monotonic() + 10
    while (
        any(Path(f"/proc/{pid}").exists() and not _dead(pid) for pid in mine)
        and time.monotonic() < end
    ):
        time.sleep(0.05)
    assert not [pid for pid in mine if Path(f"/proc/{pid}").exists() and not _dead(pid)]


CLOSED = """
import multiprocessing, time
from contextlib import closing
from dcplan.engine.engines import Chain, Processes

def locked(task, before):
    locked.lock = multiprocessing.Lock()  # as Pyomo makes one when it is imported
    time.sleep(task)

if __name__ == "__main__":
    began = time.monotonic()
    with closing(Processes(2).run([Chain((0.5,)), Chain((60.0,))], locked, lambda: False)) as ended:
        next(ended)
    print(time.monotonic() - began)
"""


def test_a_run_that_is_closed_ends_its_workers_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "closed.py"
    script.write_text(CLOSED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, check=True)
    assert float(done.stdout) < PATIENCE_S
    assert done.stderr == b""


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(p) for p in found if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]


def _dead(pid: int) -> bool:
    try:
        return ") Z" in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
