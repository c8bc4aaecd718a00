"""At which price a system without one would enter the plan: parity with what the plan buys."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, System
from dcplan.inputs.devices import training_terms
from dcplan.inputs.left_out import Cause, LeftOut
from dcplan.planning.solve.solved import Solved
from dcplan.units import si


def speed_tflops(catalog: Catalog, accelerator: str) -> float:
    """Best rate of an accelerator's large matrix products: peak times achievable fraction, bf16 or
    fp8. [TFLOP/s]
    """
    row = catalog.find("accelerators", accelerator, Accelerator)
    if row is None:
        return 0.0
    terms = training_terms(catalog, row)
    pairs = ((row.bf16_tflops, terms["half_gemm_frac"]), (row.fp8_tflops, terms["fp8_gemm_frac"]))
    return max(peak.value * frac if peak else 0.0 for peak, frac in pairs)


def usd_per_tflops(solved: Solved, catalog: Catalog) -> tuple[float, str] | None:
    """Hardware price of an achieved TFLOP/s in the plan's cheapest system, network not counted,
    and its id.
    """
    if solved.decisions is None:
        return None
    bought = {k for _, _, k, _ in solved.decisions.ordered} | {
        k for _, _, k in solved.decisions.fleet
    }
    found = []
    for p in solved.menu.placements:
        rate = speed_tflops(catalog, p.accelerator) * p.accelerators
        if rate and (p.system in bought or not bought):
            found.append((p.price_usd / rate, p.system))
    return min(found, default=None)


def with_entry_prices(
    left_out: tuple[LeftOut, ...], solved: Solved, catalog: Catalog
) -> tuple[LeftOut, ...]:
    """Add to every ``no price`` the price below which the system would be cheaper per achieved
    TFLOP/s.
    """
    reference = usd_per_tflops(solved, catalog)
    return tuple(
        _with_price(x, reference, catalog) if x.cause is Cause.NO_PRICE else x for x in left_out
    )


def _with_price(x: LeftOut, reference: tuple[float, str] | None, catalog: Catalog) -> LeftOut:
    row = catalog.find("systems", x.id, System)
    rate = speed_tflops(catalog, row.accelerator) * row.accelerators if row else 0.0
    if reference is None or not rate:
        return LeftOut(
            x.kind,
            x.id,
            x.where,
            "no price, and no achieved rate from which an entry price would follow",
        )
    usd, system = reference
    reason = (
        f"no price: enters the plan below about USD {si(usd * rate)} a unit "
        f"(parity with {system} per achieved TFLOP/s; power, space and network not counted)"
    )
    return LeftOut(x.kind, x.id, x.where, reason)
