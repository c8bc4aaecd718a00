"""Flags of ``dcplan facility``: what is out of range, empty or without use is refused before
anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.facility.power import RULES

Limit = tuple[str, float | None, float, float]
"""Flag, value, least, most."""


@dataclass(frozen=True)
class Flags:
    """The flags of the verb; what each means stands at
    :func:`dcplan.answers.facility.answer.facility`.
    """

    site: str | None
    climate_zone: str | None
    epw: str | None
    cooling: str | None
    compare: bool
    it_mw: float
    load: float
    system: str | None
    supply_c: float | None
    liquid_frac: float | None
    redundancy: str
    other_redundancy: str
    onsite: Sequence[str]
    utility_mw: float | None
    interruptible_h: float
    job: str | None
    ramp_limit_mw_per_s: float | None
    water_permit_m3_per_day: float | None
    energised: str | None
    rack_kw: float | None
    oversubscription: float | None
    busy_frac: float
    catalogs: Sequence[str]


def refuse_wrong(flags: Flags) -> None:
    """Refuse amounts out of range, unknown rules and empty names.

    Raises
    ------
    InputError
        With every such flag.
    """
    limits = (
        ("--it-mw", flags.it_mw, 0.01, 10_000.0),
        ("--load", flags.load, 0.05, 1.0),
        ("--supply-c", flags.supply_c, 2.0, 60.0),
        ("--liquid-frac", flags.liquid_frac, 0.0, 1.0),
        ("--ramp-limit-mw-per-s", flags.ramp_limit_mw_per_s, 0.0, 1e6),
        ("--utility-mw", flags.utility_mw, 0.0, 1e5),
        ("--interruptible-h", flags.interruptible_h, 0.0, 360.0),
        ("--oversubscription", flags.oversubscription, 1.0, 5.0),
        ("--busy-frac", flags.busy_frac, 0.01, 1.0),
        ("--rack-kw", flags.rack_kw, 0.1, 5000.0),
        ("--water-permit-m3-per-day", flags.water_permit_m3_per_day, 0.0, 1e7),
    )
    _amounts(
        limits, {"--redundancy": flags.redundancy, "--other-redundancy": flags.other_redundancy}
    )
    names = {
        "--system": flags.system,
        "--site": flags.site,
        "--climate-zone": flags.climate_zone,
        "--epw": flags.epw,
        "--cooling": flags.cooling,
    }
    _given(names)


def refuse_idle(flags: Flags) -> None:
    """Refuse flags that would change nothing beside the others.

    Raises
    ------
    InputError
        With every such flag.
    """
    extra = {
        "--cooling": flags.cooling,
        "--utility-mw": flags.utility_mw,
        "--job": flags.job,
        "--energised": flags.energised,
        "--onsite": tuple(flags.onsite) or None,
        "--water-permit-m3-per-day": flags.water_permit_m3_per_day,
    }
    hours = {"--interruptible-h": flags.interruptible_h or None}
    racks = {"--rack-kw": flags.rack_kw, "--oversubscription": flags.oversubscription}
    rules = {"--redundancy": flags.redundancy, "--other-redundancy": flags.other_redundancy}
    chain = {flag: rule for flag, rule in rules.items() if rule != "n+1"}
    ramp = {"--ramp-limit-mw-per-s": flags.ramp_limit_mw_per_s}
    idle = (
        (flags.compare, "with --compare", extra | hours | racks | chain | ramp),
        (flags.job is None, "without --job", ramp),
        (flags.system is None, "without --system", racks),
        (not flags.onsite and flags.utility_mw is None, "without --onsite or --utility-mw", hours),
    )
    _unused(idle)


def amounts_of(pairs: Sequence[str]) -> dict[str, float]:
    """``id=MW`` pairs.

    Raises
    ------
    InputError
        When a pair has no amount, or one out of range.
    """
    found: dict[str, float] = {}
    for pair in pairs:
        name, _, amount = pair.partition("=")
        try:
            value = float(amount)
        except ValueError:
            cause = f"{pair!r}: id=MW is needed"
            raise InputError(
                [
                    Problem(
                        "DC060", cause, Place("--onsite"), help="--onsite aeroderivative-turbine=30"
                    )
                ]
            ) from None
        if not 0.0 < value <= 1e5:
            raise InputError([Problem("DC060", f"{name}: {value!r} MW", Place("--onsite"))])
        found[name] = found.get(name, 0.0) + value
    return found


def _amounts(limits: Sequence[Limit], rules: Mapping[str, str]) -> None:
    problems = [
        Problem("DC060", f"{value!r}: a number from {low:g} to {high:g} is needed", Place(flag))
        for flag, value, low, high in limits
        if value is not None and not (_is_number(value) and low <= value <= high)
    ]
    for flag, rule in rules.items():
        if rule not in RULES:
            hint = did_you_mean(str(rule), RULES)
            problems.append(
                Problem("DC060", f"{rule!r}: one of {', '.join(RULES)}", Place(flag), hint)
            )
    if problems:
        raise InputError(problems)


def _given(flags: Mapping[str, str | None]) -> None:
    """An empty name is a slip, such as a shell variable that is not set."""
    problems = [
        Problem("DC060", f"{flag} is empty", Place(flag))
        for flag, value in flags.items()
        if value == ""
    ]
    if problems:
        raise InputError(problems)


def _unused(idle: Sequence[tuple[bool, str, Mapping[str, object]]]) -> None:
    """Flags that would change nothing are refused, so that nobody trusts them."""
    problems = {
        flag: Problem("DC060", f"{flag} is not used {why}", Place(flag), help=f"leave {flag} out")
        for applies, why, flags in idle
        for flag, value in flags.items()
        if applies and value is not None
    }
    if problems:
        raise InputError(list(problems.values()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
