"""What a network does: bandwidth at every level, and collectives against message size."""

from __future__ import annotations

import numpy as np

from dcplan.answers.fabric.resolve import Asked
from dcplan.catalog.schema import Accelerator
from dcplan.fabric.allreduce import Levels, all_gather_s, all_reduce_s, bus_gb_per_s, exchange_s
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.devices import family_of, training_terms
from dcplan.inputs.log import Ledger
from dcplan.result import Cell, Metric, Table

BITS = 8.0
GIGA, MICRO, MIB = 1e9, 1e-6, 2.0**20
SIZES_MIB = (1, 16, 64, 256, 1024, 8192)
SHOWN_MIB = 1024


def bandwidth(asked: Asked, network: Network, ledger: Ledger) -> Table:
    """One-way bandwidth and latency between two accelerators at each level, all of them sending at
    once.
    """
    rows: list[tuple[Cell, ...]] = []
    nic = asked.link_gbps * asked.ports.planes / BITS
    chip = _accelerator(asked, ledger)
    each = nic
    if asked.system and chip:
        each = (
            nic
            * (asked.system.scaleout_ports or asked.system.accelerators)
            / asked.system.accelerators
        )
        if chip.scaleup_gb_per_s and chip.scaleup_domain:
            domain = min(chip.scaleup_domain, asked.accelerators or chip.scaleup_domain)
            rows.append(("scale-up domain", domain, chip.scaleup_gb_per_s.value, 0, None))
    plan, c = network.plan, network.counts
    spread = balance(asked, ledger)
    ends = (asked.attached.nodes * asked.attached.nics_per_node) / max(network.parallel, 1)
    scale = (asked.accelerators or ends * network.parallel) / ends
    if network.taper is not None:
        group = 32 * plan.leaf_down
        rows.append(("switch", round(plan.leaf_down * scale), each, 1, hops_us(asked, 1, ledger)))
        rows.append(("group", round(group * scale), each * spread, 2, hops_us(asked, 2, ledger)))
        away = each * spread * min(1.0, 1.0 / network.taper)
        rows.append(("machine", round(ends * scale), away, 3, hops_us(asked, 3, ledger)))
        return _table(rows)
    leaf = min(plan.radix if plan.tiers == 1 else plan.leaf_down, ends)
    rows.append(("leaf", _of(leaf, scale), each, 1, hops_us(asked, 1, ledger)))
    if c.spine:
        leaf_ratio = plan.leaf_up * asked.between_gbps / (plan.leaf_down * asked.link_gbps)
        pod = each * spread * min(1.0, leaf_ratio)
        reach = plan.leaf_down * plan.pod_room if plan.tiers == 3 else ends
        rows.append(("pod", _of(min(reach, ends), scale), pod, 3, hops_us(asked, 3, ledger)))
        if c.core and plan.leaf_down * plan.pod_room < ends:
            core = pod * min(1.0, plan.spine_up / plan.spine_down)
            rows.append(("domain", _of(ends, scale), core, 5, hops_us(asked, 5, ledger)))
    return _table(rows)


def _of(ends: float, scale: float) -> int:
    return max(round(ends * scale), 1)


def _table(rows: list[tuple[Cell, ...]]) -> Table:
    rows.sort(key=lambda row: (int(row[1] or 0), int(row[3] or 0)))
    return Table(("level", "accelerators", "gb_per_s", "switch_hops", "latency_us"), tuple(rows))


