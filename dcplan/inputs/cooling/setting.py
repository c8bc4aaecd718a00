"""Operating conditions of a cooling option, and its annual performance."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.facility.climate import Climate
from dcplan.facility.cooling import Spread
from dcplan.facility.electrical.chain import Branch
from dcplan.facility.electrical.supply import Feed
from dcplan.facility.pue import Sizes
from dcplan.inputs.power.lighting import Range
from dcplan.provenance import Quantity, Status

SOURCE = (
    "dcplan facility: components with the weather of the place, or Lei et al. 2025 by climate zone"
)


@dataclass(frozen=True)
class Setting:
    """Operating conditions of a cooling option."""

    name: str
    zone: str | None
    climate: Climate | None
    sizes: Sizes
    air_frac: float
    """Share of IT heat that room fans remove."""
    load: float = 1.0
    supply_c: float | None = None
    """Supply temperature of facility water; None: the option's range. [C]"""
    branches: tuple[Branch, ...] = ()
    """Load classes behind power blocks, whose losses count; empty: the losses of a size class."""
    lighting: Range | None = None
    """Lighting over IT power by floor area; None: that of the size class. [-]"""
    feed: Feed | None = None
    """Main transformers before the distribution, whose losses count; None without any."""


@dataclass(frozen=True)
class Performance:
    """Annual performance of an option; quarters, chillers and spread only for modeled options."""

    pue: Spread
    wue_l_per_kwh: Spread | None
    peak_pue: float
    peak_wue_l_per_kwh: float | None
    quarters: tuple[tuple[float, float], ...]
    """PUE and WUE of each quarter."""
    chiller_frac: float | None
    peak_chilled: float | None
    """Heat that chillers remove on the design day, as a share of IT power."""
    peak_rejected: float | None
    """Heat that towers or dry coolers reject on the design day, as a share of IT power."""
    modeled: bool
    bin_pues: tuple[float, ...] = ()
    """PUE in each bin of the weather; empty for tabulated options."""
    main_frac: float = 0.0
    """Losses of main transformers over IT power, at the mean power of the year."""
    peak_main_frac: float = 0.0
    """The same on the design day."""
    water_by_season: tuple[float, ...] = ()
    """WUE of each quarter over that of the year, whose mean is 1; empty without weather or water."""
    pue_by_season: tuple[float, ...] = ()
    """PUE of each quarter over that of the year, whose mean is 1; empty without weather."""

    def mean(self, of: Spread) -> Quantity:
        """Return the annual PUE or WUE as a plan input, with its spread."""
        status = Status.DERIVED if self.modeled else Status.CATALOG
        low, high = min(of.low, of.value), max(of.high, of.value)
        return Quantity(value=of.value, low=low, high=high, status=status, source=SOURCE)

    def peak(self) -> Quantity:
        """Return the design-day PUE as a plan input."""
        return Quantity(
            value=self.peak_pue,
            status=Status.DERIVED if self.modeled else Status.ESTIMATE,
            source=SOURCE,
        )
