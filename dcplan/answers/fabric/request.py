"""The flags of ``dcplan fabric`` as typed, with their ranges."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.fabric.topology.networks import TREES

MOST = 10_000_000
KINDS = (*TREES, "scheduled", "rail-scheduled", "dragonfly", "torus")
MEDIA = ("family", "reach", "aoc", "lpo", "lro", "cpo")
LEAF_AT = ("unit", "rack", "center")
BALANCING = ("ecmp", "qp-scaling", "adaptive", "spray", "scheduled")
RACK_UNITS = 42
"""EIA-310 full-height rack."""


MOST_PORTS = 100_000
RANGES: dict[str, tuple[bool, float, float]] = {
    "nodes": (True, 1, MOST),
    "nics_per_node": (True, 1, 10_000),
    "nic_gbps": (False, 1, 1e6),
    "radix": (True, 2, MOST_PORTS),
    "port_gbps": (False, 1, 1e6),
    "spine_radix": (True, 2, MOST_PORTS),
    "core_radix": (True, 2, MOST_PORTS),
    "uplink_gbps": (False, 1, 1e6),
    "nodes_per_su": (True, 1, MOST),
    "planes": (True, 1, 256),
    "oversubscription": (False, 0.1, 1000),
    "core_oversubscription": (False, 0.1, 1000),
    "endpoints_per_leaf": (True, 1, MOST_PORTS),
    "leaf_uplinks": (True, 1, MOST_PORTS),
    "leaves_per_pod": (True, 1, MOST_PORTS),
    "least_spines": (True, 1, MOST_PORTS),
    "tiers": (True, 1, 3),
    "management_links": (True, 0, MOST),
    "links_per_pair": (True, 1, MOST_PORTS),
    "nic_ports_per_cage": (True, 1, 16),
    "length_m": (False, 0.1, 2e6),
    "nodes_per_rack": (True, 1, 1000),
    "racks_per_row": (True, 1, 100_000),
}
"""Whether a flag is a whole number, and between what it must be."""
TEXTS = (
    "switch",
    "spine_switch",
    "core_switch",
    "topology",
    "system",
    "fabric",
    "media",
    "leaf_at",
    "load_balancing",
)


@dataclass(frozen=True)
class Wish:
    """The flags of the verb as typed; None where left out.

    Parameters
    ----------
    nodes : int
        Nodes, or systems where ``system`` is given. [-]
    nics_per_node, nic_gbps : int, float, optional
        NICs of a node and their rate; the system's own where one is given. [-, Gb/s]
    switch, spine_switch, core_switch : str, optional
        Catalog switches; the fabric family's where one is given, spines and cores like the leaves
        where left out.
    radix, port_gbps, spine_radix, core_radix : int, float, optional
        Any switch by its ports at a speed, instead of ``switch``. [-, Gb/s]
    uplink_gbps : float, optional
        Speed of links between switches where it is not that of node links. [Gb/s]
    topology : str, optional
        One of :data:`KINDS`; the family's, else rail-optimized where units are known, else
        fat-tree.
    nodes_per_su : int, optional
        Nodes of a scalable unit, for which leaves are bought whole.
    planes : int, optional
        Parallel networks; each takes its share of the NIC's rate.
    oversubscription, core_oversubscription : float, default 1
        Down over up capacity of leaves, and of spines. [-]
    endpoints_per_leaf, leaf_uplinks, leaves_per_pod, least_spines : int, optional
        Ports of a leaf towards nodes and towards spines, leaves that share spines, and spines of a
        pod at least.
    tiers : int, optional
        1 to 3; the fewest that hold the network where left out.
    management_links : int, default 0
        Further links on the leaves, such as those of a fabric manager.
    links_per_pair : int, optional
        Dragonfly: links between each pair of groups; as many as keep a group's injection where left
        out.
    nic_ports_per_cage : int, optional
        NIC ports behind one transceiver of a node; the system's own, else 1.
    system, fabric : str, optional
        Catalog system and fabric family, instead of the single flags.
    media : str, default "family"
        Transceivers of the ``family``; or cheapest that ``reach``: copper and active cables; or
        aoc, lpo, lro, cpo.
    length_m : float, optional
        Longest cable between switches, where they stand farther apart than rows of one hall. [m]
    nodes_per_rack, racks_per_row : int, optional
        Racks on the floor; the system's own, else what its height allows; and the catalog's.
    leaf_at : str, default "unit"
        Leaves stand in network racks amid their ``unit``, over the nodes in their ``rack``, or in
        the ``center``.
    load_balancing : str, optional
        One of :data:`BALANCING`; the family's, else adaptive on InfiniBand and Slingshot and ecmp
        on Ethernet.
    """

    nodes: int
    nics_per_node: int | None = None
    nic_gbps: float | None = None
    switch: str | None = None
    spine_switch: str | None = None
    core_switch: str | None = None
    radix: int | None = None
    port_gbps: float | None = None
    spine_radix: int | None = None
    core_radix: int | None = None
    uplink_gbps: float | None = None
    topology: str | None = None
    nodes_per_su: int | None = None
    planes: int | None = None
    oversubscription: float = 1.0
    core_oversubscription: float = 1.0
    endpoints_per_leaf: int | None = None
    leaf_uplinks: int | None = None
    leaves_per_pod: int | None = None
    least_spines: int | None = None
    tiers: int | None = None
    management_links: int = 0
    links_per_pair: int | None = None
    nic_ports_per_cage: int | None = None
    system: str | None = None
    fabric: str | None = None
    media: str = "family"
    length_m: float | None = None
    nodes_per_rack: int | None = None
    racks_per_row: int | None = None
    leaf_at: str = "unit"
    load_balancing: str | None = None

    @classmethod
    def of(cls, flags: dict[str, Any]) -> Wish:
        """From keyword arguments.

        Raises
        ------
        InputError
            When a name is none of the flags.
        """
        known = [f.name for f in fields(cls)]
        if "nodes" not in flags:
            raise InputError([Problem("DC050", "--nodes is needed", Place("fabric"))])
        unknown = [
            Problem("DC050", f"no argument {name!r}", Place("fabric"), did_you_mean(name, known))
            for name in flags
            if name not in known
        ]
        if unknown:
            raise InputError(unknown)
        wish = cls(**flags)
        wrong = [
            p
            for name, (whole, low, high) in RANGES.items()
            if (p := _in_range(wish, name, whole, low, high))
        ]
        texts = [
            n
            for n in TEXTS
            if getattr(wish, n) is not None and not isinstance(getattr(wish, n), str)
        ]
        wrong += [
            Problem("DC050", f"{getattr(wish, n)!r} is no name", Place(_flag(n))) for n in texts
        ]
        if wrong:
            raise InputError(wrong)
        return wish


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _in_range(wish: Wish, name: str, whole: bool, low: float, high: float) -> Problem | None:
    value = getattr(wish, name)
    if value is None:
        return None
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        what = "a whole number" if whole else "a number"
        return Problem(
            "DC050", f"{value!r}: {what} from {low:,g} to {high:,g} is needed", Place(_flag(name))
        )
    return None


def choices(wish: Wish) -> list[Problem]:
    """Names that are none of the known ones."""
    found = []
    lists = (
        ("--topology", wish.topology, KINDS),
        ("--media", wish.media, MEDIA),
        ("--leaf-at", wish.leaf_at, LEAF_AT),
        ("--load-balancing", wish.load_balancing, BALANCING),
    )
    for flag, chosen, known in lists:
        if chosen and chosen not in known:
            hint = did_you_mean(chosen, known)
            found.append(
                Problem("DC050", f"{chosen!r}: one of {', '.join(known)}", Place(flag), hint)
            )
    return found
