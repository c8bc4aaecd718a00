"""Metrics of the ``plan`` verb."""

from __future__ import annotations

from dcplan.specs.metric import Better, MetricSpec

LOWER, HIGHER = Better.LOWER, Better.HIGHER

NPV = MetricSpec(
    "cost.npv_usd",
    "USD",
    "Net present cost: all payments of the horizon and the value of unserved demand, minus sales "
    "and residual value, discounted to the plan's start, before income tax and financing; positive "
    "is a cost",
    better=LOWER,
    main=True,
    label="Net present cost",
)
AFTER_TAX_NPV = MetricSpec(
    "cost.after_tax_npv_usd",
    "USD",
    "Net present cost by month after sales, property and income tax, payment terms and debt",
    better=LOWER,
    needs="has_financing",
    main=True,
    label="Net present cost after taxes and debt",
)
CAPEX = MetricSpec(
    "cost.capex_usd",
    "USD",
    "Capital cost; low and high at the bounds of system prices",
    better=LOWER,
    main=True,
    label="Capital cost",
)
ENERGY = MetricSpec("cost.energy_usd", "USD", "Energy and demand charges", better=LOWER, main=True)
OPEX = MetricSpec(
    "cost.opex_usd",
    "USD",
    "Operating cost: maintenance, facility, staff and lease",
    better=LOWER,
    main=True,
)
CLOUD = MetricSpec("cost.cloud_usd", "USD", "Rent of cloud accelerators", better=LOWER, main=True)
AFTER = MetricSpec(
    "cost.post_horizon_usd",
    "USD",
    "Post-horizon cost: commitments paid after the horizon, part of the net present cost",
    better=LOWER,
)
WAITING_SAVES = MetricSpec(
    "cost.waiting_saves_usd",
    "USD",
    "Reduction of the objective's net present cost if runs without a deadline may start later than "
    "their hardware can serve; only in plans with such runs",
    better=LOWER,
    needs="workloads.training",
    unknown="not computed: the time limit ended the search before; give a higher --time-limit",
    label="Saved if runs without a deadline waited",
)
UNSERVED_COST = MetricSpec(
    "cost.unserved_usd",
    "USD",
    "Value of unserved demand, part of the net present cost",
    better=LOWER,
    main=True,
)
RESIDUAL = MetricSpec(
    "cost.residual_usd",
    "USD",
    "Sales of hardware, and residual value at the end of the horizon",
    better=HIGHER,
    main=True,
)

PEAK_FACILITY = MetricSpec(
    "power.peak_facility_mw",
    "MW",
    "Peak facility power on the design day, with cooling and losses",
    better=LOWER,
    main=True,
)
PEAK_IT = MetricSpec(
    "power.peak_it_mw", "MW", "Peak rated IT power, including network and storage", better=LOWER
)
PEAK_ELECTRICAL = MetricSpec(
    "power.peak_electrical_mw",
    "MW",
    "Electrical design peak of racks, network and storage, with short peaks of the racks and "
    "without cooling: load on breakers and busway",
    better=LOWER,
    main=True,
    label="Momentary electrical peak of racks, network and storage, without cooling",
)
ANNUAL_PUE = MetricSpec(
    "power.annual_pue", "", "Annual PUE, weighted by energy", better=LOWER, main=True
)
ANNUAL_WUE = MetricSpec(
    "water.annual_wue_l_per_kwh",
    "L/kWh",
    "WUE: site water per kWh of IT energy",
    better=LOWER,
    main=True,
)

OPERATIONAL_CARBON = MetricSpec(
    "carbon.operational_t", "t CO2e", "Operational carbon of owned sites", better=LOWER, main=True
)
CARBON_WITH_CLOUD = MetricSpec(
    "carbon.with_cloud_t",
    "t CO2e",
    "Operational carbon of owned sites and, estimated, of rented accelerators",
    better=LOWER,
)
MARKET_CARBON = MetricSpec(
    "carbon.market_t",
    "t CO2e",
    "Market-based operational carbon of owned sites: none for contracted carbon-free energy of the "
    "year, the residual mix for other energy of the grid; only with contracts for power",
    better=LOWER,
    needs="sites.ppa",
    label="Market-based operational carbon",
)
MATCHED_ANNUAL = MetricSpec(
    "energy.matched_annual_frac",
    "",
    "Share of the energy that carbon-free contracts, PV and wind of the same year cover; only with "
    "contracts for power",
    better=HIGHER,
    needs="sites.ppa",
    label="Annual matching with carbon-free energy",
)
MATCHED_HOURLY = MetricSpec(
    "energy.matched_hourly_frac",
    "",
    "Share of the energy that carbon-free contracts, PV and wind of the same hour cover (24/7 CFE "
    "score); only with contracts for power",
    better=HIGHER,
    needs="sites.ppa",
    label="Hourly matching with carbon-free energy",
)
EMBODIED_CARBON = MetricSpec(
    "carbon.embodied_t",
    "t CO2e",
    "Embodied carbon of what the plan buys, cradle to gate: systems, network, storage, buildings, power, "
    "cooling and plants on site, without cables and plants whose row has no value; low, high: bounds of "
    "all values",
    better=LOWER,
    main=True,
)
EMBODIED_CLASS = MetricSpec(
    "carbon.embodied_class_t",
    "t CO2e",
    "Part of the embodied carbon that comes from class values, because the row of the product has none",
    better=LOWER,
)

