"""Headers of columns for people, made from the machine names.

A machine name ends in its unit: ``rated_kw``. A header for people puts the unit after a comma:
``Rated power, kW``. Words that are no plain English, and names whose header does not follow from
their words, are listed here once for all tables.
"""

from __future__ import annotations

import functools

from dcplan.units import unit_suffix

WORDS = {
    "capex": "capital cost",
    "cvar": "CVaR",
    "evpi": "expected value of perfect information",
    "frac": "",
    "npv": "present value",
    "opex": "operating cost",
    "rtt": "round-trip time",
}
"""Word of a machine name -> how people write it; an empty one is left out."""
CAPITALS = {
    *("cdu", "dc", "id", "it", "kv", "mfu", "mttf", "nic", "pue", "sm"),
    *("tpot", "ttft", "tue", "ups", "url", "wue"),
    *("cp", "dp", "ep", "etp", "pp", "tp", "vpp"),
    *("p5", "p10", "p50", "p80", "p90", "p95", "p99"),
}
"""Words of a machine name that people write in capitals."""

HEADERS = {
    "above_cheapest_usd_per_month": "Above lowest, USD/month",
    "ac_chain_frac": "AC chain, %",
    "accelerator_hours": "Accelerator-hours",
    "after_at": "Place of the new value",
    "air_mw": "Air-cooled heat, MW",
    "all_gather_s": "All-gather, s",
    "all_reduce_bus_gb_per_s": "All-reduce bus bandwidth, GB/s",
    "all_reduce_s": "All-reduce, s",
    "all_to_all_bus_gb_per_s": "All-to-all bus bandwidth, GB/s",
    "all_to_all_s": "All-to-all, s",
    "alone_npv_usd": "Optimal for this variant alone, USD",
    "analytic_goodput_frac": "Goodput by formula, %",
    "arch": "Architecture",
    "asset_and_end": "Existing asset and its end",
    "at": "Place",
    "before_at": "Place of the old value",
    "below_list_frac": "Below list price, %",
    "bisection_tbps": "Bisection bandwidth, Tb/s",
    "block_load_frac": "Load per block, %",
    "break_even_months": "Break-even, months",
    "break_even_usd_per_kwh": "Break-even energy, USD/kWh",
    "break_even_utilization_frac": "Break-even use, %",
    "capex_npv_usd": "Capital cost, USD",
    "cash_out_usd": "Cash out without sales, USD",
    "change_low_usd": "Change at least, USD",
    "chiller_heat_frac": "Heat through chillers, %",
    "clean_days": "Duration without failures, days",
    "cloud_npv_usd": "Cloud, USD",
    "cloud_usd": "Cloud rent, USD",
    "cluster_usd": "Cluster price, USD",
    "config": "Option",
    "cost_at_high_usd": "Cost at high input, USD",
    "cost_at_low_usd": "Cost at low input, USD",
    "days": "Duration at confidence, days",
    "days_lost": "Lost, days",
    "days_p10": "Duration P10, days",
    "days_p50": "Duration P50, days",
    "days_p80": "Duration P80, days",
    "days_p90": "Duration P90, days",
    "dc_800_chain_frac": "DC 800 V chain, %",
    "delivery_frac": "From late delivery, %",
    "direction": "Better when",
    "disposal_usd": "Gain on disposal, USD",
    "effective_usd": "Effective cost, USD",
    "end_value_usd": "Value still owned at the end, USD",
    "energization_frac": "From late power, %",
    "energy_j_per_token": "Energy, J/token",
    "energy_npv_usd": "Energy, USD",
    "exported": "Exported value",
    "extra_mean_mw": "Extra mean load, MW",
    "fabric_usd": "Network price, USD",
    "facility_kw_per_pflops": "Facility power, kW/(PFLOP/s)",
    "facility_kwh_per_year": "Facility, kWh/year",
    "facility_mw": "Facility power, MW",
    "failure_rates_frac": "From failure rates, %",
    "failures_frac": "From random failures, %",
    "falls": "Due in quarter",
    "farthest_users_rtt_ms": "Farthest users, ms",
    "fibre_pairs": "Fiber pairs",
    "figure": "Metric",
    "finish": "Finish date at confidence, with late start",
    "finish_p50": "Finish date P50, with late start",
    "first_plan_of_<variant>_npv_usd": "With the first plan of <variant>, USD",
    "fit_out_usd": "Fit-out, USD",
    "fixed_usd_per_year": "Fixed cost, USD/year",
    "floor_mw": "Minimum load, MW",
    "for": "Used by",
    "gap_frac": "Gap to best possible, %",
    "gb": "Memory, GB",
    "gb_per_s": "Bandwidth, GB/s",
    "gbps": "Rate, Gb/s",
    "global_batch_tokens": "Global batch, tokens",
    "hall_mw": "Load, MW",
    "hedged_npv_usd": "With the hedged plan, USD",
    "high_weeks": "Lead time high, weeks",
    "holds": "Fits",
    "hours_utc": "Hours in UTC",
    "idle_accelerators": "Idle",
    "implied_change_frac_per_year": "Implied price change, 1/year",
    "inside": "In range",
    "installed_mw": "Installed power, MW",
    "interruptible_mw": "Interruptible power, MW",
    "it_mw": "IT power, MW",
    "items_per_s": "Items/s",
    "items_per_s_max": "Highest items/s",
    "items_per_s_per_accelerator": "Items/s per accelerator",
    "largest_accelerators": "Accelerators, largest quarterly mean",
    "lead_quarters": "Lead time, quarters",
    "leaf_spine_links": "Leaf-spine links",
    "least_npv_usd": "Lowest present cost, USD",
    "line_up": "Line-up",
    "links_below": "Links down",
    "links_between": "Links between switches",
    "liquid_mw": "Liquid-cooled heat, MW",
    "long_usd_per_h": "Longer term, USD/h",
    "long_years": "Longer term, years",
    "low_weeks": "Lead time low, weeks",
    "mbs": "Micro-batch",
    "mean_abs_error_frac": "Mean absolute error, %",
    "mean_npv_usd": "Mean present cost, USD",
    "mean_over_mw": "Mean overload, MW",
    "median_abs_error_frac": "Median absolute error, %",
    "message_mib": "Message size, MiB",
    "most_npv_usd": "Highest present cost, USD",
    "ms": "Time, ms",
    "ms_per_item": "Time per item, ms",
    "mw": "Power, MW",
    "mwh": "Energy, MWh",
    "node_limit": "Nodes per rack limited by",
    "now": "Current value",
    "npv_at_high_usd": "Present cost at high, USD",
    "npv_at_low_usd": "Present cost at low, USD",
    "npv_usd": "Net present cost, USD",
    "of": "Part of",
    "offer": "Cloud offer",
    "offload": "Activations offloaded",
    "only_here_npv_usd": "Only this site, USD",
    "only_here_usd_per_accelerator_hour": "Only this site, USD/accelerator-h",
    "onsite_mw": "On-site power, MW",
    "opex_npv_usd": "Operating cost, USD",
    "ordered_mw": "Ordered power, MW",
    "over_cheapest_ratio": "Over lowest",
    "over_frac": "Time overloaded, %",
    "over_h_per_year": "Overloaded, h/year",
    "over_owned_usd": "Above owned, USD",
    "over_rent_at_high_usd": "Owning minus rent at high, USD",
    "over_rent_at_low_usd": "Owning minus rent at low, USD",
    "owned_usd_per_million_items": "Owned, USD per million items",
    "peak_facility_mw": "Peak facility power, MW",
    "per_1000_node_days": "Per 1,000 node-days",
    "per_1000_node_days_high": "Per 1,000 node-days, high",
    "per_1000_node_days_low": "Per 1,000 node-days, low",
    "per_million_accelerator_hours": "Per million accelerator-hours",
    "positions": "Rack positions",
    "post_horizon_npv_usd": "Post-horizon, USD",
    "price": "Price source",
    "production_frac": "From production slowdown, %",
    "rack_kw": "Rack power, kW",
    "rated_kw": "Rated power, kW",
    "re_solved_usd": "Solved again with the step",
    "read_gb_per_s": "Read rate, GB/s",
    "rented_hours": "Rented, accelerator-h",
    "rented_usd_per_million_items": "Rented, USD per million items",
    "requests_per_s": "Requests/s",
    "requests_per_s_max": "Highest requests/s",
    "required_pb": "Required capacity, PB",
    "required_read_gb_per_s": "Required read rate, GB/s",
    "required_write_gb_per_s": "Required write rate, GB/s",
    "residual_npv_usd": "Residual value, USD",
    "seq_len": "Sequence length",
    "serve_from": "Serves from",
    "set_as": "Set with",
    "shaft_kw": "All units, kW",
    "short_usd_per_h": "Shorter term, USD/h",
    "short_years": "Shorter term, years",
    "simulated_goodput_frac": "Goodput simulated, %",
    "spare_accelerators": "Spare",
    "spine_core_links": "Spine-core links",
    "stable_requests_per_s": "Stable requests/s",
    "start_delay_days": "Late start at P50, days",
    "step_time_frac": "From step time, %",
    "stock_m": "Cable length, m",
    "store_kwh": "Storage energy, kWh",
    "store_mw": "Storage power, MW",
    "supply_c": "Supply temperature, °C",
    "switches_at": "Switching value",
    "tail_frac": "Tail of CVaR, %",
    "taxable_usd": "Taxable income, USD",
    "then": "Value with the change",
    "tokens_per_s": "Tokens/s",
    "tokens_per_s_per_accelerator": "Tokens/s per accelerator",
    "tokens_per_s_per_user": "Tokens/s per user",
    "training_accelerators": "In training",
    "unit_mw": "Unit size, MW",
    "units_fitted": "Cooling units",
    "unserved_npv_usd": "Unserved demand, USD",
    "unserved_usd": "Unserved demand, USD",
    "unused_accelerator_hours": "Unused, accelerator-h",
    "ups_frac": "UPS efficiency, %",
    "usable_pb": "Usable capacity, PB",
    "usd": "Amount, USD",
    "usd_per_accelerator_hour": "Price, USD/accelerator-h",
    "usd_per_bisection_gbps": "Cost, USD/(Gb/s) of bisection",
    "usd_per_h": "Price, USD/h",
    "usd_per_instance_hour": "USD per hour of an instance",
    "usd_per_million_items": "USD per million items",
    "usd_per_million_tokens_at_high": "At high, USD/M tokens",
    "usd_per_million_tokens_at_low": "At low, USD/M tokens",
    "usd_per_month": "USD per month",
    "usd_per_mwh": "Price, USD/MWh",
    "usd_per_owned_hour": "USD per hour owned",
    "usd_per_paid_hour": "USD per hour paid",
    "usd_per_used_hour": "USD per hour used",
    "usd_per_used_pflop_year": "USD per peak PFLOP/s and year used",
    "usd_per_year": "Energy and fit-out, USD/year",
    "usd_share_frac": "Share, %",
    "used_accelerator_hours": "Used, accelerator-h",
    "utility_mw": "Utility limit, MW",
    "variance_frac": "Share of variance, %",
    "verdict": "Verdict on the second side",
    "wait_days": "Waiting, days",
    "wait_se_h": "Standard error of the wait, h",
    "was": "Earlier result",
    "weeks": "Lead time, weeks",
    "weeks_before_start": "Overdue at start, weeks",
    "weeks_high": "Lead time high, weeks",
    "what": "Item",
    "where": "Place",
    "within_gap": "Within solver tolerance",
    "worse_than_plan_frac": "Samples above plan, %",
    "worst_over_mw": "Worst overload, MW",
    "write_gb_per_s": "Write rate, GB/s",
    "x_per_y": "X per Y",
    "zero": "ZeRO stage",
}
"""Machine name -> header, where the words alone make a poor one; no other name is listed."""


