"""Sequences of tasks, stored by their keys: only missing tasks are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dcplan.engine.engines import CRASHED as WORKER_DIED
from dcplan.engine.engines import DONE, Chain, Done, Engine, Serial, Stop, Work
from dcplan.study.point import CRASHED, FAILED
from dcplan.study.store import Memory, Store

Document = Mapping[str, Any]


class Keyed(Protocol):
    """A task with its index and the digest of everything that it depends on."""

    @property
    def index(self) -> int:
        """Its index."""
        ...

    @property
    def key(self) -> str:
        """Digest of its inputs and of the inputs of the tasks before it."""
        ...


@dataclass(frozen=True)
class Runner:
    """The engine and the store of a study, and its stop condition."""

    store: Store = field(default_factory=Memory)
    """Another call, part or machine continues from the stored documents."""
    engine: Engine = field(default_factory=Serial)
    """The result of a task does not depend on the engine."""
    stop: Stop = lambda: False

    def run(
        self,
        lines: Sequence[Sequence[Keyed]],
        start: Document | None,
        work: Work,
        known: MutableMapping[int, Document],
        progress: Callable[[int, Document, float], None] | None = None,
    ) -> None:
        """Run the missing tasks of each sequence and store their documents.

        Parameters
        ----------
        lines : sequence of sequences of tasks
            Each task receives the document of the last task before it that has a start.
        start : mapping, optional
            Document for the first task of each sequence.
        known : mapping
            Documents by index; the new ones are added.
        progress : callable, optional
            Called with the index, the document and the seconds of each task that ended.
        """
        queue = [chain for line in lines for chain in _missing(line, start, known)]
        for done in self.engine.run(queue, work, self.stop):
            document = document_of(done)
            seconds = float(document.pop("seconds", 0.0))
            self.store.put(done.task.key, document)
            known[done.task.index] = document
            if progress:
                progress(done.task.index, document, seconds)


def _missing(
    line: Sequence[Keyed], start: Document | None, known: Mapping[int, Document]
) -> list[Chain]:
    """Return the missing tasks of a sequence, in pieces that begin after a known start."""
    pieces: list[tuple[list[Keyed], Document | None]] = [([], start)]
    for task in line:
        found = known.get(task.index)
        if found is None:
            pieces[-1][0].append(task)
        elif found.get("start"):
            pieces.append(([], found))
    return [Chain(tuple(tasks), given) for tasks, given in pieces if tasks]


def document_of(done: Done) -> dict[str, Any]:
    """Return the document to store for a task, for each way to end."""
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
