"""Links of a scenario, sized from the catalog, with cost and power of the end of a hall."""

from __future__ import annotations

from dcplan.catalog.schema import Optic, Switch
from dcplan.errors import Place
from dcplan.inputs.links.facts import ROUTER_ROW, LinkAsk, check_router, local_gbps
from dcplan.inputs.links.sized import SizedLink, sized
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Link
from dcplan.units import KW_PER_MW, MILLI, QUARTERS_PER_YEAR, quarter_index

NOT_SIZED = SizedLink("", 0.0, 0.0, 0.0, 0.0)
"""A link whose values are all given."""
FIELDS = {"router": "router", "optic": "optic", "span": "span_km", "km": "km"}


def link_terms(question: Question, log: InputLog) -> tuple[LinkTerms, ...]:
    """Return the links between halls; a price, lease, power or round trip of the user replaces that of parts.

    Raises
    ------
    InputError
        When no optic reaches, or a row lacks a fact.
    """
    scenario = question.scenario
    start = quarter_index(scenario.horizon.start)
    return tuple(_terms(i, link, start, question, log) for i, link in enumerate(scenario.links))


def _terms(i: int, link: Link, start: int, question: Question, log: InputLog) -> LinkTerms:
    key, ends = f"links.{link.id}", len(link.joins)
    gbps, km = log.take(f"{key}.gbps", link.gbps), log.take(f"{key}.km", link.km)
    found = NOT_SIZED if link.quoted else _sized(i, (gbps, km), question, log)
    capex = _own(f"{key}.usd", link.usd, found.capex_usd, log)
    yearly = _own(f"{key}.usd_per_year", link.usd_per_year, found.usd_per_year, log)
    mw = _own(f"{key}.mw", link.mw, found.kw / KW_PER_MW, log)
    rtt_ms = _own(f"{key}.rtt_ms", link.rtt_ms, found.rtt_s / MILLI, log)
    opens = quarter_index(link.available_from) - start if link.available_from else 0
    if link.optic is None and found.optic:
        log.text(f"{key}.optic", found.optic, Status.DEFAULT)
    return LinkTerms(
        id=link.id,
        ends=link.joins,
        gbps=gbps,
        rtt_s=rtt_ms * MILLI,
        usd=capex / ends,
        usd_per_quarter=yearly / QUARTERS_PER_YEAR / ends,
        kw=mw * KW_PER_MW / ends,
        first=max(opens, link.lead_quarters),
        lead=link.lead_quarters,
        optic=found.optic,
    )


def _own(key: str, given: Quantity | None, computed: float, log: InputLog) -> float:
    """Return the user's value, or the computed one, recorded."""
    return log.take(key, given or Quantity(value=computed, status=Status.DERIVED))


def _sized(i: int, size: tuple[float, float], question: Question, log: InputLog) -> SizedLink:
    link = question.scenario.links[i]

    def where(name: str) -> Place:
        field = FIELDS[name]
        given = getattr(link, field) is not None
        return question.tree.place(("links", i, field if given else "id"))

    router = log.catalog.get("switches", link.router or ROUTER_ROW, Switch)
    key = f"links.{link.id}"
    ask = LinkAsk(
        gbps=size[0],
        route_km=size[1],
        optic=log.catalog.get("optics", link.optic, Optic) if link.optic else None,
        router=check_router(router, local_gbps(log), where("router")),
        span_km=link.span_km,
        span_key=f"{key}.span_km",
        where=where,
        own_fiber=link.within_site,
    )
    return sized(ask, len(link.joins), log)
