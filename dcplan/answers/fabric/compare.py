"""Comparison of several fabrics, ranked by the cost of one completed training run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from dcplan.answers.fabric import performance
from dcplan.answers.fabric.built import Built, build
from dcplan.answers.fabric.metrics import bisection_gbps
from dcplan.answers.fabric.parts.unused import compute_alone, unused_in_comparison
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import ResolvedFabric, resolve
from dcplan.answers.fabric.tables import notes, notes_table
from dcplan.answers.train.answer import train
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Result, Table
from dcplan.specs.fabric import use as specs
from dcplan.units import BITS_PER_BYTE, DAYS_PER_YEAR, GBPS_PER_TBPS, USD_PER_MUSD

ALL = "all"
JOB_NOTE = (
    "usd_per_run is the purchase price of nodes and fabric, spread evenly over the hardware's "
    "life, for the days of the run; it excludes energy, storage, staff and side networks"
)


@dataclass(frozen=True)
class Run:
    """One training run on one fabric."""

    days: float
    fabric_usd: float
    cluster_usd: float

    @property
    def usd(self) -> float:
        """Cost of fabric and cluster for the duration of the run."""
        return self.fabric_usd + self.cluster_usd


def compared(request: FabricRequest, log: InputLog) -> Result:
    """Size the same nodes on several fabric families.

    Each family has its own switches. With a job, families are ranked by the cost of one completed
    run, which weighs the fabric's price against days lost.

    Raises
    ------
    InputError
        When a family is unknown, or no family fits the nodes.
    """
    built, refused = _built(compute_alone(request), log)
    rows = [_row(name, b, log) for name, b in built.items()]
    rows.sort(key=lambda row: (row.usd is None, row.usd or 0.0))
    rows, same = _merged(rows)
    refused |= same
    built = {name: b for name, b in built.items() if name not in same}
    best = rows[0].fabric
    rows += [specs.FabricRow(name, why_not=why) for name, why in refused.items()]
    tables = {"comparison": specs.COMPARISON.table(rows)}
    remarks = list(unused_in_comparison(request))
    remarks += _remarks({row.fabric: built[row.fabric] for row in rows if row.fabric in built})
    if request.for_job:
        remarks.append(JOB_NOTE)
    tables |= notes_table(remarks)
    what = f"{request.nodes:,} {request.system or 'nodes'}"
    headline = f"{len(built)} of {len(rows)} fabrics fit {what}; {best} is the cheapest"
    metrics: dict[str, Metric] = {}
    if request.for_job:
        runs = {name: _run(b, request.for_job, log) for name, b in built.items() if b.totals}
        tables["job"] = _job_table(runs)
        best = min(runs, key=lambda n: runs[n].usd)
        run = runs[best]
        money = f"USD {run.usd / USD_PER_MUSD:,.2f} M in {run.days:,.1f} days"
        headline = f"{best} has the lowest cost for a run of {request.for_job}: {money}"
        metrics = specs.RUN_DAYS(run.days) | specs.RUN_USD(run.usd)
    return Result(
        "fabric",
        "ok",
        EXIT_OK,
        headline,
        metrics=metrics,
        tables=tables,
        inputs=[asdict(r) for _, r in sorted(log.rows.items())],
    )


def _remarks(built: Mapping[str, Built]) -> list[str]:
    """Return the notes on all families, then those of one, which begin with its name."""
    found = {name: list(notes(b)) for name, b in built.items()}
    first, *others = found.values()
    common = [note for note in first if all(note in more for more in others)]
    own = [f"{name}: {n}" for name, listed in found.items() for n in listed if n not in common]
    return common + own


def _built(request: FabricRequest, log: InputLog) -> tuple[dict[str, Built], dict[str, str]]:
    """Build the network of every family; return the reasons of those that do not fit."""
    built: dict[str, Built] = {}
    refused: dict[str, str] = {}
    for name in _families(request.compare or ALL, log.catalog):
        try:
            resolved = resolve(replace(request, fabric=name, switch=None), log.catalog)
            _refuse_other_protocols(resolved)
            built[name] = build(resolved, log)
        except InputError as error:
            refused[name] = "; ".join(p.cause for p in error.problems)
    unlike = {name: b.unlike_lanes for name, b in built.items() if b.unlike_lanes}
    if len(unlike) < len(built):  # otherwise no family has the lanes of the NICs
        built = {name: b for name, b in built.items() if name not in unlike}
        refused |= unlike
    if not built:
        reasons = {why: n for n, why in reversed(refused.items())}
        raise InputError(
            [Problem("DC050", f"{n}: {why}", Place("--compare")) for why, n in reasons.items()]
        )
    return built, refused


def _families(names: str, catalog: Catalog) -> Iterable[str]:
    rows = catalog.table("fabrics", Fabric)
    if names == ALL:
        return list(rows)
    chosen = [n.strip() for n in names.split(",") if n.strip()]
    if not chosen:
        cause = "--compare names no fabric family"
        raise InputError([Problem("DC050", cause, Place("--compare"), help="--compare all")])
    unknown = [
        Problem(
            "DC010",
            f"the catalog has no fabrics row {n!r}",
            Place("--compare"),
            did_you_mean(n, rows),
            "dcplan catalog list fabrics",
        )
        for n in chosen
        if catalog.find("fabrics", n, Fabric) is None
    ]
    if unknown:
        raise InputError(unknown)
    return chosen


def _refuse_other_protocols(resolved: ResolvedFabric) -> None:
    """Reject a family with another protocol than the system's NICs, or with slower links."""
    system, family = resolved.system, resolved.family
    if system and family and family.protocol not in system.protocols:
        cause = f"{system.id} supports {', '.join(system.protocols)}, not {family.protocol}"
        raise InputError([Problem("DC050", cause, Place("--compare"))])
    nic = resolved.nic_gbps
    if family and family.rate_gbps.value < nic:
        links = f"the {family.rate_gbps.value:g} Gb/s links of the fabric"
        cause = f"{links} are slower than the {nic:g} Gb/s NICs"
        raise InputError([Problem("DC050", cause, Place("--compare"))])


