"""Samples of the cooling model for every bin of the weather."""

from __future__ import annotations

import numpy as np

from dcplan.catalog.schema import CoolingOption
from dcplan.facility.climate import Climate
from dcplan.facility.cooling import Hours, Loads, electrical_loss, over_dry_coolers, over_towers
from dcplan.facility.dry_coolers import over_kept_coolers
from dcplan.facility.sample import draw
from dcplan.inputs.cooling.keys import CLASS_LOSSES, COMMON, KEPT, LIGHTING, MODELS, UPS_FIXED
from dcplan.inputs.cooling.losses import lighting_range, sized_parameter
from dcplan.inputs.cooling.setting import Setting
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_at, chain_values


def hours_of(option: CoolingOption, at: Setting, weather: Climate, log: InputLog) -> Hours:
    """Compute all samples of the model for every bin of the weather."""
    sampled = _sampled(option, at, log)
    supply = sampled["supply"] if at.supply_c is None else np.full((1, 1), at.supply_c)
    loads = _loads(option, at)
    if option.model != "dry":
        dry_c = None if at.supply_c is None else weather.dry_c
        return over_towers(weather.wet_c, supply, sampled, loads, dry_c)
    over = over_dry_coolers if at.supply_c is None else over_kept_coolers
    return over(weather.dry_c, weather.wet_c, supply, sampled, loads)


def _loads(option: CoolingOption, at: Setting) -> Loads:
    liquid = option.model != "waterside"
    designed = at.supply_c is not None
    return Loads(at.air_frac, liquid, not liquid, at.load, designed, at.branches)


def losses_frac_now(option: CoolingOption, at: Setting, log: InputLog) -> float:
    """Return losses before the racks and lighting over IT power, at the load and catalog values."""
    keys = {} if at.branches else CLASS_LOSSES | UPS_FIXED
    values = {name: np.array(sized_parameter(key, at.sizes, log)[1]) for name, key in keys.items()}
    values["lighting"] = np.array(lighting_range(at.lighting, at.sizes, log)[1])
    if at.branches:
        values |= chain_values(at.branches, log)
    return float(electrical_loss(values, _loads(option, at)))


def _keys(option: CoolingOption, at: Setting) -> dict[str, str]:
    """Return the catalog row of every parameter of the model, without its size class."""
    keys = LIGHTING | COMMON
    if not at.branches:
        keys |= CLASS_LOSSES | UPS_FIXED
    keys["cdu_frac"] = option.pump or "cdu-pump-frac"
    if at.supply_c is None:
        keys["supply"] = option.supply or "supply-tower-c"
    kept = option.model == "dry" and at.supply_c is not None
    return keys | (KEPT if kept else MODELS[option.model or "tower"])


def _sampled(option: CoolingOption, at: Setting, log: InputLog) -> dict[str, np.ndarray]:
    """Sample every parameter of the model between its catalog bounds.

    Parameters without a range are constants.
    """
    spread, fixed = {}, {}
    for name, key in _keys(option, at).items():
        low, value, high = (
            lighting_range(at.lighting, at.sizes, log)
            if name == "lighting"
            else sized_parameter(key, at.sizes, log)
        )
        if low < high:
            spread[name] = (low, high)
        else:
            fixed[name] = np.full((1, 1), value)
    if not at.branches:
        return draw(spread) | fixed
    # sampled in the places of the class losses, so that all other samples are the same
    found = draw(spread | dict.fromkeys((*CLASS_LOSSES, *UPS_FIXED), (0.0, 1.0)))
    ranks = [found.pop(name) for name in (*CLASS_LOSSES, *UPS_FIXED)]
    return found | chain_at(ranks[0], at.branches, log) | fixed
