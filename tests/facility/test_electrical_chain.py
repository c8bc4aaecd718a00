"""Losses of transformer, UPS and busway behind blocks, and standard ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.facility.electrical.chain import Branch, branch, efficiencies, losses_frac
from dcplan.facility.electrical.power import RULES, blocks_needed
from dcplan.facility.electrical.ratings import amps, equal_units, next_rating
from dcplan.facility.electrical.supply import fault_ka, sections
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_at, chain_values

QUICK = settings(max_examples=80, deadline=None)
P = {
    "transformer_fixed": np.array(0.002),
    "transformer_square": np.array(0.010),
    "chain_ups_fixed": np.array(0.012),
    "chain_ups_square": np.array(0.019),
    "busway_square": np.array(0.010),
}


def test_chain_by_hand() -> None:
    """45 MW on 19 blocks of 2.5: 45 / 47.5 = 0.94737.

    Busway 1 / 1.0094737 = 0.990615; the UPS delivers 0.956343 and loses 0.012 + 0.019 x 0.956343^2 =
    0.029377: 0.970198; the transformer delivers 0.985720 and loses 0.002 + 0.01 x 0.985720^2 =
    0.011716: 0.988254. Together 0.949804.
    """
    found = branch(45.0, 50.0, 2.5, "n+1")
    assert found == Branch(0.9, 19, 2.5, pytest.approx(45.0 / 47.5))
    at = efficiencies(found.load_frac, P)
    assert float(at.busway) == pytest.approx(0.990615, abs=1e-6)
    assert float(at.ups) == pytest.approx(0.970198, abs=1e-6)
    assert float(at.transformer) == pytest.approx(0.988254, abs=1e-6)
    assert float(at.whole) == pytest.approx(0.949804, abs=2e-6)
    assert float(losses_frac([found], 1.0, P)) == pytest.approx(0.9 * 0.052849, abs=1e-5)


@pytest.mark.parametrize("ups", ["rack", "none"])
def test_batteries_in_racks_leave_transformer_and_busway(ups: str) -> None:
    """45 MW on 19 blocks of 2.5 without a UPS: busway 0.990615; the transformer delivers 0.956343.

    It loses 0.002 + 0.01 x 0.956343^2 = 0.011146: 0.988480. Together 0.979203.
    """
    found = branch(45.0, 50.0, 2.5, "n+1", ups)
    at = efficiencies(found.load_frac, {k: v for k, v in P.items() if "ups" not in k}, ups)
    assert float(at.ups) == 1.0
    assert float(at.transformer) == pytest.approx(0.988480, abs=1e-6)
    assert float(at.whole) == pytest.approx(0.979203, abs=2e-6)
    assert float(losses_frac([found], 1.0, P)) == pytest.approx(0.9 * 0.021239, abs=1e-5)


def test_eco_mode_of_the_catalog_is_within_the_printed_range() -> None:
    """Makers print 98 % (APC green mode) to 99 % (Schneider eConversion)."""
    feeding = [branch(45.0, 50.0, 2.5, "n+1", "eco")]
    p = chain_values(feeding, InputLog(load()))
    assert set(p) == {*(x for x in P if "ups" not in x), "eco_ups_fixed", "eco_ups_square"}
    for load_frac in (0.5, 0.75, 1.0):
        assert 0.98 <= float(efficiencies(load_frac, p, "eco").ups) <= 0.9905


def test_two_sides_load_each_ups_less() -> None:
    """2N halves the load of every stage: the UPS loses more of it, transformer and busway less."""
    one, two = (branch(45.0, 50.0, 2.5, rule) for rule in ("n", "2n"))
    assert two.load_frac == pytest.approx(one.load_frac / 2)
    full, half = (efficiencies(b.load_frac, P) for b in (one, two))
    assert half.ups < full.ups
    assert half.busway > full.busway
    assert half.transformer > full.transformer


def test_small_class_has_small_blocks() -> None:
    """1 MW under N+1: two blocks of 1 MW at half load, not of 2.5 MW at a fifth."""
    assert branch(1.0, 10.0, 2.5, "n+1") == Branch(0.1, 2, 1.0, 0.5)
    assert branch(0.0, 10.0, 2.5, "2n").blocks == 0


@given(st.floats(0.01, 200.0), st.sampled_from(sorted(RULES)), st.floats(0.1, 1.0))
@QUICK
def test_losses_are_positive_and_blocks_carry_the_load(mw: float, rule: str, load: float) -> None:
    found = branch(mw, mw, 2.5, rule)
    assert found.blocks == blocks_needed(mw, found.block_mw, rule)
    assert 0.0 < found.load_frac <= 1.0 + 1e-9
    assert 0.0 < float(losses_frac([found], load, P)) < 1.0


def test_losses_at_a_rank() -> None:
    """0.012 between 0.008 and 0.02: rank 0.25 is 0.010, rank 0.75 is 0.016."""
    found = chain_at(
        np.array([0.0, 0.25, 0.5, 0.75, 1.0]), [branch(1.0, 1.0, 1.0, "n")], InputLog(load())
    )
    assert found["chain_ups_fixed"].tolist() == pytest.approx([0.008, 0.010, 0.012, 0.016, 0.020])


@pytest.mark.parametrize(
    ("needed", "rating"),
    # IEC 60076-1: ... 630, 800, 1000, 1250, 1600, 2000, 2500, 3150, 4000 kVA
    [(700, 800), (1000, 1000), (1001, 1250), (1700, 2000), (2600, 3150), (3200, 4000), (8100, 1e4)],
)
def test_standard_ratings(needed: float, rating: float) -> None:
    assert next_rating(needed) == pytest.approx(rating)


def test_no_rating_of_nothing() -> None:
    with pytest.raises(ValueError, match="above 0"):
        next_rating(0.0)


def test_current_and_units() -> None:
    """3,150 kVA at 415 V: 3,150,000 / (1.7320508 x 415) = 4,382 A; 2.5 MW of at most 1.5: two of
    1.25."""
    assert amps(3150.0, 415.0) == pytest.approx(3_150_000 / (math.sqrt(3) * 415))
    assert amps(3150.0, 415.0) == pytest.approx(4382, abs=1)
    assert equal_units(2500.0, 1500.0) == (2, 1250.0)


def test_fault_behind_a_transformer_is_that_of_iec_60909() -> None:
    """630 kVA at 410 V, 4 %, load loss 6.5 kW: c U / (sqrt(3) K_T Z_T) with c = 1.05, where K_T has the
    reactance of 3.86 % without the resistance of 1.03 %; within 0.2 % of the formula without it."""
    resistance = 6.5 / 630.0
    reactance = (0.04**2 - resistance**2) ** 0.5
    factor = 0.95 * 1.05 / (1 + 0.6 * reactance)
    by_hand = 1.05 * 410 / (3**0.5 * factor * 0.04 * 410**2 / 630e3) / 1e3
    assert by_hand == pytest.approx(23.9, abs=0.05)
    assert fault_ka(630.0, 410.0, 0.04) == pytest.approx(by_hand, rel=0.002)


@QUICK
@given(st.floats(min_value=100.0, max_value=2e6), st.sampled_from(sorted(RULES)))
def test_a_supply_that_fails_leaves_the_rest_within_its_rating(kva: float, rule: str) -> None:
    found = sections(kva, 13_800.0, 3150.0, rule)
    assert found.each_kva * found.carrying == pytest.approx(kva)
    assert amps(found.each_kva, 13_800.0) <= 3150.0 * (1 + 1e-6)
    assert (found.count > found.carrying) == (rule != "n")
