"""Compute fabric and shared storage of a plan's halls."""

from __future__ import annotations

from dcplan.planning.audit.accounts import Accounts, storage_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan import work as specs
from dcplan.units import TB_PER_PB

GIVEN = "given"
"""Storage tier if the scenario fixes the capacity."""


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


def storage(problem: PlanningProblem, d: Decisions) -> Table:
    """Return shared storage of each hall in the last quarter, priced by fractions of its blocks."""
    found = (_storage(problem, d, hall) for hall in problem.halls)
    return specs.STORAGE.table(row for row in found if row is not None)


def _storage(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> specs.StorageRow | None:
    """Return the storage of one hall; None if it costs nothing."""
    share, last = problem.storage, problem.quarters - 1
    kw, racks = storage_of(problem, d, hall, last)
    placed = [(p, d.racks(problem, p.key, last)) for p in problem.placements if p.hall == hall.id]
    usd = hall.storage_usd + sum(n * p.storage_usd for p, n in placed)
    if not usd:
        return None
    needed = sum(r.outlook["stored_tb"] for r in d.runs if r.place == hall.id) / TB_PER_PB
    if share is None:
        return specs.StorageRow(
            hall.id, GIVEN, None, needed, None, None, None, racks, kw, usd, "usable_pb"
        )
    existing = sum(n * p.accelerators for p, n in placed)
    fixed = hall.storage_usd / (share.usd / share.usable_tb)
    usable_tb = existing * share.usable_tb + fixed
    return specs.StorageRow(
        hall=hall.id,
        tier=share.tier,
        blocks=usable_tb / (share.usable_tb / share.blocks),
        required_pb=needed,
        usable_pb=usable_tb / TB_PER_PB,
        read_gb_per_s=existing * share.read_gb_per_s,
        write_gb_per_s=existing * share.write_gb_per_s,
        racks=racks,
        power_kw=kw,
        capex_usd=usd,
        sized_by=share.binds,
    )


def too_small(table: Table, given_pb: float | None) -> list[str]:
    """Return a note for each hall whose storage is too small for its jobs."""
    notes = []
    for row in specs.STORAGE.rows(table):
        usable = given_pb if given_pb is not None else row.usable_pb
        if usable is not None and row.required_pb > usable:
            notes.append(
                f"{row.hall}: data and checkpoints of its jobs need {row.required_pb:.3g} PB, but "
                f"the storage has {usable:.3g} PB: set storage.usable_pb"
            )
    return notes
