"""``dcplan fabric``: one network sized, counted, priced, placed, and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.fabric import extensions, performance, side_networks
from dcplan.answers.fabric.bom import extra_lines, link_lines, nic_lines, switch_lines
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.design import groups_placed, placed, sized
from dcplan.answers.fabric.media import Chosen, fitted, tier_choices
from dcplan.answers.fabric.metrics import counts_of, failures, prices
from dcplan.answers.fabric.request import Wish
from dcplan.answers.fabric.resolve import Asked, resolve
from dcplan.answers.fabric.tables import headline, tables_of
from dcplan.answers.fabric.torus import torus_answer
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import EXIT_OK
from dcplan.fabric.floor.lengths import STOCK_M, Lengths, lengths, stock
from dcplan.fabric.floor.placement import Hall
from dcplan.fabric.floor.schedule import Cable, schedule
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import Ledger
from dcplan.inputs.network_parts import MissingError
from dcplan.provenance import Status
from dcplan.result import Result

NEEDS_KM = "--join-gbps needs --join-km"
TORUS_ALONE = "growth and joining of a torus are not supported: its cubes are counted"
UNNAMED = "the cables of a {} are counted, not named one by one"


def fabric(
    *,
    catalogs: Sequence[str] = (),
    growth_nodes: Sequence[int] = (),
    join_km: float | None = None,
    join_gbps: float | None = None,
    join_port: str = "coherent-400zr",
    **flags: Any,
) -> Result:
    """Size one network and count its bill of materials.

    Parameters
    ----------
    catalogs : sequence of str
        Overlay folders.
    growth_nodes : sequence of int
        Later sizes of the same network: what is bought when, and what is recabled.
    join_km, join_gbps : float, optional
        Air distance to another hall or site, and the capacity between them; the network's bisection
        over 10 where no capacity is given. [km, Gb/s]
    join_port : str, default "coherent-400zr"
        Catalog optic of the links between them.
    **flags
        As in :class:`dcplan.answers.fabric.request.Wish`.

    Raises
    ------
    InputError
        When a name is unknown, an amount is missing, or no network of that kind holds the nodes.
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    ledger = Ledger(catalog)
    asked = resolve(Wish.of(flags), catalog)
    if join_km is None and join_gbps is not None:
        raise extensions.unsupported(NEEDS_KM)
    if asked.topology == "torus":
        if growth_nodes or join_km is not None:
            raise extensions.unsupported(TORUS_ALONE)
        return torus_answer(asked, ledger)
    built = build(asked, ledger)
    result = Result(
        verb="fabric",
        status="ok",
        exit_code=EXIT_OK,
        headline=headline(built),
        scenario={"fabric": flags | {"catalogs": list(catalogs)}},
        metrics=counts_of(asked, built.network) | prices(built) | failures(built.network, ledger),
        tables=tables_of(built),
    )
    _what_it_does(built, ledger, result)
    result.tables["networks"] = side_networks.table(built.beside)
    result.metrics |= side_networks.metrics(built.beside)
    if growth_nodes:
        result.tables["growth"] = extensions.growth_table(asked, growth_nodes)
    if join_km is not None:
        bisection = result.value("bisection_tbps") * 1000.0
        wanted = bisection / 10.0 if join_gbps is None else join_gbps
        found = extensions.join(asked, join_km, wanted, join_port, ledger)
        result.tables["between_sites"], more = found
        result.metrics |= more
    result.inputs = [asdict(row) for _, row in sorted(ledger.rows.items())]
    result.warnings = [{"code": "price", "message": built.why}] if built.why else []
    result.warnings += [{"code": "design", "message": note} for note in _notes(built)]
    return result


