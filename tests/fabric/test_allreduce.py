"""Collectives against measured bus bandwidths, with the catalog's own parameters, and their limits.

Measured values are those of fabric notes 4: NVIDIA/dgxc-benchmarking ``nccl/README.md`` (H100),
stas00/ml-engineering ``network/README.md`` (H200, B200, NVL72, EFA, MI300X), arXiv 2505.09343
figure 7 (all-to-all).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator, Parameter
from dcplan.fabric.allreduce import Levels, all_gather_s, all_reduce_s, bus_gb_per_s, exchange_s
from dcplan.fabric.collectives import Array
from dcplan.inputs.training.devices import family_of, training_terms

QUICK = settings(max_examples=60, deadline=None)
WITHIN = 0.15
MIB, GIB = 2.0**20, 2.0**30
PLAIN = st.builds(
    Levels,
    ranks=st.integers(2, 4096),
    domain=st.sampled_from([1, 2, 4, 8, 64, 72]),
    scaleup_bytes_per_s=st.floats(1e11, 1e12),
    scaleout_bytes_per_s=st.floats(1e9, 1e11),
    scaleup_s=st.floats(0.0, 1e-5),
    scaleout_s=st.floats(1e-5, 1e-4),
    gain=st.just(1.0),
    bulk_s=st.floats(0.0, 1e-4),
    low_latency_frac=st.floats(0.1, 1.0),
)
MESSAGE = st.floats(1.0, 1e11)
Collective = Callable[[Array, Levels], Array]
COLLECTIVES: list[Collective] = [all_reduce_s, all_gather_s, exchange_s]


def _parameter(key: str) -> float:
    return load().get("network", key, Parameter).value.value


def _levels(name: str, ranks: int, *, ring: bool = False, efa: bool = False) -> Levels:
    """What the catalog says of an accelerator, one 400 Gb/s NIC each as its family has."""
    row = load().get("accelerators", name, Accelerator)
    terms = training_terms(load(), row)
    assert row.scaleup_gb_per_s is not None
    assert row.scaleup_domain is not None
    adds_up = family_of(load(), row).in_network_reduction and not ring
    return Levels(
        ranks=ranks,
        domain=row.scaleup_domain,
        scaleup_bytes_per_s=row.scaleup_gb_per_s.value * terms["scaleup_frac"] * 1e9,
        scaleout_bytes_per_s=terms["scaleout_gb_per_s"] * terms["scaleout_frac"] * 1e9,
        scaleup_s=terms["scaleup_us"] * 1e-6,
        scaleout_s=(_parameter("step-latency-efa-us") if efa else terms["scaleout_us"]) * 1e-6,
        gain=_parameter("in-network-gain") if adds_up else 1.0,
        bulk_s=_parameter("bulk-protocol-us") * 1e-6,
        low_latency_frac=_parameter("low-latency-rate-frac"),
    )


def _seconds(collective: Collective, message: float, levels: Levels) -> float:
    return float(collective(np.array(message), levels))


def _bus(message: float, levels: Levels) -> float:
    return float(
        bus_gb_per_s(np.array(message), all_reduce_s(np.array(message), levels), levels.ranks)
    )


@pytest.mark.parametrize(
    ("levels", "message", "measured"),
    [
        pytest.param(lambda: _levels("h100-sxm", 8), 8 * GIB, 480.2, id="h100-8g"),
        pytest.param(lambda: _levels("h100-sxm", 8), GIB, 466.0, id="h100-1g"),
        pytest.param(lambda: _levels("h100-sxm", 8), 64 * MIB, 362.0, id="h100-64m"),
        pytest.param(lambda: _levels("h200-sxm", 8), 8 * GIB, 473.1, id="h200-nvls"),
        pytest.param(lambda: _levels("h200-sxm", 8, ring=True), 8 * GIB, 365.6, id="h200-ring"),
        pytest.param(lambda: _levels("b200-sxm", 8), 8 * GIB, 838.0, id="b200-nvls"),
        pytest.param(lambda: _levels("b200-sxm", 8, ring=True), 8 * GIB, 682.2, id="b200-ring"),
        pytest.param(lambda: _levels("gb200", 72), 8 * GIB, 850.0, id="nvl72-sharp"),
        pytest.param(lambda: _levels("gb200", 72, ring=True), 8 * GIB, 680.0, id="nvl72-none"),
        pytest.param(lambda: _levels("b200-sxm", 32, efa=True), 16 * GIB, 381.8, id="efa-16g"),
        pytest.param(lambda: _levels("b200-sxm", 32, efa=True), 16 * MIB, 64.4, id="efa-16m"),
        pytest.param(lambda: _levels("b200-sxm", 32, efa=True), MIB, 5.4, id="efa-1m"),
        pytest.param(lambda: _levels("mi300x", 8), 4 * GIB, 312.9, id="mi300x"),
    ],
)
def test_measured_bus_bandwidth(
    levels: Callable[[], Levels], message: float, measured: float
) -> None:
    """NVL72's slide names no message size; 8 GiB as the others of its source."""
    assert _bus(message, levels()) == pytest.approx(measured, rel=WITHIN)


