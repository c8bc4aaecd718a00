"""Performance of a network: bandwidth at every level, and collectives by message size."""

from __future__ import annotations

import numpy as np

from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Accelerator
from dcplan.fabric.allreduce import Levels, all_gather_s, all_reduce_s, bus_gb_per_s, exchange_s
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import family_of, training_terms
from dcplan.result import Metric, Table
from dcplan.specs.fabric import use as specs
from dcplan.units import BITS_PER_BYTE, BYTES_PER_MIB, GIGA, MICRO

SIZES_MIB = (1, 16, 64, 256, 1024, 8192)
SHOWN_MIB = 1024


def bandwidth(
    resolved: ResolvedFabric, network: Network, log: InputLog
) -> list[specs.BandwidthRow]:
    """Return one-way bandwidth and latency between two accelerators at each level, nearest first.

    All accelerators send at once.
    """
    rows: list[specs.BandwidthRow] = []
    chip = _accelerator(resolved, log)
    each = resolved.nic_gbps / BITS_PER_BYTE
    if resolved.system and chip:
        each = (
            each
            * (resolved.system.scaleout_ports or resolved.system.accelerators)
            / resolved.system.accelerators
        )
        most = _domain(resolved, chip)
        if chip.scaleup_gb_per_s and most:
            domain = min(most, resolved.accelerators or most)
            up = chip.scaleup_gb_per_s.value
            rows.append(specs.BandwidthRow("scale-up domain", domain, up, 0, None))
    rows += _levels(resolved, network, each, log)
    return sorted(rows, key=lambda row: (row.switch_hops, row.accelerators))


def one_domain(resolved: ResolvedFabric, log: InputLog) -> bool:
    """Return whether all accelerators are one scale-up domain or one server: no other network is needed.

    Servers are never one domain, even of chips that form larger ones in a rack.
    """
    if resolved.system is not None and resolved.system.form == "server":
        return resolved.request.nodes == 1
    chip = _accelerator(resolved, log)
    most = chip and _domain(resolved, chip)
    return bool(most and resolved.accelerators and resolved.accelerators <= most)


def _domain(resolved: ResolvedFabric, chip: Accelerator) -> int | None:
    """Return the accelerators of one scale-up domain, which no cable joins to that of another server."""
    system = resolved.system
    if system is not None and system.form == "server" and chip.scaleup_domain:
        return min(chip.scaleup_domain, system.accelerators)
    return chip.scaleup_domain


def bandwidth_table(resolved: ResolvedFabric, network: Network, log: InputLog) -> Table:
    """Return the bandwidth and latency of every level."""
    return specs.BANDWIDTH.table(bandwidth(resolved, network, log))


def _levels(
    resolved: ResolvedFabric, network: Network, each: float, log: InputLog
) -> list[specs.BandwidthRow]:
    """Return the levels of switches of a network whose accelerators send ``each`` GB/s."""
    plan, c = network.plan, network.counts
    spread = balance(resolved, log)
    ends = (resolved.attached.nodes * resolved.attached.nics_per_node) / max(network.parallel, 1)
    scale = (resolved.accelerators or ends * network.parallel) / ends

    def row(level: str, ends: float, gb_per_s: float, hops: int) -> specs.BandwidthRow:
        within, latency_us = max(round(ends * scale), 1), hops_us(resolved, hops, log)
        return specs.BandwidthRow(level, within, gb_per_s, hops, latency_us)

    if network.taper is not None:
        away = each * spread * min(1.0, 1.0 / network.taper)
        return [
            row("switch", plan.leaf_down, each, 1),
            row("group", GROUP_SWITCHES * plan.leaf_down, each * spread, 2),
            row("machine", ends, away, 3),
        ]
    leaf = min(plan.radix if plan.tiers == 1 else plan.leaf_down, ends)
    rows = [row("leaf", leaf, each, 1)]
    if c.spine:
        ratio = plan.leaf_up * resolved.between_gbps / (plan.leaf_down * resolved.link_gbps)
        pod = each * spread * min(1.0, ratio)
        reach = plan.leaf_down * plan.pod_room if plan.tiers == 3 else ends
        rows.append(row("pod", min(reach, ends), pod, 3))
        if c.core and plan.leaf_down * plan.pod_room < ends:
            core = pod * min(1.0, plan.spine_up / plan.spine_down)
            rows.append(row("whole network", ends, core, 5))
    return rows


