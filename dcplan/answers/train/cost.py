"""What a run costs three ways: hardware bought, its hours rented, or the value that owned hardware
loses meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.built import build
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import resolve
from dcplan.answers.train.metrics import rent_usd_per_hour
from dcplan.answers.train.resolve import Asked
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Site
from dcplan.economics.run_cost import RunCost, lost_value_usd, run_energy_usd
from dcplan.errors import InputError
from dcplan.inputs.log import Ledger
from dcplan.provenance import Quantity, Status
from dcplan.result import Metric, Table
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

PER_MILLION = 1e6
WHOLE = 1.25
"""Accelerators bought over those needed from which it is worth a word."""


@dataclass(frozen=True)
class Ways:
    """Figures, a table and notes of a run's cost."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Fabric:
    """The network that the run's accelerators would be bought with."""

    usd: float = 0.0
    name: str = ""
    why: str = ""


def run_cost(
    catalog: Catalog,
    ledger: Ledger,
    asked: Asked,
    hours: float,
    energy_mwh: float | None,
    hardware_age_years: float,
    spares: int,
) -> Ways:
    r"""Cost of a run bought, amortised and rented, line by line.

    Bought is the price of whole systems and their network, with the accelerators that stand by; who
    rents leaves those to the provider. Amortised is the value they lose during the run,
    :math:`P\,10^{-kt}(1 - 10^{-kT})`, and the energy; the network, by its own bill of materials,
    loses value as the accelerators do. Staff, building, storage and failed runs are in none of
    them.

    References
    ----------
    .. [1] B. Cottier et al., "The rising costs of training frontier AI models", arXiv 2405.21015, section 2.
    """
    if asked.system.price_usd is None:
        why = f"{asked.system.id} has no price in the catalog: what the run costs on owned hardware is not known"
        return Ways(notes=(why,))
    price = (
        ledger.take(f"systems.{asked.system.id}.price_usd", asked.system.price_usd)
        / asked.system.accelerators
    )
    nodes = math.ceil((asked.accelerators + spares) / asked.system.accelerators)
    network = _network(catalog, ledger, asked, nodes)
    loss = ledger.parameter("finance", "hardware-value-oom-per-year")
    ledger.take("hardware_age_years", Quantity(value=hardware_age_years, status=Status.INPUT))
    years = hours / asked.accelerators / HOURS_PER_YEAR

    def lost(usd: float) -> float:
        return float(np.asarray(lost_value_usd(usd, hardware_age_years, years, oom_per_year=loss)))

    systems = nodes * asked.system.accelerators * price
    hardware, fabric = lost(systems), lost(network.usd)
    energy = None if energy_mwh is None else _energy_usd(catalog, ledger, asked, hours, energy_mwh)
    amortized = RunCost(hardware, fabric, energy or 0.0)
    total = float(np.asarray(amortized.total_usd))
    bought = systems + network.usd
    rent = rent_usd_per_hour(catalog, ledger, asked)
    rented = rent * hours if rent is not None else None
    rows = [
        ("bought", systems, network.usd, None, bought),
        ("amortised", hardware, fabric, energy, total),
        ("rented", rented, None, None, rented),
    ]
    table = tuple(
        (*row, None if row[-1] is None else row[-1] / asked.tokens * PER_MILLION) for row in rows
    )
    columns = (
        "way",
        "hardware_usd",
        "network_usd",
        "energy_usd",
        "total_usd",
        "usd_per_million_tokens",
    )
    words = (
        f"network {network.name} by its bill of materials"
        if network.name
        else "network not counted"
    )
    power = "and energy" if energy is not None else "energy not known"
    figures = {
        "cost.bought_usd": Metric(
            bought, "USD", f"All accelerators with their systems, spares among them; {words}"
        ),
        "cost.amortized_usd": Metric(
            total, "USD", f"Value lost meanwhile, {power}; no staff, building, storage"
        ),
        "cost.usd_per_million_tokens": Metric(
            total / asked.tokens * PER_MILLION, "USD", "Amortised"
        ),
    }
    notes = (
        [f"the network is in neither the bought nor the amortised cost: {network.why}"]
        if network.why
        else []
    )
    held, needed = nodes * asked.system.accelerators, asked.accelerators + spares
    if held > WHOLE * needed:
        text = f"bought and amortised are of whole systems: {held:,} accelerators of {asked.system.id} for {needed:,}"
        notes.append(f"{text}; a smaller system of the same accelerator may do")
    notes += (
        ["the power of the system is not known: the amortised cost has no energy"]
        if energy is None
        else []
    )
    return Ways(figures, {"run_cost": Table(columns, table)}, tuple(notes))


def _energy_usd(
    catalog: Catalog, ledger: Ledger, asked: Asked, hours: float, energy_mwh: float
) -> float:
    """Energy of the run at the site's price, or at the catalog's default one."""
    site = named(catalog, "sites", asked.site, Site, "--site") if asked.site else None
    if site is not None and site.usd_per_kwh is not None:
        price = ledger.take(f"sites.{site.id}.usd_per_kwh", site.usd_per_kwh)
    else:
        price = ledger.parameter("finance", "energy-usd-per-kwh")
    pue = ledger.parameter("facility", "cloud-pue")
    return float(np.asarray(run_energy_usd(energy_mwh * KW_PER_MW / hours, pue, hours, price)))


def _network(catalog: Catalog, ledger: Ledger, asked: Asked, nodes: int) -> _Fabric:
    """The cheapest network of the system's own protocol and rate, with NICs as part of the
    systems.
    """
    machine = asked.system
    found: list[_Fabric] = []
    why = f"no fabric of the catalog that {machine.id} can be joined by has a price"
    if nodes == 1:
        return _Fabric()
    for family in catalog.table("fabrics", Fabric).values():
        if family.protocol not in machine.protocols or family.rate_gbps.value != _rate(asked):
            continue
        try:
            request = FabricRequest(nodes=nodes, system=machine.id, fabric=family.id)
            built = build(resolve(request, catalog), Ledger(catalog))
        except (InputError, ValueError):  # that family does not reach so many
            continue
        if built.totals is not None:
            found.append(_Fabric(built.totals.price.value, family.id))
    best = min(found, key=lambda f: (f.usd, f.name), default=None)
    if best is None:
        return _Fabric(why=why)
    ledger.text("fabric", best.name, Status.DERIVED)
    return best


def _rate(asked: Asked) -> float:
    rate = asked.system.scaleout_port_gbps
    return rate.value if rate is not None else 0.0
