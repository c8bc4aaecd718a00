"""Metrics of the ``plan`` verb."""

from __future__ import annotations

from dcplan.specs.metric import Better, MetricSpec

LOWER, HIGHER = Better.LOWER, Better.HIGHER

NPV = MetricSpec("cost.npv_usd", "USD", "Net present cost", better=LOWER)
CAPEX = MetricSpec(
    "cost.capex_usd", "USD", "Capital cost; low, high: bounds of system prices", better=LOWER
)
ENERGY = MetricSpec("cost.energy_usd", "USD", "Energy and demand charges", better=LOWER)
OPEX = MetricSpec("cost.opex_usd", "USD", "Maintenance, facility, staff, lease", better=LOWER)
CLOUD = MetricSpec("cost.cloud_usd", "USD", "Rented accelerators", better=LOWER)
AFTER = MetricSpec(
    "cost.post_horizon_usd",
    "USD",
    "Commitments paid after the horizon; in the net present cost",
    better=LOWER,
)
UNMET_COST = MetricSpec(
    "cost.unserved_usd",
    "USD",
    "Value of demand that is not served; in the net present cost",
    better=LOWER,
)
RESIDUAL = MetricSpec(
    "cost.residual_usd", "USD", "Value left at the end of the horizon", better=HIGHER
)

PEAK_FACILITY = MetricSpec(
    "power.peak_facility_mw", "MW", "Facility peak on the design day", better=LOWER
)
PEAK_IT = MetricSpec(
    "power.peak_it_mw", "MW", "IT peak (rated), network and storage included", better=LOWER
)
PEAK_ELECTRICAL = MetricSpec(
    "power.peak_electrical_mw",
    "MW",
    "Electrical design peak that breakers and busway carry",
    better=LOWER,
)
ANNUAL_PUE = MetricSpec("power.annual_pue", "", "PUE, energy weighted", better=LOWER)
ANNUAL_WUE = MetricSpec(
    "water.annual_wue_l_per_kwh", "L/kWh", "Site water per IT kWh", better=LOWER
)

OPERATIONAL_CARBON = MetricSpec(
    "carbon.operational_t", "t", "Operational carbon of owned sites", better=LOWER
)
CARBON_WITH_CLOUD = MetricSpec(
    "carbon.with_cloud_t", "t", "The same, and of rented accelerators (estimate)", better=LOWER
)
EMBODIED_CARBON = MetricSpec(
    "carbon.embodied_t",
    "t",
    "Embodied carbon of the systems bought; empty where one has no published footprint",
    better=LOWER,
)

GAP = MetricSpec("solver.gap_frac", "", "Proven gap against the audited cost", better=LOWER)
BOUND = MetricSpec("solver.bound_usd", "USD", "No plan costs less")

ALL_RACKS = MetricSpec("racks.total", "", "Racks given, held and bought")
ALL_ACCELERATORS = MetricSpec("accelerators.total", "", "Accelerators given, held and bought")
ALL_SWITCHES = MetricSpec("switches.total", "", "Compute fabric switches")
RACKS = MetricSpec("racks.<system>", "", "Racks of one system", absent=0.0)
ACCELERATORS = MetricSpec("accelerators.<system>", "", "Accelerators of one system", absent=0.0)
SWITCHES = MetricSpec("switches.<switch>", "", "Compute fabric switches of one model", absent=0.0)

CLOUD_HOURS = MetricSpec("cloud.accelerator_hours", "h", "Rented accelerator-hours")

DAYS = MetricSpec("train.<job>.days", "days", "Length at the asked confidence", better=LOWER)
DAYS_P50 = MetricSpec("train.<job>.days_p50", "days", "Median length", better=LOWER)
FINISH = MetricSpec(
    "train.<job>.finish",
    "",
    "Finish date at the asked confidence, what may delay the start counted in",
)
JOB_COST = MetricSpec(
    "train.<job>.cost_usd",
    "USD",
    "Its share of owned net present cost by accelerator-days, or its cloud bill",
    better=LOWER,
)
JOB_ACCELERATORS = MetricSpec(
    "train.<job>.accelerators", "", "Accelerators held, spares among them"
)
SPARES = MetricSpec("train.<job>.spares", "", "Accelerators that stand by")
GOODPUT = MetricSpec(
    "train.<job>.goodput_frac", "", "Lasting progress over wall-clock time", better=HIGHER
)

COMPUTE = MetricSpec(
    "compute.pflop_days",
    "PFLOP-days",
    "Research delivered on its reference job over the horizon",
    better=HIGHER,
)
FINISH_DAYS = MetricSpec(
    "time.total_completion_days",
    "days",
    "Sum of all runs' ends, counted from the plan's first day",
    better=LOWER,
)
UNMET_RUNS = MetricSpec("unserved.<job>", "", "Runs not done: every job must run", better=LOWER)
UNMET = MetricSpec(
    "unserved.<demand>", "<unit> x quarters", "Demand given up at its price", better=LOWER
)

NPV_MEAN = MetricSpec(
    "uncertainty.npv_usd_mean",
    "USD",
    "Mean of the futures; low, high: P10 and P90",
    better=LOWER,
    needs="uncertainty.inputs",
)
NPV_P50 = MetricSpec(
    "uncertainty.npv_usd_p50",
    "USD",
    "Median of the futures",
    better=LOWER,
    needs="uncertainty.inputs",
)
NPV_P90 = MetricSpec(
    "uncertainty.npv_usd_p90",
    "USD",
    "A tenth of the futures cost more",
    better=LOWER,
    needs="uncertainty.inputs",
)
NPV_TAIL = MetricSpec(
    "uncertainty.npv_usd_cvar",
    "USD",
    "Mean of the worst futures (CVaR)",
    better=LOWER,
    needs="uncertainty.inputs",
)

HEDGED_NPV = MetricSpec(
    "hedge.npv_usd", "USD", "Cost of the hedged plan over all variants", needs="uncertainty.hedge"
)
VALUE_OF_KNOWING = MetricSpec(
    "hedge.evpi_usd",
    "USD",
    "Less, were the variant known before signing",
    needs="uncertainty.hedge",
)
VALUE_OF_HEDGING = MetricSpec(
    "hedge.value_of_hedging_usd",
    "USD",
    "Less than the likeliest variant's own plan",
    needs="uncertainty.hedge",
)
