"""Power chain of a hall from catalog values: load classes behind blocks, and their losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dcplan.catalog.schema import Parameter
from dcplan.facility.electrical.chain import UPS_LOSSES, Backup, Branch, branch
from dcplan.inputs.log import InputLog

CHAIN = {
    "transformer_fixed": "chain-transformer-fixed",
    "transformer_square": "chain-transformer-square",
    "chain_ups_fixed": "chain-ups-fixed",
    "chain_ups_square": "chain-ups-square",
    "eco_ups_fixed": "chain-eco-ups-fixed",
    "eco_ups_square": "chain-eco-ups-square",
    "busway_square": "chain-busway-square",
}
"""Argument of the chain -> catalog parameter."""
EVERY_CHAIN = ("transformer_fixed", "transformer_square", "busway_square")
"""Losses that every chain has, whatever its UPS."""


def branches(
    it_mw: float, other_frac: float, backups: tuple[Backup, Backup], block_mw: float
) -> tuple[Branch, ...]:
    """Return the racks of a hall behind blocks: compute, and network with storage.

    Parameters
    ----------
    it_mw : float
        Design IT power of the hall, above 0. [MW]
    other_frac : float
        Share of network and storage, 0 to 1. [-]
    backups : tuple of Backup
        Redundancy and UPS of compute, and of network and storage.
    block_mw : float
        Largest rating of a block, above 0. [MW]

    Examples
    --------
    A hall of 11 MW with a tenth of it in network and storage: 9.9 MW on five blocks of 2.5 MW, and
    1.1 MW on two blocks of its own size.

    >>> racks, other = branches(11.0, 0.1, (Backup(), Backup()), 2.5)
    >>> racks.blocks, round(racks.load_frac, 3), other.blocks, round(other.load_frac, 3)
    (5, 0.792, 2, 0.5)
    """
    loads = (it_mw * (1.0 - other_frac), it_mw * other_frac)
    return tuple(
        branch(load_mw, it_mw, block_mw, backup.redundancy, backup.ups)
        for load_mw, backup in zip(loads, backups, strict=True)
    )


def _stages(feeding: Sequence[Branch]) -> list[str]:
    """Return the arguments of the chain that the blocks have: losses of the UPS only where one is."""
    ups = {name for each in feeding for name in UPS_LOSSES[each.ups] or ()}
    return [name for name in CHAIN if name in EVERY_CHAIN or name in ups]


def chain_values(feeding: Sequence[Branch], log: InputLog) -> dict[str, npt.NDArray[np.float64]]:
    """Return the losses of the stages of the chain at their catalog values."""
    return {name: np.array(log.parameter("facility", CHAIN[name])) for name in _stages(feeding)}


def chain_at(
    rank: npt.NDArray[np.float64], feeding: Sequence[Branch], log: InputLog
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the losses of the stages at a rank: 0 the low bounds, 0.5 the values, 1 the high bounds.

    All stages have the same rank, so that the median of their losses is that of the values.
    """
    found = {}
    for name in _stages(feeding):
        key = CHAIN[name]
        low, high = log.catalog.get("facility", key, Parameter).value.bounds
        value = log.parameter("facility", key)
        found[name] = np.interp(rank, (0.0, 0.5, 1.0), (low, value, high))
    return found
