"""``dcplan fabric``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dcplan.cli import complete
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

Opt = typer.Option
SIZE, SHAPE, PARTS, FLOOR, MORE = "Size", "Shape", "Parts", "Floor", "Questions"


def fabric(
    nodes: Annotated[
        int,
        Opt(
            "--nodes",
            "-n",
            min=1,
            help="nodes; systems where --system is given",
            rich_help_panel=SIZE,
        ),
    ],
    nics_per_node: Annotated[
        int | None, Opt(min=1, help="NICs of a node", rich_help_panel=SIZE)
    ] = None,
    nic_gbps: Annotated[
        float | None, Opt(min=1, help="rate of a NIC", rich_help_panel=SIZE)
    ] = None,
    system: Annotated[
        str | None,
        Opt(
            help="catalog system, such as dgx-b300",
            rich_help_panel=SIZE,
            autocompletion=complete.ids("systems"),
        ),
    ] = None,
    fabric: Annotated[
        str | None,
        Opt(
            help="catalog fabric family, such as ib-xdr-800",
            rich_help_panel=SIZE,
            autocompletion=complete.ids("fabrics"),
        ),
    ] = None,
    management_links: Annotated[
        int,
        Opt(
            min=0, help="further links on leaves, such as a fabric manager's", rich_help_panel=SIZE
        ),
    ] = 0,
    switch: Annotated[
        str | None, Opt(help="catalog switch, such as qm9700", rich_help_panel=PARTS)
    ] = None,
    spine_switch: Annotated[
        str | None, Opt(help="another switch for spines, such as a chassis", rich_help_panel=PARTS)
    ] = None,
    core_switch: Annotated[
        str | None, Opt(help="another switch for cores", rich_help_panel=PARTS)
    ] = None,
    radix: Annotated[
        int | None, Opt(min=2, help="any switch: ports at --port-gbps", rich_help_panel=PARTS)
    ] = None,
    port_gbps: Annotated[
        float | None, Opt(min=1, help="speed of such a port", rich_help_panel=PARTS)
    ] = None,
    spine_radix: Annotated[
        int | None, Opt(min=2, help="ports of any other spine", rich_help_panel=PARTS)
    ] = None,
    core_radix: Annotated[
        int | None, Opt(min=2, help="ports of any other core", rich_help_panel=PARTS)
    ] = None,
    uplink_gbps: Annotated[
        float | None,
        Opt(min=1, help="speed between switches, if not that to nodes", rich_help_panel=PARTS),
    ] = None,
    media: Annotated[
        str,
        Opt(
            help="family, reach (copper and active cables inside their reach), aoc, lpo, lro or cpo",
            rich_help_panel=PARTS,
        ),
    ] = "family",
    nic_ports_per_cage: Annotated[
        int | None,
        Opt(min=1, help="NIC ports behind one transceiver of a node", rich_help_panel=PARTS),
    ] = None,
    topology: Annotated[
        str | None,
        Opt(
            help="rail-optimized, fat-tree, rail-only, collapsed-pair, linked-pair, scheduled, rail-scheduled, "
            "dragonfly or torus",
            rich_help_panel=SHAPE,
        ),
    ] = None,
    nodes_per_su: Annotated[
        int | None,
        Opt(min=1, help="nodes of a scalable unit; leaves are bought whole", rich_help_panel=SHAPE),
    ] = None,
    planes: Annotated[
        int | None, Opt(min=1, help="parallel networks that share a NIC", rich_help_panel=SHAPE)
    ] = None,
    oversubscription: Annotated[
        float, Opt(help="down over up capacity of leaves", rich_help_panel=SHAPE)
    ] = 1.0,
    core_oversubscription: Annotated[
        float, Opt(help="the same of spines in three tiers", rich_help_panel=SHAPE)
    ] = 1.0,
    endpoints_per_leaf: Annotated[
        int | None, Opt(min=1, help="leaf ports towards nodes", rich_help_panel=SHAPE)
    ] = None,
    leaf_uplinks: Annotated[
        int | None, Opt(min=1, help="leaf ports towards spines", rich_help_panel=SHAPE)
    ] = None,
    leaves_per_pod: Annotated[
        int | None, Opt(min=1, help="three tiers: leaves that share spines", rich_help_panel=SHAPE)
    ] = None,
    least_spines: Annotated[
        int | None, Opt(min=1, help="spines of a pod at least", rich_help_panel=SHAPE)
    ] = None,
    tiers: Annotated[
        int | None, Opt(min=1, max=3, help="the fewest that do if left out", rich_help_panel=SHAPE)
    ] = None,
    links_per_pair: Annotated[
        int | None,
        Opt(min=1, help="dragonfly: links between each pair of groups", rich_help_panel=SHAPE),
    ] = None,
    load_balancing: Annotated[
        str | None,
        Opt(help="ecmp, qp-scaling, adaptive, spray or scheduled", rich_help_panel=SHAPE),
    ] = None,
    nodes_per_rack: Annotated[
        int | None, Opt(min=1, help="nodes of a rack", rich_help_panel=FLOOR)
    ] = None,
    racks_per_row: Annotated[
        int | None,
        Opt(min=1, help="racks of a row; a square hall if left out", rich_help_panel=FLOOR),
    ] = None,
    leaf_at: Annotated[
        str,
        Opt(
            help="leaves stand amid their unit, in the rack of their nodes, or in the center",
            rich_help_panel=FLOOR,
        ),
    ] = "unit",
    length_m: Annotated[
        float | None,
        Opt(
            min=0.1,
            help="cable length between switches, if not from the floor",
            rich_help_panel=FLOOR,
        ),
    ] = None,
    growth_nodes: Annotated[
        list[int] | None,
        Opt(min=1, help="later size; repeat for more phases", rich_help_panel=MORE),
    ] = None,
    join_km: Annotated[
        float | None, Opt(help="air distance to another hall or site to join", rich_help_panel=MORE)
    ] = None,
    join_gbps: Annotated[
        float | None, Opt(help="capacity between them", rich_help_panel=MORE)
    ] = None,
    join_port: Annotated[
        str, Opt(help="catalog optic between them", rich_help_panel=MORE)
    ] = "coherent-400zr",
    compare: Annotated[
        str | None,
        Opt(
            help="fabric families side by side, with commas; all for every one that fits",
            rich_help_panel=MORE,
        ),
    ] = None,
    for_job: Annotated[
        str | None,
        Opt(
            metavar="MODEL",
            help="with --compare: rank by USD of one finished run",
            rich_help_panel=MORE,
        ),
    ] = None,
    tokens: Annotated[
        float | None, Opt(help="training tokens of that run", rich_help_panel=MORE)
    ] = None,
    cables: Annotated[
        Path | None,
        Opt(
            metavar="FILE",
            help="also write every cable as CSV (- for stdout alone)",
            rich_help_panel=MORE,
        ),
    ] = None,
    picture: Annotated[
        Path | None, Opt(metavar="FILE", help="also draw the tiers as SVG", rich_help_panel=MORE)
    ] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Size one network: switches, links, transceivers, cables by length, power, price, and what it
    does.
    """
    flags = {
        name: value for name, value in locals().items() if name in WISHES and value is not None
    }
    folders = catalogs or ()
    if cables is not None and str(cables) == "-":
        _write_cables(None, flags, folders)
        raise typer.Exit
    from dcplan.cli.output import emit

    if compare is not None or for_job is not None:
        if growth_nodes or join_km is not None or join_gbps is not None:
            cause = "growth and joining are asked for one fabric, without --compare and --for-job"
            raise typer.BadParameter(cause)
        from dcplan.answers.fabric.compare import compare as side_by_side

        result = side_by_side(
            "all" if compare is None else compare,
            for_job=for_job,
            tokens=tokens,
            catalogs=folders,
            **flags,
        )
    else:
        from dcplan.answers.fabric.answer import fabric as answer

        result = answer(
            catalogs=folders,
            growth_nodes=growth_nodes or (),
            join_km=join_km,
            join_gbps=join_gbps,
            join_port=join_port,
            **flags,
        )
    if picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.tiers import tiers_svg

        write_whole(picture, tiers_svg(result))
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    if cables is not None:
        _write_cables(cables, flags, folders)
    raise typer.Exit(result.exit_code)


