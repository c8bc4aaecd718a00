"""Worked examples of guides and textbooks: AWS Savings Plans, spreadsheet functions, tax tables.

A check is (what, computed, published, tolerance), as in ``test_economics_worked_examples``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import numpy as np
import pytest

from dcplan.economics.discounting import discount_factor, irr
from dcplan.economics.loans import amortization, annuity_factor, level_payment_usd
from dcplan.economics.rental import Coverage, Reservation, SavingsPlan, Usage, cover
from tests.economics import published as facts

Check = tuple[str, float, float, float]


def aws_hour(plans: list[SavingsPlan], reservations: list[Reservation] | None = None) -> Coverage:
    usages = [Usage(name, quantity, rate) for name, (quantity, rate, _) in facts.AWS_HOUR.items()]
    return cover(usages, reservations or [], plans)


def compute_plan(usd_per_h: float) -> SavingsPlan:
    return SavingsPlan(
        "compute", usd_per_h, {name: rate for name, (_, _, rate) in facts.AWS_HOUR.items()}
    )


def aws() -> list[Check]:
    none = aws_hour([])
    everything = aws_hour([compute_plan(50.0)])
    some = aws_hour([compute_plan(2.0)])
    products = aws_hour([compute_plan(19.60)])
    reserved = aws_hour([compute_plan(18.20)], [Reservation("ri", "r5.4xlarge", 2, 0.55)])
    family = SavingsPlan("r5", 3.0, {"r5.4xlarge": facts.AWS_R5_PLAN_RATE}, specific=True)
    both = aws_hour([compute_plan(16.80), family])
    r5 = {row.by: row for row in some.rows if row.usage == "r5.4xlarge"}
    return [
        ("on demand", none.total_usd, 59.10, 0.005),
        ("1: plan used", everything.used_usd["compute"], 47.13, 0.0051),  # 47.125
        ("1: paid all the same", everything.total_usd, 50.0, 1e-9),
        ("2: units covered", r5["compute"].quantity, 2.9, 0.05),
        ("2: r5 on demand", r5["on demand"].usd, 1.14, 0.005),
        ("2: on demand", some.on_demand_usd, 56.24, 0.005),
        ("3: on demand", products.on_demand_usd, 32.70, 0.005),
        ("3: unused", products.unused_usd["compute"], 0.0, 1e-9),
        ("4: on demand", reserved.on_demand_usd, 32.70, 0.005),
        ("4: unused", reserved.unused_usd["compute"], 0.0, 1e-9),
        ("5: family plan used", both.used_usd["r5"], 2.40, 0.005),
        ("5: family plan unused", both.unused_usd["r5"], 0.60, 0.005),
        ("5: on demand", both.on_demand_usd, 32.70, 0.005),
    ]


def excel_payments() -> list[Check]:
    loan = amortization(125_000, 0.09 / 12, 360)
    return [
        ("PMT", level_payment_usd(10_000, 0.08 / 12, 10), 1_037.03, 0.005),
        (
            "PMT in advance",
            level_payment_usd(10_000, 0.08 / 12, 10, in_advance=True),
            1_030.16,
            0.005,
        ),
        ("PV", 500 * annuity_factor(0.08 / 12, 240), 59_777.15, 0.005),
        ("CUMIPMT 13 to 24", loan.interest_usd[13:25].sum(), 11_135.23, 0.005),
        ("CUMIPMT 1", loan.interest_usd[1], 937.50, 0.005),
        ("CUMPRINC 13 to 24", loan.principal_usd[13:25].sum(), 934.11, 0.005),
    ]


def excel_returns() -> list[Check]:
    days = [(date.fromisoformat(d) - date(2008, 1, 1)).days for d in facts.EXCEL_DATED_FLOWS]
    flows = list(facts.EXCEL_DATED_FLOWS.values())
    years = np.array(days) / 365
    inflows = [-10_000, 3_000, 4_200, 6_800]
    npv = sum(usd * discount_factor(0.10, k + 1) for k, usd in enumerate(inflows))
    xnpv = sum(usd * discount_factor(0.09, t) for usd, t in zip(flows, years, strict=True))
    return [
        ("NPV", npv, 1_188.44, 0.005),
        ("IRR", irr(facts.EXCEL_IRR_FLOWS).rate, 0.087, 0.0005),
        ("IRR of four years", irr(facts.EXCEL_IRR_FLOWS[:5]).rate, -0.021, 0.0005),
        ("XNPV", xnpv, 2_086.65, 0.005),
        ("XIRR", irr(flows, years).rate, 0.373362535, 1e-8),  # Excel iterates to 1e-8
    ]


EXAMPLES: dict[str, Callable[[], list[Check]]] = {
    "AWS Savings Plans guide": aws,
    "Excel payments": excel_payments,
    "Excel returns": excel_returns,
}


@pytest.mark.parametrize("example", list(EXAMPLES))
def test_textbook_example(example: str) -> None:
    for what, computed, published, tolerance in EXAMPLES[example]():
        assert computed == pytest.approx(published, rel=0, abs=tolerance), f"{example}: {what}"


def test_aws_applies_memory_before_processors_at_equal_savings() -> None:
    # scenario 3: both at 25 %, memory first by its lower rate; 19.60 - 1 USD leaves processors
    # short
    short = aws_hour([compute_plan(18.60)])
    covered = {row.usage: row.quantity for row in short.rows if row.by == "compute"}
    assert covered["fargate-gb"] == pytest.approx(1_600)
    assert covered["fargate-vcpu"] == pytest.approx(400 - 1 / 0.03)
