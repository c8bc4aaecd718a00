"""Several fabrics side by side, and ranked by what one finished training run costs on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dcplan.answers.fabric import performance
from dcplan.answers.fabric.answer import build
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.metrics import bisection_gbps
from dcplan.answers.fabric.request import Wish
from dcplan.answers.fabric.resolve import Asked, resolve
from dcplan.answers.train.answer import train
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Fabric
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import Ledger
from dcplan.result import Cell, Metric, Result, Table
from dcplan.units import DAYS_PER_YEAR

COLUMNS = (
    "fabric",
    "switches",
    "transceivers",
    "power_kw",
    "usd",
    "low_usd",
    "high_usd",
    "usd_per_accelerator",
    "bisection_tbps",
    "usd_per_bisection_gbps",
    "all_reduce_s",
    "why_not",
)


JOB_NOTE = (
    "usd_per_run is the purchase price of nodes and fabric spread evenly over the hardware's life, for the run's days; "
    "energy, storage, staff and side networks are not in it"
)


@dataclass(frozen=True)
class Run:
    """One training run on one fabric."""

    days: float
    fabric_usd: float
    cluster_usd: float

    @property
    def usd(self) -> float:
        """Fabric and cluster while the run lasts."""
        return self.fabric_usd + self.cluster_usd


def compare(
    names: str,
    *,
    for_job: str | None = None,
    tokens: float | None = None,
    catalogs: Sequence[str] = (),
    **flags: Any,
) -> Result:
    """Size the same nodes on several fabric families.

    Parameters
    ----------
    names : str
        Family ids with commas, or ``all``.
    for_job : str, optional
        Catalog model or ``config.json``: rank by USD of one finished run, the fabric's price
        against days lost.
    tokens : float, optional
        Its training tokens; the model's own where left out. [-]
    catalogs : sequence of str
        Overlay folders.
    **flags
        As in :class:`dcplan.answers.fabric.request.Wish`; ``fabric`` and ``switch`` are the
        families' own.

    Raises
    ------
    InputError
        When a family is unknown, or none of them holds the nodes.
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    ledger = Ledger(catalog)
    flags = {k: v for k, v in flags.items() if k not in ("fabric", "switch")}
    if for_job and not flags.get("system"):
        cause = "a run needs to know the accelerators"
        raise InputError([Problem("DC050", cause, Place("--for-job"), help="--system dgx-h100")])
    built: dict[str, Built] = {}
    refused: dict[str, str] = {}
    for name in _families(names, catalog):
        try:
            asked = resolve(Wish.of(flags | {"fabric": name}), catalog)
            _must_speak(asked)
            built[name] = build(asked, ledger)
        except InputError as error:
            refused[name] = "; ".join(p.cause for p in error.problems)
    if not built:
        reasons = {why: n for n, why in reversed(refused.items())}
        raise InputError(
            [Problem("DC050", f"{n}: {why}", Place("--compare")) for why, n in reasons.items()]
        )
    rows = [_row(name, b, ledger) for name, b in built.items()]
    rows.sort(key=lambda row: (row[4] is None, row[4]))
    rows += [(name, *[None] * (len(COLUMNS) - 2), why) for name, why in refused.items()]
    tables = {"fabrics": Table(COLUMNS, tuple(rows))}
    best = str(rows[0][0])
    what = f"{flags['nodes']:,} {flags.get('system') or 'nodes'}"
    headline = (
        f"{len(built)} of {len(built) + len(refused)} fabrics join {what}: {best} is the cheapest"
    )
    metrics: dict[str, Metric] = {}
    if for_job:
        runs = {
            name: _run(b, for_job, tokens, catalogs, ledger)
            for name, b in built.items()
            if b.totals
        }
        tables["job"] = _job_table(runs)
        best = min(runs, key=lambda n: runs[n].usd)
        money = f"USD {runs[best].usd / 1e6:,.2f} M in {runs[best].days:,.1f} days"
        headline = f"{best} gives {for_job} at the least cost: {money}"
        metrics = {
            "days": Metric(runs[best].days, "d", "Run on the cheapest fabric"),
            "usd_per_run": Metric(runs[best].usd, "USD", "Cluster and fabric while it lasts"),
        }
    notes = [JOB_NOTE] if for_job else []
    return Result(
        "fabric",
        "ok",
        EXIT_OK,
        headline,
        metrics=metrics,
        tables=tables,
        inputs=[asdict(r) for _, r in sorted(ledger.rows.items())],
        warnings=[{"code": "design", "message": note} for note in notes],
    )


