"""Rate of accelerators on a reference job."""

from __future__ import annotations

from collections.abc import Callable

from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.reference_job import reference_tflops
from dcplan.llm.architecture import Architecture
from dcplan.planning.problem.work.targets import Target
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Reference
from dcplan.units import BITS_PER_BYTE

REFERENCE_ACCELERATOR = "h100-sxm"
"""Accelerator of the unit H100-equivalents."""


class ReferenceRates:
    """Rates on reference jobs; places with the same accelerators and links share them.

    ``shape`` returns the architecture of a model reference.
    """

    def __init__(self, log: InputLog, shape: Callable[[str], Architecture]) -> None:
        self.log, self.shape = log, shape
        self._rates: dict[tuple[object, ...], float | str] = {}

    def tflops(self, ref: Reference, target: Target) -> float | str:
        """Return the model TFLOP/s of one accelerator on a reference job, or why it has none."""
        place = (target.accelerator, target.unit, target.gb_per_s)
        key = (ref.model, ref.seq_len, ref.precision, *place)
        if key not in self._rates:
            self._rates[key] = reference_tflops(ref, self.shape(ref.model), *place, self.log)
        return self._rates[key]


def rate_of(reference: Reference, target: Target, rates: ReferenceRates) -> float | str:
    """Return the TFLOP/s of an accelerator of a place on a reference job, or why it has none."""
    size = int(rates.log.parameter("training", "reference-accelerators"))
    if target.offer is not None and not target.offer.connects(size):
        return (
            f"the reference job has {size} accelerators, but no network between instances is "
            f"known; give prices.{row_of(target.offer.id)}.scaleout_gbps"
        )
    return rates.tflops(reference, target)


def h100_tflops(
    reference: Reference, path: Path, question: Question, rates: ReferenceRates
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
        for r in rates.log.catalog.table("systems", System).values()
        if r.accelerator == REFERENCE_ACCELERATOR
    )
    gbps = row.scaleout_port_gbps.value if row.scaleout_port_gbps else 0.0
    each = (row.scaleout_ports or 0) / row.accelerators * gbps / BITS_PER_BYTE
    rate = rates.tflops(
        reference,
        Target("", row.id, REFERENCE_ACCELERATOR, row.accelerators, 10**6, each, LinkSpeed(gbps)),
    )
    if isinstance(rate, str):
        cause = f"{REFERENCE_ACCELERATOR}, the reference of H100-equivalents, cannot run the reference job: {rate}"
        raise InputError([question.tree.problem("DC032", cause, path)])
    return rate