def build(asked: Asked, ledger: Ledger) -> Built:
    """Size, place and bill the network."""
    network = sized(asked)
    hall = placed(asked, network, ledger)
    chosen = Chosen()
    beside = side_networks.sides(asked, network, chosen.notes, ledger)
    built = Built(
        asked, network, hall, _lengths(asked, network, hall, ledger), chosen, [], [], beside
    )
    _record(asked, ledger)
    parts = fitted(asked, ledger)
    if parts is None:
        built.why = "no switch is named, or the catalog has no optics at its speeds: counts only, no power and no price"
        return built
    if asked.family is None:
        ledger.text(
            "fabric.optics", parts.family or f"{parts.node.id} and {parts.leaf.id}", Status.DEFAULT
        )
    # out of reach is an error, a missing price is not
    try:
        built.chosen = tier_choices(asked, parts, built.lengths, network, ledger)
        built.chosen.notes += chosen.notes
        tiers = built.chosen.tiers
        built.bill = switch_lines(asked, network, ledger) + link_lines(
            asked, network, tiers, ledger
        )
        units = sum(p.rack_units for p in beside)
        built.extras = [*nic_lines(asked), *extra_lines(built.bill, tiers, units, ledger)]
    except MissingError as error:
        built.bill, built.extras, built.why = [], [], f"{error}: counts only, no power and no price"
    return built


@dataclass(frozen=True)
class Cabled:
    """A cable and what it is: its catalog row, kind (fiber, dac, acc, aec, aoc) and glass."""

    cable: Cable
    part: str
    kind: str
    glass: str | None


def cables(*, catalogs: Sequence[str] = (), **flags: Any) -> Iterator[Cabled]:
    """Every cable of a network with both its ends, one after the other in constant memory.

    Parameters
    ----------
    catalogs : sequence of str
        Overlay folders.
    **flags
        As in :class:`dcplan.answers.fabric.request.Wish`.

    Raises
    ------
    InputError
        As :func:`fabric`; also for networks whose cables are not named one by one (pairs, scheduled
        fabrics, dragonflies, tori).
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    ledger = Ledger(catalog)
    asked = resolve(Wish.of(flags), catalog)
    if asked.topology == "torus":
        raise extensions.unsupported(UNNAMED.format("torus"))
    built = build(asked, ledger)
    if built.hall is None:
        raise extensions.unsupported(UNNAMED.format(f"{asked.topology} network"))
    return _cabled(built, schedule(built.hall, built.network.plan.planes))


def _cabled(built: Built, listed: Iterator[Cable]) -> Iterator[Cabled]:
    """Name each cable's part by its tier and stock length."""
    named: dict[tuple[str, int], tuple[str, str, str | None]] = {}
    for tier, choices in built.chosen.tiers.items():
        for c in choices:
            place = int(stock(np.array([c.stock_m]))[0])
            row = c.cable
            named[tier, place] = (row.id, row.kind, row.glass) if row else ("", "fiber", None)
    for cable in listed:
        yield Cabled(cable, *named.get((cable.tier, cable.stock), ("", "", None)))


def _lengths(
    asked: Asked, network: Network, hall: Hall | None, ledger: Ledger
) -> dict[str, Lengths]:
    """Measured on the floor; the catalog's average for networks that are not placed, and as typed
    between switches.
    """
    c = network.counts
    if hall is not None:
        found = lengths(hall)
    elif network.taper is not None:
        found = groups_placed(asked, network, ledger)
    else:
        metres = ledger.parameter("power", "cable-length-m")
        second = "leaf-spine" if c.spine else "leaf-leaf"
        tiers = {
            "node-leaf": c.node_leaf_links,
            second: c.leaf_spine_links,
            "spine-core": c.spine_core_links,
        }
        found = {tier: _all_at(metres, n) for tier, n in tiers.items() if n}
    if asked.wish.length_m is not None:
        long = {
            t: _all_at(asked.wish.length_m, x.cables) for t, x in found.items() if t != "node-leaf"
        }
        found = found | (
            long or {t: _all_at(asked.wish.length_m, x.cables) for t, x in found.items()}
        )
    return found


def _all_at(metres: float, cables: int) -> Lengths:
    counts = np.zeros(STOCK_M.size + 1, dtype=np.int64)
    counts[int(stock(np.array([metres]))[0])] = cables
    return Lengths(counts, metres * cables, metres)


