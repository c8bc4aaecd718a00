"""Power of on-site units by hour from catalog rows: outdoor temperature and elevation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.catalog.schema import OnsitePower, Site
from dcplan.energy.plants import derated_frac
from dcplan.inputs.log import InputLog
from dcplan.units import TYPICAL_YEAR_HOURS

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outdoors:
    """What the power of a unit depends on."""

    dry_c: Array | None
    """Outdoor dry bulb by hour; None without weather. [C]"""
    design_dry_c: float | None
    site: Site | None
    """Catalog site, which has the elevation."""


def taken(row: OnsitePower, key: str, log: InputLog) -> float:
    """Return a value of the row, recorded; 0 where the row has none."""
    quantity = getattr(row, key)
    return log.take(f"onsite.{row.id}.{key}", quantity) if quantity is not None else 0.0


def derating(row: OnsitePower, at: Outdoors, log: InputLog) -> tuple[Array, float, tuple[str, ...]]:
    """Return power over rating by hour and on the design day, with what is not known."""
    flat = np.ones(TYPICAL_YEAR_HOURS)
    if row.derate_frac_per_k is None or row.rated_at_c is None:
        note = (
            f"{row.id}: the catalog has no loss of power by outdoor temperature, so its rating "
            "counts at every temperature; take the maker's curve for the design"
        )
        return flat, 1.0, (note,)
    if at.dry_c is None or at.design_dry_c is None:
        return flat, 1.0, (f"{row.id}: without weather its power has no loss by temperature",)
    rated, per_k, per_m = (
        taken(row, key, log) for key in ("rated_at_c", "derate_frac_per_k", "derate_frac_per_m")
    )
    site = at.site
    height = (
        log.take(f"sites.{site.id}.elevation_m", site.elevation_m)
        if site is not None and site.elevation_m is not None
        else 0.0
    )
    hourly = derated_frac(at.dry_c, rated, per_k, height, per_m)
    design = float(derated_frac(np.array([at.design_dry_c]), rated, per_k, height, per_m)[0])
    note = (
        f"{row.id}: {design * 100:.0f} % of its rating on the design day at "
        f"{at.design_dry_c:.1f} °C, without inlet cooling"
    )
    return hourly, design, (note,)
