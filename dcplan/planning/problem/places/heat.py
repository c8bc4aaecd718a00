"""Sale of waste heat of a site, resolved from the scenario."""

from __future__ import annotations

from dcplan.catalog.schema import CoolingOption
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.contracts import rising
from dcplan.planning.problem.terms.heat import HeatTerms
from dcplan.provenance import Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Site
from dcplan.units import quarter_index


def heat_terms(
    site: Site, question: Question, level: tuple[float, ...], log: InputLog
) -> HeatTerms | None:
    """Return the sale of waste heat of a site; a single price rises with inflation.

    Raises
    ------
    InputError
        When no hall of the site has liquid cooling, whose heat could be sold.
    """
    given = site.heat_reuse
    if given is None:
        return None
    quarters, key = len(level), f"sites.{site.id}.heat_reuse"
    _refuse_air(site, question, log)
    start = quarter_index(question.scenario.horizon.start)
    first = quarter_index(given.available_from) - start if given.available_from else 0
    hours = log.series(f"{key}.hours_frac", given.hours_frac, quarters)
    cost, demand = given.connection_usd, site.energy.demand_usd_per_kw_month
    charge = log.take(f"sites.{site.id}.energy.demand_usd_per_kw_month", demand) if demand else 0.0
    own = log.text(
        f"{key}.own_grid_connection",
        "yes" if given.own_grid_connection else "no",
        Status.INPUT if given.own_grid_connection else Status.DEFAULT,
    )
    return HeatTerms(
        needed_c=log.take(f"{key}.needed_c", given.needed_c),
        usd_per_mwh=rising(f"{key}.usd_per_mwh", given.usd_per_mwh, level, log),
        hours_frac=tuple(x if t >= first else 0.0 for t, x in enumerate(hours)),
        carnot_frac=log.chosen(
            f"{key}.carnot_frac", given.carnot_frac, "facility", "heat-pump-carnot-frac"
        ),
        approach_k=log.parameter("facility", "exchanger-approach-k"),
        connection_usd=log.take(f"{key}.connection_usd", cost) if cost else 0.0,
        first=max(first, 0),
        demand_usd_per_kw_month=tuple(charge * up for up in level) if charge else (),
        own_grid_connection=own == "yes",
    )


def _refuse_air(site: Site, question: Question, log: InputLog) -> None:
    """Reject a sale of heat where no cooling option has a loop for liquid-cooled racks."""
    names = dict.fromkeys(name for hall in site.halls for name in hall.cooling)
    rows = [log.catalog.get("cooling", name, CoolingOption) for name in names]
    if any("liquid" in row.accepts and row.coolant_supply_c is not None for row in rows):
        return
    cause = (
        f"no hall of {site.id} has liquid cooling, and only heat of liquid-cooled racks can be sold: "
        f"{', '.join(names)}"
    )
    at = ("sites", question.scenario.sites.index(site), "heat_reuse")
    step = "add a cooling option such as direct-liquid-dry-cooler, or remove heat_reuse"
    raise InputError([question.tree.problem("DC015", cause, at, help=step)])
