"""Pods: leaf switches that share spine switches, and their number of spine switches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.fabric.topology.design import ClosDesign


@dataclass(frozen=True)
class Pods:
    """Identical pods of one plane: leaves with the same spines. Two tiers are one pod."""

    pods: int
    leaves: int
    """Leaf switches of one pod."""
    spines: int
    """Spine switches of one pod; they divide the leaf uplinks, so that every leaf has the same
    number of links to every spine."""
    spine_down: int
    """Used ports of a spine switch towards leaf switches."""
    spine_up: int
    """Used ports of a spine switch towards core switches."""


def pods(plan: ClosDesign, leaf_count: int, groups: int = 1) -> tuple[Pods, ...]:
    r"""Return the pods above the leaf switches of one plane.

    :math:`S = \min\{s : s \mid U,\ s \ge \lceil l\,U / k_{down} \rceil\}` spine switches for the l
    leaf switches of a pod, with :math:`\lceil d_{used}\,k_{up}/k_{down} \rceil` ports towards core
    switches.

    Parameters
    ----------
    plan : ClosDesign
        Ports of each tier; two or three tiers.
    leaf_count : int
        Leaves of one plane. [-]
    groups : int, default 1
        Rails with their own spine switches in three tiers; used if the leaves divide and the cores
        reach all pods. [-]

    Raises
    ------
    ValueError
        If a leaf switch has fewer uplinks than the required spine switches.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD A100 reference architecture RA-09950-001: 140 nodes are 56 leaves, a group of 10 spines
       for each of 8 rails, 28 cores.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> pods(design(64, 2), 24)
    (Pods(pods=1, leaves=24, spines=16, spine_down=48, spine_up=0),)
    >>> pods(design(40, 3), 56, groups=8)
    (Pods(pods=8, leaves=7, spines=10, spine_down=14, spine_up=14),)
    """
    if plan.tiers == 2:
        return (_pod(plan, 1, leaf_count, cores=False),)
    groups = rail_groups(plan, leaf_count, groups)
    full, rest = divmod(leaf_count // groups, plan.pod_room)
    found = [_pod(plan, groups * full, plan.pod_room, cores=True)] if full else []
    return tuple(found + ([_pod(plan, groups, rest, cores=True)] if rest else []))


def better_uplinks(plan: ClosDesign, leaf_count: int) -> tuple[int, int]:
    """Return the uplinks of a leaf, at least those of the design, that need the fewest spines.

    Two tiers; the second number is the spines. A leaf has the same number of links to each spine, so
    the spines divide the uplinks: free ports of a leaf as further uplinks may need fewer spines.

    Examples
    --------
    37 leaves with 65 uplinks and 128 ports: 65 spines, since 5 and 13 are too few; 24 with 72.

    >>> from dataclasses import replace
    >>> from dcplan.fabric.topology.design import design
    >>> plan = replace(design(128, 2), leaf_down=56, leaf_up=65)
    >>> pods(plan, 37)[0].spines, better_uplinks(plan, 37)
    (65, (66, 22))
    """
    tries = range(plan.leaf_up, max(plan.radix - plan.leaf_down, plan.leaf_up) + 1)
    spines = {
        up: _pod(replace(plan, leaf_up=up), 1, leaf_count, cores=False).spines for up in tries
    }
    best = min(tries, key=lambda up: (spines[up], up))
    return best, spines[best]


def rail_groups(plan: ClosDesign, leaf_count: int, groups: int) -> int:
    """Return the number of rails with their own spine switches.

    It is all rails, or 1 if leaves do not divide or cores do not reach all pods.
    """
    if plan.tiers < 3 or leaf_count % groups:
        return 1
    made = groups * math.ceil(leaf_count / groups / plan.pod_room)
    return groups if made <= plan.core_ports else 1


def _pod(plan: ClosDesign, count: int, leaf_count: int, *, cores: bool) -> Pods:
    if plan.min_spines > plan.leaf_up:
        msg = f"{plan.min_spines} spines are required, but a leaf has {plan.leaf_up} uplinks"
        raise ValueError(msg)
    spines = _next_divisor(
        plan.leaf_up, max(math.ceil(leaf_count * plan.leaf_up / plan.spine_down), plan.min_spines)
    )
    down = math.ceil(leaf_count * plan.leaf_up / spines)
    return Pods(
        count,
        leaf_count,
        spines,
        down,
        math.ceil(down * plan.spine_up / plan.spine_down) if cores else 0,
    )


def _next_divisor(number: int, at_least: int) -> int:
    return next((d for d in range(at_least, number + 1) if number % d == 0), at_least)
