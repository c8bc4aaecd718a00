"""Every system that is sold and every offer that has a price can be chosen by a plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Offer, System
from dcplan.inputs.cloud_prices import row_of
from dcplan.planning.problem.build import Built, build
from dcplan.scenario.load import load

SCENARIO = """
dcplan: 1
name: all
horizon: {start: 2027-Q1, quarters: 8}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 60
    halls:
      - id: liquid
        racks: 600
        rack_kw_max: 1000
        it_mw: 40
        air_mw: 20
        cooling: [direct-liquid-dense-tower, direct-liquid-tower]
      - {id: air, racks: 400, rack_kw_max: 150, it_mw: 20, cooling: [rear-door-tower, air-chiller]}
systems: all
fabrics: all
cloud:
  offers: all
  terms: [on-demand, reserved-1y, reserved-3y, spot, capacity-block]
workloads:
  capacity: [{id: any, accelerator_hours: 1e5, utilization_frac: 0.8}]
objective: min_cost
"""

NO_COOLING = {"mi350x-64-air"}
"""Sold, but with more air heat per rack than any cooling of the catalog removes."""
LEAST_OFFERS = 120
"""Rows that a plan may rent: 126 of 165 when this test was written; the others are indices or have
no published price."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The planning problem with everything that can be bought or rented."""
    file = tmp_path_factory.mktemp("all") / "all.yaml"
    file.write_text(SCENARIO)
    return build(load(Path(file)))


def test_every_system_on_sale_can_be_ordered(built: Built) -> None:
    """A system on sale has a place in a hall; another one has a reason."""
    placed = {p.system for p in built.problem.placements}
    reasons = {x.id: x.reason for x in built.problem.excluded if not x.where}
    for key, row in built.log.catalog.table("systems", System).items():
        if key in NO_COOLING:
            continue
        if row.sold and key not in placed:
            assert "ordered in slices" in reasons.get(key, ""), key
        if not row.sold:
            assert reasons[key], key


def test_every_offer_with_a_price_can_be_rented(built: Built) -> None:
    """An offer without a plan is a price index, or no price is published."""
    rented = {row_of(o.id) for o in built.problem.offers}
    for key, row in built.log.catalog.table("cloud", Offer).items():
        if row.kind != "index" and row.prices:
            assert key in rented
    assert len(rented) >= LEAST_OFFERS


def _families(built: Built) -> Iterator[str]:
    yield from {o.family for o in built.problem.fabrics}


def test_every_fabric_whose_ports_a_system_has_is_an_option_or_is_dominated(built: Built) -> None:
    """No family is excluded for its topology."""
    for x in built.problem.excluded:
        assert "topology" not in x.reason, x
    assert {"ib-ndr-400", "eth-400-scheduled"} <= set(_families(built))


FLEET = """
dcplan: 1
name: given
horizon: {{start: 2027-Q1, quarters: 4}}
sites:
  - id: a
    location: us-ashburn
    utility_mw: 60
    halls:
      - {{id: h, racks: 600, rack_kw_max: 1000, it_mw: 40, air_mw: 20, cooling: [{cooling}]}}
fleet: {{system: {system}, accelerators: {accelerators}}}
fabrics: all
objective: min_cost
"""
NO_FIGURES = {"vr-nvl144-cpx"}
"""Cancelled before a power or a price was published."""


@pytest.mark.slow
def test_every_system_can_be_given_as_a_fleet(tmp_path: Path) -> None:
    """Sold or not, old or internal: the plan of a fleet needs only that it exists."""
    rows = load_catalog().table("systems", System)
    for key, row in rows.items():
        if key in NO_COOLING | NO_FIGURES:
            continue
        liquid = "liquid" in row.cooling_modes
        file = tmp_path / f"{key}.yaml"
        file.write_text(
            FLEET.format(
                system=key,
                accelerators=row.accelerators * (1 if row.form == "pod" else 8),
                cooling="direct-liquid-dense-tower" if liquid else "rear-door-tower",
            )
        )
        problem = build(load(file)).problem
        assert {p.system for p in problem.placements} == {key}
        assert problem.fabrics, key
