"""One model, batch, software and recipe on several devices: the times that no count changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array
from dcplan.training.grid import Case, Index
from dcplan.training.memory import Kept
from dcplan.training.micro_batch import MicroBatch

INNER = ("tp", "cp", "micro_batch", "ep", "etp")
OUTER = ("pp", "vpp", "recompute", "zero", "schedule", "offload")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Outer:
    """Pipeline stages with the modes of a layout, sorted by mode and fill."""

    columns: dict[str, Array]
    mode: Index
    """Index of recompute, schedule and offload."""
    dense: tuple[Array, Array]
    """Bytes of the dense states of the first stage, without tensor parallelism: those that every
    data-parallel rank keeps, and those that they share."""
    routed: tuple[Array, Array]
    """The same of its routed experts, without expert parallelism."""
    in_flight: Array
    """Most micro-batches that the first stage keeps, divided by the number of stages."""
    width: Array
    """Least share of the blocks that the slowest stage has."""
    even: Array
    """1 if the last stage also has the output layer without fewer blocks."""
    fill: Array
    """Lower bound of the time to fill the pipeline, in passes of one micro-batch."""
    always: Mask
    """Whether the stages divide the layers or are a power of two; others must divide the ranks."""


@dataclass(frozen=True)
class Group:
    """Micro-batch times of every device, valid for all counts.

    Rows of ``setup`` are devices times inner layouts; a row of ``one`` is such a row in a mode.
    """

    cases: tuple[Case, ...]
    inner: dict[str, Array]
    modes: int
    outer: Outer
    setup: Setup
    one: MicroBatch
    kept: Kept
    first: Array
    """Activations of one micro-batch that a pipeline keeps by inner layout and mode. [byte]"""
    spare: Array
    """Least bytes of buffers and of a repeated layer by inner layout and mode."""
    ranks: Array
    """Ranks of one accelerator of each device."""
    usable: Array
    """Memory that a rank of each device may use. [byte]"""
    host: Array
    """Memory of the host for one rank of each device. [byte]"""
    family: tuple[int, ...]
    """Devices that differ only in their network have the same number."""
    links: tuple[tuple[float, ...], ...]
    """Speed of the network of each device; more of each value never takes longer."""
    block_s: Array
    """Time of the blocks of a micro-batch, one entry for each row of ``one``. [s]"""
    whole_s: Array
    """The same with output layer and vision tower. [s]"""
    order: tuple[Index, ...]
    """Rows of ``one`` of each device, those of the least time first."""
    least: tuple[Array, ...]
    """Their time of one sequence on one rank: a lower bound without stages and gradients. [s]"""

    @property
    def size(self) -> int:
        """Return the number of inner layouts."""
        return int(self.inner["tp"].size)

    @property
    def sequences(self) -> float:
        """Return the sequences of a step."""
        return self.cases[0].global_batch

    def device_of(self, row: Index) -> Index:
        """Return the devices of rows of ``one``."""
        return np.asarray(row // (self.size * self.modes))

    def inner_of(self, row: Index) -> Index:
        """Return the inner layouts of rows of ``one``."""
        return np.asarray(row // self.modes % self.size)

    def shifted(self, row: Index, device: Index) -> Index:
        """Return the rows of the same layouts on other devices."""
        width = self.size * self.modes
        return np.asarray(row % width + device * width)
