"""Rate of accelerators on a reference job."""

from __future__ import annotations

from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.jobs import JobCandidates
from dcplan.planning.problem.work.targets import Target
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Reference
from dcplan.units import BITS_PER_BYTE

REFERENCE_ACCELERATOR = "h100-sxm"
"""Accelerator of the unit H100-equivalents."""


def rate_of(
    reference: Reference, target: Target, problem: JobCandidates, log: InputLog
) -> float | str:
    """Return the TFLOP/s of an accelerator of a place on a reference job, or why it has none."""
    size = int(log.parameter("training", "reference-accelerators"))
    if target.offer is not None and not target.offer.connects(size):
        return (
            f"the reference job has {size} accelerators, but no network between instances is "
            f"known; give prices.{row_of(target.offer.id)}.scaleout_gbps"
        )
    return problem.reference_tflops(reference, target)


def h100_tflops(
    reference: Reference, path: Path, question: Question, problem: JobCandidates, log: InputLog
) -> float:
    """Return the TFLOP/s of an H100, in a server of 8 with 400 Gb/s each, on a reference job.

    ``path`` is the place of the reference job in the scenario.

    Raises
    ------
    InputError
        If it cannot run the reference job.
    """
    row = next(
        r
        for r in log.catalog.table("systems", System).values()
        if r.accelerator == REFERENCE_ACCELERATOR
    )
    gbps = row.scaleout_port_gbps.value if row.scaleout_port_gbps else 0.0
    each = (row.scaleout_ports or 0) / row.accelerators * gbps / BITS_PER_BYTE
    rate = problem.reference_tflops(
        reference,
        Target("", row.id, REFERENCE_ACCELERATOR, row.accelerators, 10**6, each, LinkSpeed(gbps)),
    )
    if isinstance(rate, str):
        cause = f"{REFERENCE_ACCELERATOR}, the reference of H100-equivalents, cannot run the reference job: {rate}"
        raise InputError([question.tree.problem("DC032", cause, path)])
    return rate