@pytest.mark.parametrize(("ranks", "measured"), [(16, 58.0), (128, 41.6)])
def test_measured_all_to_all(ranks: int, measured: float) -> None:
    """DeepEP on CX-7 of 400 Gb/s: 4,096 tokens of 7,168 bytes to eight experts are 224 MiB a rank."""
    message = np.array(4096 * 7168 * 8.0)
    found = bus_gb_per_s(message, exchange_s(message, _levels("h100-sxm", ranks)), ranks, halves=1)
    assert float(found) == pytest.approx(measured, rel=WITHIN)


def test_all_to_all_falls_from_16_to_128_ranks() -> None:
    """The share that stays in a node falls from 8 / 16 to 8 / 128."""
    message, ranks = np.array(224 * MIB), (16, 32, 64, 128)
    seconds = [exchange_s(message, _levels("h100-sxm", n)) for n in ranks]
    found = [
        float(bus_gb_per_s(message, t, n, halves=1)) for t, n in zip(seconds, ranks, strict=True)
    ]
    assert found == sorted(found, reverse=True)


def test_all_reduce_by_hand() -> None:
    """4 domains of 8, 800 MB. Inside 2 x 7/8 x 0.8 / 400 = 3.5 ms, between 2 x 3/4 x 0.1 / 50 = 3
    ms: 3.5 ms.

    Steps 2 x 3 x 10 us and 2 x 2 x 100 us: 0.46 ms. The bulk protocol adds 1 ms, 4.5, where the
    other takes 3.5 / 0.5 = 7: 4.96 ms. With a gain of 2 inside, 1.75 ms, and the 3 ms between are
    the longer: 4.46 ms.
    """
    levels = Levels(32, 8, 400e9, 50e9, 1e-5, 1e-4, 1.0, 1e-3, 0.5)
    assert (levels.inside, levels.domains) == (8, 4)
    assert _seconds(all_reduce_s, 8e8, levels) == pytest.approx(4.96e-3, rel=1e-12)
    assert _seconds(all_reduce_s, 8e8, replace(levels, gain=2.0)) == pytest.approx(
        4.46e-3, rel=1e-12
    )
    # 8 MB: 35 us at half the rate are 70 us, less than 35 + 1,000
    assert _seconds(all_reduce_s, 8e6, levels) == pytest.approx(0.53e-3, rel=1e-12)
    assert _seconds(all_reduce_s, 8e8, replace(levels, ranks=1)) == 0.0


def test_all_to_all_by_hand() -> None:
    """32 ranks in domains of 8, 3.2 GB: 24/32 x 3.2 / 50 = 48 ms and 7/32 x 3.2 / 400 = 1.75 ms,
    0.1 ms to begin."""
    levels = Levels(32, 8, 400e9, 50e9, 1e-5, 1e-4)
    assert _seconds(exchange_s, 3.2e9, levels) == pytest.approx(49.85e-3, rel=1e-12)
    # in one domain: 7/8 x 3.2 / 400 = 7 ms and 10 us
    assert _seconds(exchange_s, 3.2e9, replace(levels, ranks=8)) == pytest.approx(
        7.01e-3, rel=1e-12
    )


