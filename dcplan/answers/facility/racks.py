"""Racks of a hall: nodes per rack, number and layout."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.answers.facility.feasibility import fit_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.facility.tanks import tank_metrics
from dcplan.catalog.schema import CoolingOption, Parameter, System
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.floor import area_m2, line_up, rows_of
from dcplan.facility.racks import Fit
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import hall as specs
from dcplan.units import KW_PER_MW

COMPUTE, NETWORK, CDU, TANK = "compute", "network and storage", "cdu", "tank"
POSITIONS = "tank positions"


@dataclass(frozen=True)
class _Compute:
    """Compute racks of a hall, or the tanks that hold their nodes."""

    kind: str
    count: int
    positions: int
    """Rack positions of one tank; 1 for a rack."""
    nodes: int
    """Nodes of one rack or tank."""
    rack_kw: float
    accelerators: int
    """Accelerators of all of them."""
    node_limit: str

    @property
    def on_floor(self) -> tuple[str, int]:
        """Return the word for their positions on the floor, and the number of positions."""
        kind = self.kind if self.positions == 1 else POSITIONS
        return kind, self.count * self.positions


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
        cause = f"{system.id}: {fit.reason}"
        next_step = "set a larger --rack-kw"
        raise InputError([Problem("DC061", cause, Place("--rack-kw"), help=next_step)])
    share = log.parameter("facility", "network-storage-share")
    other_kw = log.parameter("facility", "network-storage-rack-kw")
    it_kw = resolved.it_mw * KW_PER_MW
    compute = _compute(option, system, fit, rated, it_kw * (1.0 - share))
    other = math.ceil(it_kw * share / other_kw - 1e-9)
    per_row = int(log.parameter("network", "racks-per-row"))
    kind, positions = compute.on_floor
    racks = {kind: positions, NETWORK: other, CDU: cdus}
    rows = rows_of(racks, per_row)
    kinds = (
        _compute_row(compute, system),
        specs.RackRow(NETWORK, other, rack_kw=other_kw),
        specs.RackRow(CDU, cdus),
    )
    low, area, high = _area_m2(len(rows), per_row, log)
    tables = {
        "racks": specs.RACKS.table(k for k in kinds if k.racks),
        "floor": specs.FLOOR.table(
            specs.FloorRow(i, sum(r.values()), _words(line_up(r, CDU, NETWORK)))
            for i, r in enumerate(rows, 1)
        ),
    }
    return tables, {
        **specs.FLOOR_RACKS(sum(racks.values())),
        **specs.FLOOR_ROWS(len(rows)),
        **specs.FLOOR_AREA(area, low=low, high=high),
        **specs.FLOOR_DENSITY(it_kw / area),
        **specs.FLOOR_ACCELERATORS(compute.accelerators),
        **tank_metrics(option, resolved, compute.count, compute.nodes, log),
    }


def _compute(
    option: CoolingOption, system: System, fit: Fit, rated_kw: float, compute_kw: float
) -> _Compute:
    """Return the compute racks of a power; pods are complete.

    ``rated_kw`` is the power of one node, or of one rack of a pod.
    """
    nodes = 1 if system.racks else min(fit.nodes, system.nodes_per_rack or fit.nodes)
    count = math.floor(compute_kw / (rated_kw * nodes) + 1e-9)
    count -= count % max(system.racks, 1)  # pods are complete
    limit = (
        fit.reason
        if nodes == fit.nodes
        else f"{nodes} in the vendor's reference design; {fit.reason}"
    )
    return _Compute(
        TANK if option.tank else COMPUTE,
        count,
        option.tank.rack_positions if option.tank else 1,
        nodes,
        rated_kw * nodes,
        count // max(system.racks, 1) * nodes * system.accelerators,
        "a rack-scale system" if system.racks else limit,
    )


def _compute_row(compute: _Compute, system: System) -> specs.RackRow:
    """Return the row of the compute racks."""
    high = None if system.racks or system.rack_units is None else system.rack_units.value
    return specs.RackRow(
        compute.kind,
        compute.count,
        system=system.id,
        nodes_per_rack=compute.nodes,
        rack_kw=compute.rack_kw,
        node_units=high,
        node_limit=compute.node_limit,
    )


def _area_m2(rows: int, per_row: int, log: InputLog) -> tuple[float, float, float]:
    """Return low, value and high of the area of the rows of racks, with the catalog's distances."""
    keys = (("network", "rack-pitch-m"), ("network", "row-pitch-m"), ("facility", "floor-margin-m"))
    value = area_m2(rows, per_row, *(log.parameter(kind, key) for kind, key in keys))
    bounds = [log.catalog.get(kind, key, Parameter).value.bounds for kind, key in keys]
    low, high = (area_m2(rows, per_row, *ends) for ends in zip(*bounds, strict=True))
    return low, value, high


def _words(kinds: tuple[str, ...]) -> str:
    """Describe a row of racks by runs of equal kinds."""
    runs: list[tuple[str, int]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1] + 1)
        else:
            runs.append((kind, 1))
    return ", ".join(f"{n} {kind}" for kind, n in runs)
