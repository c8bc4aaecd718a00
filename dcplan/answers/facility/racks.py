"""Racks of a hall: nodes per rack, number and layout."""

from __future__ import annotations

import math

from dcplan.answers.facility.feasibility import fit_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.facility.tanks import tank_metrics
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.floor import area_m2, line_up, rows_of
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import hall as specs
from dcplan.units import KW_PER_MW

COMPUTE, NETWORK, CDU, TANK = "compute", "network and storage", "cdu", "tank"
POSITIONS = "tank positions"


def floor_tables(
    option: CoolingOption, resolved: ResolvedFacility, cdus: int, log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric]]:
    """Return kinds of racks, and the line-up of every row.

    Compute racks use IT power less the share of network and storage; distribution units occupy one
    position each. Pods are complete.

    Raises
    ------
    InputError
        When no node fits a rack.
    """
    system = resolved.system
    if system is None or system.rated_kw is None:
        return {}, {}
    rated = log.take(f"systems.{system.id}.rated_kw", system.rated_kw) / max(system.racks, 1)
    fit = fit_of(option, system, resolved.request.rack_kw, rated, log)
    if not fit.nodes:
        raise InputError(
            [
                Problem(
                    "DC061",
                    f"{system.id}: {fit.reason}",
                    Place("--rack-kw"),
                    help="set a larger --rack-kw",
                )
            ]
        )
    nodes = 1 if system.racks else min(fit.nodes, system.nodes_per_rack or fit.nodes)
    share = log.parameter("facility", "network-storage-share")
    other_kw = log.parameter("facility", "network-storage-rack-kw")
    it_kw = resolved.it_mw * KW_PER_MW
    count = math.floor(it_kw * (1.0 - share) / (rated * nodes) + 1e-9)
    count -= count % max(system.racks, 1)  # pods are complete
    other = math.ceil(it_kw * share / other_kw - 1e-9)
    per_row = int(log.parameter("network", "racks-per-row"))
    kind, positions = (TANK, option.tank.rack_positions) if option.tank else (COMPUTE, 1)
    racks = {kind if positions == 1 else POSITIONS: count * positions, NETWORK: other, CDU: cdus}
    rows = rows_of(racks, per_row)
    high = None if system.racks or system.rack_units is None else system.rack_units.value
    limit = (
        fit.reason
        if nodes == fit.nodes
        else f"{nodes} in the vendor's reference design; {fit.reason}"
    )
    kinds = (
        specs.RackRow(
            kind,
            count,
            system=system.id,
            nodes_per_rack=nodes,
            rack_kw=rated * nodes,
            node_units=high,
            node_limit="a rack-scale system" if system.racks else limit,
        ),
        specs.RackRow(NETWORK, other, rack_kw=other_kw),
        specs.RackRow(CDU, cdus),
    )
    pitches = [log.parameter("network", key) for key in ("rack-pitch-m", "row-pitch-m")]
    margin = log.parameter("facility", "floor-margin-m")
    area = area_m2(len(rows), per_row, pitches[0], pitches[1], margin)
    tables = {
        "racks": specs.RACKS.table(k for k in kinds if k.racks),
        "floor": specs.FLOOR.table(
            specs.FloorRow(i, sum(r.values()), _words(line_up(r, CDU, NETWORK)))
            for i, r in enumerate(rows, 1)
        ),
    }
    existing = count // max(system.racks, 1) * nodes * system.accelerators
    return tables, {
        **specs.FLOOR_RACKS(sum(racks.values())),
        **specs.FLOOR_ROWS(len(rows)),
        **specs.FLOOR_AREA(area),
        **specs.FLOOR_DENSITY(it_kw / area),
        **specs.FLOOR_ACCELERATORS(existing),
        **tank_metrics(option, resolved, count, nodes, log),
    }


def _words(kinds: tuple[str, ...]) -> str:
    """Describe a row of racks by runs of equal kinds."""
    runs: list[tuple[str, int]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1] + 1)
        else:
            runs.append((kind, 1))
    return ", ".join(f"{n} {kind}" for kind, n in runs)