def test_bus_bandwidth_by_hand() -> None:
    # 10 GB in 0.1 s are 100 GB/s; x 2 x 7/8 for an all-reduce, x 7/8 for the others (nccl-tests
    # PERFORMANCE.md)
    ten, tenth = np.array(1e10), np.array(0.1)
    assert float(bus_gb_per_s(ten, tenth, 8)) == pytest.approx(175.0)
    assert float(bus_gb_per_s(ten, tenth, 8, halves=1)) == pytest.approx(87.5)


def test_arrays_are_answered_element_by_element() -> None:
    levels = _levels("h100-sxm", 64)
    sizes = np.array([MIB, 64 * MIB, GIB])
    for collective in COLLECTIVES:
        assert collective(sizes, levels).tolist() == [
            _seconds(collective, m, levels) for m in sizes.tolist()
        ]


@given(PLAIN, MESSAGE, st.floats(1.0, 100.0))
@QUICK
def test_a_larger_message_never_takes_less(levels: Levels, message: float, times: float) -> None:
    for collective in COLLECTIVES:
        small, large = (_seconds(collective, m, levels) for m in (message, message * times))
        assert small <= large * (1 + 1e-12)
        assert large <= small * times * (1 + 1e-12)  # latency is paid once


@given(PLAIN, MESSAGE, st.integers(1, 512))
@QUICK
def test_more_ranks_never_take_less(levels: Levels, message: float, more: int) -> None:
    for collective in COLLECTIVES:
        few, many = (
            _seconds(collective, message, replace(levels, ranks=levels.ranks + n))
            for n in (0, more)
        )
        assert few <= many * (1 + 1e-12)


@given(PLAIN, MESSAGE)
@QUICK
def test_bus_bandwidth_stays_under_the_links(levels: Levels, message: float) -> None:
    """Bytes a rank sends inside are 2 (g-1)/g M, a NIC's 2 (k-1)/k M/g; a ring counts 2 (n-1)/n M
    for both."""
    n, g, k = levels.ranks, levels.inside, levels.domains
    limits = []
    if g > 1:
        limits.append(levels.scaleup_bytes_per_s * (n - 1) / n * g / (g - 1))
    if k > 1:
        limits.append(levels.scaleout_bytes_per_s * (n - 1) / (k - 1))
    assert _bus(message, levels) <= min(limits) / 1e9 * (1 + 1e-12)
    if k == 1:
        assert _bus(message, levels) <= levels.scaleup_bytes_per_s / 1e9 * (1 + 1e-12)
    if g == 1:
        assert _bus(message, levels) <= levels.scaleout_bytes_per_s / 1e9 * (1 + 1e-12)


@given(PLAIN)
@QUICK
def test_a_huge_message_runs_at_the_slower_link(levels: Levels) -> None:
    n, g, k = levels.ranks, levels.inside, levels.domains
    up = levels.scaleup_bytes_per_s * (n - 1) / n * g / (g - 1) if g > 1 else np.inf
    out = levels.scaleout_bytes_per_s * (n - 1) / (k - 1) if k > 1 else np.inf
    assert _bus(1e18, levels) == pytest.approx(min(up, out) / 1e9, rel=1e-3)


@given(PLAIN, MESSAGE, st.floats(1.0, 2.0))
@QUICK
def test_all_gather_is_half_and_knows_no_gain(levels: Levels, message: float, gain: float) -> None:
    half = _seconds(all_gather_s, message, levels)
    assert 2 * half == pytest.approx(_seconds(all_reduce_s, message, levels), rel=1e-12)
    assert _seconds(all_gather_s, message, replace(levels, gain=gain)) == half
    assert _seconds(all_reduce_s, message, replace(levels, gain=gain)) <= 2 * half * (1 + 1e-12)


@given(PLAIN, MESSAGE, st.floats(1e9, 1e12), st.floats(0.0, 1.0))
@QUICK
def test_a_domain_of_all_ranks_sends_nothing_out(
    levels: Levels, message: float, rate: float, wait: float
) -> None:
    alone = replace(levels, domain=levels.ranks)
    other = replace(alone, domain=2 * levels.ranks, scaleout_bytes_per_s=rate, scaleout_s=wait)
    for collective in COLLECTIVES:
        assert _seconds(collective, message, alone) == _seconds(collective, message, other)
