"""Ids of the audit's checks; the value of an id is the text of the check."""

from __future__ import annotations

from enum import StrEnum


class CheckId(StrEnum):
    """Checks of the audit; the value is the text of the check, and ``{subject}`` is replaced."""

    HALL_UNITS = "hall units"
    RACK_POSITIONS = "rack positions"
    RACK_POSITIONS_WITH_SWITCHES = "rack positions with switches"
    HALL_IT_MW = "hall IT MW"
    LIQUID_HEAT_MW = "liquid heat MW"
    AIR_HEAT_MW = "air heat MW"
    HALL_STAYS_FITTED = "fitted hall units that must stay"
    RACKS_WITHOUT_HALL_UNIT = "racks without a hall unit"
    RACKS_WITHOUT_FABRIC = "racks without a fabric"
    UTILITY_MW = "utility MW"
    BLOCKS_BEFORE_LEAD_TIME = "power blocks before their lead time"
    POWER_BLOCKS = "power blocks"
    WATER_L = "water L"
    CARBON_T = "carbon t"
    ONSITE_UNITS = "units of on-site plants"
    ONSITE_MWH = "on-site energy MWh"
    ONSITE_MW = "on-site power MW"
    EXPORT_MWH = "on-site energy beyond the load MWh"
    GRID_MWH = "grid MWh"
    CONTRACT_STEPS = "steps of contracts for power"
    CONTRACT_MWH = "energy used of contracts MWh"
    MATCHED_ANNUAL_MWH = "carbon-free energy of the year missing MWh"
    MATCHED_HOURLY_MWH = "carbon-free energy by hour missing MWh"
    BATTERY_MW = "power of batteries MW"
    SHAVED_MW = "peak shaved beyond the mean load MW"
    BRIDGED_MW = "interruptible power carried by batteries MW"
    ENROLLED_MW = "load enrolled for demand response MW"
    PAUSED_MW = "paused load missing MW"
    RUNS_PAUSE = "accelerators that pause with their runs"
    FIRM_MW = "load that does not pause, beyond firm power MW"
    CALLED_MW = "load that does not pause, beyond what calls leave MW"
    SITES_USED = "sites with a hall in use"
    ORDER_BEFORE_RELEASE = "ordered before release"
    DELIVERED_IN_HORIZON = "delivered inside the horizon"
    SUPPLY_RACKS = "supply racks"
    DISPOSAL_NOT_ALLOWED = "racks sold or cancelled outside the allowed quarters"
    DISPOSAL = "racks sold or cancelled"
    UNITS_FILLED_BY_ASSETS = "hall units in use by assets"
    FLEET_MISSING = "fleet accelerators missing"
    FLEET_BEYOND_RACKS = "fleet accelerators beyond full racks"
    FLEET_IN_PART_RACKS = "fleet accelerators in partly filled racks"
    NODES_PER_RACK = "nodes per rack"
    VENDOR_SHARE_USD = "spending on one vendor USD"
    SWITCHES_BOUGHT = "switches bought"
    TRANSCEIVERS_BOUGHT = "transceivers bought"
    POWER_BLOCKS_BOUGHT = "power blocks bought"
    JOB_RUNS_ONCE = "job runs once"
    JOB_START = "job starts before its start quarter"
    JOB_END_DAY = "job ends by its deadline (day)"
    SERVING_AHEAD = "accelerators in service ahead of the start"
    JOB_DAYS = "job duration days"
    LINK_GBPS = "link rate Gb/s of the job's step time"
    LINK_EXCHANGE_FRAC = "all-to-all share of the link rate of the job's step time"
    LINK_IN_NETWORK = "in-network reduction of the job's step time"
    PARTS_OF_RUN = "missing or unequal parts of a run over several halls"
    RUNS_ON_LINK = "runs at one time on the end of a link in service"
    LINK_STAYS = "ends of links that must stay"
    LINK_BEFORE_LEAD_TIME = "ends of links before they can serve"
    ACCELERATORS_FOR_JOBS = "accelerators for jobs"
    ACCELERATORS_BUSY = "accelerators busy"
    TRAINING_BOOKED = "accelerators reserved for training"
    DEMAND_MISSING = "{subject} missing"
    REPLICAS_BUSY = "accelerators of serving replicas"
    POOLS_BALANCE = "requests of the decode pool beyond the prefill pool"
    DEMAND_WITHOUT_SITE = "{subject} missing without the site"
    SERVICE_TTFT_MS = "time to first token ms"
    SERVICE_TPOT_MS = "time per output token ms"
    QUEUE_WAIT_H = "wait in the queue h, limit with twice its standard error"
    OFFER_ACCELERATORS = "cloud offer accelerators"
    CLOUD_ACCELERATORS = "cloud accelerators"
    COMMITTED = "committed accelerators"
    BEYOND_COMMITMENTS = "accelerators beyond commitments"
    BUDGET_USD = "budget USD"
    BUDGET_SO_FAR_USD = "budget USD so far"
    GOAL_LIMIT = "limit of {subject}"


class Part(StrEnum):
    """Parts whose purchases a scenario may limit."""

    SWITCHES = "switches"
    TRANSCEIVERS = "transceivers"
    POWER_BLOCKS = "power_blocks"


BOUGHT = {
    Part.SWITCHES: CheckId.SWITCHES_BOUGHT,
    Part.TRANSCEIVERS: CheckId.TRANSCEIVERS_BOUGHT,
    Part.POWER_BLOCKS: CheckId.POWER_BLOCKS_BOUGHT,
}
"""Check of the purchases of each part."""
COUNTED = (Part.SWITCHES, Part.TRANSCEIVERS)
"""Parts of networks."""
BUDGETS = (CheckId.BUDGET_USD, CheckId.BUDGET_SO_FAR_USD)