def _row(name: str, built: Built, log: InputLog) -> specs.FabricRow:
    resolved, t = built.resolved, built.totals
    gbps = bisection_gbps(resolved, built.network)
    found = performance.levels(resolved, built.network, log)
    row = specs.FabricRow(
        fabric=name,
        switches=built.network.counts.switches,
        bisection_tbps=gbps / GBPS_PER_TBPS,
        all_reduce_s=performance.all_reduce(found) if found else None,
        why_not=built.why or None,
    )
    if t is None:
        return row
    each = t.price.value / resolved.accelerators if resolved.accelerators else None
    return replace(
        row,
        transceivers=t.transceivers,
        power_kw=t.kw,
        usd=t.price.value,
        low_usd=t.price.low,
        high_usd=t.price.high,
        usd_per_accelerator=each,
        usd_per_bisection_gbps=t.price.value / gbps if gbps else None,
    )


def _merged(rows: list[specs.FabricRow]) -> tuple[list[specs.FabricRow], dict[str, str]]:
    """Return the rows that differ in a figure, and the reasons of the others."""
    first: dict[specs.FabricRow, str] = {}
    same: dict[str, str] = {}
    for row in rows:
        figures = replace(row, fabric="")
        if figures in first:
            same[row.fabric] = f"the same network as {first[figures]}"
        else:
            first[figures] = row.fabric
    return [row for row in rows if row.fabric not in same], same


def _run(built: Built, model: str, log: InputLog) -> Run:
    """Estimate the run with the bandwidth of the fabric across all tiers.

    Both prices are spread evenly over the hardware's life.
    """
    resolved, system, t = built.resolved, built.resolved.system, built.totals
    request = resolved.request
    if system is None or t is None or system.price_usd is None:
        cause = f"{system.id if system else 'the system'} has no price"
        raise InputError([Problem("DC050", cause, Place("--for-job"))])
    farthest = performance.bandwidth(resolved, built.network, log)[-1]
    ideal = (
        log.parameter("network", "effective-adaptive-frac") if built.network.plan.tiers > 1 else 1.0
    )
    ports = (system.scaleout_ports or system.accelerators) / system.accelerators
    found = train(
        model,
        system=system.id,
        accelerators=resolved.accelerators,
        tokens=request.tokens,
        nic_port_gbps=min(farthest.gb_per_s * BITS_PER_BYTE / ideal / ports, resolved.nic_gbps),
        in_network_reduction=bool(resolved.family and resolved.family.in_network_reduction),
        catalogs=request.catalogs,
    )
    days = found.value("train.days_p50")
    life = log.parameter("finance", "hardware-life-years") * DAYS_PER_YEAR
    cluster = log.take(f"systems.{system.id}.price_usd", system.price_usd) * request.nodes
    return Run(days, t.price.value * days / life, cluster * days / life)


def _job_table(runs: Mapping[str, Run]) -> Table:
    fastest = min(run.days for run in runs.values())
    return specs.JOB.table(
        specs.JobRow(
            fabric=name,
            days_p50=run.days,
            days_lost=run.days - fastest,
            fabric_usd=run.fabric_usd,
            cluster_usd=run.cluster_usd,
            usd_per_run=run.usd,
        )
        for name, run in sorted(runs.items(), key=lambda item: item[1].usd)
    )
