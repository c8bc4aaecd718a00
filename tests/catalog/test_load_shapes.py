"""catalogs/demand/: shapes of load over the hours, checked against totals that their sources state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import LoadShape
from dcplan.demand.periods import Array, week_of
from dcplan.errors import InputError
from tests.catalog.overlays import loaded

ROW = 'load_shapes:\n  - {id: own, name: Own, source: "Own count of a log", what: requests, load_frac: %s}'
SHAPES = load().table("load_shapes", LoadShape)


def day_of_week(name: str) -> Array:
    """Load by day of the week, mean 1."""
    days: Array = week_of(SHAPES[name].load_frac).reshape(7, 24).mean(axis=1)
    return days


@pytest.mark.parametrize("name", SHAPES)
def test_the_busiest_hour_is_one_and_every_hour_has_some_load(name: str) -> None:
    shape = SHAPES[name].load_frac
    assert max(shape) == 1.0
    assert min(shape) > 0.0
    assert week_of(shape).mean() == pytest.approx(1.0)


@pytest.mark.parametrize("name", SHAPES)
def test_a_row_states_what_is_measured(name: str) -> None:
    assert (SHAPES[name].note or "").startswith("Measured")


def test_deepseek_nodes_have_the_published_mean() -> None:
    """The text of the source: at most 278 nodes, 226.75 on average, so 226.75 / 278 = 0.8156."""
    shape = SHAPES["chat-deepseek-2025"].load_frac
    assert np.mean(shape) == pytest.approx(226.75 / 278, abs=0.0005)  # three decimals in the row
    # nodes leave at midnight and are all back at 08:30, as the figure shows
    assert [hour for hour, load in enumerate(shape) if load < 1.0] == list(range(9))


@pytest.mark.parametrize(
    ("name", "requests", "busiest_per_min"),
    [
        # 27,303,999 rows in the trace; the plot's highest minutes are near 5,000
        ("chat-azure-2024", 27_303_999, 5_000),
        # 16,803,695 rows in the trace; the plot's highest minutes are near 5,700
        ("coding-azure-2024", 16_803_695, 5_700),
    ],
)
def test_azure_hours_add_up_to_the_rows_of_the_trace(
    name: str, requests: int, busiest_per_min: float
) -> None:
    """The busiest hour that the number of rows implies lies below the highest minutes of the plot.

    Rows / (168 h x 60 min) x busiest over mean gives the requests a minute of the busiest hour, which
    must be 80 to 100 % of the highest minutes.
    """
    shape = np.asarray(SHAPES[name].load_frac)
    busiest = requests / (168 * 60) / shape.mean()
    assert 0.8 * busiest_per_min < busiest < busiest_per_min


def test_office_users_rest_on_the_weekend() -> None:
    """The week of coding has its five days; chat services keep more of their load."""
    coding, chat = day_of_week("coding-azure-2024"), day_of_week("chat-azure-2024")
    assert coding[5:].max() < 0.45
    assert 0.6 < chat[5:].min() < chat[5:].max() < 0.7
    # BurstGPT, figure 1: Monday to Friday near 2,000 conversations a day, Saturday 930, Sunday 1,160
    campus = day_of_week("chat-campus-burstgpt")
    assert campus[5] / campus[:5].mean() == pytest.approx(930 / 2_040, rel=0.02)
    assert campus[6] / campus[:5].mean() == pytest.approx(1_160 / 2_040, rel=0.02)


def test_busy_gpus_are_flatter_than_submissions() -> None:
    busy, submitted = SHAPES["busy-gpus-helios-2020"], SHAPES["jobs-helios-2020"]
    assert np.mean(busy.load_frac) > 0.85 > 0.5 > np.mean(submitted.load_frac)


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [
        ([1.0] * 23, "23 numbers; expected 24 for every day, or 168 from Monday 00:00"),
        ([0.0] * 24, "every hour has load 0"),
        ([1.0] * 23 + [-0.1], "greater than or equal to 0"),
    ],
)
def test_a_shape_with_wrong_numbers_does_not_load(
    tmp_path: Path, numbers: list[float], cause: str
) -> None:
    with pytest.raises(InputError) as error:
        loaded(tmp_path, ROW % numbers)
    assert cause in str(error.value)


def test_an_own_shape_loads(tmp_path: Path) -> None:
    row = loaded(tmp_path, ROW % ([0.0] * 167 + [2.5])).get("load_shapes", "own", LoadShape)
    assert (row.what, row.load_frac[-1]) == ("requests", 2.5)
