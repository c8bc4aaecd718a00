"""Dask distributed as the engine, with workers of a remote or a local cluster."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

from dcplan.engine.code import code_digest
from dcplan.engine.engines import (
    CRASHED,
    DONE,
    ERROR,
    PATIENCE_S,
    Chain,
    Done,
    Ended,
    Line,
    Stop,
    Work,
    error_text,
)
from dcplan.errors import InputError, Place, Problem

CONNECT_S = 10
POLL_S = 0.005


class Dask:
    """A Dask scheduler; it repeats the running task of a lost worker and keeps its results."""

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        self.scheduler, self.jobs = scheduler, jobs

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        """Yield every task as it ends."""
        dask: Any = importlib.import_module("distributed")  # an extra: imported on request only
        cluster = None
        if self.scheduler is None:
            cluster = dask.LocalCluster(
                n_workers=self.jobs,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            )
        client = _client(dask.Client, cluster or self.scheduler)
        try:
            _same_code(client)
            lines: dict[str, Line] = {}
            waiting = dask.as_completed(loop=client.loop)

            def submit(line: Line) -> None:
                future = client.submit(work, line.task, line.before, pure=False)
                lines[future.key] = line
                waiting.add(future)

            for line in map(Line, chains):
                if line.left:
                    submit(line)
            while lines and not stop():
                ended = waiting.next_batch(block=False)
                if not ended:
                    time.sleep(POLL_S)
                for future in ended:
                    line = lines.pop(future.key)
                    done = _outcome(future, line)
                    if done is None:  # the scheduler is lost: the rest is left to the next run
                        return
                    if line.left and not stop():
                        submit(line)
                    yield done
        finally:
            client.close(timeout=PATIENCE_S)
            if cluster is not None:
                cluster.close(timeout=PATIENCE_S)


def _client(make: Any, address: Any) -> Any:
    try:
        return make(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        cause = f"no Dask scheduler at {address}: {error}"
        help_text = "start one with `dask scheduler`, or leave --scheduler out for a local cluster"
        raise InputError([Problem("DC050", cause, Place("--scheduler"), help=help_text)]) from error


def _same_code(client: Any) -> None:
    """Refuse workers that run another version of dcplan."""
    other = sorted(
        worker for worker, digest in client.run(code_digest).items() if digest != code_digest()
    )
    if other:
        cause = f"workers with another version of dcplan: {', '.join(other[:5])}"
        raise InputError(
            [
                Problem(
                    "DC050",
                    cause,
                    Place("--scheduler"),
                    help="install the same version on all of them",
                )
            ]
        )


def _outcome(future: Any, line: Line) -> Done | None:
    from distributed import KilledWorker

    try:
        value = future.result()
    except CancelledError:
        return None
    except KilledWorker as error:
        return line.ended(CRASHED, message=f"its workers died: {error_text(error)}")
    except Exception as error:
        return line.ended(ERROR, message=error_text(error))
    return line.ended(DONE, value)
