"""Sizes shown when none meets the limits, and phases against a number of tokens."""

from __future__ import annotations

import pytest

from dcplan.answers.train.answer import train
from dcplan.answers.train.clusters.unmet_limits import closest, none_meets
from dcplan.answers.train.request import TrainRequest
from dcplan.errors import InputError
from dcplan.specs.train.layouts import SizeRow


def _row(accelerators: int, days: float, cost_usd: float | None) -> SizeRow:
    return SizeRow(accelerators, "bf16", days, days, 1.0, cost_usd, meets_target=False)


FRONT = [_row(100 * 2**i, 1024 / 2**i, 100e6 + i * 10e6) for i in range(9)]
"""100 accelerators, 1,024 days and 100 M USD, to 25,600, 4 days and 180 M; each doubling halves
the days and costs 10 M more."""
WORSE = [_row(30_000 + i, 4 + i, 900e6) for i in range(1, 6)]
"""Slower than the fastest and dearer than all: what was listed before."""


def _request(**given: float) -> TrainRequest:
    return TrainRequest("llama-3.1-8b", system="dgx-h100", **given)  # type: ignore[arg-type]


def test_a_budget_lists_from_the_cheapest_to_the_fastest() -> None:
    """1,024 to 4 days in four equal ratios of 4: 1,024, 256, 64, 16 and 4 days."""
    shown = closest(_request(budget_usd=50e6), [*WORSE, *FRONT])
    assert [r.days_p80 for r in shown] == [1024, 256, 64, 16, 4]


def test_a_deadline_alone_lists_the_fastest() -> None:
    shown = closest(_request(deadline_days=1), [*WORSE, *FRONT])
    assert [r.days_p80 for r in shown] == [4, 5, 6, 7, 8]


def test_both_limits_list_what_meets_one_of_them() -> None:
    """Within 10 days the cheapest has 8 days; within 115 M USD the fastest has 512."""
    shown = closest(_request(budget_usd=115e6, deadline_days=10), [*WORSE, *FRONT])
    assert {8.0, 512.0, 1024.0, 4.0} <= {r.days_p80 for r in shown}


def test_the_true_cheapest_is_named() -> None:
    answer = none_meets(_request(budget_usd=50e6), [*WORSE, *FRONT], [25_600], 0.0)  # type: ignore[arg-type]
    assert (
        "the cheapest, 100 accelerators, costs 100,000,000 USD in 1,024.0 days" in answer.headline
    )
    both = none_meets(_request(budget_usd=50e6, deadline_days=10), FRONT, [25_600], 0.0)  # type: ignore[arg-type]
    assert "the cheapest in time costs 170,000,000 USD" in both.headline


def test_tokens_given_with_phases_are_not_dropped() -> None:
    given = {"system": "dgx-h100", "accelerators": 64, "phases": ("tokens=1e11,seq-len=8192",)}
    with pytest.raises(InputError, match="is not the sum of the phases") as refused:
        train("llama-3.1-8b", tokens=14e12, **given)  # type: ignore[arg-type]
    assert "add --phase tokens=1.39e+13 for the rest" in str(refused.value.problems[0].help)
    same = train("llama-3.1-8b", tokens=1e11, **given)  # type: ignore[arg-type]
    assert same.status == "ok"
