"""``dcplan fabric``: size, bill of materials, price, placement and performance of a network."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from dcplan.answers.fabric import extensions, metrics, performance, tables
from dcplan.answers.fabric.built import Built, build
from dcplan.answers.fabric.compare import compared
from dcplan.answers.fabric.request import FabricRequest, refuse_unfit, saved
from dcplan.answers.fabric.resolve import resolve
from dcplan.answers.fabric.sites.join import join
from dcplan.answers.fabric.tables import notes, notes_table
from dcplan.answers.fabric.torus import torus_answer
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.result import Result
from dcplan.specs.verb import verb

ONE_DOMAIN = (
    "all accelerators are one server or one scale-up domain: they need no compute network until more are "
    "added; storage and management networks stay"
)


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
    said = [ONE_DOMAIN] if performance.one_domain(resolved, log) else []
    said += notes(built)
    if request.site_link_km is not None:
        joined = join(resolved, metrics.bisection_gbps(resolved, network), log)
        result.tables |= joined.tables
        result.metrics |= joined.metrics
        said.append(joined.note)
    result.inputs = [asdict(row) for _, row in sorted(log.rows.items())]
    result.warnings = [{"code": "price", "message": built.why}] if built.why else []
    result.tables |= notes_table(said)
    return result