def hops_us(resolved: ResolvedFabric, hops: int, log: InputLog) -> float:
    """Return the end-to-end latency through a number of switches [µs].

    The latency of the NICs includes the first switch; further switches are added.
    """
    infiniband = resolved.protocol in {"infiniband", "slingshot"}
    kind = "infiniband" if infiniband else "ethernet"
    first = log.parameter("network", f"nic-latency-{kind}-us")
    chips = (hops - 1) * log.parameter("network", f"hop-latency-{kind}-us")
    above = (resolved.spine, resolved.core)[: (hops - 1) // 2]
    inside = sum(2 * (m.inner_tiers - 1) for m in above if m and m.inner_tiers > 1)
    return first + chips + inside * log.parameter("network", f"hop-latency-{kind}-us")


def balance(resolved: ResolvedFabric, log: InputLog) -> float:
    """Return the share of line rate of flows through spines under the load balancing."""
    return log.parameter("network", f"effective-{resolved.balancing}-frac")


def levels(resolved: ResolvedFabric, network: Network, log: InputLog) -> Levels | None:
    """Return the terms of a collective over all accelerators; None without a known system.

    The accelerator family's achieved share of its NIC assumes adaptive routing; other load
    balancing scales in proportion. Rails whose nodes all share one leaf keep the full rate.
    """
    chip, system = _accelerator(resolved, log), resolved.system
    if chip is None or system is None or not resolved.accelerators or resolved.accelerators < 2:
        return None
    terms = training_terms(log.catalog, chip)
    for name in ("scaleup_frac", "scaleout_frac", "scaleup_us", "scaleout_us"):
        log.assumed(f"accelerators.{chip.id}.training.{name}", None, terms[name])
    if chip.scaleup_gb_per_s:
        log.take(f"accelerators.{chip.id}.scaleup_gb_per_s", chip.scaleup_gb_per_s)
    up, domain = chip.scaleup_gb_per_s, _domain(resolved, chip) or 1
    farthest = bandwidth(resolved, network, log)[-1]
    ideal = log.parameter("network", "effective-adaptive-frac")
    crosses = network.counts.spine > 0 or network.taper is not None
    out = farthest.gb_per_s * terms["scaleout_frac"] / (ideal if crosses else 1.0)
    most = resolved.nic_gbps / BITS_PER_BYTE * _ports_each(resolved) * terms["scaleout_frac"]
    out = min(out, most)
    efa = "efa" in system.protocols and not resolved.request.switch
    step = log.parameter("network", "step-latency-efa-us") if efa else terms["scaleout_us"]
    reduces = family_of(log.catalog, chip).in_network_reduction
    return Levels(
        ranks=resolved.accelerators,
        domain=min(domain, resolved.accelerators),
        scaleup_bytes_per_s=(up.value if up else out) * terms["scaleup_frac"] * GIGA,
        scaleout_bytes_per_s=out * GIGA,
        scaleup_s=terms["scaleup_us"] * MICRO,
        scaleout_s=step * MICRO,
        gain=log.parameter("network", "in-network-gain") if reduces else 1.0,
        bulk_s=log.parameter("network", "bulk-protocol-us") * MICRO,
        low_latency_frac=log.parameter("network", "low-latency-rate-frac"),
    )


def _ports_each(resolved: ResolvedFabric) -> float:
    system = resolved.system
    return (system.scaleout_ports or system.accelerators) / system.accelerators if system else 1.0


def collectives(found: Levels) -> Table:
    """Return time and bus bandwidth of collectives over all accelerators by message size."""
    message = np.array(SIZES_MIB) * BYTES_PER_MIB
    reduce, gather, exchange = (f(message, found) for f in (all_reduce_s, all_gather_s, exchange_s))
    bus = bus_gb_per_s(message, reduce, found.ranks)
    all_to_all = bus_gb_per_s(message, exchange, found.ranks, 1)
    return specs.COLLECTIVES.table(
        specs.CollectiveRow(
            message_mib=float(message[i] / BYTES_PER_MIB),
            all_reduce_s=float(reduce[i]),
            all_gather_s=float(gather[i]),
            all_to_all_s=float(exchange[i]),
            all_reduce_bus_gb_per_s=float(bus[i]),
            all_to_all_bus_gb_per_s=float(all_to_all[i]),
        )
        for i in range(message.size)
    )


def all_reduce(found: Levels) -> float:
    """Return the time of an all-reduce of 1 GiB over all accelerators [s]."""
    return float(all_reduce_s(np.array(SHOWN_MIB * BYTES_PER_MIB), found))


def metrics(found: Levels) -> dict[str, Metric]:
    """Return time and bus bandwidth of an all-reduce of 1 GiB."""
    seconds = all_reduce(found)
    bus = bus_gb_per_s(np.array(SHOWN_MIB * BYTES_PER_MIB), np.array(seconds), found.ranks)
    return specs.ALL_REDUCE_S(seconds) | specs.ALL_REDUCE_BUS(float(bus))


def _accelerator(resolved: ResolvedFabric, log: InputLog) -> Accelerator | None:
    return (
        log.catalog.get("accelerators", resolved.system.accelerator, Accelerator)
        if resolved.system
        else None
    )