def _what_it_does(built: Built, ledger: Ledger, result: Result) -> None:
    result.tables["bandwidth"] = performance.bandwidth(built.asked, built.network, ledger)
    found = performance.levels(built.asked, built.network, ledger)
    if found:
        result.tables["collectives"] = performance.collectives(found)
        result.metrics |= performance.metrics(found)


def _notes(built: Built) -> Iterator[str]:
    asked, c, plan = built.asked, built.network.counts, built.network.plan
    per_su, nodes = asked.ports.nodes_per_su, asked.attached.nodes
    if asked.topology == "rail-optimized" and plan.tiers > 1 and nodes < per_su:
        yield f"leaves are bought for a whole unit of {per_su} nodes; {per_su - nodes} of them stay empty"
    if asked.topology == "rail-optimized" and plan.tiers > 1 and 1 < per_su < plan.leaf_down:
        yield (
            f"units of {per_su} nodes do not fill leaves of {plan.leaf_down} ports, so rails share leaves; "
            f"--nodes-per-su {plan.leaf_down} gives each rail its own"
        )
    yield from built.chosen.notes
    yield from _idle(built)
    yield from _mismatched(asked)
    alone = c.spine // (asked.ports.planes * built.network.parallel) == 1 and plan.tiers == 2
    if alone and asked.ports.planes == 1:
        yield "one spine joins all leaves: its failure parts them; --least-spines 2 buys a second"


def _idle(built: Built) -> Iterator[str]:
    """Leaf ports that units leave empty, where they are more than a tenth."""
    wiring = built.network.wiring
    if wiring is None or not wiring.nodes_per_su or wiring.plan.tiers == 1 or built.hall is None:
        return
    ports = wiring.leaf_count * wiring.plan.leaf_down
    idle = ports - wiring.nodes * wiring.rails - wiring.management_links
    if idle > ports * IDLE_FRAC:
        copies, down, unit = built.hall.copies, wiring.plan.leaf_down, wiring.nodes_per_su
        whole = max(unit // down, 1) * down
        fills = (
            f"--nodes-per-su {whole} or --topology fat-tree fills"
            if whole != unit
            else "--topology fat-tree fills"
        )
        yield (
            f"{idle * copies:,} of {ports * copies:,} leaf ports to nodes stay empty: units of {unit} nodes on leaves "
            f"of {down} ports; {fills} them"
        )


def _mismatched(asked: Asked) -> Iterator[str]:
    """Parts that work together on conditions."""
    system, leaf = asked.system, asked.leaf
    if system and leaf and system.protocols and leaf.protocol not in system.protocols:
        yield f"{system.id} is listed with {', '.join(system.protocols)} NICs, {leaf.id} speaks {leaf.protocol}"
    if (
        leaf
        and asked.wish.radix
        and asked.wish.switch
        and asked.ports.radix < max(leaf.ports.values())
    ):
        yield f"{asked.ports.radix} ports of {leaf.id} are used; its price is that of the whole switch"


IDLE_FRAC = 0.1


def _record(asked: Asked, ledger: Ledger) -> None:
    """Choices that the request left open."""
    wish, unit = asked.wish, asked.ports.nodes_per_su
    left_open = {
        "topology": (wish.topology, asked.topology),
        "load_balancing": (wish.load_balancing, asked.balancing),
        "planes": (wish.planes, str(asked.ports.planes)),
        "nodes_per_su": (
            wish.nodes_per_su,
            str(unit) if asked.topology == "rail-optimized" else "",
        ),
        "nic_ports_per_cage": (wish.nic_ports_per_cage, str(asked.ports_per_cage)),
    }
    for name, (typed, taken) in left_open.items():
        if typed is None and taken:
            ledger.text(f"fabric.{name}", taken, Status.DEFAULT)
    system = asked.system
    if system and system.scaleout_port_gbps and wish.nic_gbps is None:
        ledger.take(f"systems.{system.id}.scaleout_port_gbps", system.scaleout_port_gbps)
