"""Widths of the 80 % intervals of serving predictions, from the engine's row."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Engine, Parameter

KIND = "serving"


def spread_of(
    catalog: Catalog,
    engine: Engine,
    family: str,
    quantity: str,
    kind: str = "",
    *,
    accelerator: str = "",
    early: bool = False,
) -> float:
    r"""Return the half width of the 80 % interval of a quantity, as a log ratio.

    The most specific measured residuals count: of the engine for this kind of measurement, of the
    engine for the quantity, or the class value. An accelerator without measured rows of the engine
    adds the spread between accelerators:

    .. math:: w = \sqrt{w_e^2 + w_a^2}

    Parameters
    ----------
    catalog : Catalog
        Has the widths of an early port, and of a quantity without measured rows of its engine.
    engine : Engine
        Row of the engine, with the spreads of held-out rows.
    family : str
        Accelerator family.
    quantity : str
        Column of the measurement, such as ``tpot_ms``.
    kind : str
        ``closed``, ``static``, ``saturated`` or ``split``; empty for any.
    accelerator : str
        Catalog id of the accelerator; empty leaves out the spread between accelerators.
    early : bool
        Whether the release had an early port to the family.
    """
    if early:
        return _width(catalog, "spread-early-port")
    found = _found(engine.spreads, family, quantity, kind)
    if found is None:
        return _width(catalog, "spread-unmeasured")
    if not accelerator or accelerator in engine.measured_on:
        return found
    return math.hypot(found, _width(catalog, "spread-new-accelerator"))


def _width(catalog: Catalog, name: str) -> float:
    return catalog.get(KIND, name, Parameter).value.value


def _found(spreads: Mapping[str, object], family: str, quantity: str, kind: str) -> float | None:
    name = quantity.replace("_", "-")
    for key in (f"{name}-{kind}-{family}", f"{name}-{kind}", name):
        value = spreads.get(key)
        if value is not None:
            return float(getattr(value, "value", value))  # type: ignore[arg-type]
    return None