@functools.cache
def header(name: str) -> str:
    """Return the header of a column for people.

    A name that is data, such as a quarter or a metric key, stays as it is.

    Examples
    --------
    >>> header("price_usd"), header("serves_from"), header("mfu_frac"), header("leaf_switches")
    ('Price, USD', 'Serves from', 'MFU, %', 'Leaf switches')
    >>> header("peak_pue"), header("2027-Q1"), header("train.base.days")
    ('Peak PUE', '2027-Q1', 'train.base.days')
    """
    return HEADERS.get(name) or from_words(name)


def from_words(name: str) -> str:
    """Return the header that the words of a name make.

    Examples
    --------
    >>> from_words("capex_change_usd")
    'Capital cost change, USD'
    """
    stem, unit = unit_suffix(name)
    if not name.isidentifier() or name != name.lower():
        if unit == "fraction":
            return f"{name}, %"
        return f"{stem.removesuffix('_npv')}, {unit}" if stem and unit == "USD" else name
    if not stem and unit.startswith("USD/"):
        return f"Cost, {unit}"
    words = [_written(word) for word in (stem or name).split("_")]
    text = " ".join(word for word in words if word)
    text = text[:1].upper() + text[1:]
    return f"{text}, {'%' if unit == 'fraction' else unit}" if stem and unit else text


def _written(word: str) -> str:
    return word.upper() if word in CAPITALS else WORDS.get(word, word)
