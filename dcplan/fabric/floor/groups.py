"""Placement of dragonfly groups, and their cable lengths."""

from __future__ import annotations

import numpy as np

from dcplan.fabric.floor.lengths import STOCK_M, Lengths, stock
from dcplan.fabric.floor.placement import Floor, Meters, length_m
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.wiring import Whole


def group_lengths(counts: Counts, group_racks: int, floor: Floor) -> dict[str, Lengths]:
    r"""Return the cables of a dragonfly whose groups fill adjacent racks, row by row.

    A switch is in the rack of its nodes, so cables to nodes stay in the rack. The switches of a
    group are distributed evenly over its racks. A cable between two groups connects their middle
    racks, because every pair of groups has the same number of cables:

    .. math:: \sum_{i<j} q\,\ell(m_i, m_j),\qquad q = \frac{\text{global links}}{G(G-1)/2}

    Parameters
    ----------
    counts : Counts
        Local links as leaf-spine links, global ones as spine-core links. [-]
    group_racks : int
        Racks of one group, at least 1. [-]
    floor : Floor
        Geometry of the hall. [m]

    Returns
    -------
    dict
        Lengths of the tiers ``node-leaf``, ``local`` and ``global``.

    Examples
    --------
    Two groups, each in one rack, side by side: (2 x 2.2 + 0.6) x 1.1 = 5.5 m between them.

    >>> floor = Floor(4, 16, 0.6, 3.0, 2.2, 2.0, 0.1, 16, 16, 16)
    >>> found = group_lengths(Counts(64, 0, 0, 1024, 992, 100), 1, floor)
    >>> {tier: round(x.longest_m, 3) for tier, x in found.items()}, round(found["global"].total_m)
    ({'node-leaf': 2.0, 'local': 2.0, 'global': 5.5}, 550)
    """
    groups = counts.leaf // GROUP_SWITCHES
    first = np.arange(groups) * group_racks
    rack = np.arange(GROUP_SWITCHES) * group_racks // GROUP_SWITCHES
    a, b = np.triu_indices(GROUP_SWITCHES, k=1)
    near = length_m(
        floor, _at(first[:, None] + rack[a], floor), _at(first[:, None] + rack[b], floor)
    )
    i, j = np.triu_indices(groups, k=1)
    middle = first + group_racks // 2
    far = length_m(floor, _at(middle[i], floor), _at(middle[j], floor))
    return {
        "node-leaf": _counted(np.array([floor.in_rack_m]), counts.node_leaf_links),
        "local": _counted(near.ravel(), counts.leaf_spine_links),
        "global": _counted(far, counts.spine_core_links),
    }


def _at(rack: Whole, floor: Floor) -> tuple[Whole, Whole]:
    """Return row and position of racks that are counted row by row."""
    return rack // floor.racks_per_row, rack % floor.racks_per_row


def _counted(length: Meters, links: int) -> Lengths:
    """Return the lengths of a number of links, distributed evenly over the lengths."""
    share = np.bincount(stock(length), minlength=STOCK_M.size + 1) * (links / length.size)
    whole = np.floor(share).astype(np.int64)
    # remaining links from rounding go to the lengths with the largest rounding loss
    for i in np.argsort(whole - share, kind="stable")[: links - int(whole.sum())].tolist():
        whole[i] += 1
    return Lengths(whole, float(length.mean()) * links, float(length.max()))
