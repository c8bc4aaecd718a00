"""Request of ``dcplan facility``: every flag with its range, and flags without effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.chain import DOUBLE_CONVERSION, UPS_LOSSES
from dcplan.facility.electrical.power import RULES
from dcplan.specs.request import Flag

CHAIN, SIZE_CLASS = "chain", "class"
DUTY_CYCLE = 0.7
"""Usual share of time in which a job runs."""


@dataclass(frozen=True)
class FacilityRequest:
    """One hall at one site."""

    site: Annotated[str | None, Flag("catalog site, such as us-ashburn", complete="sites")] = None
    climate_zone: Annotated[
        str | None, Flag("ASHRAE climate zone, such as 4A; uses the weather of its city")
    ] = None
    epw: Annotated[str | None, Flag("EPW weather file", metavar="FILE")] = None
    cooling: Annotated[
        str | None, Flag("catalog cooling option, such as direct-liquid-tower", complete="cooling")
    ] = None
    compare: Annotated[bool, Flag("compare all cooling options, the lowest TUE first")] = False
    retrofit: Annotated[
        bool,
        Flag(
            "compare how liquid-cooled racks fit into an existing air hall: --cooling is its "
            "cooling, --it-mw its IT power and air heat"
        ),
    ] = False
    rack_positions: Annotated[
        int | None,
        Flag(
            "rack positions of the existing hall, for --retrofit (default: its IT power over the "
            "air heat of a rack)",
            low=1,
            high=1_000_000,
        ),
    ] = None
    it_mw: Annotated[
        float, Flag("design IT power of the hall", unit="MW", low=0.01, high=10_000)
    ] = 10.0
    load_frac: Annotated[
        float, Flag("IT power over the design IT power of the hall", low=0.05, high=1)
    ] = 1.0
    system: Annotated[
        str | None, Flag("catalog system, such as gb300-nvl72", complete="systems")
    ] = None
    supply_c: Annotated[
        float | None,
        Flag(
            "supply temperature of the facility water (default: the range of the cooling option)",
            unit="C",
            low=2,
            high=60,
        ),
    ] = None
    liquid_frac: Annotated[
        float | None,
        Flag(
            "share of heat that goes into cold plates (default: that of the system)", low=0, high=1
        ),
    ] = None
    redundancy: Annotated[
        str,
        Flag(
            "redundancy of the power blocks of the compute load", choices=tuple(RULES), lower=True
        ),
    ] = "n+1"
    other_redundancy: Annotated[
        str,
        Flag(
            "redundancy of the power blocks of network, storage and cooling",
            choices=tuple(RULES),
            lower=True,
        ),
    ] = "n+1"
    ups: Annotated[
        str,
        Flag(
            "UPS before the compute racks: double-conversion, eco (the load bypasses the converters), "
            "rack (batteries in racks or servers) or none",
            choices=tuple(UPS_LOSSES),
        ),
    ] = DOUBLE_CONVERSION
    other_ups: Annotated[
        str, Flag("UPS before the racks of network and storage", choices=tuple(UPS_LOSSES))
    ] = DOUBLE_CONVERSION
    utility_kv: Annotated[
        float | None,
        Flag(
            "voltage at which the utility supplies the site (above 36 kV with main transformers)",
            unit="kV",
            low=1,
            high=800,
        ),
    ] = None
    medium_kv: Annotated[
        float | None,
        Flag(
            "voltage of the distribution in the site (default: that of a medium-voltage utility, "
            "else 13.8)",
            unit="kV",
            low=1,
            high=52,
        ),
    ] = None
    electrical_losses: Annotated[
        str,
        Flag(
            "losses before the racks: chain (transformers, UPS and busway under the redundancy) or "
            "class (the range of the size class, as in the study of Lei et al.)",
            choices=(CHAIN, SIZE_CLASS),
        ),
    ] = CHAIN
    onsite: Annotated[
        tuple[str, ...], Flag("power needed from an on-site source; repeatable", metavar="ID=MW")
    ] = ()
    profile: Annotated[
        tuple[str, ...],
        Flag(
            "CSV with the output of a PV or wind source by hour: 8,760 numbers from 0 to 1; repeatable",
            metavar="ID=FILE",
            pair=lambda name, file: f"{name}={file}",
        ),
    ] = ()
    spare_units: Annotated[
        int, Flag("spare units of each turbine, engine and fuel cell on site", low=0, high=100)
    ] = 1
    size_onsite: Annotated[
        bool, Flag("choose the sizes at least annual cost; the power in --onsite is then the most")
    ] = False
    served_frac: Annotated[
        float, Flag("share of the year's load that the chosen sizes serve", low=0.01, high=1)
    ] = 1.0
    reserve_frac: Annotated[
        float, Flag("power that the chosen sizes have ready, over the served load", low=0, high=1)
    ] = 0.0
    utility_mw: Annotated[
        float | None,
        Flag("grid power (default: the peak of the design day)", unit="MW", low=0, high=1e5),
    ] = None
    grid_outage_h: Annotated[
        float, Flag("hours per year without grid power", unit="h", low=0, high=8760)
    ] = 0.0
    grid_outage_events: Annotated[
        int, Flag("number of events that have these hours, at equal distances", low=1, high=8760)
    ] = 1
    job: Annotated[
        str | None, Flag("model that the hall trains; adds its load swings", metavar="MODEL")
    ] = None
    job_batch_tokens: Annotated[
        float | None, Flag("tokens per step of the job (default: 4e6)", low=1, high=1e12)
    ] = None
    ramp_limit_mw_per_s: Annotated[
        float | None,
        Flag(
            "maximum ramp rate allowed by the utility (default: 0, a flat load)",
            unit="MW/s",
            low=0,
            high=1e6,
        ),
    ] = None
    bridge_s: Annotated[
        float | None,
        Flag(
            "time until generators carry the hall, which a battery bridges",
            unit="s",
            low=0.1,
            high=86_400,
        ),
    ] = None
    shave_to_mw: Annotated[
        float | None,
        Flag("grid power above which a battery supplies the load", unit="MW", low=0.01, high=1e5),
    ] = None
    load_hours: Annotated[
        str | None,
        Flag(
            "CSV with the load of the site by hour for --onsite, --utility-mw and --shave-to-mw: "
            "8,760 numbers in MW (default: the load of the hall)",
            metavar="FILE",
        ),
    ] = None
    water_permit_m3_per_day: Annotated[
        float | None, Flag("maximum water use on any day", unit="m3", low=0, high=1e7)
    ] = None
    energization_date: Annotated[
        str | None, Flag("energization date; adds the latest order dates", metavar="DATE")
    ] = None
    rack_kw: Annotated[
        float | None,
        Flag(
            "maximum power of a rack feed (default: the limit of the cooling)",
            unit="kW",
            low=0.1,
            high=5000,
        ),
    ] = None
    oversubscription: Annotated[
        float | None,
        Flag(
            "power oversubscription: rated power of all racks over the IT power of the hall",
            low=1,
            high=5,
        ),
    ] = None
    duty_cycle: Annotated[
        float, Flag("share of time in which a job runs, for --oversubscription", low=0.01, high=1)
    ] = DUTY_CYCLE
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()


def amounts_of(pairs: Sequence[str]) -> dict[str, float]:
    """Read ``id=MW`` pairs.

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
                        "DC062", cause, Place("--onsite"), help="--onsite aeroderivative-turbine=30"
                    )
                ]
            ) from None
        if not 0.0 < value <= 1e5:
            cause = f"{name}: {value:g} MW: a power above 0 and up to 100,000 MW is needed"
            raise InputError(
                [Problem("DC062", cause, Place("--onsite"), help=f"--onsite {name}=30")]
            )
        found[name] = found.get(name, 0.0) + value
    return found
