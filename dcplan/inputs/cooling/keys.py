"""Catalog rows of the parameters of the cooling models."""

from __future__ import annotations

LIGHTING = {"lighting": "lighting"}
CLASS_LOSSES = {"ups": "ups-efficiency", "distribution": "distribution-loss"}
"""Losses before the racks of a size class, where no power chain is given."""
UPS_FIXED = {"ups_fixed_frac": "ups-fixed-frac"}
COMMON = {
    "fan_pa": "fan-pa",
    "fan_efficiency": "fan-efficiency",
    "air_rise_k": "air-rise-k",
    "facility_rise_k": "facility-rise-k",
    "pump_efficiency": "pump-efficiency",
    "facility_head_kpa": "facility-head-kpa",
    "tower_fan_efficiency": "tower-fan-efficiency",
    "cdu_frac": "cdu-pump-frac",
    "pump_fixed_frac": "pump-fixed-frac",
    "air_j_per_m3_k": "air-heat-j-per-m3-k",
    "water_kj_per_kg_k": "water-heat-kj-per-kg-k",
    "vaporisation_kj_per_kg": "water-vaporisation-kj-per-kg",
}
TOWER = {
    "chiller_load": "chiller-load",
    "chiller_cop_factor": "chiller-cop-factor",
    "cycles": "cycles-of-concentration",
    "tower_approach_k": "tower-approach-k",
    "exchanger_approach_k": "exchanger-approach-k",
    "tower_range_k": "tower-range-k",
    "windage_frac": "windage-frac",
    "tower_head_kpa": "tower-head-kpa",
    "tower_fan_pa": "tower-fan-pa",
    "liquid_to_air": "liquid-to-air",
    "air_kg_per_m3": "air-kg-per-m3",
    "condenser_min_c": "condenser-min-c",
    "least_cop": "chiller-least-cop",
    "room_water_c": "room-water-max-c",
}
WATERSIDE = TOWER | {"fan_pa": "fan-waterside-pa", "tower_head_kpa": "tower-head-waterside-kpa"}
DRY = {
    "dry_approach_k": "dry-approach-k",
    "spray_approach_k": "spray-approach-k",
    "dry_air_rise_k": "dry-air-rise-k",
    "dry_fan_pa": "dry-fan-pa",
}
CHILLERS = {
    key: TOWER[key]
    for key in ("chiller_load", "chiller_cop_factor", "condenser_min_c", "least_cop")
}
KEPT = CHILLERS | {
    "cooler_approach_k": "cooler-approach-k",
    "cooler_fan_k": "cooler-fan-k",
    "cooler_air_to_water": "cooler-air-to-water",
    "cooler_air_exponent": "cooler-air-exponent",
    "cooler_air_resistance_frac": "cooler-air-resistance-frac",
    "cooler_least_flow_frac": "cooler-least-flow-frac",
    "pad_saturation_frac": "pad-saturation-frac",
    "room_water_c": "room-water-max-c",
}
"""Dry coolers, pads and chillers of a design with its own supply temperature."""
MODELS = {"tower": TOWER, "waterside": WATERSIDE, "dry": DRY}
