"""Ratios that reports on a data center name: PUE, WUE, ERF, REF, CUE, of one site in one year."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import KG_PER_TONNE, KW_PER_MW, L_PER_M3


@dataclass(frozen=True)
class SiteYear:
    r"""Energy, water, heat and carbon of one site in one year, and the ratios of them.

    PUE = E_DC / E_IT, WUE = W_IN / E_IT, ERF = E_REUSE / E_DC and REF = E_RES-TOT / E_DC are the data
    center sustainability indicators of Delegated Regulation (EU) 2024/1364, after ISO/IEC 30134-2, -9,
    -6 and -3. CUE = CO2 / E_IT is ISO/IEC 30134-8. A ratio is None without energy, or without what it
    divides.

    Parameters
    ----------
    it_mwh, total_mwh : float
        Energy of IT equipment, and of the whole site. [MWh]
    water_m3 : float, optional
        Water input. [m3]
    reused_mwh : float
        Waste heat that is used outside of the data center. [MWh]
    ppa_mwh, own_mwh : float
        Renewable energy of contracts and of plants on the site. [MWh]
    carbon_t : float, optional
        Operational carbon. [t CO2e]

    Examples
    --------
    >>> year = SiteYear(1000.0, 1200.0, 1500.0, 300.0, 400.0, 80.0, 360.0)
    >>> year.pue, year.wue_l_per_kwh, year.erf, year.ref, year.cue_kg_per_kwh
    (1.2, 1.5, 0.25, 0.4, 0.36)
    >>> SiteYear(0.0, 0.0).pue is None, SiteYear(1.0, 1.1).wue_l_per_kwh is None
    (True, True)
    """

    it_mwh: float
    total_mwh: float
    water_m3: float | None = None
    reused_mwh: float = 0.0
    ppa_mwh: float = 0.0
    own_mwh: float = 0.0
    carbon_t: float | None = None

    @property
    def pue(self) -> float | None:
        """Return the energy of the site over that of IT."""
        return _over(self.total_mwh, self.it_mwh)

    @property
    def wue_l_per_kwh(self) -> float | None:
        """Return the water input over the energy of IT [L/kWh]."""
        water = None if self.water_m3 is None else self.water_m3 * L_PER_M3
        return _over(water, self.it_mwh * KW_PER_MW)

    @property
    def erf(self) -> float | None:
        """Return the reused heat over the energy of the site."""
        return _over(self.reused_mwh, self.total_mwh)

    @property
    def ref(self) -> float | None:
        """Return the renewable energy over the energy of the site."""
        return _over(self.ppa_mwh + self.own_mwh, self.total_mwh)

    @property
    def cue_kg_per_kwh(self) -> float | None:
        """Return the operational carbon over the energy of IT [kg/kWh]."""
        kg = None if self.carbon_t is None else self.carbon_t * KG_PER_TONNE
        return _over(kg, self.it_mwh * KW_PER_MW)


def _over(part: float | None, whole: float) -> float | None:
    return None if part is None or not whole else part / whole
