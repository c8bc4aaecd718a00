"""Published study of flexible load: how much new load a grid holds that may be curtailed at its peaks.

T. Norris et al., Rethinking Load Growth (Duke University, February 2025, hdl.handle.net/10161/32077): a
constant load L is added to the hourly load of a balancing authority. What exceeds the highest load of
its season is curtailed. The headroom at a rate is the L whose curtailed energy is that share of 8,760 L.

The study has 22 authorities from 2016 to 2024 with its own correction of EIA-930. Here are the same
authorities and years, screened and imputed by Ruggles et al.: ``data/us-load-2016-2024.csv.source``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dcplan.energy.dispatch import Dispatch, Source, dispatch

FILE = Path(__file__).parent / "data" / "us-load-2016-2024.csv"
YEARS = 9
RATES = (0.0025, 0.005, 0.01, 0.05)
US_GW = dict(zip(RATES, (76, 98, 126, 215), strict=True))
"""Headroom of all authorities (figure 7)."""
US_HOURS = dict(zip(RATES, (85, 177, 366, 1848), strict=True))
"""Hours of curtailment in a year, mean of the authorities (figure 10)."""
KEPT = {0.5: 0.88, 0.75: 0.60, 0.9: 0.29}
"""Share of these hours that keep a part of the load, mean of rates and authorities."""
AGREED = {
    "PJM": (17.8, 0.012),
    "MISO": (14.8, 0.005),
    "ERCO": (10.0, 0.001),
    "SOCO": (7.7, 0.002),
    "CISO": (5.0, -0.001),
    "TVA": (4.5, -0.003),
    "NYIS": (4.0, -0.007),
    "ISNE": (3.5, 0.001),
    "DUK": (2.8, 0.009),
    "FPC": (2.1, -0.016),
    "BPAT": (1.9, 0.001),
    "CPLE": (1.3, 0.002),
    "PSCO": (1.2, -0.036),
    "PGE": (0.9, 0.028),
    "SCEG": (0.6, -0.042),
}
"""Headroom at 0.5 % [GW], and the difference here. Figure 8, as a public script that checks the study
lists it; the report was not at hand. The sum is 99 GW, as in figure 7."""
APART = {
    "SWPP": (9.7, -0.101),
    "FPL": (4.2, -0.058),
    "AZPS": (1.6, -0.132),
    "PACE": (1.5, -0.428),
    "SRP": (1.5, -0.165),
    "PACW": (1.0, -0.198),
    "SC": (0.7, -0.090),
}
"""The same for those that differ by more than 5 %. Each highest load is one or few hours: whether a record
is an error decides these (PACE: 9.56 GW here; the study's 1.5 GW need a higher one)."""


@dataclass(frozen=True)
class Grid:
    """Load by step, the highest load of its season, and hours of a mean year."""

    load_gw: np.ndarray
    most_gw: np.ndarray
    hours: np.ndarray

    def with_load(self, new_gw: float) -> Dispatch:
        """Dispatch of the load with a new one; the grid gives the highest load of the season."""
        return dispatch(
            self.load_gw + new_gw, [Source("grid", self.most_gw, 50.0)], hours=self.hours
        )

    def headroom(self, rate: float) -> float:
        """New load of which a share of the energy is curtailed [GW]."""
        low, high = 0.0, 100.0
        for _ in range(40):
            mid = (low + high) / 2
            over = self.with_load(mid).short_mwh > rate * mid * float(self.hours.sum())
            low, high = (low, mid) if over else (mid, high)
        return low


def grid_of(rows: list[dict[str, str]]) -> Grid:
    """Grid of one authority; its highest load of each season is a row of its own."""
    load = np.array([float(r["gw"]) for r in rows])
    season = np.array([r["season"] for r in rows])
    most = np.array([load[season == s].max() for s in season])
    return Grid(load, most, np.array([float(r["hours"]) for r in rows]) / YEARS)


@pytest.fixture(scope="module")
def grids() -> Mapping[str, Grid]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()):
        found.setdefault(row["authority"], []).append(row)
    return {name: grid_of(rows) for name, rows in found.items()}


def test_the_load_is_that_of_the_authorities(grids: Mapping[str, Grid]) -> None:
    """22 authorities, 78,912 hours of nine years; PJM 152.9 GW in August 2016, ERCOT 85.6 GW in August 2024."""
    assert set(grids) == AGREED.keys() | APART.keys()
    for grid in grids.values():
        assert grid.hours.sum() * YEARS == pytest.approx(78_912)
    assert grids["PJM"].load_gw.max() == pytest.approx(152.89, abs=0.005)
    assert grids["ERCO"].load_gw.max() == pytest.approx(85.56, abs=0.005)


@pytest.mark.parametrize("name", AGREED)
def test_headroom_at_half_a_percent(grids: Mapping[str, Grid], name: str) -> None:
    """Fifteen authorities with 78 of 98 GW are within 5 % of the study."""
    study, difference = AGREED[name]
    found = grids[name].headroom(0.005) / study - 1
    assert found == pytest.approx(difference, abs=0.002)
    assert abs(found) < 0.05


@pytest.mark.parametrize("name", APART)
def test_headroom_that_one_record_decides(grids: Mapping[str, Grid], name: str) -> None:
    """Seven authorities have less headroom here, by 6 to 43 %."""
    study, difference = APART[name]
    assert grids[name].headroom(0.005) / study - 1 == pytest.approx(difference, abs=0.002)


@pytest.mark.parametrize(
    ("rate", "difference"), [(0.0025, -0.024), (0.005, -0.022), (0.01, -0.027), (0.05, -0.031)]
)
def test_headroom_of_all_authorities(
    grids: Mapping[str, Grid], rate: float, difference: float
) -> None:
    """74.2, 95.8, 122.6 and 208.4 GW: 2 to 3 % less than the study."""
    found = sum(g.headroom(rate) for g in grids.values())
    assert found / US_GW[rate] - 1 == pytest.approx(difference, abs=0.002)


@pytest.mark.parametrize(
    ("rate", "difference"), [(0.0025, 0.019), (0.005, 0.052), (0.01, 0.044), (0.05, -0.014)]
)
def test_hours_of_curtailment(grids: Mapping[str, Grid], rate: float, difference: float) -> None:
    """Hours a year in which any load is curtailed, mean of the authorities: 1 % less to 5 % more."""
    found = []
    for grid in grids.values():
        short = grid.with_load(grid.headroom(rate)).flows.short_mw
        found.append(float(grid.hours[short > 0].sum()))
    assert float(np.mean(found)) / US_HOURS[rate] - 1 == pytest.approx(difference, abs=0.001)


def test_most_curtailed_hours_keep_most_of_the_load(grids: Mapping[str, Grid]) -> None:
    """Half of the load is kept in 87 % of these hours (88 % in the study, mean of rates and authorities),
    three quarters in 60 % (60 %), nine tenths in 29 % (29 %)."""
    kept: dict[float, list[float]] = {0.5: [], 0.75: [], 0.9: []}
    for grid in grids.values():
        for rate in RATES:
            new = grid.headroom(rate)
            short = grid.with_load(new).flows.short_mw
            cut = short > 0
            for least, shares in kept.items():
                enough = cut & (short <= (1 - least) * new)
                shares.append(float(grid.hours[enough].sum() / grid.hours[cut].sum()))
    means = {least: float(np.mean(x)) for least, x in kept.items()}
    assert means == pytest.approx(KEPT, abs=0.01)