def _families(names: str, catalog: Catalog) -> list[str]:
    rows = catalog.table("fabrics", Fabric)
    if names == "all":
        return list(rows)
    asked = [n.strip() for n in names.split(",") if n.strip()]
    if not asked:
        cause = "no fabric family is named"
        raise InputError([Problem("DC050", cause, Place("--compare"), help="--compare all")])
    unknown = [
        Problem(
            "DC010",
            f"no fabrics row {n!r}",
            Place("--compare"),
            did_you_mean(n, rows),
            "dcplan catalog list fabrics",
        )
        for n in asked
        if catalog.find("fabrics", n, Fabric) is None
    ]
    if unknown:
        raise InputError(unknown)
    return asked


def _must_speak(asked: Asked) -> None:
    """The system's NICs must speak the family's protocol, and fill its links."""
    if asked.system and asked.family and asked.family.protocol not in asked.system.protocols:
        spoken = ", ".join(asked.system.protocols)
        cause = f"{asked.system.id} speaks {spoken}, not {asked.family.protocol}"
        raise InputError([Problem("DC050", cause, Place("--compare"))])
    nic = asked.link_gbps * asked.ports.planes
    if asked.family and asked.family.rate_gbps.value < nic:
        cause = (
            f"its {asked.family.rate_gbps.value:g} Gb/s links are slower than the {nic:g} Gb/s NICs"
        )
        raise InputError([Problem("DC050", cause, Place("--compare"))])


def _row(name: str, built: Built, ledger: Ledger) -> tuple[Cell, ...]:
    asked, t = built.asked, built.totals
    gbps = bisection_gbps(asked, built.network)
    found = performance.levels(asked, built.network, ledger)
    reduce = performance.metrics(found)["all_reduce_s"].value if found else None
    priced: tuple[Cell, ...] = (None,) * 6
    if t:
        each = t.price.value / asked.accelerators if asked.accelerators else None
        priced = (t.transceivers, t.kw, t.price.value, t.price.low, t.price.high, each)
    per_gbps = t.price.value / gbps if t and gbps else None
    return (
        name,
        built.network.counts.switches,
        *priced,
        gbps / 1000.0,
        per_gbps,
        reduce,
        built.why or None,
    )


def _run(
    built: Built, model: str, tokens: float | None, catalogs: Sequence[str], ledger: Ledger
) -> Run:
    """Days on the bandwidth that the fabric leaves across all its tiers; both prices spread evenly
    over their life.
    """
    asked, system, t = built.asked, built.asked.system, built.totals
    if system is None or t is None or system.price_usd is None:
        cause = f"{system.id if system else 'the system'} has no price"
        raise InputError([Problem("DC050", cause, Place("--for-job"))])
    last = performance.bandwidth(asked, built.network, ledger).rows[-1]
    ideal = (
        ledger.parameter("network", "effective-adaptive-frac")
        if built.network.plan.tiers > 1
        else 1.0
    )
    ports = (system.scaleout_ports or system.accelerators) / system.accelerators
    gbps = min(float(last[2] or 0.0) * 8.0 / ideal / ports, asked.link_gbps * asked.ports.planes)
    found = train(
        model,
        system=system.id,
        accelerators=asked.accelerators,
        tokens=tokens,
        link_gbps=gbps,
        in_network=bool(asked.family and asked.family.in_network_reduction),
        catalogs=catalogs,
    )
    days = found.value("days")
    life = ledger.parameter("finance", "hardware-life-years") * DAYS_PER_YEAR
    cluster = ledger.take(f"systems.{system.id}.price_usd", system.price_usd) * asked.wish.nodes
    return Run(days, t.price.value * days / life, cluster * days / life)


def _job_table(runs: dict[str, Run]) -> Table:
    ranked = sorted(runs.items(), key=lambda item: item[1].usd)
    fastest = min(run.days for run in runs.values())
    columns = ("fabric", "days", "days_lost", "fabric_usd", "cluster_usd", "usd_per_run")
    rows = [(n, r.days, r.days - fastest, r.fabric_usd, r.cluster_usd, r.usd) for n, r in ranked]
    return Table(columns, tuple(rows))
