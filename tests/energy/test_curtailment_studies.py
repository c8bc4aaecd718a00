"""Published studies of flexible load: how much new load a grid holds that may be curtailed at its peaks.

T. Norris et al., Rethinking Load Growth (Duke University, February 2025, hdl.handle.net/10161/32077): a
constant load L is added to the hourly load of a balancing authority. What exceeds the highest load of
its season is curtailed. The headroom at a rate is the L whose curtailed energy is that share of 8,760 L.

The study has 22 authorities from 2016 to 2024 (EIA-930). Here are the hours of PJM from 2014 to 2017, the
sum of its ten zones as PJM published them. ``data/pjm-load-2014-2017.csv`` counts them by season (April
to October, and the rest) in steps of 0.25 GW, of 5 GW below 95 GW, and has the mean load of each step.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dcplan.energy.dispatch import Dispatch, Source, dispatch

FILE = Path(__file__).parent / "data" / "pjm-load-2014-2017.csv"
YEARS = 4
RATES = (0.0025, 0.005, 0.01, 0.05)
PJM_GW = 17.8
"""Headroom of PJM at 0.5 % (figure 8)."""
US_GW = dict(zip(RATES, (76, 98, 126, 215), strict=True))
"""Headroom of all authorities (figure 7)."""
US_HOURS = dict(zip(RATES, (85, 177, 366, 1848), strict=True))
"""Hours of curtailment in a year, mean of the authorities (figure 10)."""


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


@pytest.fixture(scope="module")
def pjm() -> Grid:
    rows = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))
    load = np.array([float(r["gw"]) for r in rows])
    season = np.array([r["season"] for r in rows])
    most = np.array([load[season == s].max() for s in season])
    return Grid(load, most, np.array([float(r["hours"]) for r in rows]) / YEARS)


def test_the_load_is_that_of_pjm(pjm: Grid) -> None:
    """8,766 hours a year, a peak of 152 GW in July 2016, 789 TWh a year."""
    assert pjm.hours.sum() == pytest.approx(8766, abs=2)
    assert pjm.load_gw.max() == pytest.approx(152.2, abs=0.1)
    assert pjm.load_gw @ pjm.hours / 1000 == pytest.approx(789, abs=1)


def test_headroom_of_pjm_at_half_a_percent(pjm: Grid) -> None:
    """19.1 GW from four earlier years, 17.8 GW in the study: 7.3 % more."""
    found = pjm.headroom(0.005)
    assert found == pytest.approx(19.1, abs=0.05)
    assert found / PJM_GW - 1 == pytest.approx(0.073, abs=0.005)


@pytest.mark.parametrize(
    ("rate", "difference"), [(0.0025, -0.005), (0.005, 0.0), (0.01, -0.003), (0.05, 0.016)]
)
def test_headroom_grows_with_the_rate_as_in_the_study(
    pjm: Grid, rate: float, difference: float
) -> None:
    """Headroom over that at 0.5 %: PJM here against all authorities of the study."""
    here = pjm.headroom(rate) / pjm.headroom(0.005)
    study = US_GW[rate] / US_GW[0.005]
    assert here / study - 1 == pytest.approx(difference, abs=0.004)


@pytest.mark.parametrize(
    ("rate", "hours", "difference"),
    [(0.0025, 79, -0.071), (0.005, 167, -0.056), (0.01, 331.5, -0.094), (0.05, 1728.5, -0.065)],
)
def test_hours_of_curtailment(pjm: Grid, rate: float, hours: float, difference: float) -> None:
    """Hours a year in which any load is curtailed, against the mean of the 22 authorities."""
    short = pjm.with_load(pjm.headroom(rate)).flows.short_mw
    found = float(pjm.hours[short > 0].sum())
    assert found == pytest.approx(hours, abs=1.0)
    assert found / US_HOURS[rate] - 1 == pytest.approx(difference, abs=0.005)


def test_most_curtailed_hours_keep_most_of_the_load(pjm: Grid) -> None:
    """Half of the load is kept in 86 % of these hours (88 % in the study, mean of rates and authorities),
    three quarters in 55 % (60 %), nine tenths in 26 % (29 %)."""
    kept: dict[float, list[float]] = {0.5: [], 0.75: [], 0.9: []}
    for rate in RATES:
        new = pjm.headroom(rate)
        short = pjm.with_load(new).flows.short_mw
        cut = short > 0
        for least, shares in kept.items():
            enough = cut & (short <= (1 - least) * new)
            shares.append(float(pjm.hours[enough].sum() / pjm.hours[cut].sum()))
    means = {least: float(np.mean(x)) for least, x in kept.items()}
    assert means == pytest.approx({0.5: 0.856, 0.75: 0.549, 0.9: 0.261}, abs=0.005)
    assert means == pytest.approx({0.5: 0.88, 0.75: 0.60, 0.9: 0.29}, abs=0.06)
