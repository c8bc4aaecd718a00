"""``dcplan fabric``."""

from __future__ import annotations

from typing import Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    VerboseOption,
)


def fabric(
    nodes: Annotated[int, typer.Option("--nodes", "-n", min=1, help="nodes; systems where --system is given")],
    nics_per_node: Annotated[int | None, typer.Option("--nics-per-node", min=1, help="NICs of a node")] = None,
    nic_gbps: Annotated[float | None, typer.Option("--nic-gbps", min=1, help="rate of a NIC")] = None,
    switch: Annotated[str | None, typer.Option("--switch", help="catalog switch, such as qm9700")] = None,
    radix: Annotated[int | None, typer.Option("--radix", min=2, help="any switch: ports at --port-gbps")] = None,
    port_gbps: Annotated[float | None, typer.Option("--port-gbps", min=1, help="speed of such a port")] = None,
    topology: Annotated[
        str | None,
        typer.Option("--topology", help="rail-optimized, fat-tree, rail-only, collapsed-pair, scheduled or dragonfly"),
    ] = None,
    nodes_per_su: Annotated[
        int | None, typer.Option("--nodes-per-su", min=1, help="nodes of a scalable unit; leaves are bought whole")
    ] = None,
    planes: Annotated[int | None, typer.Option("--planes", min=1, help="parallel networks that share a NIC")] = None,
    oversubscription: Annotated[
        float, typer.Option("--oversubscription", help="down over up capacity of leaves")
    ] = 1.0,
    core_oversubscription: Annotated[
        float, typer.Option("--core-oversubscription", help="the same of spines in three tiers")
    ] = 1.0,
    endpoints_per_leaf: Annotated[
        int | None, typer.Option("--endpoints-per-leaf", min=1, help="leaf ports towards nodes")
    ] = None,
    leaf_uplinks: Annotated[int | None, typer.Option("--leaf-uplinks", min=1, help="leaf ports towards spines")] = None,
    tiers: Annotated[int | None, typer.Option("--tiers", min=1, max=3, help="the fewest that do if left out")] = None,
    management_links: Annotated[
        int, typer.Option("--management-links", min=0, help="further links on leaves, such as a fabric manager's")
    ] = 0,
    links_per_pair: Annotated[
        int | None, typer.Option("--links-per-pair", min=1, help="dragonfly: links between each pair of groups")
    ] = None,
    system: Annotated[str | None, typer.Option("--system", help="catalog system, such as dgx-b300")] = None,
    fabric: Annotated[str | None, typer.Option("--fabric", help="catalog fabric family, such as ib-xdr-800")] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Size one network: switches, links, transceivers, power and price."""
    from dcplan.answers.fabric import fabric as answer
    from dcplan.cli.output import emit

    result = answer(
        nodes=nodes,
        nics_per_node=nics_per_node,
        nic_gbps=nic_gbps,
        switch=switch,
        radix=radix,
        port_gbps=port_gbps,
        topology=topology,
        nodes_per_su=nodes_per_su,
        planes=planes,
        oversubscription=oversubscription,
        core_oversubscription=core_oversubscription,
        endpoints_per_leaf=endpoints_per_leaf,
        leaf_uplinks=leaf_uplinks,
        tiers=tiers,
        management_links=management_links,
        links_per_pair=links_per_pair,
        system=system,
        fabric=fabric,
        catalogs=catalogs or (),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
