"""Ramp limit of a site's grid connection, resolved from the scenario."""

from __future__ import annotations

from dataclasses import replace

from dcplan.catalog.schema import OnsitePower
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.cells import cells_of
from dcplan.inputs.power.plants import taken
from dcplan.planning.problem.terms.ramp import RampTerms
from dcplan.scenario.schema import Site
from dcplan.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE


def ramp_terms(site: Site, log: InputLog) -> RampTerms | None:
    """Return the ramp limit of a site, with the first battery that it may build; None without a limit."""
    given = site.ramp_limit_mw_per_min
    if given is None:
        return None
    terms = RampTerms(
        limit_mw_per_s=log.take(f"sites.{site.id}.ramp_limit_mw_per_min", given)
        / SECONDS_PER_MINUTE,
        low_frac=log.parameter("facility", "swing-low-frac"),
        edge_s=log.parameter("facility", "swing-edge-s"),
        pause_s=log.parameter("reliability", "checkpoint-pause-s"),
        restart_s=log.parameter("reliability", "restart-h") * SECONDS_PER_HOUR,
    )
    rows = [log.catalog.get("onsite", x.id, OnsitePower) for x in site.onsite]
    row = next((x for x in rows if x.kind == "battery"), None)
    if row is None:
        return terms
    return replace(terms, battery=row.id, hours=taken(row, "hours", log), cells=cells_of(row, log))
