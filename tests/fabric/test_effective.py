"""Effective rate of scale-out links, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.fabric.effective import LinkSpeed, effective_frac

ADAPTIVE, MORE_PAIRS, STATIC = 0.95, 0.8, 0.6
"""Shares of line rate of catalogs/fabrics/network.yaml: measured runs have adaptive routing."""
SHARES = st.floats(0.01, 1.0)
RATIOS = st.floats(1.0, 16.0)


@pytest.mark.parametrize(
    ("balanced", "leaf_spine", "spine_core", "leaf_share", "pod_share", "by_hand"),
    [
        pytest.param(ADAPTIVE, 1, 1, 0.5, 0.1, 1.0, id="as measured"),
        pytest.param(STATIC, 1, 1, 0.5, 0.1, 0.6 / 0.95, id="static hashing"),
        pytest.param(0.98, 1, 1, 0.5, 0.1, 1.0, id="never above the measured runs"),
        pytest.param(ADAPTIVE, 2, 1, 0.5, 0.1, 1.0, id="half leaves a leaf of 2:1: just enough"),
        pytest.param(ADAPTIVE, 4, 1, 0.5, 0.1, 1 / (0.5 * 4), id="half leaves a leaf of 4:1"),
        pytest.param(MORE_PAIRS, 4, 1, 0.5, 0.1, 0.8 / 0.95 / 2, id="both losses"),
        pytest.param(ADAPTIVE, 1, 7, 0.5, 0.1, 1.0, id="a tenth leaves a pod of 7:1"),
        pytest.param(ADAPTIVE, 1, 7, 0.5, 0.5, 1 / (0.5 * 7), id="half leaves a pod of 7:1"),
        pytest.param(ADAPTIVE, 4, 7, 0.5, 0.1, 1 / (0.1 * 28), id="the pod is narrower"),
        pytest.param(ADAPTIVE, 4, 1, 1.0, 1.0, 0.25, id="placed at random: the ratio itself"),
        pytest.param(ADAPTIVE, 0.5, 1, 1.0, 1.0, 1.0, id="spare uplinks add nothing"),
    ],
)
def test_share_of_the_rate(
    balanced: float,
    leaf_spine: float,
    spine_core: float,
    leaf_share: float,
    pod_share: float,
    by_hand: float,
) -> None:
    found = effective_frac(balanced, ADAPTIVE, leaf_spine, spine_core, leaf_share, pod_share)
    assert found == pytest.approx(by_hand, rel=1e-12)


@given(SHARES, RATIOS, RATIOS, SHARES, SHARES, st.floats(1.0, 4.0))
def test_less_bandwidth_never_makes_links_faster(
    balanced: float, leaf: float, core: float, leaf_share: float, pod_share: float, worse: float
) -> None:
    now = effective_frac(balanced, ADAPTIVE, leaf, core, leaf_share, pod_share)
    assert 0 < now <= 1
    assert effective_frac(balanced, ADAPTIVE, leaf * worse, core, leaf_share, pod_share) <= now
    assert effective_frac(balanced, ADAPTIVE, leaf, core * worse, leaf_share, pod_share) <= now
    assert effective_frac(balanced / worse, ADAPTIVE, leaf, core, leaf_share, pod_share) <= now


def test_a_link_serves_a_run_that_asks_for_no_more() -> None:
    """A run computed for one link is not slower on another only if nothing there is worse."""
    plain = LinkSpeed(336.8)
    assert plain.serves(plain)
    assert LinkSpeed(400.0, 1.0, in_network=True).serves(plain)
    assert not plain.serves(LinkSpeed(336.8, in_network=True))
    rails = LinkSpeed(400.0, 1 / 1.097)
    assert not rails.serves(plain), "faster, but slower between experts"
    assert not plain.serves(rails), "slower links"
