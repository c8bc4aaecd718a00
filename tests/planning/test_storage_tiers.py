"""Storage tiers: the cheapest of all single tiers and pairs, by hand and in a plan."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

import dcplan
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.planning.problem.storage_tiers import TierNeed, TierPrices, Upkeep, cheapest
from dcplan.reliability.storage import Block
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.report.books import planned_with_facts

NAME = "train-405b-in-90-days"
BLOCKS = {
    # TB, read and write GB/s, kW, U, USD, rack height
    "fast": Block(100.0, 50.0, 25.0, 1.0, 2.0, 100e3, 40.0),
    "mid": Block(500.0, 20.0, 10.0, 4.0, 8.0, 150e3, 40.0),
    "slow": Block(1000.0, 5.0, 2.0, 2.0, 10.0, 100e3, 40.0),
}
NEED = TierNeed(1.0, 0.2, 0.1, 0.05, 10.0)
PRICE = TierPrices(1.0, ())


@cache
def _plan(*sets: str) -> Result:
    return dcplan.plan(NAME, sets=list(sets))


def test_the_cheapest_pair_by_hand() -> None:
    """fast holds 0.2 TB and 0.1 GB/s on 0.002 blocks, 200 USD; slow holds 0.8 TB on 0.0008 blocks,
    80 USD. Alone, fast takes 1,000 USD, mid 0.005 blocks for its rates, 750 USD, slow 2,500 USD."""
    shares, choices = cheapest(BLOCKS, NEED, PRICE)
    assert [(s.tier, s.role, s.binds) for s in shares] == [
        ("fast", "hot", "capacity"),
        ("slow", "cold", "capacity"),
    ]
    assert [s.usd for s in shares] == pytest.approx([200, 80])
    assert {(c.hot, c.cold): round(c.usd, 6) for c in choices} == {
        ("fast", "slow"): 280,
        ("fast", "mid"): 440,
        ("mid", None): 750,
        ("fast", None): 1000,
        ("slow", None): 2500,
    }


def test_a_cold_tier_must_copy_its_data_in_time() -> None:
    """In one day 0.8 TB are 0.00926 GB/s: slow writes them on 0.00463 blocks, 463 USD, and mid
    needs 240 USD for their capacity."""
    shares, choices = cheapest(BLOCKS, TierNeed(1.0, 0.2, 0.1, 0.05, 1.0), PRICE)
    assert [s.tier for s in shares] == ["fast", "mid"]
    slow = next(c for c in choices if c.cold == "slow")
    assert slow.usd == pytest.approx(200 + 463, abs=0.5)


def test_power_and_space_add_to_the_price() -> None:
    """fast and slow: 280 USD x 0.5 + 0.0036 kW x 10,000 USD + 60,000 USD x the larger of 0.0036 kW
    of 10 and 0.0003 positions of 20 = 140 + 36 + 21.6."""
    prices = TierPrices(0.5, (Upkeep(10_000.0, 60_000.0, 10.0, 20.0),))
    _, choices = cheapest(BLOCKS, NEED, prices)
    pair = next(c for c in choices if c.cold == "slow")
    assert pair.kw == pytest.approx(0.0036)
    assert pair.cost_usd == pytest.approx(140 + 36 + 21.6)


def test_the_mean_of_the_halls_counts() -> None:
    here, there = Upkeep(10_000.0, 0.0, 1.0, 1.0), Upkeep(20_000.0, 0.0, 1.0, 1.0)
    assert TierPrices(1.0, (here, there)).cost_usd(100.0, 0.01, 0.0) == pytest.approx(250)


@pytest.mark.parametrize("hot_frac", [0.0, 0.1, 0.35, 0.8, 1.0])
@pytest.mark.parametrize(("read", "write"), [(0.05, 0.01), (0.2, 0.1), (2.0, 1.0)])
def test_no_single_tier_or_pair_is_cheaper(hot_frac: float, read: float, write: float) -> None:
    """All of them again by loops over blocks, without the search's functions."""
    tb, days = 1.0, 10.0
    costs = []
    for hot, cold in product(BLOCKS.values(), repeat=2):
        alone = max(tb / hot.usable_tb, read / hot.read_gb_per_s, write / hot.write_gb_per_s)
        costs.append(alone * hot.price_usd)
        n = max(tb * hot_frac / hot.usable_tb, read / hot.read_gb_per_s, write / hot.write_gb_per_s)
        rest = max(tb - n * hot.usable_tb, 0.0)
        rate = rest * 1e3 / (days * 86_400)
        m = max(rest / cold.usable_tb, rate / cold.read_gb_per_s, rate / cold.write_gb_per_s)
        costs.append(n * hot.price_usd + m * cold.price_usd)
    need = TierNeed(tb, hot_frac, read, write, days)
    shares, _ = cheapest(BLOCKS, need, PRICE)
    assert sum(s.usd for s in shares) == pytest.approx(min(costs), rel=1e-9)


