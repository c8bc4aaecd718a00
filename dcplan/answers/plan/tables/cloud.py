"""Rent of a plan: accelerators on demand, and commitments."""

from __future__ import annotations

from collections import defaultdict

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.audit.rent.use import covered, in_force, use_by_time
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan import work as specs
from dcplan.units import HOURS_PER_QUARTER, MONTHS_PER_QUARTER


def cloud(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the rented accelerators of each offer for each demand and run."""
    offer = {o.id: o for o in problem.offers}

    def row(t: int, name: str, accelerators: float, use: str) -> specs.CloudRow:
        return specs.CloudRow(
            quarter=quarter_at(problem, t),
            offer=name,
            region=offer[name].region,
            average_accelerators=accelerators,
            usd_per_accelerator_hour=offer[name].usd_per_accelerator_hour[t],
            for_use=use,
        )

    terms = {x.id: x for x in problem.demands}
    mean: dict[tuple[int, str, str], float] = defaultdict(float)
    for (who, name, t), n in d.rented.items():
        mean[t, name, terms[who].workload_id] += terms[who].rented_hours_frac * n
    rows = [row(t, name, n, who) for (t, name, who), n in sorted(mean.items())]
    rows += [
        row(
            r.start_month // MONTHS_PER_QUARTER,
            r.place.removeprefix("cloud:"),
            float(r.accelerators),
            f"{r.job}, {r.days:.0f} days",
        )
        for r in d.runs
        if r.on_cloud
    ]
    return specs.CLOUD.table(rows)


def commitments(problem: PlanningProblem, d: Decisions) -> Table:
    """Return each commitment to a cloud offer, and the used share of the offer's commitments."""
    rows = []
    for offer in problem.offers:
        share, use = covered(problem, d, offer), use_by_time(problem, d, offer)
        hours = problem.periods
        for commit in offer.committed:
            for t, nodes in sorted(
                (q, n) for (o, c, q), n in d.committed.items() if (o, c) == (offer.id, commit.term)
            ):
                n, price = nodes * offer.node_accelerators, commit.usd_per_accelerator_hour[t]
                months = range(
                    t * MONTHS_PER_QUARTER,
                    min(t + commit.quarters, problem.quarters) * MONTHS_PER_QUARTER,
                )
                busy = sum(
                    share.get((m, p), 0.0) * use.get((m, p), 0.0) * frac
                    for m in months
                    for p, frac in enumerate(hours)
                )
                existing = sum(in_force(d, offer, m // MONTHS_PER_QUARTER) for m in months)
                rows.append(
                    specs.CommitmentRow(
                        offer=offer.id,
                        term=commit.term,
                        begins=quarter_at(problem, t),
                        nodes=nodes,
                        accelerators=n,
                        usd_per_accelerator_hour=price,
                        paid_usd=n * price * HOURS_PER_QUARTER * commit.quarters,
                        used_frac=busy / existing if existing else 0.0,
                    )
                )
    return specs.COMMITMENTS.table(rows)
