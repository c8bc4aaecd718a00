"""Choice of the transceiver or cable of every tier, by reach and request."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.fabric.media.offers import End, far_offers, link_gbps, near_offers
from dcplan.answers.fabric.media.optics import Fitted
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Optic
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.lengths import STOCK_M, Lengths
from dcplan.fabric.media import Medium, pick
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import LIGHT


@dataclass(frozen=True)
class Choice:
    """Cabling of one stock length of a tier."""

    stock_m: float
    links: int
    medium: Medium
    ends: tuple[End, End] | None
    """None for a cable with fixed ends."""
    cable: Optic | None
    """Fiber, or the cable itself."""
    links_each: float = 1.0
    """Links per cable; a half where a link has two cords."""


@dataclass
class Chosen:
    """Media of every tier, and notes on requests that could not be met."""

    tiers: dict[str, list[Choice]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def tier_choices(
    resolved: ResolvedFabric,
    parts: Fitted,
    found: dict[str, Lengths],
    network: Network,
    log: InputLog,
) -> Chosen:
    """Choose the media of every tier by stock length.

    Raises
    ------
    InputError
        When no medium in the catalog at that speed reaches the length.
    MissingError
        When a part has no price.
    """
    chosen = Chosen()
    problems: list[Problem] = []
    for tier, lengths in found.items():
        near = near_offers(resolved, parts, tier, network, log, chosen.notes)
        most = max(m.reach_m for m, *_ in near)
        chosen.tiers[tier] = []
        for i in np.flatnonzero(lengths.counts).tolist():
            meters = float(STOCK_M[i]) if i < STOCK_M.size else lengths.longest_m
            # media of the family or the request come first; parts with a longer reach only beyond
            # it
            media = near if meters <= most else (far_offers(resolved, parts, tier, log) or near)
            try:
                best = pick([m for m, *_ in media], meters)
            except ValueError as error:
                problems.append(_too_far(resolved, tier, meters, str(error), log))
                break
            medium, ends, cable, each = next(m for m in media if m[0] is best)
            chosen.tiers[tier].append(
                Choice(meters, int(lengths.counts[i]), medium, ends, cable, each)
            )
    if problems:
        raise InputError(problems)
    chosen.notes = sorted(set(chosen.notes))
    return chosen


def _too_far(
    resolved: ResolvedFabric, tier: str, meters: float, cause: str, log: InputLog
) -> Problem:
    """Report that no medium reaches, with a lower speed of the same switch or a shorter length."""
    speed = link_gbps(resolved, tier)
    ports = {float(p) for p in resolved.leaf.ports} if resolved.leaf else set()
    slower = [
        (row.rate_gbps.value, row.id)
        for row in log.catalog.table("optics", Optic).values()
        if row.kind in LIGHT
        and row.reach_m
        and row.reach_m.value >= meters
        and row.price_usd
        and row.rate_gbps.value < speed
        and row.rate_gbps.value in ports
    ]
    if tier != "node-leaf" and slower:
        works, part = max(slower)
        help_text = f"use --uplink-gbps {works:g}: {part} reaches {meters:g} m"
    else:
        help_text = (
            "shorten the cables: --leaf-placement unit or rack, a larger --racks-per-row, or a shorter "
            "--cable-length-m"
        )
    return Problem("DC054", f"{tier} at {speed:g} Gb/s: {cause}", Place("fabric"), help=help_text)
