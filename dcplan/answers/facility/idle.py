"""Flags of ``dcplan facility`` that have no effect together with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcplan.answers.facility.request import CHAIN, DUTY_CYCLE, FacilityRequest
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.chain import DOUBLE_CONVERSION


def refuse_idle(flags: FacilityRequest) -> None:
    """Refuse flags that have no effect in combination with the others.

    Raises
    ------
    InputError
        With every such flag.
    """
    of = _by_subject(flags)
    of_supply = ("site", "outages", "events", "units", "sizes", "ramp", "series")
    supply = {flag: value for name in of_supply for flag, value in of[name].items()}
    compared = {"--compare": flags.compare or None}
    own_cooling = {"--cooling": flags.cooling}
    chosen = {"--size-onsite": flags.size_onsite or None}
    density = {"--oversubscription": flags.oversubscription}
    chain = of["redundancy"] | of["ups"]
    sourced = bool(flags.onsite) or flags.utility_mw is not None
    idle = (
        (flags.compare, "with --compare", supply | own_cooling | of["racks"] | chain),
        (flags.retrofit, "with --retrofit", supply | density | compared),
        (not flags.retrofit, "without --retrofit", {"--rack-positions": flags.rack_positions}),
        (flags.electrical_losses != CHAIN, "with --electrical-losses class", of["ups"]),
        (flags.job is None, "without --job", of["ramp"]),
        (flags.oversubscription is None, "without --oversubscription", of["duty"]),
        (
            flags.shave_to_mw is None and not sourced,
            "without --onsite, --utility-mw or --shave-to-mw",
            of["series"],
        ),
        (flags.system is None, "without --system", of["racks"]),
        (not sourced, "without --onsite or --utility-mw", of["outages"]),
        (not flags.onsite, "without --onsite", of["units"] | chosen),
        (not flags.size_onsite, "without --size-onsite", of["sizes"]),
        (not flags.grid_outage_h, "without --grid-outage-h", of["events"]),
    )
    _unused(idle)


def _by_subject(flags: FacilityRequest) -> dict[str, dict[str, object]]:
    """Return the flags that only some answers use, by their subject."""

    def changed(value: object, default: object) -> object:
        return value if value != default else None

    return {
        "site": {
            "--utility-mw": flags.utility_mw,
            "--utility-kv": flags.utility_kv,
            "--medium-kv": flags.medium_kv,
            "--job": flags.job,
            "--energization-date": flags.energization_date,
            "--onsite": tuple(flags.onsite) or None,
            "--water-permit-m3-per-day": flags.water_permit_m3_per_day,
            "--bridge-s": flags.bridge_s,
            "--shave-to-mw": flags.shave_to_mw,
        },
        "outages": {"--grid-outage-h": flags.grid_outage_h or None},
        "events": {"--grid-outage-events": changed(flags.grid_outage_events, 1)},
        "units": {
            "--spare-units": changed(flags.spare_units, 1),
            "--profile": flags.profile or None,
        },
        "sizes": {
            "--served-frac": changed(flags.served_frac, 1.0),
            "--reserve-frac": flags.reserve_frac or None,
        },
        "ramp": {
            "--ramp-limit-mw-per-s": flags.ramp_limit_mw_per_s,
            "--job-batch-tokens": flags.job_batch_tokens,
        },
        "series": {"--load-hours": flags.load_hours},
        "racks": {"--rack-kw": flags.rack_kw, "--oversubscription": flags.oversubscription},
        "duty": {"--duty-cycle": changed(flags.duty_cycle, DUTY_CYCLE)},
        "redundancy": {
            "--redundancy": changed(flags.redundancy, "n+1"),
            "--other-redundancy": changed(flags.other_redundancy, "n+1"),
        },
        "ups": {
            "--ups": changed(flags.ups, DOUBLE_CONVERSION),
            "--other-ups": changed(flags.other_ups, DOUBLE_CONVERSION),
        },
    }


def _unused(idle: Sequence[tuple[bool, str, Mapping[str, object]]]) -> None:
    """Refuse flags without effect, so that nobody relies on them."""
    problems = {
        flag: Problem("DC062", f"{flag} is not used {why}", Place(flag), help=f"leave {flag} out")
        for applies, why, flags in idle
        for flag, value in flags.items()
        if applies and value is not None
    }
    if problems:
        raise InputError(list(problems.values()))
