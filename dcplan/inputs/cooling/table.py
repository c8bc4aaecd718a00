"""PUE and WUE of options from the table by climate zone and size class."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.catalog.schema import CoolingOption, PueRow
from dcplan.facility.cooling import Spread
from dcplan.facility.pue import PueEntry, lookup
from dcplan.inputs.cooling.losses import hall_losses_frac
from dcplan.inputs.cooling.setting import Performance, Setting
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity


def tabulated(option: CoolingOption, at: Setting, log: InputLog) -> Performance:
    """Return the rows of the table for the size classes of the hall, by weight."""
    rows = [(_row(option, size, at, log), weight) for size, weight in at.sizes]
    for row, _ in rows:
        for name in ("pue", "peak_pue", "wue_l_per_kwh"):
            if getattr(row, name):
                log.take(f"pue.{row.id}.{name}", getattr(row, name))
    pue = _weighted([(row.pue, weight) for row, weight in rows])
    peak = _weighted([(row.peak_pue, weight) for row, weight in rows])
    water = [(row.wue_l_per_kwh, weight) for row, weight in rows if row.wue_l_per_kwh]
    change = _chain_less_class(at, rows, log)
    return Performance(
        Spread(pue.low + change, pue.value + change, pue.high + change),
        _weighted(water) if len(water) == len(rows) else None,
        max(pue.value, peak.value) + change,
        None,
        (),
        None,
        None,
        None,
        modeled=False,
    )


def _chain_less_class(at: Setting, rows: Sequence[tuple[PueRow, float]], log: InputLog) -> float:
    """Return the losses of the chain less those of the size classes, which the table contains."""
    if not at.branches:
        return 0.0
    inside = sum(
        weight * hall_losses_frac((), ((row.losses_of or row.size, 1.0),), log)
        for row, weight in rows
    )
    return hall_losses_frac(at.branches, at.sizes, log) - inside


def _row(option: CoolingOption, size: str, at: Setting, log: InputLog) -> PueRow:
    """Return the row of the table for a size class and the zone, or for all zones."""
    rows = log.catalog.table("pue", PueRow).values()
    entries = [
        PueEntry(
            r.cooling,
            r.size,
            r.zone,
            r.pue.value,
            r.peak_pue.value,
            r.wue_l_per_kwh.value if r.wue_l_per_kwh else None,
        )
        for r in rows
    ]
    entry = lookup(entries, option.id, size, at.zone or "all")
    if entry is None:
        msg = f"the catalog has no PUE of {option.id} for a {size} hall in zone {at.zone or 'unknown'}"
        raise LookupError(msg)
    return log.catalog.get("pue", f"{option.id}-{size}-{entry.zone.lower()}", PueRow)


def _weighted(rows: Sequence[tuple[Quantity, float]]) -> Spread:
    low, value, high = (
        sum(weight * x for x, (_, weight) in zip(values, rows, strict=True))
        for values in zip(*((q.bounds[0], q.value, q.bounds[1]) for q, _ in rows), strict=True)
    )
    return Spread(low, value, high)
