"""Lines of tasks that follow one another, kept by their keys: only what is missing is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dcplan.study.engine.engines import CRASHED as WORKER_DIED
from dcplan.study.engine.engines import DONE, Chain, Done, Engine, Serial, Stop, Work
from dcplan.study.point import CRASHED, FAILED
from dcplan.study.store import Memory, Store

Document = Mapping[str, Any]


class Keyed(Protocol):
    """A task with its place and the digest of what it depends on."""

    @property
    def index(self) -> int:
        """Its place."""
        ...

    @property
    def key(self) -> str:
        """Digest of its inputs, and of those of the ones before it."""
        ...


@dataclass(frozen=True)
class Runner:
    """What runs the tasks of a study, where they are kept, and when to end."""

    store: Store = field(default_factory=Memory)
    """Another call, part or machine goes on from what is kept."""
    engine: Engine = field(default_factory=Serial)
    """What a task answers does not depend on it."""
    stop: Stop = lambda: False

    def run(
        self,
        lines: Sequence[Sequence[Keyed]],
        start: Document | None,
        work: Work,
        known: MutableMapping[int, Document],
        told: Callable[[int, Document, float], None] | None = None,
    ) -> None:
        """Run what is missing of each line and keep it.

        Parameters
        ----------
        lines : sequence of sequences of tasks
            Each task is given the document of the last one before it that holds a start.
        start : mapping, optional
            What the first of each line is given.
        known : mapping
            Documents by place; those that are run are added.
        told : callable, optional
            Told the place, the document and the seconds of each that ended.
        """
        queue = [chain for line in lines for chain in _missing(line, start, known)]
        for done in self.engine.run(queue, work, self.stop):
            document = document_of(done)
            seconds = float(document.pop("seconds", 0.0))
            self.store.put(done.task.key, document)
            known[done.task.index] = document
            if told:
                told(done.task.index, document, seconds)


def _missing(
    line: Sequence[Keyed], start: Document | None, known: Mapping[int, Document]
) -> list[Chain]:
    """Return what is missing of a line, in pieces that begin after a known start."""
    pieces: list[tuple[list[Keyed], Document | None]] = [([], start)]
    for task in line:
        found = known.get(task.index)
        if found is None:
            pieces[-1][0].append(task)
        elif found.get("start"):
            pieces.append(([], found))
    return [Chain(tuple(tasks), given) for tasks, given in pieces if tasks]


def document_of(done: Done) -> dict[str, Any]:
    """Return what is kept of a task, however it ended."""
    if done.status == DONE:
        return dict(done.value)
    status = CRASHED if done.status == WORKER_DIED else FAILED
    return {
        "status": status,
        "message": done.message,
        "metrics": {},
        "gap_frac": None,
        "reproducible": True,
        "start": "",
    }
