"""Compute fabric, shared storage and links of a plan's halls."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.books.hall import storage_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import ALL_DATA, COLD, HOT, HallTerms, PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.terms import RunOption
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.places import network as specs
from dcplan.training.wide_area import Span, WideArea
from dcplan.units import MILLI, QUARTERS_PER_YEAR, TB_PER_PB

GIVEN = "given"
"""Storage tier if the scenario fixes the capacity."""
LISTED = 5
"""Number of the cheapest choices of storage tiers that are listed."""


def network(problem: PlanningProblem, d: Decisions, books: Accounts) -> Table:
    """Return the network of each hall with racks, including orders up to the last quarter."""
    rows = []
    for h in problem.halls:
        n = books.ordered_networks[h.id, problem.quarters - 1]
        if n.ports:
            c = n.counts
            rows.append(
                specs.NetworkRow(
                    hall=h.id,
                    fabric=d.fabric.get(h.id),
                    nic_ports=n.ports,
                    nic_ports_in_service=_in_service(problem, d, h),
                    leaf_switches=c.leaf,
                    spine_switches=c.spine,
                    core_switches=c.core,
                    leaf_spine_links=c.leaf_spine_links,
                    spine_core_links=c.spine_core_links,
                    transceivers=n.transceivers,
                    power_kw=n.kw,
                    capex_usd=n.usd,
                )
            )
    return specs.NETWORK.table(rows)


def _in_service(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> int:
    """Return the NIC ports of the racks of a hall in service in the last quarter."""
    last = problem.quarters - 1
    placed = (p for p in problem.placements if p.hall == hall.id)
    return sum(d.racks(problem, p.key, last) * p.ports for p in placed)


def storage(problem: PlanningProblem, d: Decisions) -> Table:
    """Return shared storage of each hall in the last quarter, priced by fractions of its blocks."""
    return specs.STORAGE.table(row for hall in problem.halls for row in _storage(problem, d, hall))


def _storage(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> Iterator[specs.StorageRow]:
    """Yield the storage of one hall by tier; nothing if it costs nothing."""
    last = problem.quarters - 1
    placed = [(p, d.racks(problem, p.key, last)) for p in problem.placements if p.hall == hall.id]
    usd = hall.storage_usd + sum(n * p.storage_usd for p, n in placed)
    if not usd:
        return
    needed = sum(r.outlook["stored_tb"] for r in d.runs if r.place == hall.id) / TB_PER_PB
    if not problem.storage:
        kw, racks = storage_of(problem, d, hall, last)
        yield specs.StorageRow(
            hall.id, ALL_DATA, GIVEN, None, needed, None, None, None, racks, kw, usd, "usable_pb"
        )
    existing = sum(n * p.accelerators for p, n in placed)
    alone = [hall.storage_usd / (s.usd / s.usable_tb) for s in problem.storage[:1]]
    fixed = hall.storage_tb or (*alone, *(0.0 for _ in problem.storage[1:]))
    for share, fixed_tb in zip(problem.storage, fixed, strict=True):
        hot = share.role != COLD
        times = fixed_tb / share.usable_tb
        usable_tb = existing * share.usable_tb + fixed_tb
        yield specs.StorageRow(
            hall=hall.id,
            role=share.role,
            tier=share.tier,
            blocks=usable_tb / (share.usable_tb / share.blocks),
            required_pb=needed if hot else None,
            usable_pb=usable_tb / TB_PER_PB,
            read_gb_per_s=existing * share.read_gb_per_s,
            write_gb_per_s=existing * share.write_gb_per_s,
            racks=existing * share.racks + times * share.racks,
            power_kw=existing * share.kw + times * share.kw,
            capex_usd=existing * share.usd + times * share.usd,
            sized_by=share.binds,
        )


def storage_choices(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the cheapest tiers and pairs, and the cheapest tier alone."""
    choices, last = problem.storage_choices, problem.quarters - 1
    count = sum(d.racks(problem, p.key, last) * p.accelerators for p in problem.placements)
    alone = next((c for c in choices if c.cold is None), None)
    listed = [c for i, c in enumerate(choices) if i < LISTED or c is alone]
    return specs.STORAGE_CHOICES.table(
        specs.StorageChoiceRow(
            hot_tier=c.hot,
            cold_tier=c.cold,
            chosen=c is choices[0],
            price_usd=c.usd,
            power_kw=c.kw,
            present_cost_usd=c.cost_usd,
            difference_usd=(c.cost_usd - choices[0].cost_usd) * count,
        )
        for c in listed
    )


def choice_notes(table: Table) -> list[str]:
    """Say what the chosen storage tiers cost, and the next best and the best single tier."""
    rows = specs.STORAGE_CHOICES.rows(table)
    if len(rows) < 2:
        return []

    def words(row: specs.StorageChoiceRow) -> str:
        tiers = f"{row.hot_tier} with {row.cold_tier}" if row.cold_tier else row.hot_tier
        return f"{tiers} at USD {row.present_cost_usd:,.0f}"

    first, alone = rows[0], next((r for r in rows if r.cold_tier is None), None)
    text = f"{words(first)} of present cost an accelerator; next best {words(rows[1])}"
    if alone is not None and alone not in rows[:2]:
        text += f"; best single tier {words(alone)}"
    return [text]


