"""Axes and points of sweeps: pairs, samples, chains, bounds of inputs."""

from __future__ import annotations

import itertools
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from dcplan.scenario.axes import Axis, split_sets
from dcplan.study.lines import Runner
from dcplan.study.store import Store
from dcplan.study.sweep.points import CHAIN, chains, grid, quantile, sampled
from dcplan.study.sweep.request import SweepRequest
from dcplan.study.sweep.run import laid_out, sweep
from tests.cli.conftest import TINY
from tests.study.test_sweep import RATE


def test_axes_of_the_file_give_way_to_a_fixed_value_and_to_other_axes() -> None:
    assert len(laid_out(SweepRequest("retrofit-air-hall")).values) == 8
    assert (
        len(laid_out(SweepRequest("retrofit-air-hall", sets=("finance.discount_rate=0.1",))).values)
        == 4
    )
    assert (
        len(
            laid_out(
                SweepRequest("retrofit-air-hall", sets=("finance.discount_rate=0.1,0.11,0.12",))
            ).values
        )
        == 3
    )


def test_pairs_and_samples() -> None:
    axes, _ = split_sets(["a=1,2", "b=range(1,3)"])
    with pytest.raises(InputError, match="a has 2, b has 3"):
        grid(axes, paired=True)
    spread, _ = split_sets(["a=uniform(0,1)", "b=1,2"])
    with pytest.raises(InputError, match="--sample"):
        grid(spread, paired=False)
    for method in ("lhs", "sobol"):
        points = sampled(spread, 16, 3, method)
        assert points == sampled(spread, 16, 3, method)
        assert points != sampled(spread, 16, 4, method)
        # both methods put one point in every sixteenth, and half of them on each of two values
        assert sorted(int(a * 16) for a, _ in points) == list(range(16))
        assert sum(b == 1 for _, b in points) == 8


def test_chains_hold_every_point_once_and_neighbours_differ_in_one_axis() -> None:
    axes = [Axis("a", tuple(range(12))), Axis("b", tuple(range(6))), Axis("c", (1, 2))]
    points = grid(axes, paired=False)
    found = chains(axes, points, product=True)
    order = [i for line in found for i in line]
    assert sorted(order) == list(range(144))
    assert max(map(len, found)) == CHAIN
    for i, j in itertools.pairwise(order):
        assert sum(x != y for x, y in zip(points[i], points[j], strict=True)) == 1


BOUNDED = TINY.replace(
    "utility_mw: 4\n",
    "utility_mw: 4\n    energy: {usd_per_kwh: {value: 0.08, low: 0.05, high: 0.14, source: a bill}}\n",
)


def test_each_input_at_its_bounds_is_a_plan_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "bounded.yaml"
    file.write_text(BOUNDED, encoding="utf-8")
    found = sweep(laid_out(SweepRequest(str(file), bounds=True)), Runner(Store(tmp_path)))
    rows = found.tables["points"].records()
    swings = found.tables["bounds"].records()
    assert len(rows) == 1 + 2 * len(swings)
    energy = next(r for r in swings if r["input"] == "sites.s.energy.usd_per_kwh")
    assert (energy["low"], energy["now"], energy["high"]) == (0.05, 0.08, 0.14)
    low = plan(str(file), sets=["sites.s.energy.usd_per_kwh=0.05"])
    assert energy["npv_at_low_usd"] == pytest.approx(low.value("cost.npv_usd"), rel=0.005)
    assert [r["swing_usd"] for r in swings] == sorted(
        (r["swing_usd"] for r in swings), reverse=True
    )
    drawn = laid_out(SweepRequest(str(file), bounds=True, sample=8))
    assert all(
        0.05 <= float(v[0]) <= 0.14
        for v in drawn.values
        if drawn.axes[0].key.endswith("usd_per_kwh")
    )
    with pytest.raises(InputError, match="makes its own axes"):
        laid_out(SweepRequest(str(file), bounds=True, sets=(RATE,)))


