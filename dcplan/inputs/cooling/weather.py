"""Weather of a place or of a catalog site."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.catalog.schema import Site
from dcplan.catalog.weather import bins
from dcplan.facility.climate import Climate, climate
from dcplan.provenance import Quantity


def weather_of(place: str | None, dry: Quantity | None, wet: Quantity | None) -> Climate | None:
    """Return weather and design day of a place in the packaged bin table; None if it is not there.

    Raises
    ------
    ValueError
        If the table is out of range.
    """
    rows = bins().get(place) if place else None
    if rows is None or place is None:
        return None
    design = (dry.value if dry else None, wet.value if wet else None)
    dry_c, wet_c, hours = (np.array(c) for c in (rows.dry_c, rows.wet_c, rows.hours))
    return climate(place, np.array(rows.quarter), dry_c, wet_c, hours, design)


def weather_at(site: Site) -> Climate | None:
    """Return the weather of a catalog site, or of its zone's city; None if neither is known.

    Hours of the city come with the design day of the city, or of the site if that is hotter, so
    that no hour is worse than the design day of the plant. South of the equator, the seasons are
    exchanged.
    """
    dry, wet = site.design_dry_bulb_c, site.design_wet_bulb_c
    if site.climate is not None:
        return weather_of(site.climate, dry, wet)
    city = weather_of(f"zone-{site.climate_zone}", None, None)
    if city is None:
        return None
    hotter = [
        max(x.value, own) if x else own
        for x, own in ((dry, city.design_dry_c), (wet, city.design_wet_c))
    ]
    quarter = (city.quarter + 2) % 4 if site.lat < 0 else city.quarter
    return replace(city, quarter=quarter, design_dry_c=hotter[0], design_wet_c=hotter[1])
