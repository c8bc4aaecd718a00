"""Metrics of the ``tco`` verb."""

from __future__ import annotations

from dcplan.specs.metric import Better, MetricSpec

OWNED_NPV = MetricSpec(
    "owned.npv_usd",
    "USD",
    "Present cost of owning, after tax and debt",
    better=Better.LOWER,
    main=True,
)


OWNED_HOUR = MetricSpec(
    "owned.usd_per_accelerator_hour",
    "USD/h",
    "Levelized cost of owning per used accelerator-hour: present cost over discounted used hours",
    better=Better.LOWER,
    main=True,
    label="Levelized cost of owning per used accelerator-hour",
)


RENTED_NPV = MetricSpec(
    "rented.<offer>.<term>.npv_usd",
    "USD",
    "Present cost of renting, after tax (a rent has no debt)",
    better=Better.LOWER,
)


RENTED_HOUR = MetricSpec(
    "rented.<offer>.<term>.usd_per_accelerator_hour",
    "USD/h",
    "Levelized cost of renting per used accelerator-hour: present cost over discounted used hours",
    better=Better.LOWER,
)


BREAK_EVEN_MONTHS = MetricSpec(
    "break_even.<offer>.<term>.months",
    "months",
    "Break-even with resale: month from which owning costs no more, discounted, with the hardware "
    "sold at residual value; none: never",
)


BREAK_EVEN_UTILIZATION = MetricSpec(
    "break_even.<offer>.<term>.utilization_frac",
    "",
    "Utilization above which owning costs less; none: never",
)


REFERENCE_MFU = MetricSpec(
    "reference.mfu_frac",
    "",
    "MFU of the reference job, without the slowdown of production runs",
    better=Better.HIGHER,
)


OWNED_PFLOP_DAY = MetricSpec(
    "owned.usd_per_pflop_day",
    "USD",
    "Cost per PFLOP-day delivered on the reference job",
    better=Better.LOWER,
)


OWNED_TOKENS = MetricSpec(
    "owned.usd_per_million_tokens",
    "USD",
    "Cost per million tokens trained on the reference job",
    better=Better.LOWER,
    main=True,
)


OWNED_IRR = MetricSpec(
    "owned.irr_frac",
    "",
    "Internal rate of return of owning over the cheapest rent, after tax and debt; none: no "
    "single rate",
    better=Better.HIGHER,
    main=True,
    label="Internal rate of return over the cheapest rent",
)


OWNED_PAYBACK = MetricSpec(
    "owned.payback_months",
    "months",
    "Payback of owning over the cheapest rent, undiscounted, without resale of the hardware, after "
    "tax and debt; none: never",
    better=Better.LOWER,
    main=True,
    label="Payback over the cheapest rent, undiscounted, without resale",
)


HYBRID_NPV = MetricSpec(
    "hybrid.npv_usd",
    "USD",
    "Present cost of the best mix of owning and renting (hybrid), after tax and debt",
    better=Better.LOWER,
    main=True,
)


ALL_RENTED_NPV = MetricSpec(
    "rented.npv_usd",
    "USD",
    "Present cost of renting everything, after tax",
    better=Better.LOWER,
    main=True,
)
