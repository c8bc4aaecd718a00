"""Waits of the half of a log that a fit has not seen, on the packaged queues of Helios."""

from __future__ import annotations

from pathlib import Path

import dcplan

QUOTAS = {
    "vc6YE": 208,
    "vcpDC": 56,
    "vcvlY": 96,
    "vcTJs": 48,
    "vc8Sj": 48,
    "vcSoL": 32,
    "vcLJZ": 64,
    "vcMod": 64,
}
"""Quotas of May 2020, of the source; nodes have 8."""


def test_the_unseen_half_has_its_95th_percentile_on_most_queues_that_wait_for_accelerators() -> (
    None
):
    """Goal: within a factor of 2 on 70 % of the queues whose waits are mostly for accelerators.

    vcSoL waits for its rules in more than half of its time: it is named so, and does not count.
    """
    found = dcplan.demand(
        [Path("helios-earth")],
        accelerators=[f"{name}={quota}" for name, quota in QUOTAS.items()],
        accelerators_per_node=8,
        draws=0,
    )
    policy = {
        r["cluster"]: float(str(r["policy_frac"])) for r in found.tables["recorded_waits"].records()
    }
    counted = {name for name, frac in policy.items() if frac <= 0.5}
    assert set(policy) - counted == {"vcSoL"}
    close = {
        name for name in counted if float(found.value(f"demand.{name}.replay_error_factor")) <= 2.0
    }
    assert len(close) >= 0.7 * len(counted)
    sized = {str(r["cluster"]) for r in found.tables["sizes"].records() if r["accelerators"]}
    assert sized - {"vcSoL"} == close  # no size where the replay is further off