def test_small_sweeps_have_work_for_every_shard() -> None:
    for count in (2, 8, 16, 100):
        found = chains([Axis("a", tuple(range(count)))], [(i,) for i in range(count)], product=True)
        assert len(found) >= min(count, 13)


def test_a_scenario_behind_a_link_is_the_one_that_plan_reads(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "real.yaml").write_text(TINY, encoding="utf-8")
    (tmp_path / "one" / "link.yaml").symlink_to(tmp_path / "two" / "real.yaml")
    asked = laid_out(SweepRequest(str(tmp_path / "one" / "link.yaml"), sets=(RATE,)))
    assert asked.base.ref.scenario == str(tmp_path / "one" / "link.yaml")


@given(st.floats(0.001, 0.999))
def test_quantiles_of_distributions(share: float) -> None:
    assert quantile(Axis("x", kind="uniform", numbers=(2.0, 6.0)), share) == pytest.approx(
        2.0 + 4.0 * share
    )
    drawn = quantile(Axis("x", kind="normal", numbers=(5.0, 2.0)), share)
    assert NormalDist(5.0, 2.0).cdf(drawn) == pytest.approx(share, abs=1e-6)
    # triangular(0, 1, 4): F(x) = x^2 / 4 up to the mode, 1 - (4 - x)^2 / 12 above it
    x = quantile(Axis("x", kind="triangular", numbers=(0.0, 1.0, 4.0)), share)
    assert (x * x / 4 if x <= 1 else 1 - (4 - x) ** 2 / 12) == pytest.approx(share, abs=1e-9)


def test_named_inputs_without_bounds_are_told(tmp_path: Path) -> None:
    file = tmp_path / "bounded.yaml"
    file.write_text(
        BOUNDED + "sensitivity: {inputs: [sites.s.energy.usd_per_kwh, sites.s.utility_mw]}\n",
        encoding="utf-8",
    )
    asked = laid_out(SweepRequest(str(file), bounds=True))
    assert [a.key for a in asked.axes] == [
        "sites.s.energy.usd_per_kwh",
        "finance.discount_rate",
        "finance.residual",
        "workloads.capacity.r.utilization_frac",
    ]
    assert asked.notes == [
        "sites.s.utility_mw: left out, because this plan has no such input with low and high"
    ]


def test_standard_inputs_have_bounds_of_the_catalog(tmp_path: Path) -> None:
    """A throughput without bounds moves by exp(0.5), the width of a quantity nobody measured."""
    file = tmp_path / "standard.yaml"
    service = (
        "  inference:\n"
        "    - {id: chat, tokens_per_s: [0, 100], tokens_per_s_per_accelerator: {dgx-h200: 1000}}\n"
    )
    file.write_text(TINY + service, encoding="utf-8")
    found = {a.key: a for a in laid_out(SweepRequest(str(file), bounds=True)).axes}
    assert found["finance.discount_rate"].numbers == (0.08, 0.1, 0.12)
    assert found["finance.residual"].values == ("low", "mid", "high")
    assert found["workloads.capacity.r.utilization_frac"].numbers == (0.4, 0.6, 0.9)
    key = "workloads.inference.chat.tokens_per_s_per_accelerator.dgx-h200"
    assert found[key].numbers == pytest.approx((606.53, 1000.0, 1648.72), rel=1e-5)


def test_a_residual_curve_at_its_bounds_is_a_plan_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    swings = sweep(laid_out(SweepRequest(str(file), bounds=True)), Runner(Store(tmp_path)))
    row = next(r for r in swings.tables["bounds"].records() if r["input"] == "finance.residual")
    assert (row["low"], row["now"], row["high"]) == ("low", "mid", "high")
    for end in ("low", "high"):
        there = plan(str(file), sets=[f"finance.residual={end}"])
        assert row[f"npv_at_{end}_usd"] == pytest.approx(there.value("cost.npv_usd"), rel=0.005)
