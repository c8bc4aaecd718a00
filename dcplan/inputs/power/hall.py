"""What a hall is designed for: systems that may stand in it, and racks behind power blocks."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.catalog.schema import System
from dcplan.facility.electrical.chain import Backup, Branch
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import branches
from dcplan.provenance import Status
from dcplan.scenario.schema import Hall


@dataclass(frozen=True)
class Blocks:
    """Power blocks of a site or a hall."""

    backup: Backup
    block_mw: float
    """Load that one block carries. [MW]"""


def blocks_of(hall: Hall, site: str, usual: Blocks, log: InputLog) -> Blocks:
    """Return the blocks that a hall states for itself, and those of its site for the rest."""
    own, key = hall.power, f"sites.{site}.halls.{hall.id}.power"
    if own is None:
        return usual
    redundancy, ups, block_mw = usual.backup.redundancy, usual.backup.ups, usual.block_mw
    if own.redundancy is not None:
        redundancy = log.text(f"{key}.redundancy", own.redundancy, Status.INPUT)
    if own.ups is not None:
        ups = log.text(f"{key}.ups", own.ups, Status.INPUT)
    if own.block_mw is not None:
        block_mw = log.take(f"{key}.block_mw", own.block_mw)
    return Blocks(Backup(redundancy, ups), block_mw)


@dataclass(frozen=True)
class HallLoad:
    """Load of a full hall: systems that may stand in it, and racks behind power blocks."""

    systems: tuple[System, ...]
    other_frac: float
    """Share of IT power in network and storage racks."""
    redundancy: str
    """Redundancy rule of the blocks."""
    branches: tuple[Branch, ...]

    @classmethod
    def of(cls, hall: Hall, systems: tuple[System, ...], blocks: Blocks, log: InputLog) -> HallLoad:
        """Return the load of a full hall behind its blocks."""
        other, backup = log.parameter("facility", "network-storage-share"), blocks.backup
        feeding = branches(hall.it_mw.value, other, (backup, backup), blocks.block_mw)
        return cls(systems, other, backup.redundancy, feeding)
