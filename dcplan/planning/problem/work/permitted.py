"""Places and systems that may serve a demand."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.catalog.schema import Row
from dcplan.inputs.cloud_prices import offer_of, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.targets import Target
from dcplan.scenario.schema import Demand


def permitted(
    demand: Demand,
    kind: Kind,
    where: Iterable[Target],
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[Target]:
    """Return the places that may serve a demand: its sites (without the cloud) and its systems.

    They are sorted so that the slowest link of a hall comes last and is used, which is
    conservative.
    """
    found = []
    wanted = {row_id(name, log) for name in demand.systems or ()}
    for target in sorted(where, key=lambda t: -t.link.gbps):
        if demand.sites and target.place.split("/")[0] not in demand.sites:
            continue
        if target.offer is not None and target.offer.longest_days is not None:
            reason = f"sold for at most {target.offer.longest_days:g} days; a demand is served all the time"
            excluded.append(
                ExcludedOption(kind, demand.id, f"{target.place} {target.system}", reason)
            )
            continue
        names = {target.system, target.accelerator, row_of(offer_of(target.place))}
        if wanted and not names & wanted:
            excluded.append(
                ExcludedOption(
                    kind, demand.id, f"{target.place} {target.system}", "not among its systems"
                )
            )
            continue
        found.append(target)
    return found


def row_id(name: str, log: InputLog) -> str:
    """Return the id of the catalog row with this name or alias."""
    rows = (log.catalog.find(kind, name, Row) for kind in ("systems", "accelerators", "cloud"))
    return next((row.id for row in rows if row is not None), name)
