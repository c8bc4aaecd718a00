"""Payment terms of equipment as the scenario gives them."""

from __future__ import annotations

from dcplan.economics.monthly import Milestones
from dcplan.inputs.log import InputLog
from dcplan.scenario.schema.top import Payment


def payment_of(payment: Payment, log: InputLog) -> Milestones:
    """Return the scenario's payment milestones, recorded in the input log."""
    deposit = log.take("finance.payment.deposit_frac", payment.deposit_frac)
    accepted = log.take("finance.payment.acceptance_frac", payment.acceptance_frac)
    return Milestones(
        deposit, payment.deposit_months_before, accepted, payment.acceptance_months_after
    )