WISHES = frozenset(
    {
        *(
            "nodes",
            "nics_per_node",
            "nic_gbps",
            "system",
            "fabric",
            "management_links",
            "switch",
            "spine_switch",
        ),
        *("core_switch", "radix", "port_gbps", "spine_radix", "core_radix", "uplink_gbps", "media"),
        *(
            "nic_ports_per_cage",
            "topology",
            "nodes_per_su",
            "planes",
            "oversubscription",
            "core_oversubscription",
        ),
        *(
            "endpoints_per_leaf",
            "leaf_uplinks",
            "leaves_per_pod",
            "least_spines",
            "tiers",
            "links_per_pair",
        ),
        *("load_balancing", "nodes_per_rack", "racks_per_row", "leaf_at", "length_m"),
    }
)
"""Flags that describe the network itself (:class:`dcplan.answers.fabric.request.Wish`)."""


def _write_cables(file: Path | None, flags: dict[str, Any], catalogs: Sequence[str]) -> None:
    """Stream the cable schedule; a file appears whole or not at all."""
    from dcplan.answers.fabric.answer import cables
    from dcplan.report.cables import write_cables

    rows = cables(catalogs=catalogs, **flags)
    count = write_cables(rows, file)
    if file is not None:
        typer.echo(f"{count:,} cables in {file}", err=True)
