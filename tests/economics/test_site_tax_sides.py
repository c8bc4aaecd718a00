"""Sales and property tax by site, in the cash flow by month."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.economics.monthly.financing import Financing, PlantTax, SiteTaxes, financed
from dcplan.economics.monthly.payments import Milestones
from dcplan.economics.monthly.side import (
    MILESTONES,
    PROPERTY_TAX,
    SALES_TAX,
    owned_side,
    unserved_usd,
)
from dcplan.economics.monthly.weights import financed_weights, present_usd
from tests.economics.test_financing import QUARTERS, payments, terms


@settings(max_examples=60, deadline=None)
@given(terms(), payments())
def test_the_cost_is_that_of_the_sites_alone_at_their_rates(
    found: Financing, flows: list[Flow]
) -> None:
    """Each site alone, with its rates as those of all: the sums are the cost of the whole."""

    def alone(terms: Financing, part: list[Flow]) -> float:
        side = owned_side(part, QUARTERS)
        return financed(side, terms, unserved_usd(part, side.months)).npv_usd

    own = {x.site: x for x in found.site_taxes}
    general = replace(found, site_taxes=())
    total = alone(general, [f for f in flows if f.site not in own])
    for site, x in own.items():
        at = replace(
            general,
            sales_tax_frac=x.sales_tax_frac,
            property_tax_frac_per_year=x.property_tax_frac_per_year,
            plant_taxes=x.plant_taxes,
        )
        total += alone(at, [f for f in flows if f.site == site])
    side = owned_side(flows, QUARTERS, found.taxed_sites)
    whole = financed(side, found, unserved_usd(flows, side.months)).npv_usd
    scale = sum(abs(f.usd) for f in flows)
    assert whole == pytest.approx(total, abs=1e-9 * max(scale, 1.0))


def test_two_sites_by_hand() -> None:
    """Racks of 100 at each site, a building of 50 at b, one year; a deposit of half, a month before.

    Site a has the rates of all: 10 % and 1 %. Site b: 4 %, 2 % on racks, 4 % on buildings.
    Sales tax 10 + 4. Property tax 110 x 1 % + 104 x 2 % + 50 x 4 % = 5.18. The deposit is 55 + 52.
    """
    found = Financing(
        0.0,
        5.0,
        sales_tax_frac=0.1,
        property_tax_frac_per_year=0.01,
        milestones=Milestones(0.5, 1, 0.0, 0),
        site_taxes=(SiteTaxes("b", 0.04, 0.02, (PlantTax(AssetClass.BUILDING, 0.04, 20.0),)),),
    )
    kinds = (
        (AssetClass.RACKS, "a", 100.0),
        (AssetClass.RACKS, "b", 100.0),
        (AssetClass.BUILDING, "b", 50.0),
    )
    flows = [Flow(0, FlowGroup.CAPEX, x, usd, site, asset=x) for x, site, usd in kinds]
    made = financed(owned_side(flows, 4, found.taxed_sites), found)
    lines = made.after_tax.lines
    assert [(x.label, x.site) for x in lines if x.asset is AssetClass.RACKS] == [("racks", "")]
    assert lines[SALES_TAX].sum() == pytest.approx(14.0, abs=1e-12)
    assert lines[PROPERTY_TAX].tolist() == [*np.zeros(11), pytest.approx(5.18, abs=1e-12)]
    assert made.after_tax.outside[MILESTONES] == ((-1, pytest.approx(107.0, abs=1e-12)),)
    assert made.npv_usd == pytest.approx(250.0 + 14.0 + 5.18, abs=1e-9)


def test_the_weight_of_an_advance_has_the_rate_of_its_site() -> None:
    """100 paid before the plan for racks that arrive at once at b: property tax of 2 % in its only year,
    not the 1 % of other sites; without income tax nothing else follows from it.
    """
    found = Financing(
        0.0, 5.0, property_tax_frac_per_year=0.01, site_taxes=(SiteTaxes("b", 0.0, 0.02),)
    )
    for site, usd in (("a", 1.0), ("b", 2.0)):
        kind = AssetClass.EXISTING
        flow = Flow(0, FlowGroup.CAPEX, "order", 0.0, site, asset=kind, advance_usd=100.0)
        weights = financed_weights(found, 4, 0)
        assert present_usd(flow, weights, 4) == pytest.approx(usd, abs=1e-12)
        side = owned_side([flow], 4, found.taxed_sites)
        assert financed(side, found).npv_usd == pytest.approx(usd, abs=1e-12)