GAP = MetricSpec(
    "solver.gap_frac", "", "Proven gap to the best possible cost", better=LOWER, main=True
)
BOUND = MetricSpec("solver.bound_usd", "USD", "Lower bound of the cost of any plan")

ALL_RACKS = MetricSpec(
    "racks.total", "", "Racks, total: fixed, existing and ordered hardware in the last quarter"
)
ALL_ACCELERATORS = MetricSpec(
    "accelerators.total",
    "",
    "Accelerators, total: fixed, existing and ordered hardware in the last quarter",
    main=True,
    label="Accelerators, total",
)
ALL_SWITCHES = MetricSpec("switches.total", "", "Compute fabric switches")
RACKS = MetricSpec("racks.<system>", "", "Racks of one system", absent=0.0)
ACCELERATORS = MetricSpec("accelerators.<system>", "", "Accelerators of one system", absent=0.0)
SWITCHES = MetricSpec("switches.<switch>", "", "Compute fabric switches of one model", absent=0.0)

CLOUD_HOURS = MetricSpec("cloud.accelerator_hours", "h", "Rented accelerator-hours")

DAYS = MetricSpec("train.<job>.days", "days", "Duration at the required confidence", better=LOWER)
DAYS_P50 = MetricSpec("train.<job>.days_p50", "days", "Median duration", better=LOWER)
FINISH = MetricSpec(
    "train.<job>.finish",
    "",
    "Finish date at the required confidence, including possible delays of the start",
    date=True,
)
JOB_COST = MetricSpec(
    "train.<job>.cost_usd",
    "USD",
    "Cost of the run: its share of the owned net present cost by accelerator-days, or its cloud "
    "rent",
    better=LOWER,
)
JOB_ACCELERATORS = MetricSpec(
    "train.<job>.accelerators", "", "Accelerators reserved for the run, including spares"
)
SPARES = MetricSpec("train.<job>.spares", "", "Spare accelerators")
GOODPUT = MetricSpec(
    "train.<job>.goodput_frac", "", "Goodput: lasting progress over wall-clock time", better=HIGHER
)

COMPUTE = MetricSpec(
    "compute.pflop_days",
    "PFLOP-days",
    "Research compute delivered over the horizon, on the reference job",
    better=HIGHER,
)
TOTAL_COMPLETION = MetricSpec(
    "time.total_completion_days",
    "days",
    "Sum of the finish times of all runs, counted from the plan's first day",
    better=LOWER,
)
UNSERVED_RUNS = MetricSpec(
    "unserved.<job>", "", "Runs not executed; every job must run", better=LOWER
)
UNSERVED = MetricSpec(
    "unserved.<demand>", "<unit> x quarters", "Unserved demand, charged at its price", better=LOWER
)

WORKLOAD_COST = MetricSpec(
    "workloads.<workload>.cost_usd",
    "USD",
    "Present cost that the workload bears, without unused capacity",
    better=LOWER,
)
WORKLOAD_TOKENS = MetricSpec(
    "workloads.<demand>.usd_per_million_tokens",
    "USD/M tokens",
    "Present cost of an inference workload over its discounted tokens",
    better=LOWER,
)
UNUSED_COST = MetricSpec(
    "cost.unused_usd",
    "USD",
    "Present cost of capacity that no workload uses, part of the net present cost",
    better=LOWER,
)

NPV_MEAN = MetricSpec(
    "uncertainty.npv_usd_mean",
    "USD",
    "Mean net present cost of the sampled scenarios; low and high are P10 and P90",
    better=LOWER,
    needs="uncertainty.inputs",
)
NPV_P50 = MetricSpec(
    "uncertainty.npv_usd_p50",
    "USD",
    "Median net present cost of the sampled scenarios",
    better=LOWER,
    needs="uncertainty.inputs",
)
NPV_P90 = MetricSpec(
    "uncertainty.npv_usd_p90",
    "USD",
    "90th percentile of the net present cost of the sampled scenarios",
    better=LOWER,
    needs="uncertainty.inputs",
    main=True,
    label="Net present cost, P90",
)
NPV_CVAR = MetricSpec(
    "uncertainty.npv_usd_cvar",
    "USD",
    "Mean of the worst sampled scenarios (CVaR)",
    better=LOWER,
    needs="uncertainty.inputs",
)

HEDGED_NPV = MetricSpec(
    "hedge.npv_usd",
    "USD",
    "Expected net present cost of the hedged plan over all variants",
    needs="uncertainty.hedge",
    main=True,
    label="Expected cost of the hedged plan",
)
EVPI = MetricSpec(
    "hedge.evpi_usd", "USD", "Expected value of perfect information", needs="uncertainty.hedge"
)
VALUE_OF_HEDGING = MetricSpec(
    "hedge.value_of_hedging_usd",
    "USD",
    "Expected saving of the hedged plan over the plan of the most likely variant",
    needs="uncertainty.hedge",
)
