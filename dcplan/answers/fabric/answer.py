"""``dcplan fabric``: size, bill of materials, price, placement and performance of a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from dcplan.answers.fabric import extensions, metrics, performance, tables
from dcplan.answers.fabric.built import Built, build
from dcplan.answers.fabric.compare import compared
from dcplan.answers.fabric.request import FabricRequest, refuse_unfit, saved
from dcplan.answers.fabric.resolve import ResolvedFabric, resolve
from dcplan.answers.fabric.torus import torus_answer
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.result import Result
from dcplan.specs.request import verb

IDLE_FRAC = 0.1
"""Share of unused leaf ports above which a note is given."""


@verb(FabricRequest, "fabric")
def fabric(request: FabricRequest) -> Result:
    """Size one network and compute its bill of materials, or compare several families.

    Raises
    ------
    InputError
        When a name is unknown, an amount is missing, or no network of that kind fits the nodes.
    """
    refuse_unfit(request)
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    log = InputLog(catalog)
    if request.several:
        return compared(request, log)
    resolved = resolve(request, catalog)
    if resolved.topology == "torus":
        if request.growth_nodes or request.site_link_km is not None:
            cause = "growth and site links of a torus are not supported"
            raise InputError([Problem("DC050", cause, Place("fabric"))])
        return torus_answer(resolved, log)
    return _answer(build(resolved, log), log)


def _answer(built: Built, log: InputLog) -> Result:
    resolved, network = built.resolved, built.network
    request = resolved.request
    result = Result(
        verb="fabric",
        status="ok",
        exit_code=EXIT_OK,
        headline=tables.headline(built, metrics.installed_usd(built)),
        scenario={"fabric": saved(request)},
        metrics=metrics.counts_of(resolved, network)
        | metrics.prices(built)
        | metrics.failures(network, log),
        tables=tables.tables_of(built),
    )
    result.tables["bandwidth"] = performance.bandwidth_table(resolved, network, log)
    found = performance.levels(resolved, network, log)
    if found:
        result.tables["collectives"] = performance.collectives(found)
        result.metrics |= performance.metrics(found)
    result.tables["side_networks"] = tables.side_networks(built.side_networks)
    result.metrics |= metrics.side_networks(built.side_networks)
    if request.growth_nodes:
        result.tables["expansion"] = extensions.growth_table(resolved)
    if request.site_link_km is not None:
        bisection = metrics.bisection_gbps(resolved, network)
        joined = extensions.join(resolved, bisection, log)
        result.tables["site_links"], more = joined
        result.metrics |= more
    result.inputs = [asdict(row) for _, row in sorted(log.rows.items())]
    result.warnings = [{"code": "price", "message": built.why}] if built.why else []
    result.warnings += [{"code": "design", "message": note} for note in _notes(built)]
    return result


def _notes(built: Built) -> Iterator[str]:
    resolved, c, plan = built.resolved, built.network.counts, built.network.plan
    per_su, nodes = resolved.ports.nodes_per_su, resolved.attached.nodes
    rails = resolved.topology == "rail-optimized" and plan.tiers > 1
    if rails and nodes < per_su:
        whole = f"leaf switches are bought for a full scalable unit of {per_su} nodes"
        yield f"{whole}; {per_su - nodes} node positions stay empty"
    if rails and 1 < per_su < plan.leaf_down:
        yield (
            f"scalable units of {per_su} nodes do not fill leaf switches of {plan.leaf_down} "
            f"ports, so rails share leaf switches; set --nodes-per-su {plan.leaf_down} for "
            "separate leaf switches per rail"
        )
    yield from built.chosen.notes
    yield from _idle(built)
    yield from _mismatched(resolved)
    alone = c.spine // (resolved.ports.planes * built.network.parallel) == 1 and plan.tiers == 2
    if alone and resolved.ports.planes == 1:
        yield "a single spine is a single point of failure; set --min-spines 2 to add a second"


def _idle(built: Built) -> Iterator[str]:
    """Report unused leaf ports if they are more than 10 %."""
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
            f"{idle * copies:,} of {ports * copies:,} node ports of leaf switches are unused, "
            f"because scalable units have {unit} nodes and leaf switches {down} ports; {fills} "
            "them"
        )


def _mismatched(resolved: ResolvedFabric) -> Iterator[str]:
    """Report parts that fit together only under conditions."""
    request, system, leaf = resolved.request, resolved.system, resolved.leaf
    if system and leaf and system.protocols and leaf.protocol not in system.protocols:
        listed = f"{system.id} has {', '.join(system.protocols)} NICs"
        yield f"{listed}, but {leaf.id} uses {leaf.protocol}"
    used = resolved.ports.radix
    if leaf and request.radix and request.switch and used < max(leaf.ports.values()):
        yield f"{used} ports of {leaf.id} are used, but the price is for the complete switch"
