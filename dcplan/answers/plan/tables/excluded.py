"""Excluded candidates, with the reason and the price at which they would enter the plan."""

from __future__ import annotations

from collections import defaultdict

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.excluded import Cause, ExcludedOption
from dcplan.inputs.training.devices import training_terms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.solved import Solved
from dcplan.result import Table
from dcplan.specs import no_plan as specs
from dcplan.units import si


def excluded_options(
    problem: PlanningProblem, entries: tuple[ExcludedOption, ...] | None = None
) -> Table:
    """Return the named or possible candidates that are excluded; equal reasons are merged."""
    merged: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for x in problem.excluded if entries is None else entries:
        merged[x.kind, x.id, x.reason].append(x.where)
    places = {key: ", ".join(w for w in dict.fromkeys(where) if w) for key, where in merged.items()}
    return specs.EXCLUDED.table(
        specs.ExcludedRow(kind, name, where, reason)
        for kind, name, where, reason in sorted(
            (kind, name, where, reason) for (kind, name, reason), where in places.items()
        )
    )


def speed_tflops(catalog: Catalog, accelerator: str) -> float:
    """Return the highest rate of an accelerator's large matrix products [TFLOP/s].

    The rate is the peak times the achievable fraction, in bf16 or fp8.
    """
    row = catalog.find("accelerators", accelerator, Accelerator)
    if row is None:
        return 0.0
    terms = training_terms(catalog, row)
    pairs = ((row.bf16_tflops, terms["half_gemm_frac"]), (row.fp8_tflops, terms["fp8_gemm_frac"]))
    return max(peak.value * frac if peak else 0.0 for peak, frac in pairs)


def usd_per_tflops(solved: Solved, catalog: Catalog) -> tuple[float, str] | None:
    """Return the price of an achieved TFLOP/s in the plan's cheapest system, and that system's id.

    The price is for the hardware without network.
    """
    if solved.decisions is None:
        return None
    bought = {k for _, _, k, _ in solved.decisions.ordered} | {
        k for _, _, k in solved.decisions.fleet
    }
    found = []
    for p in solved.problem.placements:
        rate = speed_tflops(catalog, p.accelerator) * p.accelerators
        if rate and (p.system in bought or not bought):
            found.append((p.price_usd / rate, p.system))
    return min(found, default=None)


def with_entry_prices(
    excluded: tuple[ExcludedOption, ...], solved: Solved, catalog: Catalog
) -> tuple[ExcludedOption, ...]:
    """Add to every system without a price the price below which it would enter the plan.

    Below it the system is cheaper per achieved TFLOP/s than the plan's cheapest.
    """
    reference = usd_per_tflops(solved, catalog)
    return tuple(
        _with_price(x, reference, catalog) if x.cause is Cause.NO_PRICE else x for x in excluded
    )


def _with_price(
    x: ExcludedOption, reference: tuple[float, str] | None, catalog: Catalog
) -> ExcludedOption:
    row = catalog.find("systems", x.id, System)
    rate = speed_tflops(catalog, row.accelerator) * row.accelerators if row else 0.0
    if reference is None or not rate:
        return ExcludedOption(
            x.kind, x.id, x.where, "no price, and no achieved rate to derive an entry price from"
        )
    usd, system = reference
    reason = (
        f"no price: would enter the plan below about USD {si(usd * rate)} per unit (parity with "
        f"{system} per achieved TFLOP/s, without power, space and network)"
    )
    return ExcludedOption(x.kind, x.id, x.where, reason)
