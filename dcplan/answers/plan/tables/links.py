"""Links of a plan between halls, and the commands that compute its runs alone."""

from __future__ import annotations

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.terms import RunOption
from dcplan.result import Table
from dcplan.scenario.schema import Scenario
from dcplan.specs.plan import links as specs
from dcplan.units import MILLI, QUARTERS_PER_YEAR


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


def span_notes(d: Decisions | None, scenario: Scenario) -> list[str]:
    """Return a note for each run over several halls: how it exchanges, and its `train` command."""
    notes = []
    for run in d.whole_runs if d else ():
        if run.part is None:
            continue
        halls, sites = run.part.exchange.halls, run.part.exchange.sites
        job = next(x for x in scenario.workloads.training if x.id == run.job)
        flags = [
            f"{job.model} --system {run.system} -n {run.accelerators - run.spares}",
            f"--tokens {job.tokens.value:g} --seq-len {job.seq_len}",
            f"--global-batch-tokens {job.global_batch_tokens.value:g} --precision {run.precision}",
        ]
        texts = []
        if halls is not None:
            rtt_ms = 2.0 * halls.latency_s / MILLI
            flags.append(
                f"--halls {halls.sites} --hall-gbps {halls.gbps:g} --hall-rtt-ms {rtt_ms:.4g}"
            )
            texts.append(f"{halls.sites} halls of a site exchange gradients every step")
        if sites is not None:
            rtt_ms, steps = 2.0 * sites.latency_s / MILLI, sites.local_steps
            flags.append(
                f"--wan-sites {sites.sites} --wan-gbps {sites.gbps:g} --wan-rtt-ms {rtt_ms:.4g}"
            )
            every = "every step"
            if steps > 1:
                more = run.part.exchange.extra_tokens_frac
                flags.append(f"--local-steps {steps} --extra-tokens-frac {more:g}")
                every = f"every {steps} steps"
            texts.append(f"{sites.sites} sites exchange {every}")
        notes.append(
            f"{run.job} trains over {run.parts} halls: {', and '.join(texts)}; `dcplan train "
            f"{' '.join(flags)}` computes it alone"
        )
    return notes
