"""Checks of `comparison:` and of the energy tariffs: names, sums, and fields that exclude each other."""

from __future__ import annotations

from dcplan.catalog.schema import Offer
from dcplan.catalog.schema.market import COMMITTED, TERMS
from dcplan.errors import did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema.comparison import OWNED_LINES, RENTED_LINES, Comparison
from dcplan.scenario.schema.places.site import Energy
from dcplan.units import HOURS_PER_WEEK

TOLERANCE = 1e-9
"""Tolerance of sums of shares and hours."""


def check_comparison(check: Checker) -> None:
    """Check ``comparison:``."""
    given = check.scenario.comparison
    if given is None:
        return
    if check.scenario.fleet is None:
        cause = "comparison needs fleet: it has the conventions of comparing a fleet with rents"
        check.add("DC003", cause, ("comparison",), help="add fleet, or remove comparison")
    _check_lines(check, given)
    _check_hours(check, given)
    _check_rents(check, given)
    _check_mixes(check, given)


def line_names(given: Comparison) -> list[str]:
    """List the names that ``leave_out`` and ``only`` accept, with and without the side."""
    owned = (*OWNED_LINES, *(line.id for line in given.lines))
    sided = [f"owned.{x}" for x in owned] + [f"rented.{x}" for x in RENTED_LINES]
    return [*dict.fromkeys((*owned, *RENTED_LINES)), *sided]


COMPUTED = frozenset(
    (*OWNED_LINES, *RENTED_LINES, "sales-tax", "property-tax", "income-tax", "payment-milestones")
)
"""Names of the cost lines of both sides that dcplan computes. A line of the same name would add to
one of them in a table, or `leave_out` would leave out both."""


def _plain(name: str) -> str:
    """Return a name in lower case with hyphens, as the names of computed lines are."""
    return name.casefold().replace("_", "-").replace(".", "-")


def _check_lines(check: Checker, given: Comparison) -> None:
    check.unique((line.id for line in given.lines), ("comparison", "lines"))
    for i, line in enumerate(given.lines):
        if _plain(line.id) in COMPUTED:
            cause = f"the line {line.id!r} has the name of a line that dcplan computes"
            check.add("DC011", cause, ("comparison", "lines", i, "id"), help="choose another id")
    if given.only and given.leave_out:
        cause = "only and leave_out exclude each other"
        check.add("DC015", cause, ("comparison", "only"), help="give one of the two lists")
    known = line_names(given)
    for field in ("leave_out", "only"):
        for i, name in enumerate(getattr(given, field) or ()):
            if name not in known:
                check.add(
                    "DC010",
                    f"no cost line {name!r}",
                    ("comparison", field, i),
                    hint=did_you_mean(name, known),
                    help=f"owned: {', '.join(OWNED_LINES)}; rented: {', '.join(RENTED_LINES)}",
                )


def _check_hours(check: Checker, given: Comparison) -> None:
    fleet = check.scenario.fleet
    if given.accelerator_hours is None or fleet is None:
        return
    if fleet.utilization_frac is not None:
        cause = "comparison.accelerator_hours and fleet.utilization_frac exclude each other"
        check.add("DC015", cause, ("comparison", "accelerator_hours"), help="give one of the two")


def _check_rents(check: Checker, given: Comparison) -> None:
    check.unique((rent.id for rent in given.rents), ("comparison", "rents"))
    for i, rent in enumerate(given.rents):
        path: Path = ("comparison", "rents", i)
        check.need("cloud", rent.id, Offer, (*path, "id"))
        _check_offered(check, rent.id, (*path, "id"))
        seen: set[str] = set()
        for j, commitment in enumerate(rent.commitments):
            place = (*path, "commitments", j, "term")
            _check_commitment(check, commitment.term, place)
            if commitment.term in seen:
                check.add("DC011", f"the term {commitment.term} occurs twice", place)
            seen.add(commitment.term)


def _check_offered(check: Checker, offer: str, path: Path) -> None:
    """Reject a quote of an offer that the comparison does not contain."""
    cloud = check.scenario.cloud
    row = check.catalog.find("cloud", offer, Offer)
    if row is None or cloud is None or cloud.offers == "all":
        return
    found = (check.catalog.find("cloud", x, Offer) for x in cloud.offers)
    if row.id not in {x.id for x in found if x is not None}:
        check.add("DC015", f"{offer} is not in cloud.offers, so its quote has no use", path)


def _check_commitment(check: Checker, term: str, path: Path) -> None:
    cloud = check.scenario.cloud
    if term not in COMMITTED:
        cause = f"{term} is not a commitment"
        check.add("DC015", cause, path, help=f"use {' or '.join(COMMITTED)}")
    elif cloud is not None and term not in cloud.terms:
        check.add("DC015", f"{term} is not in cloud.terms", path, help="add it to cloud.terms")


def _check_mixes(check: Checker, given: Comparison) -> None:
    check.unique((mix.id for mix in given.mixes), ("comparison", "mixes"))
    cloud = check.scenario.cloud
    for i, mix in enumerate(given.mixes):
        path: Path = ("comparison", "mixes", i)
        if mix.id in TERMS:
            cause = f"{mix.id} is the name of a term, so a mix cannot have it"
            check.add("DC011", cause, (*path, "id"), help="choose another id")
        for term in mix.shares:
            _check_commitment(check, term, (*path, "shares", term))
        total = sum(x.value for x in mix.shares.values())
        if total > 1.0 + TOLERANCE:
            cause = f"the shares of {mix.id} sum to {total:g}, which is above 1"
            check.add("DC015", cause, (*path, "shares"), help="the rest of 1 is on demand")
        elif total < 1.0 - TOLERANCE and cloud is not None and "on-demand" not in cloud.terms:
            cause = f"{1.0 - total:g} of {mix.id} is on demand, which is not in cloud.terms"
            check.add("DC015", cause, (*path, "shares"), help="add on-demand to cloud.terms")


def check_tariff(check: Checker, energy: Energy, path: Path) -> None:
    """Check that a tariff has one kind of prices, complete weeks, and tiers that rise."""
    kinds = {
        "usd_per_kwh": energy.usd_per_kwh is not None,
        "time_of_use": bool(energy.time_of_use),
        "tiers": bool(energy.tiers),
    }
    named = [name for name, given in kinds.items() if given]
    if len(named) > 1:
        cause = f"{' and '.join(named)} exclude each other: a tariff has one kind of prices"
        check.add("DC015", cause, (*path, named[1]), help="give one of them")
    check.unique((x.id for x in energy.time_of_use), (*path, "time_of_use"))
    hours = sum(x.hours_per_week.value for x in energy.time_of_use)
    if energy.time_of_use and abs(hours - HOURS_PER_WEEK) > TOLERANCE:
        cause = f"the periods of time_of_use sum to {hours:g} h a week instead of {HOURS_PER_WEEK}"
        check.add("DC015", cause, (*path, "time_of_use"), help="every hour needs one price")
    ends = [x.up_to_mwh_per_month for x in energy.tiers]
    if not ends:
        return
    rising = [x.value for x in ends[:-1] if x is not None]
    if ends[-1] is not None or len(rising) != len(ends) - 1 or rising != sorted(set(rising)):
        cause = "tiers need up_to_mwh_per_month in rising order, and none in the last tier"
        check.add("DC015", cause, (*path, "tiers"))
