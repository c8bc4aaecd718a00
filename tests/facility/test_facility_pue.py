"""Choice of the tabulated PUE row, and the table that ships, against Lei et al. 2025."""

from __future__ import annotations

import itertools

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.catalog.loader import load
from dcplan.catalog.schema import PueRow
from dcplan.facility.pue import PueEntry, lookup, size_class

OWN = PueEntry("tower", "large", "4A", 1.119, 1.20, 2.166)
POOLED = PueEntry("tower", "large", "all", 1.120, 1.21, 2.191)
SMALL = PueEntry("tower", "small", "4A", 1.704, 1.90, None)
OTHER = PueEntry("dry", "large", "4A", 1.2, 1.3, 0.2)


@pytest.mark.parametrize(
    ("it_mw", "size"),
    # catalog/schema/place.py: SIZES: large from 10 MW, midsize from 1 MW
    [
        (250.0, "large"),
        (10.0, "large"),
        (9.999, "midsize"),
        (1.0, "midsize"),
        (0.999, "small"),
        (0.0, "small"),
    ],
)
def test_size_class_borders(it_mw: float, size: str) -> None:
    assert size_class(it_mw) == size


@pytest.mark.parametrize("rows", [[OWN, POOLED, SMALL, OTHER], [POOLED, OTHER, SMALL, OWN]])
def test_own_zone_comes_before_the_pooled_row(rows: list[PueEntry]) -> None:
    assert lookup(rows, "tower", "large", "4A") is OWN


@pytest.mark.parametrize("zone", ["0B", "7", "all", "unknown"])
def test_pooled_row_stands_in_for_a_zone_unlike_all_others(zone: str) -> None:
    assert lookup([OWN, POOLED, SMALL, OTHER], "tower", "large", zone) is POOLED


def test_a_hotter_zone_than_all_has_the_row_of_the_hottest() -> None:
    """Zone 0A (Singapore) is humid and hotter than 4A: the median of all zones would be too cool."""
    assert lookup([OWN, POOLED, SMALL, OTHER], "tower", "large", "0A") is OWN


def test_another_size_or_cooling_never_stands_in() -> None:
    rows = [OWN, POOLED, SMALL, OTHER]
    assert lookup(rows, "tower", "midsize", "4A") is None
    assert lookup(rows, "dry", "large", "5A") is None
    assert lookup([], "tower", "large", "4A") is None


# Lei et al. 2025, P50 by zone: cases 1, 2 and 0 at 1A Miami, 4A Baltimore, 8 Fairbanks
LEI = {
    "airside-economizer-water-chiller": {"1A": 1.197, "4A": 1.150, "8": 1.127},
    "waterside-economizer": {"1A": 1.143, "4A": 1.119, "8": 1.112},
    "airside-economizer-air-chiller": {"1A": 1.267, "4A": 1.176, "8": 1.120},
}


def _table() -> list[PueEntry]:
    rows = [row for row in load().rows["pue"].values() if isinstance(row, PueRow)]
    return [
        PueEntry(
            r.cooling,
            r.size,
            r.zone,
            r.pue.value,
            r.peak_pue.value,
            r.wue_l_per_kwh.value if r.wue_l_per_kwh else None,
        )
        for r in rows
    ]


@pytest.mark.parametrize("cooling", sorted(LEI))
def test_shipped_table_is_lei_2025(cooling: str) -> None:
    table = _table()
    for zone, expected in LEI[cooling].items():
        row = lookup(table, cooling, "large", zone)
        assert row is not None
        assert row.zone == zone
        assert row.pue == pytest.approx(expected, abs=5e-4)


def test_shipped_rows_are_physical() -> None:
    table = _table()
    assert len(table) > 100
    for row in table:
        assert 1.0 < row.pue <= row.peak_pue < 3.0, row
        assert row.wue_l_per_kwh is None or 0.0 <= row.wue_l_per_kwh < 5.0, row


@pytest.mark.parametrize("cooling", ["direct-liquid-tower", "air-chiller"])
def test_no_step_at_the_border_of_a_size_class(cooling: str) -> None:
    """F6: 9.9 MW had a PUE of 1.271 and 10 MW of 1.103; a larger hall never draws less power.

    Blocks are whole, so their load and losses rise and fall by up to 0.006 with the size.
    """
    sizes_mw = [0.4, 0.6, 0.99, 1.0, 3.0, 5.0, 6.0, 8.0, 9.9, 10.0, 10.1]
    asked = {"site": "ie-dublin", "cooling": cooling}
    of_class = [
        facility(**asked, it_mw=x, electrical_losses="class").value("power.annual_pue")
        for x in sizes_mw
    ]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(of_class))
    found = {x: facility(**asked, it_mw=x) for x in sizes_mw}
    pue = [found[x].value("power.annual_pue") for x in sizes_mw]
    losses = [found[x].value("power.electrical_loss_frac") for x in sizes_mw]
    assert max(losses) - min(losses) < 0.006
    assert abs(found[9.9].value("power.annual_pue") - pue[-2]) < 0.005
    assert abs(found[0.99].value("power.annual_pue") - pue[3]) < 0.005
    power = [x * p for x, p in zip(sizes_mw, pue, strict=True)]
    assert all(b > a for a, b in itertools.pairwise(power))
