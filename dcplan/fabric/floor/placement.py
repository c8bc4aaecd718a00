"""Placement of racks and cable lengths: units in rows, spines and cores in the middle."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.fabric.topology.wiring import Whole, Wiring

Meters = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Floor:
    """Geometry of a hall [m]."""

    nodes_per_rack: int
    racks_per_row: int
    rack_pitch_m: float
    row_pitch_m: float
    drop_m: float
    """Cable from a port to the tray above the rack, at each end."""
    in_rack_m: float
    """Cable between two devices in one rack."""
    slack_frac: float
    leaf_rack_switches: int
    """Leaf switches per network rack."""
    spine_rack_switches: int
    core_rack_switches: int
    leaf_at: str = "unit"
    """``unit``: in network racks in the middle of their unit; ``rack``: in the racks of their nodes;
    ``center``: with the spine switches."""


@dataclass(frozen=True)
class Hall:
    """A wired network on a floor; ``copies`` are its planes times its separate rails."""

    wiring: Wiring
    floor: Floor
    copies: int = 1

    @functools.cached_property
    def unit_nodes(self) -> int:
        """Return the nodes that are placed together: a block of rails, or a row."""
        if self.wiring.nodes_per_su:
            return self.wiring.block
        return self.floor.nodes_per_rack * self.floor.racks_per_row

    @functools.cached_property
    def unit_leaves(self) -> int:
        """Return the leaf switches of one plane that are placed with a unit."""
        w = self.wiring
        if w.nodes_per_su:
            return w.rails * w.leaves_per_rail
        return (
            math.ceil(self.unit_nodes * w.rails / w.plan.leaf_down)
            if w.plan.tiers > 1
            else w.leaf_count
        )

    @functools.cached_property
    def units(self) -> int:
        """Return the number of units; the last may be partly empty."""
        return math.ceil(self.wiring.nodes / self.unit_nodes)

    @functools.cached_property
    def node_racks(self) -> int:
        """Return the racks of nodes in a full unit."""
        return math.ceil(self.unit_nodes / self.floor.nodes_per_rack)

    @functools.cached_property
    def leaf_racks(self) -> int:
        """Return the network racks of a unit."""
        slots = self.unit_leaves * self.copies
        return (
            math.ceil(slots / self.floor.leaf_rack_switches) if self.floor.leaf_at == "unit" else 0
        )

    @functools.cached_property
    def center_slots(self) -> tuple[int, int, int]:
        """Return the leaf, spine and core switches in the middle of the hall."""
        leaves = self.wiring.leaf_count if self.floor.leaf_at == "center" else 0
        return (
            leaves * self.copies,
            self.wiring.spine_count * self.copies,
            self.wiring.core_count * self.copies,
        )

    @functools.cached_property
    def center_racks(self) -> tuple[int, int, int]:
        """Return the racks of central leaf, spine and core switches."""
        each = (
            self.floor.leaf_rack_switches,
            self.floor.spine_rack_switches,
            self.floor.core_rack_switches,
        )
        a, b, c = (math.ceil(n / e) for n, e in zip(self.center_slots, each, strict=True))
        return a, b, c

    @functools.cached_property
    def unit_racks(self) -> int:
        """Return the racks of a unit."""
        return self.node_racks + self.leaf_racks

    @functools.cached_property
    def rows_per_unit(self) -> int:
        """Return the rows of a unit that is longer than one row."""
        return math.ceil(self.unit_racks / self.floor.racks_per_row)

    @functools.cached_property
    def units_per_row(self) -> int:
        """Return the units per row."""
        return max(self.floor.racks_per_row // self.unit_racks, 1)

    @functools.cached_property
    def unit_rows(self) -> int:
        """Return the rows of units."""
        return math.ceil(self.units / self.units_per_row) * self.rows_per_unit

    @property
    def rows(self) -> int:
        """Return the number of all rows."""
        return self.unit_rows + self._center_rows

    @functools.cached_property
    def _middle(self) -> int:
        """Return the first row of the spine switches, between units."""
        return math.ceil(self.unit_rows // self.rows_per_unit / 2) * self.rows_per_unit

    @functools.cached_property
    def _center_rows(self) -> int:
        return math.ceil(sum(self.center_racks) / self.floor.racks_per_row)

    def rack_in_unit(self, unit: Whole, rack: Whole) -> tuple[Whole, Whole]:
        """Return row and column of a unit's rack.

        Network racks have numbers from ``node_racks`` on and are in the middle of the unit.
        """
        half = self.node_racks // 2
        place = np.where(
            rack >= self.node_racks,
            half + rack - self.node_racks,
            np.where(rack >= half, rack + self.leaf_racks, rack),
        )
        row = unit // self.units_per_row * self.rows_per_unit + place // self.floor.racks_per_row
        column = place % self.floor.racks_per_row + unit % self.units_per_row * self.unit_racks
        return np.where(row >= self._middle, row + self._center_rows, row), column

    def center(self, rack: Whole) -> tuple[Whole, Whole]:
        """Return row and column of a rack in the middle of the hall."""
        width = min(sum(self.center_racks), self.floor.racks_per_row)
        left = (self.floor.racks_per_row - width) // 2
        row = self._middle + rack // self.floor.racks_per_row
        return row, rack % self.floor.racks_per_row + left

    def node_at(self, node: Whole) -> tuple[Whole, Whole]:
        """Return row and column of a node's rack."""
        unit, inside = np.divmod(node, self.unit_nodes)
        return self.rack_in_unit(unit, inside // self.floor.nodes_per_rack)

    def leaf_at(self, leaf: Whole, copy: int) -> tuple[Whole, Whole]:
        """Return row and column of a leaf switch's rack."""
        w = self.wiring
        if self.floor.leaf_at == "center":
            return self.center((copy * w.leaf_count + leaf) // self.floor.leaf_rack_switches)
        if self.floor.leaf_at == "rack":
            return self.node_at(self._first_node(leaf))
        unit = np.minimum(leaf // self.unit_leaves, self.units - 1)
        if not w.nodes_per_su and w.plan.tiers > 1:
            unit = np.minimum(leaf * w.plan.leaf_down // w.rails // self.unit_nodes, self.units - 1)
        slot = copy * self.unit_leaves + leaf % self.unit_leaves
        return self.rack_in_unit(unit, self.node_racks + slot // self.floor.leaf_rack_switches)

    def _first_node(self, leaf: Whole) -> Whole:
        w = self.wiring
        if not w.nodes_per_su:
            return np.minimum(leaf * w.plan.leaf_down // w.rails, w.nodes - 1)
        return np.minimum(leaf // (w.rails * w.leaves_per_rail) * w.block, w.nodes - 1)

    def spine_at(self, spine: Whole, copy: int) -> tuple[Whole, Whole]:
        """Return row and column of a spine switch's rack."""
        slot = copy * self.wiring.spine_count + spine
        return self.center(self.center_racks[0] + slot // self.floor.spine_rack_switches)

    def core_at(self, core: Whole, copy: int) -> tuple[Whole, Whole]:
        """Return row and column of a core switch's rack."""
        slot = copy * self.wiring.core_count + core
        return self.center(sum(self.center_racks[:2]) + slot // self.floor.core_rack_switches)


def length_m(floor: Floor, a: tuple[Whole, Whole], b: tuple[Whole, Whole]) -> Meters:
    r"""Return the cable length between two racks: up, along trays at right angles, down, and slack.

    .. math:: (2 h + |\Delta x|\,p_x + |\Delta y|\,p_y)(1 + s)

    Examples
    --------
    >>> floor = Floor(4, 16, 0.6, 3.0, 2.2, 2.0, 0.1, 16, 16, 16)
    >>> at = np.array([0]), np.array([0])
    >>> round(float(length_m(floor, at, (np.array([2]), np.array([5])))[0]), 2)
    14.74
    >>> float(length_m(floor, at, at)[0])
    2.0
    """
    across, along = np.abs(a[0] - b[0]), np.abs(a[1] - b[1])
    far = (2 * floor.drop_m + along * floor.rack_pitch_m + across * floor.row_pitch_m) * (
        1.0 + floor.slack_frac
    )
    return np.where((across == 0) & (along == 0), floor.in_rack_m, far)


def square_row(racks: int, floor: Floor) -> int:
    """Return the racks per row of an approximately square hall, at least the floor's own number.

    Examples
    --------
    >>> floor = Floor(4, 16, 0.6, 3.0, 2.2, 2.0, 0.1, 16, 16, 16)
    >>> square_row(100, floor), square_row(32768, floor)
    (23, 405)
    """
    return max(
        floor.racks_per_row, math.ceil(math.sqrt(racks * floor.row_pitch_m / floor.rack_pitch_m))
    )
