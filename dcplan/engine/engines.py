"""Engines that run chains of tasks: in this process, in other local processes, or on a cluster.

A chain is a sequence of tasks: each task receives the value of the last completed task before it.
Chains are independent. The input of a task never depends on the engine, so its value does not
either.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

DONE, ERROR, CRASHED = "done", "error", "crashed"
PATIENCE_S = 5.0
"""Time that running tasks may continue after a stop request."""
POLL_S = 0.2
STRIKES = 2
"""Workers that a task may kill before it counts as crashed."""

Work = Callable[[Any, Any], Any]
"""Function of a task and the value before it -> its value; importable by name."""
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Done:
    """A task that ended, with its status."""

    task: Any
    status: str
    value: Any = None
    message: str = ""


@dataclass(frozen=True)
class Chain:
    """Tasks in order, and the input of the first one."""

    tasks: tuple[Any, ...]
    before: Any = None


Ended = Generator[Done, None, None]
"""Tasks as they end."""


class Engine(Protocol):
    """Runs chains."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        """Yield every task as it ends; after a stop, the remaining tasks are not run.

        Closing the generator ends the run at once.
        """
        ...


class Stopped(Exception):  # noqa: N818 - no error: a requested stop
    """A task ended because of a stop request; it has no outcome."""


_STOPS: list[Stop] = []


def asked_to_stop() -> bool:
    """Whether the run in this process has a stop request; for a worker, the parent decides."""
    return any(stop() for stop in _STOPS)


class Serial:
    """One task after the other, in this process."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        """Yield every task as it ends, chain by chain; a stop request ends the running task."""
        _STOPS.append(stop)
        try:
            yield from self._run(chains, work, stop)
        finally:
            _STOPS.remove(stop)

    @staticmethod
    def _run(chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        for chain in chains:
            before = chain.before
            for task in chain.tasks:
                if stop():
                    return
                try:
                    value = work(task, before)
                except Stopped:
                    return
                except (
                    Exception
                ) as error:  # a failed task is a row of the result; the others continue
                    yield Done(task, ERROR, message=error_text(error))
                    continue
                before = value
                yield Done(task, DONE, value)


class Line:
    """A chain in progress: the current task and the last value."""

    def __init__(self, chain: Chain) -> None:
        self.left, self.before, self.strikes = deque(chain.tasks), chain.before, 0

    @property
    def task(self) -> Any:
        """The current task."""
        return self.left[0]

    def ended(self, status: str, value: Any = None, message: str = "") -> Done:
        """Record the outcome of the current task and advance to the next one."""
        self.strikes = 0
        if status == DONE:
            self.before = value
        return Done(self.left.popleft(), status, value, message)


class Processes:
    """Local processes, one task each; a task that kills its worker twice counts as crashed."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._idle: ProcessPoolExecutor | None = None
        """Workers of the last run, ready for the next one."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        """Yield every task as it ends."""
        free = deque(line for line in map(Line, chains) if line.left)
        suspects: deque[Line] = deque()
        pool, running = self._idle or self._pool(), dict[Future[Any], Line]()
        self._idle = None
        ended: list[Done] = []
        alone = False
        try:
            while (free or suspects or running) and not stop():
                # run each suspect alone to find the task that killed the worker
                alone = bool(suspects) or (alone and bool(running))
                queue, most = (suspects, 1) if alone else (free, self.jobs)
                try:
                    while queue and len(running) < most and (not alone or not running):
                        line = queue[0]
                        with _quiet_start():
                            running[pool.submit(work, line.task, line.before)] = line
                        queue.popleft()
                except BrokenProcessPool:
                    pool = self._again(pool)
                yield from ended  # the workers run while the ended tasks are written
                ended, dead = [], list[Line]()
                finished, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
                for future in finished:
                    line = running.pop(future)
                    done = _outcome(future, line)
                    if done is None:
                        dead.append(line)
                        continue
                    ended.append(done)
                    if line.left:
                        free.appendleft(line)
                if dead:
                    suspects.extend([*dead, *running.values()])
                    running.clear()
                    pool = self._again(pool)
                    ended += [
                        x for line in dead if (x := _struck(line, suspects, free, alone=alone))
                    ]
            yield from ended
            yield from self._last(running)
        finally:
            if running or stop():
                self._end(pool)
            else:
                self._idle = pool

    def _last(self, running: dict[Future[Any], Line]) -> Ended:
        """Yield the tasks that end within the grace period after a stop."""
        finished, _ = wait(running, timeout=PATIENCE_S)
        for future in finished:
            done = _outcome(future, running.pop(future))
            if done is not None:
                yield done

    def _pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.jobs, mp_context=context, initializer=_begin)

    def _again(self, pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
        self._end(pool)
        return self._pool()

    @staticmethod
    def _end(pool: ProcessPoolExecutor) -> None:
        """End the workers, including those that still solve."""
        ours = set((getattr(pool, "_processes", None) or {}).keys())
        for child in multiprocessing.active_children():
            if child.pid in ours:
                child.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Start workers with Ctrl-C blocked: the parent handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _struck(line: Line, suspects: deque[Line], free: deque[Line], *, alone: bool) -> Done | None:
    """Count the death of a worker that ran one task alone; after the last, mark it as crashed."""
    if not alone:
        return None
    line.strikes += 1
    if line.strikes < STRIKES:
        return None
    suspects.remove(line)
    done = line.ended(CRASHED, message=f"its worker died {STRIKES} times: out of memory, or killed")
    if line.left:
        free.append(line)
    return done


def _outcome(future: Future[Any], line: Line) -> Done | None:
    """Return how a task ended, or None if its worker died."""
    try:
        value = future.result()
    except BrokenProcessPool:
        return None
    except Exception as error:
        return line.ended(ERROR, message=error_text(error))
    return line.ended(DONE, value)


def _begin() -> None:
    """Initialize a worker: ignore Ctrl-C, which the parent handles, and exit with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Pyomo makes a lock when it is imported; one of "spawn" would outlive a worker that is ended
    multiprocessing.set_start_method("fork", force=True)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def error_text(error: BaseException) -> str:
    """Return an error in one line.

    Examples
    --------
    >>> error_text(ValueError("x")), error_text(KeyError("y"))
    ('ValueError: x', "KeyError: 'y'")
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500]


def idle(task: float, before: object) -> float:
    """Sleep for the given seconds; used by tests and benchmarks of the engines."""
    time.sleep(task)
    return task