def too_small(table: Table, given_pb: float | None) -> list[str]:
    """Return a note for each hall whose storage is too small for its jobs."""
    notes = []
    for row in specs.STORAGE.rows(table):
        usable = given_pb if given_pb is not None else row.usable_pb
        if usable is None or row.required_pb is None or row.required_pb <= usable:
            continue
        what, key = "storage", "storage.usable_pb"
        if row.role == HOT:
            what, key = f"hot tier {row.tier}", "storage.hot_frac"
        notes.append(
            f"{row.hall}: data and checkpoints of its jobs need {row.required_pb:.3g} PB, but the "
            f"{what} has {usable:.3g} PB: set {key}"
        )
    return notes


def links(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the ends of links in service, and the runs that use them."""
    rows = []
    for link in problem.links:
        for hall in link.ends:
            on = [t for t in range(problem.quarters) if d.links.get((link.id, hall, t))]
            if on:
                rows.append(_row(problem, d, link, hall, on[0]))
    return specs.LINKS.table(rows)


def _row(
    problem: PlanningProblem, d: Decisions, link: LinkTerms, hall: str, first: int
) -> specs.LinkRow:
    runs = [r for r in d.runs if r.part and r.place == hall and link.id in r.part.links]
    most = max((_nic_gbps(problem, r) for r in runs), default=0.0)
    return specs.LinkRow(
        link=link.id,
        hall=hall,
        optic=link.optic,
        gbps=link.gbps,
        rtt_ms=link.rtt_s / MILLI,
        serves_from=quarter_at(problem, first),
        capex_usd=link.usd,
        lease_usd_per_year=link.usd_per_quarter * QUARTERS_PER_YEAR,
        power_kw=link.kw,
        runs=", ".join(dict.fromkeys(r.job for r in runs)),
        oversubscription=most / link.gbps if most else None,
    )


def _nic_gbps(problem: PlanningProblem, run: RunOption) -> float:
    """Return the rate of the NIC ports of a run's accelerators in one hall."""
    placed = (p for p in problem.placements if (p.hall, p.system) == (run.place, run.system))
    each = max((p.ports * p.port_class.gbps / p.accelerators for p in placed), default=0.0)
    return run.accelerators * each


def span_notes(d: Decisions | None, question: Question) -> list[str]:
    """Return a note for each run over several halls: how it exchanges, and its `train` command."""
    notes = []
    for run in d.whole_runs if d else ():
        if run.part is None:
            continue
        halls, sites = run.part.exchange.halls, run.part.exchange.sites
        texts = []
        if halls is not None:
            texts.append(f"{halls.sites} halls of a site exchange gradients every step")
        if sites is not None:
            more, every = run.part.exchange.extra_tokens_frac, "every step"
            if sites.local_steps > 1:
                every = f"every {sites.local_steps} steps, with {more:.1%} more tokens"
            texts.append(f"{sites.sites} sites exchange {every}")
        flags = _train_flags(run, run.part.exchange, question)
        notes.append(
            f"{run.job} trains over {run.parts} halls: {', and '.join(texts)}; `dcplan train "
            f"{flags}` computes it alone"
        )
    return notes


def _train_flags(run: RunOption, exchange: Span, question: Question) -> str:
    """Return the model and the flags of ``dcplan train`` for a complete run over several halls."""
    scenario = question.scenario
    job = next(x for x in scenario.workloads.training if x.id == run.job)
    own = job.model.endswith(
        ".json"
    )  # relative to the scenario; `train` takes it from the working folder
    model = str(question.file.parent / job.model) if own else job.model
    flags: dict[str, float | str | None] = {
        "system": run.system,
        "n": run.accelerators - run.spares,
        "tokens": job.tokens.value,
        "seq-len": job.seq_len,
        "global-batch-tokens": job.global_batch_tokens.value,
        "precision": run.precision,
        "images": job.images,
        "stack": job.stack,
        "start": job.start or scenario.horizon.start,
        "layout": ",".join(f"{k}={v}" for k, v in run.layout.items()),
        "sync-bytes-per-param": job.sync_bytes_per_param,
    }
    if exchange.halls is not None:
        flags |= _link_flags("hall", exchange.halls) | {"halls": exchange.halls.sites}
    if exchange.sites is not None:
        flags |= _link_flags("wan", exchange.sites) | {"wan-sites": exchange.sites.sites}
        if exchange.sites.local_steps > 1:
            flags["local-steps"] = exchange.sites.local_steps
            flags["extra-tokens-frac"] = exchange.extra_tokens_frac
    given = {
        k: f"{v:.10g}" if isinstance(v, float) else v for k, v in flags.items() if v is not None
    }
    return " ".join([model, *(f"-{'' if k == 'n' else '-'}{k} {v}" for k, v in given.items())])


def _link_flags(name: str, link: WideArea) -> dict[str, float | str | None]:
    return {f"{name}-gbps": link.gbps, f"{name}-rtt-ms": 2.0 * link.latency_s / MILLI}
