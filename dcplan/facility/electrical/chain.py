"""Losses between utility and racks: transformer, UPS and busway at the load of their blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.facility.electrical.power import blocks_needed

Array = npt.NDArray[np.float64]

DOUBLE_CONVERSION, ECO_MODE, RACK_BATTERIES = "double-conversion", "eco", "rack"
WITHOUT_UPS = "none"
UPS_LOSSES: dict[str, tuple[str, str] | None] = {
    DOUBLE_CONVERSION: ("chain_ups_fixed", "chain_ups_square"),
    ECO_MODE: ("eco_ups_fixed", "eco_ups_square"),
    RACK_BATTERIES: None,
    WITHOUT_UPS: None,
}
"""UPS of a block -> its fixed and square losses; None where there is no UPS before the racks.

Batteries in racks or servers charge through the rack's own power supply, whose losses are IT power.
"""


@dataclass(frozen=True)
class Backup:
    """How the blocks of a load class back it up."""

    redundancy: str = "n+1"
    """A key of :data:`dcplan.facility.electrical.power.RULES`."""
    ups: str = DOUBLE_CONVERSION
    """A key of :data:`UPS_LOSSES`."""


@dataclass(frozen=True)
class Branch:
    """Racks of one load class behind power blocks of one redundancy rule."""

    it_frac: float
    """Share of the IT power of the hall."""
    blocks: int
    """Blocks that share the load."""
    block_mw: float
    """Rating of one block: of its transformer, UPS and busway. [MW]"""
    load_frac: float
    """Power of the racks over the rating of all blocks, at the design IT power."""
    ups: str = DOUBLE_CONVERSION
    """A key of :data:`UPS_LOSSES`."""


@dataclass(frozen=True)
class Efficiencies:
    """Power out over power in, stage by stage, and of all three."""

    transformer: Array
    ups: Array
    busway: Array

    @property
    def whole(self) -> Array:
        """Power at the racks over power from the utility."""
        return np.asarray(self.transformer * self.ups * self.busway)


def branch(
    load_mw: float, it_mw: float, block_mw: float, redundancy: str, ups: str = DOUBLE_CONVERSION
) -> Branch:
    """Return the blocks of a load class and the load that they share.

    A block is not larger than the load of its class, so that a small class has small blocks.

    Parameters
    ----------
    load_mw : float
        Power of the class at the racks, not negative. [MW]
    it_mw : float
        IT power of the hall, above 0. [MW]
    block_mw : float
        Largest rating of a block, above 0. [MW]
    redundancy : str
        A key of :data:`dcplan.facility.electrical.power.RULES`.
    ups : str
        A key of :data:`UPS_LOSSES`.

    Examples
    --------
    9 MW on N+1 blocks of 2.5 MW are 5 blocks at 72 %; under 2N 8 blocks at 45 %.

    >>> branch(9.0, 10.0, 2.5, "n+1")
    Branch(it_frac=0.9, blocks=5, block_mw=2.5, load_frac=0.72, ups='double-conversion')
    >>> branch(9.0, 10.0, 2.5, "2n").load_frac, branch(1.0, 10.0, 2.5, "n+1").load_frac
    (0.45, 0.5)
    """
    each = min(block_mw, load_mw) if load_mw > 0.0 else block_mw
    count = blocks_needed(load_mw, each, redundancy)
    shared = load_mw / (count * each) if count else 0.0
    return Branch(load_mw / it_mw, count, each, shared, ups)


def efficiencies(load: float, p: Mapping[str, Array], ups: str = DOUBLE_CONVERSION) -> Efficiencies:
    r"""Return the efficiencies of a chain of equal ratings, each stage at its own load.

    From the racks upstream, with x the output over rating:

    .. math:: \eta_b = \frac{1}{1 + b x}, \quad x_u = \frac{x}{\eta_b}, \quad
              \eta_u = \frac{x_u}{x_u + u_0 + u_2 x_u^2}, \quad x_t = \frac{x_u}{\eta_u}

    and the transformer as the UPS, with losses t. Without a UPS before the racks,
    :math:`\eta_u = 1`.

    Parameters
    ----------
    load : float
        Power of the racks over the rating of the blocks, above 0. [-]
    p : mapping
        Losses over rating: transformer_fixed, transformer_square, busway_square, and the losses
        of the UPS in :data:`UPS_LOSSES`.
    ups : str
        A key of :data:`UPS_LOSSES`.

    Examples
    --------
    At 72 %: busway 1 / 1.0072; UPS at 0.7252, 0.7252 / (0.7252 + 0.012 + 0.019 x 0.7252^2).

    >>> found = efficiencies(0.72, {"transformer_fixed": np.array(0.002),
    ...     "transformer_square": np.array(0.010), "chain_ups_fixed": np.array(0.012),
    ...     "chain_ups_square": np.array(0.019), "busway_square": np.array(0.010)})
    >>> [round(float(x), 4) for x in (found.transformer, found.ups, found.busway, found.whole)]
    [0.99, 0.9706, 0.9929, 0.9539]

    With batteries in the racks the transformer has 0.7252 / (0.7252 + 0.002 + 0.01 x 0.7252^2).

    >>> found = efficiencies(0.72, {"transformer_fixed": np.array(0.002),
    ...     "transformer_square": np.array(0.010), "busway_square": np.array(0.010)}, "rack")
    >>> round(float(found.transformer), 4), float(found.ups), round(float(found.whole), 4)
    (0.9901, 1.0, 0.983)
    """
    busway = 1.0 / (1.0 + p["busway_square"] * load)
    at_ups = load / busway
    losses = UPS_LOSSES[ups]
    through = np.ones_like(at_ups) if losses is None else _stage(at_ups, *(p[x] for x in losses))
    transformer = _stage(at_ups / through, p["transformer_fixed"], p["transformer_square"])
    return Efficiencies(transformer, through, np.asarray(busway))


def _stage(output: Array, fixed: Array, square: Array) -> Array:
    return np.asarray(output / (output + fixed + square * output * output))


def losses_frac(branches: Sequence[Branch], load: float, p: Mapping[str, Array]) -> Array:
    r"""Return the losses of all branches over the IT power of the hall.

    .. math:: e = \sum_k s_k \left(\frac{1}{\eta_k(x_k L)} - 1\right)

    Parameters
    ----------
    branches : sequence of Branch
        Load classes of the hall, whose shares s add up to 1.
    load : float
        IT power L over the design IT power, above 0, at most 1. [-]
    p : mapping
        As in :func:`efficiencies`.

    Examples
    --------
    >>> p = {"transformer_fixed": np.array(0.0), "transformer_square": np.array(0.0),
    ...     "chain_ups_fixed": np.array(0.0), "chain_ups_square": np.array(0.0),
    ...     "busway_square": np.array(0.02)}
    >>> round(float(losses_frac([branch(2.0, 2.0, 2.0, "n")], 0.5, p)), 4)  # 2 % of half load
    0.01
    """
    parts = [
        b.it_frac * (1.0 / efficiencies(b.load_frac * load, p, b.ups).whole - 1.0)
        for b in branches
        if b.blocks
    ]
    return np.asarray(sum(parts))
