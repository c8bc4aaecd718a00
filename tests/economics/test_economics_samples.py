"""Debt, tax, payback and break-even of many samples at once: each row as if it were alone."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dcplan.economics.break_even import npv_break_even_months, payback_months
from dcplan.economics.depreciation import tax_depreciation_usd
from dcplan.economics.loans import amortization
from dcplan.economics.taxes import income_tax
from tests.economics import published as facts

US_LOSS_OFFSET_FRAC = 0.8
"""Internal Revenue Code, section 172(a)(2): of taxable income, since 2018."""

MONTHS, YEARS = 60, 5
SHARES = facts.MACRS_5


def evaluate(draw: dict[str, np.ndarray], income_usd: np.ndarray) -> dict[str, np.ndarray]:
    """Five years of a leveraged project; every entry of ``draw`` is one number or one for each
    sample."""
    loan = amortization(0.55 * draw["capex"], draw["debt_rate"] / 12, MONTHS)
    by_year = (*income_usd.shape[:-1], YEARS, 12)
    tax = income_tax(
        income_usd.reshape(by_year).sum(-1),
        tax_depreciation_usd(draw["capex"], SHARES, bonus_frac=draw["bonus"])[..., :YEARS],
        loan.interest_usd[..., 1:].reshape(by_year).sum(-1),
        rate_frac=draw["tax_rate"],
        offset_limit_frac=US_LOSS_OFFSET_FRAC,
    )
    flows = np.concatenate(
        [-0.45 * draw["capex"][..., None], income_usd - loan.payment_usd[..., 1:]], axis=-1
    )
    flows[..., 12::12] -= tax.tax_usd
    rate = (1.0 + draw["discount"]) ** (1 / 12) - 1.0
    rent = np.concatenate([np.zeros_like(flows[..., :1]), 0.01 * income_usd], axis=-1)
    return {
        "tax": tax.tax_usd.sum(axis=-1),
        "payback": payback_months(flows, rate),
        "break_even": npv_break_even_months(-flows, rent, rate),
    }


def draws(count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(2)
    ranges = {
        "capex": (80e6, 120e6),
        "debt_rate": (0.06, 0.15),
        "bonus": (0.0, 1.0),
        "tax_rate": (0.2, 0.3),
        "discount": (0.08, 0.12),
    }
    draw = {name: random.uniform(*bounds, count) for name, bounds in ranges.items()}
    return draw, random.uniform(1.5e6, 3.5e6, (count, MONTHS))


@pytest.mark.parametrize("row", [0, 17, 49])
def test_a_sample_among_many_is_worth_what_it_is_alone(row: int) -> None:
    draw, income = draws(50)
    many = evaluate(draw, income)
    alone = evaluate({name: np.asarray(values[row]) for name, values in draw.items()}, income[row])
    for name, value in alone.items():
        expected = np.nan if value is None else value
        assert many[name][row] == pytest.approx(expected, rel=1e-9, nan_ok=True), name


def test_ten_thousand_samples_of_sixty_months_take_far_below_a_second() -> None:
    draw, income = draws(10_000)
    evaluate(draw, income)
    start = time.perf_counter()
    found = evaluate(draw, income)
    assert time.perf_counter() - start < 1.5  # 0.1 to 0.25 s alone; the machine of a test is shared
    assert found["tax"].shape == (10_000,)
    assert np.isfinite(found["tax"]).all()
