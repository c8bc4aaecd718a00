"""Owned cost in its simple published forms: server and facility by month, a cluster, an hour at
cost, a building.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from dcplan.economics.annuity import level_payment_usd
from dcplan.economics.energy_bill import facility_energy_usd
from dcplan.economics.ranges import Value, above, as_value, within
from dcplan.economics.rates import periodic_rate
from dcplan.units import KW_PER_MW

MONTHS_PER_YEAR = 12.0
W_PER_KW = 1_000.0
SHARES_SUM_TO_ONE = 1e-6


@dataclass(frozen=True)
class OwnedMonth:
    """Cost of one server and its part of the facility in a month. [USD]"""

    facility_amortization_usd: Value
    facility_interest_usd: Value
    facility_opex_usd: Value
    server_amortization_usd: Value
    server_interest_usd: Value
    server_opex_usd: Value
    server_energy_usd: Value
    overhead_energy_usd: Value
    """Energy of cooling and losses: server energy x (PUE - 1)."""

    @property
    def total_usd(self) -> Value:
        """All eight lines. [USD]"""
        return as_value(sum(np.asarray(getattr(self, field.name)) for field in fields(self)))


@dataclass(frozen=True)
class LoanTerms:
    """How capital is paid: level payments each month at a nominal yearly rate over a life."""

    rate_per_year: Value
    months: Value

    def split_usd(self, capital_usd: Value) -> tuple[Value, Value]:
        """Month's mean amortisation and interest of a capital: straight line, and the rest of the
        annuity. [USD]
        """
        monthly = periodic_rate(self.rate_per_year, MONTHS_PER_YEAR)
        payment = np.asarray(level_payment_usd(capital_usd, monthly, self.months))
        straight = np.asarray(capital_usd) / self.months
        return as_value(straight), as_value(payment - straight)


@dataclass(frozen=True)
class Server:
    """What a server costs and draws."""

    usd: Value
    terms: LoanTerms
    opex_frac: Value
    """Repair and upkeep over what ``opex_of`` names. [-]"""
    opex_of: Literal["amortization", "price-per-year"]
    """Over the month's amortisation (ASIC Clouds, 0.05), or over the price in a year."""
    average_kw: Value
    critical_kw: Value
    """Facility capacity the server takes up."""


@dataclass(frozen=True)
class Facility:
    """What a facility costs by W of critical power."""

    usd_per_w: Value
    terms: LoanTerms
    opex_usd_per_w_month: Value
    """Running it, without energy."""
    pue: Value


def server_month(
    server: Server, facility: Facility, *, usd_per_kwh: Value, hours_per_month: float
) -> OwnedMonth:
    """Month of one server and the facility around it, after Barroso and Hoelzle.

    Parameters
    ----------
    server : Server
        Price, terms, upkeep and power, each a number or samples, at least 0.
    facility : Facility
        Build and running cost by W; PUE from 1.
    usd_per_kwh : float or array
        Energy. [USD/kWh]
    hours_per_month : float
        720 or 730. [h]

    References
    ----------
    .. [1] L. A. Barroso, U. Hoelzle, "The Datacenter as a Computer", chapter on modeling costs.
    .. [2] M. B. Taylor et al., ASIC Clouds, ISCA 2016.

    Examples
    --------
    >>> server = Server(6_000, LoanTerms(0.08, 36), 0.05, "amortization", average_kw=0.4, critical_kw=0.5)
    >>> facility = Facility(10.0, LoanTerms(0.08, 144), 0.04, pue=1.5)
    >>> month = server_month(server, facility, usd_per_kwh=0.07, hours_per_month=720)
    >>> round(month.server_amortization_usd, 2), round(month.overhead_energy_usd, 2), round(month.total_usd, 2)
    (166.67, 10.08, 300.71)
    """
    watts = within("critical_kw", server.critical_kw, 0.0) * W_PER_KW
    built, built_interest = facility.terms.split_usd(
        as_value(watts * within("usd_per_w", facility.usd_per_w, 0.0))
    )
    bought, bought_interest = server.terms.split_usd(as_value(within("usd", server.usd, 0.0)))
    base = (
        np.asarray(bought)
        if server.opex_of == "amortization"
        else np.asarray(server.usd) / MONTHS_PER_YEAR
    )
    energy = np.asarray(facility_energy_usd(server.average_kw, 1.0, hours_per_month, usd_per_kwh))
    return OwnedMonth(
        built,
        built_interest,
        as_value(watts * within("opex_usd_per_w_month", facility.opex_usd_per_w_month, 0.0)),
        bought,
        bought_interest,
        as_value(base * within("opex_frac", server.opex_frac, 0.0)),
        as_value(energy),
        as_value(energy * (within("pue", facility.pue, 1.0) - 1.0)),
    )


