"""Bounds of inputs that every tornado moves, from the catalog where the scenario gives none."""

from __future__ import annotations

import math
import re

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import Input

RATE, RESIDUAL, UTILIZATION = (
    "finance.discount_rate",
    "finance.residual",
    "fleet.utilization_frac",
)
STAND_IN = {
    RATE: "discount-rate",
    UTILIZATION: "fleet-utilization-frac",
    "cloud.price_change_frac_per_year": "cloud-price-change-frac-per-year",
}
"""Parameters of ``finance`` whose bounds an input has if the scenario gives none."""
SHARE_OF_WORK = re.compile(r"workloads\.(capacity|inference)\.[^.]+\.utilization_frac")
"""Utilization of a workload, which has the bounds of a fleet's."""
THROUGHPUT = re.compile(r"workloads\.inference\.[^.]+\.tokens_per_s_per_accelerator\..+")
"""Tokens per second that the scenario gives for a service."""
THROUGHPUT_SPREAD = "spread-unmeasured"
"""Parameter of ``serving``: half width of a throughput's interval, as a log ratio."""
Span = tuple[float, float, float]
"""Low bound, value and high bound."""


def span_of(key: str, row: Input | None, catalog: Catalog) -> Span | None:
    """Return the bounds of an input around its value; those of the catalog if it has none.

    None for an input that is no number, or has bounds in neither.
    """
    value = row.value if row is not None else None
    now = float(value) if isinstance(value, int | float) else None
    low, high = (row.low, row.high) if row is not None else (None, None)
    if low is None or high is None or low >= high:
        low, now, high = _stand_in(key, now, catalog)
    if now is None or low is None or high is None or low >= high:
        return None
    return min(low, now), now, max(high, now)


def _stand_in(
    key: str, now: float | None, catalog: Catalog
) -> tuple[float | None, float | None, float | None]:
    name = STAND_IN.get(key)
    if name is None and SHARE_OF_WORK.fullmatch(key):
        name = STAND_IN[UTILIZATION]
    if name is not None:
        own = catalog.get("finance", name, Parameter).value
        low, high = own.bounds
        return low, own.value if now is None else now, high
    if now is not None and THROUGHPUT.fullmatch(key):
        factor = math.exp(catalog.get("serving", THROUGHPUT_SPREAD, Parameter).value.value)
        return now / factor, now, now * factor
    return None, now, None
