"""Merged halls split again: many racks at a time give the same as one by one, in the time of few."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.planning.audit.packing import Unit, unplaced
from dcplan.planning.problem.terms import CoolingTerms, HallTerms, Placement
from tests.planning.small import HALL, rack


def hall(racks: int, it_mw: float, count: int, air_mw: float, liquid_mw: float) -> HallTerms:
    return HallTerms(
        HALL,
        "s",
        "h",
        count,
        racks,
        it_mw,
        True,
        0,
        False,
        (CoolingTerms("wet", air_mw, liquid_mw, 1.1, 1.2, 0, 0, 0),),
    )


def one_by_one(terms: HallTerms, units: int, racks: list[tuple[Placement, int]]) -> int:
    """Each rack by itself into the unit with most power left that holds it."""
    cool = terms.coolings[0]
    rooms = [
        [float(terms.racks), terms.it_mw * 1e3, cool.air_mw * 1e3, cool.liquid_mw * 1e3]
        for _ in range(units)
    ]
    left = 0
    for place, n in sorted(racks, key=lambda item: (-item[0].rated_kw, item[0].key)):
        needs = (place.slots, place.rated_kw + place.overhead_kw, place.air_kw, place.liquid_kw)
        for _ in range(n):
            able = [r for r in rooms if all(x + 1e-6 >= y for x, y in zip(r, needs, strict=True))]
            if not able:
                left += 1
                continue
            best = max(able, key=lambda r: r[1])
            best[:] = [x - y for x, y in zip(best, needs, strict=True)]
    return left


@pytest.mark.parametrize("seed", range(60))
def test_many_at_a_time_equals_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    terms = hall(
        int(rng.integers(3, 30)),
        float(rng.uniform(0.1, 1.5)),
        9,
        float(rng.uniform(0.05, 0.6)),
        float(rng.uniform(0.05, 1.0)),
    )
    units = int(rng.integers(1, 9))
    racks = [
        (rack(name, "wet", price=1.0, rated=float(rng.uniform(10, 130))), int(rng.integers(0, 60)))
        for name in ("a", "b", "c")[: int(rng.integers(1, 4))]
    ]
    assert unplaced(terms, {"wet": units}, racks, 0.0, 0.0) == one_by_one(terms, units, racks)


def test_a_thousand_times_the_racks_take_no_more_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks(scale: int) -> int:
        seen: list[int] = []
        takes = Unit.takes
        monkeypatch.setattr(Unit, "takes", lambda unit, place: seen.append(1) or takes(unit, place))
        terms = hall(100 * scale, 5.0 * scale, 8, 2.0 * scale, 4.0 * scale)
        racks = [
            (rack(k, "wet", price=1.0, rated=w), 40 * scale) for k, w in (("a", 40.0), ("b", 60.0))
        ]
        assert unplaced(terms, {"wet": 8}, racks, 100.0, 1.0) == 0
        monkeypatch.undo()
        return len(seen)

    assert looks(1000) <= 2 * looks(1)
