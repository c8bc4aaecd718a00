"""Rows of racks: nothing is lost, every row has its share."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import CoolingOption, System
from dcplan.facility.floor import line_up, rows_of
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.losses import lighting_range
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.lighting import lighting_by_area

KINDS = st.dictionaries(
    st.sampled_from(["compute", "network", "cdu"]), st.integers(0, 300), min_size=1
)


@given(KINDS, st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_every_rack_stands_once_and_no_row_is_longer(racks: dict[str, int], per_row: int) -> None:
    rows = rows_of(racks, per_row)
    total = sum((Counter(row) for row in rows), Counter())
    assert dict(total) == {k: n for k, n in racks.items() if n}
    assert all(sum(row.values()) == per_row for row in rows[:-1])
    assert not rows or 1 <= sum(rows[-1].values()) <= per_row


@given(st.integers(50, 300), st.integers(10, 100), st.integers(8, 30))
@settings(max_examples=60, deadline=None)
def test_kinds_are_spread_evenly(compute: int, network: int, per_row: int) -> None:
    """A full row has its share of each kind within one rack."""
    for row in rows_of({"compute": compute, "network": network}, per_row)[:-1]:
        assert abs(row.get("network", 0) - per_row * network / (compute + network)) <= 1.0 + 1e-9


@given(KINDS)
@settings(max_examples=60, deadline=None)
def test_a_line_up_has_all_racks_of_its_row(row: dict[str, int]) -> None:
    kinds = line_up(row, "cdu", "network")
    assert Counter(kinds) == Counter({k: n for k, n in row.items() if n})
    if row.get("cdu", 0) > 1:
        assert kinds[0] == kinds[-1] == "cdu"


def test_lighting_of_dense_racks_by_hand() -> None:
    """GB300 at 135 kW and other racks of 30 kW on 0.6 x 3.0 m: 0.018 m2/kW; 3.5 times as much is lit
    by 8 W/m2: 0.000504 of IT power, where the study's halls of 1 to 10 MW have 0.035.

    Low: 3 W/m2, 2 times, 0.6 x 2.4 m, 50 kW; high: 15 W/m2, 6 times, 0.8 x 3.6 m, 15 kW."""
    catalog = load()
    system = catalog.table("systems", System)["gb300-nvl72"]
    option = catalog.table("cooling", CoolingOption)["direct-liquid-dry-cooler"]
    found = lighting_by_area(system, option, 0.1, InputLog(catalog))
    assert found is not None
    low = 3 * 2 * 0.6 * 2.4 * (0.9 / 135 + 0.1 / 50) / 1e3
    high = 15 * 6 * 0.8 * 3.6 * (0.9 / 135 + 0.1 / 15) / 1e3
    assert found == pytest.approx((low, 8 * 3.5 * 0.018 / 1e3, high), rel=1e-6)


def test_lighting_goes_over_to_the_class_of_large_halls() -> None:
    """At 5 MW that of the area, at 7.5 MW the mean with 0.001, from 10 MW 0.001."""
    log, by_area = InputLog(load()), (0.0, 0.0006, 0.002)
    for mw, value in ((4.0, 0.0006), (7.5, 0.0008), (12.0, 0.001)):
        assert lighting_range(by_area, sizes(mw), log)[1] == pytest.approx(value)
    assert lighting_range(None, sizes(4.0), log)[1] == 0.035