def test_a_plan_takes_the_pair_and_pays_for_both() -> None:
    result = _plan("storage.tiers=all")
    rows = result.frame("storage")
    assert list(rows["role"]) == ["hot", "cold"]
    count = result.value("accelerators.total")
    # the hot tier carries the rates of the level, 0.15625 and 0.078125 GB/s an accelerator
    assert rows["read_gb_per_s"].iloc[0] >= count * 0.15625 * (1 - 1e-9)
    assert rows["write_gb_per_s"].iloc[0] >= count * 0.078125 * (1 - 1e-9)
    assert rows["usable_pb"].sum() == pytest.approx(count / 1000)
    cost = result.frame("cost").set_index("line")["usd"]
    assert cost["storage"].iloc[0] == pytest.approx(rows["capex_usd"].sum())
    assert rows["capex_usd"].sum() < _plan().frame("storage")["capex_usd"].sum() / 2
    choices = result.frame("storage_choices")
    assert list(choices["chosen"]) == [True] + [False] * (len(choices) - 1)
    assert list(choices["present_cost_usd"]) == sorted(choices["present_cost_usd"])
    assert choices["cold_tier"].isna().any()
    [note] = [w["message"] for w in result.warnings if w["code"] == "tiers"]
    assert "next best" in note


def test_two_tiers_are_two_live_terms_of_the_workbook() -> None:
    book = planned_with_facts(NAME, ["storage.tiers=[wekapod-nitro, disk-object-class]"])[1]
    for tier in ("wekapod-nitro", "disk-object-class"):
        for field in ("price_usd", "kw"):
            key = f"storage_tiers.{tier}.{field}"
            assert book.live[key] == f"prices.{tier}.{field}"


def test_one_of_the_tiers_is_a_given_tier() -> None:
    one = build(load(NAME, sets=["storage.tiers=[vast-ceres]"])).problem
    given = build(load(NAME, sets=["storage.tier=vast-ceres"])).problem
    assert one.storage == given.storage
    assert [p.storage_usd for p in one.placements] == [p.storage_usd for p in given.placements]


def test_a_data_set_is_divided_as_the_hot_share_says() -> None:
    """20,000 TB: 2,000 TB on wekapod at 1,000 USD, 18,000 TB on disk at 177 USD a TB."""
    sets = ["storage.tiers=[wekapod-nitro, disk-object-class]", "storage.dataset_tb=20000"]
    problem = build(load(NAME, sets=[*sets, "storage.hot_frac=0.1"])).problem
    hall = problem.halls[0]
    assert [s.tier for s in problem.storage] == ["wekapod-nitro", "disk-object-class"]
    assert hall.storage_tb == pytest.approx((2000, 18000))
    assert hall.storage_usd == pytest.approx(2000 * 1000 + 18000 * 177)


@pytest.mark.parametrize(
    ("sets", "code"),
    [
        (("storage.tiers=all", "storage.tier=vast-ceres"), "DC015"),
        (("storage.tiers=all", "storage.usable_pb=2"), "DC015"),
        (("storage.tiers=[dgx-h100-nvme-cache]",), "DC015"),
        (("storage.hot_frac=0.1",), "DC015"),
        (("storage.tiers=[]",), "DC003"),
        (("storage.tiers=[ddn-ai400x9]",), "DC010"),
        (("storage.tiers=all", "storage.hot_frac=1.1"), "DC004"),
    ],
)
def test_wrong_tiers_are_refused_with_their_place(sets: tuple[str, ...], code: str) -> None:
    with pytest.raises(InputError) as caught:
        load(NAME, sets=list(sets))
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.place is not None
