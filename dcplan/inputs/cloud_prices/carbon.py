"""Carbon of a rented accelerator-hour."""

from __future__ import annotations

from dcplan.catalog.schema import Accelerator, Offer, Region, System
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.schema.market import CloudPrice
from dcplan.inputs.cloud_prices.places import great_circle_km
from dcplan.inputs.log import InputLog
from dcplan.scenario.schema import Scenario
from dcplan.units import GRAMS_PER_KG


def carbon_kg_per_h(
    offer: Offer, price: CloudPrice | None, scenario: Scenario, log: InputLog
) -> float | None:
    """Return the carbon of an accelerator-hour [kg/h].

    It uses a catalog system's training power, the cloud's PUE and the nearest grid.

    None if no system with the accelerator has a power value.
    """
    catalog = log.catalog
    chip = catalog.get("accelerators", offer.accelerator, Accelerator).id
    rows = [
        r for r in catalog.table("systems", System).values() if r.accelerator == chip and r.rated_kw
    ]
    if not rows:
        return None
    row = min(rows, key=lambda r: (abs(r.accelerators - offer.accelerators), r.id))
    own = row.average_kw.training
    share = log.parameter("power", "average-training-frac")
    kw = (
        own.value if own else row.rated_kw.value * share if row.rated_kw else 0.0
    ) / row.accelerators
    where = next(
        (
            (r.lat, r.lon)
            for r in catalog.table("regions", Region).values()
            if price and (r.provider, r.region) == (offer.provider, price.region)
        ),
        None,
    )
    known = [s for s in catalog.table("sites", CatalogSite).values() if s.grid_g_per_kwh]
    first = catalog.get("sites", scenario.sites[0].location, CatalogSite)
    here = where or (first.lat, first.lon)
    near = min(known, key=lambda s: (great_circle_km(here, (s.lat, s.lon)), s.id))
    grid = near.grid_g_per_kwh.value if near.grid_g_per_kwh else 0.0
    return kw * log.parameter("facility", "cloud-pue") * grid / GRAMS_PER_KG