@dataclass(frozen=True)
class OwnedCluster:
    """Purchase and energy of a cluster over its life, nothing else. [USD]"""

    capex_usd: Value
    energy_usd: Value

    @property
    def total_usd(self) -> Value:
        """Both lines, undiscounted."""
        return as_value(np.asarray(self.capex_usd) + self.energy_usd)


def simple_cluster(
    accelerators: Value,
    usd_per_accelerator: Value,
    *,
    kw_per_accelerator: Value,
    load_frac: Value,
    pue: Value,
    hours: Value,
    usd_per_kwh: Value,
) -> OwnedCluster:
    """Price plus energy: what most public calculators show. Leaves out host, network, building,
    staff and capital.

    Parameters
    ----------
    accelerators, usd_per_accelerator, kw_per_accelerator : float or array
        At least 0; power at full load.
    load_frac : float or array
        Mean over full power, 0 to 1. [-]
    pue, usd_per_kwh : float or array
        PUE from 1.
    hours : float or array
        Of the whole life: 43,800 for five years of 8,760. [h]

    Examples
    --------
    >>> cluster = simple_cluster(
    ...     1024, 30_000, kw_per_accelerator=0.7, load_frac=0.7, pue=1.2, hours=43_800, usd_per_kwh=0.08)
    >>> round(cluster.energy_usd / 1e6, 2), round(cluster.total_usd / 1e6, 2)
    (2.11, 32.83)
    """
    count = within("accelerators", accelerators, 0.0)
    kw = as_value(count * within("kw_per_accelerator", kw_per_accelerator, 0.0))
    energy = facility_energy_usd(kw, pue, hours, usd_per_kwh, load_frac=load_frac)
    return OwnedCluster(
        as_value(count * within("usd_per_accelerator", usd_per_accelerator, 0.0)), energy
    )


def usd_per_effective_pflop_year(
    cost_usd: Value, accelerators: Value, peak_pflops: Value, use_frac: Value, years: Value
) -> Value:
    """Cost over accelerators x peak PFLOP/s x use x years; use is whatever part of peak the source
    counts.

    Examples
    --------
    >>> round(usd_per_effective_pflop_year(32.83e6, 1024, 0.989, 0.7, 5))
    9262
    """
    used = within("use_frac", use_frac, 0.0, 1.0)
    work = (
        within("accelerators", accelerators, 0.0)
        * np.asarray(peak_pflops)
        * used
        * within("years", years, 0.0)
    )
    return as_value(np.asarray(cost_usd) / above("effective PFLOP-years", work))


def at_cost_usd_per_year(all_in_usd: Value, life_years: Value, opex_frac: Value = 0.0) -> Value:
    """Straight-line yearly cost, with all running cost as a share of it; over 8,760 h or productive
    hours, USD/h.

    Examples
    --------
    >>> round(at_cost_usd_per_year(50_000, 3, 0.2)), round(at_cost_usd_per_year(50_000, 3, 0.2) / 8_760, 1)
    (20000, 2.3)
    """
    yearly = within("all_in_usd", all_in_usd, 0.0) / above("life_years", life_years)
    return as_value(yearly * (1.0 + within("opex_frac", opex_frac, 0.0)))


def facility_build_usd(
    area: Value, usd_per_area: Value, shares_frac: Mapping[str, float]
) -> dict[str, Value]:
    """Cost of a building by trade: area x cost per area x share; the area's unit is that of the
    price.

    Raises
    ------
    ValueError
        When the shares do not sum to 1.

    Examples
    --------
    >>> facility_build_usd(1000, 875, {"electrical": 0.425, "hvac": 0.175, "fit-out": 0.225, "shell": 0.175})["hvac"]
    153125.0
    """
    shares = within("shares_frac", list(shares_frac.values()), 0.0, 1.0)
    if abs(shares.sum() - 1.0) > SHARES_SUM_TO_ONE:
        msg = f"shares_frac must sum to 1, got {shares.sum():g}"
        raise ValueError(msg)
    build = within("area", area, 0.0) * within("usd_per_area", usd_per_area, 0.0)
    return {name: as_value(build * share) for name, share in shares_frac.items()}


def capacity_usd(capacity_kw: Value, usd_per_mw: Value) -> Value:
    """Capital of a facility priced per MW, for a capacity in kW.

    Examples
    --------
    >>> capacity_usd(200.0, 9.5e6)
    1900000.0
    """
    return as_value(
        within("capacity_kw", capacity_kw, 0.0) / KW_PER_MW * within("usd_per_mw", usd_per_mw, 0.0)
    )
