"""Training over several sites: what the exchange between them adds to a step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcplan.training.wide_area import WideArea, mean_step_s

TWO = WideArea(sites=2, local_steps=100, gbps=100.0, value_bytes=4.0, latency_s=0.05)
"""10 G parameters of 4 bytes: 2 x (0.05 + 40 GB / 2 / 12.5 GB/s) = 3.3 s for an exchange
(docs/method/training.md)."""


@pytest.mark.parametrize(
    ("overlapped", "local_s", "mean_s"),
    [
        (False, 0.02, 0.053),  # 3.3 s over 100 steps
        (True, 0.02, 0.033),  # 100 steps hide 2.0 of 3.3 s; 1.3 s over 100 steps
        (True, 0.04, 0.04),  # 4.0 s hide all of it
    ],
)
def test_all_local_steps_hide_the_exchange(overlapped: bool, local_s: float, mean_s: float) -> None:
    wide = replace(TWO, overlapped=overlapped)
    assert mean_step_s(local_s, 1e10, wide) == pytest.approx(mean_s, rel=1e-9)
