"""Rack fit: which limit binds, by how much, and what is said."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.field_docs import docs_of
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Parameter
from dcplan.facility.racks import RackLimits, nodes_per_rack, split_heat_kw
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load
from dcplan.scenario.schema import Hall
from tests.cli.conftest import TINY

AIR = RackLimits(electrical_kw=math.inf, air_kw=math.inf, liquid_kw=0.0)
QUICK = settings(max_examples=80, deadline=None)
KW = st.floats(1.0, 400.0)


def test_hpe_gb200_nvl72_heat_split() -> None:
    # HPE: 132 kW = 115 kW liquid + 17 kW air (87.1 %)
    air, liquid = split_heat_kw(132.0, 115 / 132, liquid_cooled_hall=True)
    assert (air, liquid) == (pytest.approx(17.0), pytest.approx(115.0))


def test_schneider_rd110_gb300_heat_split() -> None:
    # RD110: 142 kW, 87 % liquid: 123.54 kW and 18.46 kW
    air, liquid = split_heat_kw(142.0, 0.87, liquid_cooled_hall=True)
    assert (air, liquid) == (pytest.approx(18.46), pytest.approx(123.54))


def test_without_liquid_all_heat_goes_to_air() -> None:
    assert split_heat_kw(132.0, 0.87, liquid_cooled_hall=False) == (132.0, 0.0)
    assert split_heat_kw(10.2, 0.0, liquid_cooled_hall=True) == (10.2, 0.0)


@given(KW, st.floats(0.0, 1.0), st.booleans())
@QUICK
def test_heat_is_conserved(rated_kw: float, frac: float, in_liquid_hall: bool) -> None:
    air, liquid = split_heat_kw(rated_kw, frac, liquid_cooled_hall=in_liquid_hall)
    assert air + liquid == pytest.approx(rated_kw)
    assert air >= 0
    assert liquid >= 0


@pytest.mark.parametrize(
    ("rack_kw", "nodes"),
    # DGX H100: 10.2 kW each. 17 / 10.2 = 1.67; 34 / 10.2 = 3.33; 20.4 is exactly two; 10.1 is too
    # little
    [(17.0, 1), (34.0, 3), (20.4, 2), (30.6, 3), (10.1, 0)],
)
def test_dgx_h100_by_electrical_limit(rack_kw: float, nodes: int) -> None:
    fit = nodes_per_rack(replace(AIR, electrical_kw=rack_kw), 10.2, 10.2, 0.0, rack_units=8)
    assert (fit.nodes, fit.limit) == (nodes, "rack_kw_max")


def test_the_tightest_limit_is_named() -> None:
    limits = RackLimits(
        electrical_kw=100.0, air_kw=30.0, liquid_kw=0.0, weight_kg=1000.0, rack_units=42.0
    )
    # 100 / 10.2 = 9.8; 30 / 10.2 = 2.9; 1000 / 130 = 7.7; 42 / 8 = 5.25
    assert nodes_per_rack(limits, 10.2, 10.2, 0.0, 130.0, 8.0).limit == "air heat of the cooling"
    # without the air limit height binds (5), without both weight (7), then power (9)
    limits = replace(limits, air_kw=math.inf)
    fits = [
        nodes_per_rack(limits, 10.2, 10.2, 0.0, 130.0, 8.0),
        nodes_per_rack(limits, 10.2, 10.2, 0.0, 130.0),
        nodes_per_rack(limits, 10.2, 10.2, 0.0),
    ]
    assert [(f.nodes, f.limit) for f in fits] == [
        (5, "rack units"),
        (7, "rack_kg_max"),
        (9, "rack_kw_max"),
    ]


def test_nvl72_does_not_fit_100_kw_and_the_reason_says_so() -> None:
    # GB200 NVL72 in its liquid hall: 132 kW = 17 air + 115 liquid
    limits = RackLimits(electrical_kw=100.0, air_kw=30.0, liquid_kw=150.0)
    fit = nodes_per_rack(limits, 132.0, 17.0, 115.0)
    assert (fit.nodes, fit.limit) == (0, "rack_kw_max")
    assert fit.reason == "does not fit: 132 kW > 100 kW (rack_kw_max)"


def test_nvl72_does_not_fit_where_there_is_no_liquid() -> None:
    fit = nodes_per_rack(
        RackLimits(electrical_kw=200.0, air_kw=30.0, liquid_kw=0.0), 132.0, 17.0, 115.0
    )
    assert fit.reason == "does not fit: 115 kW > 0 kW (liquid heat of the cooling)"


def test_reason_gives_use_and_limit() -> None:
    fit = nodes_per_rack(replace(AIR, electrical_kw=34.0), 10.2, 10.2, 0.0)
    assert fit.reason == "3 nodes: 30.6 kW of 34 kW (rack_kw_max)"


@given(
    KW, KW, st.floats(0.0, 400.0), st.floats(1.0, 50.0), st.floats(0.0, 1.0), st.floats(1.0, 20.0)
)
@QUICK
def test_fit_keeps_every_limit_and_one_more_node_breaks_one(
    electrical: float, air: float, liquid: float, rated: float, liquid_frac: float, height: float
) -> None:
    limits = RackLimits(electrical, air, liquid, weight_kg=1500.0)
    needs = (rated, rated * (1 - liquid_frac), rated * liquid_frac, 100.0, height)
    most = (electrical, air, liquid, 1500.0, limits.rack_units)
    nodes = nodes_per_rack(
        limits, needs[0], needs[1], needs[2], weight_kg=100.0, rack_units=height
    ).nodes
    assert all(nodes * need <= limit * (1 + 1e-6) for need, limit in zip(needs, most, strict=True))
    assert any(
        (nodes + 1) * need > limit * (1 - 1e-6) for need, limit in zip(needs, most, strict=True)
    )


@given(KW, KW, st.floats(1.0, 100.0))
@QUICK
def test_a_stronger_rack_never_holds_less(rack_kw: float, more_kw: float, rated: float) -> None:
    weak, strong = (
        replace(AIR, electrical_kw=rack_kw),
        replace(AIR, electrical_kw=rack_kw + more_kw),
    )
    assert (
        nodes_per_rack(weak, rated, rated, 0.0).nodes
        <= nodes_per_rack(strong, rated, rated, 0.0).nodes
    )


def test_the_height_a_hall_leaves_out_is_the_catalog_parameter_that_its_text_names(
    tmp_path: Path,
) -> None:
    assert "Default: `facility/rack-units`" in docs_of(Hall)["rack_units"]
    assert load_catalog().get("facility", "rack-units", Parameter).value.value == 42
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")

    def placed(*sets: str) -> tuple[int, str]:
        built = build(load(str(tmp_path / "tiny.yaml"), sets=sets))
        (rack,) = built.problem.placements
        return rack.nodes, rack.fit_reason

    # a DGX H200 has 8 U: 15 U hold one, 17 U two, 42 U five, of which the air of the hall cools two
    assert placed() == (2, "2 nodes: 20.4 kW of 30 kW (air heat of the cooling)")
    assert placed("prices.rack-units.value=15") == (1, "1 node: 8 U of 15 U (rack units)")
    own = "sites.s.halls.h.rack_units=17"
    assert placed("prices.rack-units.value=15", own) == (2, "2 nodes: 16 U of 17 U (rack units)")
