"""Engines that run chains of tasks: in this process, in others of this machine, or on a cluster.

A chain is a list of tasks that follow one another: each is given the value of the last one before
it that was done. Chains are independent, and what a task is given never depends on the engine, so
neither does its value.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

DONE, ERROR, CRASHED = "done", "error", "crashed"
PATIENCE_S = 5.0
"""How long running tasks may go on after a stop was asked for."""
POLL_S = 0.2
STRIKES = 2
"""Workers that a task may kill before it is given up."""

Work = Callable[[Any, Any], Any]
"""A task and the value of the one before it -> its value; importable by name."""
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Done:
    """How a task ended."""

    task: Any
    status: str
    value: Any = None
    message: str = ""


@dataclass(frozen=True)
class Chain:
    """Tasks in their order, and what the first is given."""

    tasks: tuple[Any, ...]
    before: Any = None


class Engine(Protocol):
    """Runs chains."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Iterator[Done]:
        """Every task that ended, as it ends; those left after a stop are not among them."""
        ...


class Stopped(Exception):  # noqa: N818 - no error: a stop was asked for
    """A task ended because a stop was asked for; it has no outcome."""


_STOPS: list[Stop] = []


def asked_to_stop() -> bool:
    """Whether the run in this process was asked to stop; in a worker the parent decides."""
    return any(stop() for stop in _STOPS)


class Serial:
    """One task after the other, here."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Iterator[Done]:
        """Every task that ended, chain by chain; one that is at work is asked to end."""
        _STOPS.append(stop)
        try:
            yield from self._run(chains, work, stop)
        finally:
            _STOPS.remove(stop)

    @staticmethod
    def _run(chains: Sequence[Chain], work: Work, stop: Stop) -> Iterator[Done]:
        for chain in chains:
            before = chain.before
            for task in chain.tasks:
                if stop():
                    return
                try:
                    value = work(task, before)
                except Stopped:
                    return
                except Exception as error:  # a task that fails is a row, not the end
                    yield Done(task, ERROR, message=told(error))
                    continue
                before = value
                yield Done(task, DONE, value)


class Line:
    """A chain on its way: the task at hand, and the last value."""

    def __init__(self, chain: Chain) -> None:
        self.left, self.before, self.strikes = deque(chain.tasks), chain.before, 0

    @property
    def task(self) -> Any:
        """The task at hand."""
        return self.left[0]

    def ended(self, status: str, value: Any = None, message: str = "") -> Done:
        """Go on to the next task."""
        self.strikes = 0
        if status == DONE:
            self.before = value
        return Done(self.left.popleft(), status, value, message)


class Processes:
    """Processes of this machine, one task each; a task that kills its worker twice is given up."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._idle: ProcessPoolExecutor | None = None
        """Workers of the last run, ready for the next one."""

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Iterator[Done]:
        """Every task that ended, as it ends."""
        free = deque(line for line in map(Line, chains) if line.left)
        suspects: deque[Line] = deque()
        pool, running = self._idle or self._pool(), dict[Future[Any], Line]()
        self._idle = None
        ended: list[Done] = []
        alone = False
        try:
            while (free or suspects or running) and not stop():
                # whoever killed the worker is found by running each of them alone, to its end
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
                yield from ended  # workers are busy again while what ended is written
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

    def _last(self, running: dict[Future[Any], Line]) -> Iterator[Done]:
        """Yield what still ends within the patience after a stop."""
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
        """End the workers, those that still solve too."""
        ours = set((getattr(pool, "_processes", None) or {}).keys())
        for child in multiprocessing.active_children():
            if child.pid in ours:
                child.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Workers that start now never see Ctrl-C: it is the parent's affair."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _struck(line: Line, suspects: deque[Line], free: deque[Line], *, alone: bool) -> Done | None:
    """Count a strike for a task whose worker died while alone; give it up after the last."""
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
    """How a task ended; None where its worker died."""
    try:
        value = future.result()
    except BrokenProcessPool:
        return None
    except Exception as error:
        return line.ended(ERROR, message=told(error))
    return line.ended(DONE, value)


def _begin() -> None:
    """In a worker: Ctrl-C is the parent's affair, and without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def told(error: BaseException) -> str:
    """Return an error in one line.

    Examples
    --------
    >>> told(ValueError("x")), told(KeyError("y"))
    ('ValueError: x', "KeyError: 'y'")
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500]


def idle(task: float, before: object) -> float:
    """Sleep: the work of tests and of measurements of the engines themselves."""
    time.sleep(task)
    return task