def hops_us(asked: Asked, hops: int, ledger: Ledger) -> float:
    """End to end through a number of switches: the NICs' own, which holds the first switch, and
    the further ones.
    """
    kind = "infiniband" if asked.protocol in {"infiniband", "slingshot"} else "ethernet"
    first = ledger.parameter("network", f"nic-latency-{kind}-us")
    chips = (hops - 1) * ledger.parameter("network", f"hop-latency-{kind}-us")
    chassis = [m for m in (asked.spine, asked.core)[: (hops - 1) // 2] if m and m.inner_tiers > 1]
    inside = sum(2 * (m.inner_tiers - 1) for m in chassis)
    return first + chips + inside * ledger.parameter("network", f"hop-latency-{kind}-us")


def balance(asked: Asked, ledger: Ledger) -> float:
    """Share of line rate that flows through spines reach under the load balancing."""
    return ledger.parameter("network", f"effective-{asked.balancing}-frac")


def levels(asked: Asked, network: Network, ledger: Ledger) -> Levels | None:
    """All accelerators of the network as a collective sees them; None where the system is not
    known.

    The accelerator family's achieved share of its NIC holds adaptive routing; other load balancing
    is set in proportion. Rails whose nodes all meet below one leaf keep the whole.
    """
    chip = _accelerator(asked, ledger)
    if chip is None or asked.system is None or not asked.accelerators or asked.accelerators < 2:
        return None
    terms = training_terms(ledger.catalog, chip)
    for name in ("scaleup_frac", "scaleout_frac", "scaleup_us", "scaleout_us"):
        ledger.assumed(f"accelerators.{chip.id}.training.{name}", None, terms[name])
    if chip.scaleup_gb_per_s:
        ledger.take(f"accelerators.{chip.id}.scaleup_gb_per_s", chip.scaleup_gb_per_s)
    up, domain = chip.scaleup_gb_per_s, chip.scaleup_domain or 1
    last = bandwidth(asked, network, ledger).rows[-1]
    ideal = ledger.parameter("network", "effective-adaptive-frac")
    crosses = network.counts.spine > 0 or network.taper is not None
    out = float(last[2] or 0.0) * terms["scaleout_frac"] / (ideal if crosses else 1.0)
    out = min(
        out,
        asked.link_gbps * asked.ports.planes / BITS * _ports_each(asked) * terms["scaleout_frac"],
    )
    efa = "efa" in asked.system.protocols and not asked.wish.switch
    step = ledger.parameter("network", "step-latency-efa-us") if efa else terms["scaleout_us"]
    return Levels(
        ranks=asked.accelerators,
        domain=min(domain, asked.accelerators),
        scaleup_bytes_per_s=(up.value if up else out) * terms["scaleup_frac"] * GIGA,
        scaleout_bytes_per_s=out * GIGA,
        scaleup_s=terms["scaleup_us"] * MICRO,
        scaleout_s=step * MICRO,
        gain=ledger.parameter("network", "in-network-gain")
        if family_of(ledger.catalog, chip).in_network_reduction
        else 1.0,
        bulk_s=ledger.parameter("network", "bulk-protocol-us") * MICRO,
        low_latency_frac=ledger.parameter("network", "low-latency-rate-frac"),
    )


def _ports_each(asked: Asked) -> float:
    system = asked.system
    return (system.scaleout_ports or system.accelerators) / system.accelerators if system else 1.0


def collectives(found: Levels) -> Table:
    """Time and bus bandwidth of collectives of all accelerators against message size."""
    message = np.array(SIZES_MIB) * MIB
    reduce, gather, exchange = (f(message, found) for f in (all_reduce_s, all_gather_s, exchange_s))
    bus = bus_gb_per_s(message, reduce, found.ranks)
    all_to_all = bus_gb_per_s(message, exchange, found.ranks, 1)
    columns = (
        "message_mib",
        "all_reduce_s",
        "all_gather_s",
        "all_to_all_s",
        "all_reduce_bus_gb_per_s",
        "all_to_all_bus_gb_per_s",
    )
    arrays = (message / MIB, reduce, gather, exchange, bus, all_to_all)
    return Table(columns, tuple(zip(*(a.tolist() for a in arrays), strict=True)))


def metrics(found: Levels) -> dict[str, Metric]:
    """All-reduce of one GiB."""
    message = np.array(SHOWN_MIB * MIB)
    seconds = all_reduce_s(message, found)
    bus = bus_gb_per_s(message, seconds, found.ranks)
    return {
        "all_reduce_s": Metric(float(seconds), "s", "All-reduce of 1 GiB over all accelerators"),
        "all_reduce_bus_gb_per_s": Metric(float(bus), "GB/s", "Its bus bandwidth"),
    }


def _accelerator(asked: Asked, ledger: Ledger) -> Accelerator | None:
    return (
        ledger.catalog.get("accelerators", asked.system.accelerator, Accelerator)
        if asked.system
        else None
    )
