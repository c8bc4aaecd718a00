"""``dcplan facility``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import complete
from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    VerboseOption,
)

Opt = typer.Option


def facility(
    site: Annotated[
        str | None,
        Opt(help="catalog site, such as us-ashburn", autocompletion=complete.ids("sites")),
    ] = None,
    climate_zone: Annotated[str | None, Opt(help="ASHRAE zone, such as 4A")] = None,
    epw: Annotated[str | None, Opt(metavar="FILE", help="EPW weather file")] = None,
    cooling: Annotated[
        str | None,
        Opt(
            help="catalog cooling option, such as direct-liquid-tower",
            autocompletion=complete.ids("cooling"),
        ),
    ] = None,
    compare: Annotated[
        bool, Opt("--compare", help="all cooling options, best first by TUE")
    ] = False,
    it_mw: Annotated[float, Opt(help="IT power that the hall is built for")] = 10.0,
    load: Annotated[float, Opt(help="IT power over that, up to 1")] = 1.0,
    system: Annotated[
        str | None,
        Opt(help="catalog system, such as gb300-nvl72", autocompletion=complete.ids("systems")),
    ] = None,
    supply_c: Annotated[
        float | None, Opt(help="facility water supplied; the option's range if left out")
    ] = None,
    liquid_frac: Annotated[float | None, Opt(help="share of heat into cold plates")] = None,
    redundancy: Annotated[str, Opt(help="of the compute load: n, n+1, 2n, 4n/3 or 3n/2")] = "n+1",
    other_redundancy: Annotated[str, Opt(help="of network, storage and cooling")] = "n+1",
    onsite: Annotated[
        list[str] | None, Opt(metavar="ID=MW", help="on-site source; repeatable")
    ] = None,
    utility_mw: Annotated[float | None, Opt(help="what the grid gives; enough if left out")] = None,
    interruptible_h: Annotated[float, Opt(help="hours of a year without the grid")] = 0.0,
    job: Annotated[
        str | None, Opt(metavar="MODEL", help="model the hall trains: its load swings")
    ] = None,
    ramp_limit_mw_per_s: Annotated[
        float | None, Opt(help="most that the utility lets the site change")
    ] = None,
    water_permit_m3_per_day: Annotated[float | None, Opt(help="most water of any day")] = None,
    energised: Annotated[
        str | None, Opt(metavar="DATE", help="when power must flow: last days to order")
    ] = None,
    rack_kw: Annotated[float | None, Opt(help="most that a rack's feed carries")] = None,
    oversubscription: Annotated[
        float | None, Opt(help="rated power of all racks over the hall's IT power")
    ] = None,
    busy_frac: Annotated[
        float, Opt(help="share of the time in which a job runs, for --oversubscription")
    ] = 0.7,
    picture: Annotated[
        Path | None, Opt(metavar="FILE.svg", help="racks and floor as a picture")
    ] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """PUE, water, cooling plant and power chain of one hall at one place."""
    from dcplan.answers.facility.answer import facility as answer
    from dcplan.cli.output import emit

    result = answer(
        site=site,
        climate_zone=climate_zone,
        epw=epw,
        cooling=cooling,
        compare=compare,
        it_mw=it_mw,
        load=load,
        system=system,
        supply_c=supply_c,
        liquid_frac=liquid_frac,
        redundancy=redundancy,
        other_redundancy=other_redundancy,
        onsite=onsite or (),
        utility_mw=utility_mw,
        interruptible_h=interruptible_h,
        job=job,
        ramp_limit_mw_per_s=ramp_limit_mw_per_s,
        water_permit_m3_per_day=water_permit_m3_per_day,
        energised=energised,
        rack_kw=rack_kw,
        oversubscription=oversubscription,
        busy_frac=busy_frac,
        catalogs=catalogs or (),
    )
    if picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.floor import floor_svg

        write_whole(picture, floor_svg(result))
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
