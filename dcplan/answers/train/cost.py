"""Cost of a run on three bases: hardware bought, loss of value (amortized), or hours rented."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.built import build
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import resolve
from dcplan.answers.train.metrics import rated_kw, rent_usd_per_hour
from dcplan.answers.train.resolve import TrainRun
from dcplan.catalog.schema import Fabric, Site, System
from dcplan.economics.run_cost import (
    RunCost,
    amortized_hardware_usd,
    lost_value_usd,
    network_from_share_usd,
    run_energy_usd,
)
from dcplan.errors import InputError
from dcplan.fabric.topology.kinds import ALONE
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.result import Metric, Table
from dcplan.specs.train import run as specs
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

PER_MILLION = 1e6
COMPLETE_SYSTEMS = 1.25
"""Ratio of accelerators bought to those needed above which a note is given."""


@dataclass(frozen=True)
class CostAnswer:
    """Metrics, a table and notes of a run's cost."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Fabric:
    """The network bought with the run's accelerators."""

    usd: float = 0.0
    name: str = ""
    why: str = ""
    own: bool = False
    """Whether the maker sells it with the system."""
    share: bool = False
    """Whether its price is a share of that of the cluster."""


def run_cost(
    log: InputLog, run: TrainRun, hours: float, energy_mwh: float | None, spares: int
) -> CostAnswer:
    r"""Return the cost of a run bought, amortized and rented, line by line.

    The bought cost is the price of the systems and their network, including spare accelerators;
    a pod with slices is bought by the slice, so that spares are slices inside a pod. Rented hours
    need no spares. The amortized cost is their loss of value during the run,
    :math:`P\,10^{-kt}(1 - 10^{-kT})`, plus energy; the network, priced by its bill of materials,
    loses value at the same rate. No basis includes staff, building, storage or failed runs.

    References
    ----------
    .. [1] B. Cottier et al., "The rising costs of training frontier AI models",
       arXiv 2405.21015, section 2.
    """
    system = run.system
    if system.price_usd is None and run.cost.usd_per_accelerator is None:
        why = f"{system.id} has no price in the catalog"
        return CostAnswer(notes=(f"{why}, so the cost of the run on owned hardware is unknown",))
    own, own_notes = run.cost, _own_notes(run, hours)
    if own.accelerator_hours is not None:
        given = log.take("cost.accelerator_hours", own.accelerator_hours)
        energy_mwh = None if energy_mwh is None else energy_mwh * given / hours
        hours = given
    price = _price_usd(log, run)
    needed = run.accelerators + spares
    bought = math.ceil(needed / run.order_accelerators) * run.order_accelerators
    hardware_usd = bought * price
    network = _network(log, run, bought, hardware_usd)
    energy_usd = _energy_usd(log, run, hours, energy_mwh)
    lost_usd = _lost_usd(log, run, (hardware_usd, network.usd), hours, bought)
    amortized = RunCost(*lost_usd, energy_usd or 0.0)
    total_usd = float(np.asarray(amortized.total_usd))
    rent = rent_usd_per_hour(log, run)
    rented_usd = None if rent is None else rent * hours
    bought_usd = hardware_usd + network.usd
    with_energy = "" if energy_usd is None else ", with energy"
    count = f"{run.accelerators:,} + {bought - run.accelerators:,} spare"
    rows = [
        _row(
            run, ("bought", f"{count}, hardware only"), hardware_usd, network.usd, None, bought_usd
        ),
        _row(run, ("amortized", f"{count}{with_energy}"), *lost_usd, energy_usd, total_usd),
        _row(run, ("rented", f"{run.accelerators:,}"), rented_usd, None, None, rented_usd),
    ]
    figures = {
        **specs.BOUGHT(bought_usd, label=_bought_text(network)),
        **specs.AMORTIZED(total_usd, label=_amortized_text(energy_usd)),
        **specs.AMORTIZED_PER_MILLION_TOKENS(total_usd / run.tokens * PER_MILLION),
    }
    notes = (*own_notes, *_notes(run, network, energy_usd, bought, needed))
    return CostAnswer(figures, {specs.RUN_COST.name: specs.RUN_COST.table(rows)}, notes)


def _row(
    run: TrainRun,
    basis: tuple[str, str],
    hardware_usd: float | None,
    network_usd: float | None,
    energy_usd: float | None,
    total_usd: float | None,
) -> specs.RunCostRow:
    each = None if total_usd is None else total_usd / run.tokens * PER_MILLION
    return specs.RunCostRow(*basis, hardware_usd, network_usd, energy_usd, total_usd, each)


def _own_notes(run: TrainRun, hours: float) -> tuple[str, ...]:
    """Say where the own values of ``--cost`` differ from the run, or cannot be measured ones."""
    own, rated, found = run.cost, rated_kw(run.system), list[str]()
    if own.accelerator_hours is not None and not math.isclose(own.accelerator_hours.value, hours):
        found.append(
            f"the cost counts {own.accelerator_hours.value:,.0f} accelerator-hours as given by "
            f"--cost; the days, hours and MWh of the answer are those of the estimate, {hours:,.0f}"
        )
    if own.average_kw is not None and rated is not None:
        each = rated / run.system.accelerators
        if own.average_kw.value > each:
            found.append(
                f"average-kw={own.average_kw.value:,.6g} of --cost is above {each:,.3g} kW, the rated "
                f"power of {run.system.id} for each accelerator: check the unit"
            )
    if own.average_kw is not None or own.pue is not None:
        found.append(
            "the energy cost counts the power and PUE given by --cost; train.energy_mwh is the estimate's"
        )
    return tuple(found)


def _price_usd(log: InputLog, run: TrainRun) -> float:
    """Return the price of one accelerator with its share of the system."""
    own, system = run.cost.usd_per_accelerator, run.system
    if own is not None:
        return log.take("cost.usd_per_accelerator", own)
    listed = system.price_usd or Quantity(value=0.0)
    return log.take(f"systems.{system.id}.price_usd", listed) / system.accelerators


def _lost_usd(
    log: InputLog, run: TrainRun, prices_usd: tuple[float, float], hours: float, bought: int
) -> tuple[float, float]:
    """Return the loss of value of systems and network during the run.

    The method `initial-rate` counts the rate of loss at the start of the run for the hours that train;
    the other one counts the loss of everything bought, with spares, until the end of the run.
    """
    key = "cost.value_oom_per_year"
    loss = log.chosen(key, run.cost.value_oom_per_year, "finance", "hardware-value-oom-per-year")
    age = log.take(
        "hardware_age_years", Quantity(value=run.request.hardware_age_years, status=Status.INPUT)
    )
    if run.cost.method == "initial-rate":
        log.text("cost.method", run.cost.method, Status.INPUT)
        rates = (
            amortized_hardware_usd(
                usd / bought, age, hours, oom_per_year=loss, hours_per_year=HOURS_PER_YEAR
            )
            for usd in prices_usd
        )
        systems, network = (float(np.asarray(usd)) for usd in rates)
        return systems, network
    years = hours / run.accelerators / HOURS_PER_YEAR
    systems, network = (
        float(np.asarray(lost_value_usd(usd, age, years, oom_per_year=loss))) for usd in prices_usd
    )
    return systems, network


def _bought_text(network: _Fabric) -> str:
    basis = "as sold with the system" if network.own else "priced by its bill of materials"
    named_network = f"network {network.name}" + ("" if network.share else f" {basis}")
    words = named_network if network.name else "network not included"
    return f"Capital cost of all systems, including spares; {words}"


def _amortized_text(energy_usd: float | None) -> str:
    energy = "and energy" if energy_usd is not None else "energy unknown"
    return (
        f"Amortized cost: loss of value during the run, {energy}; without staff, building and "
        "storage"
    )


def _notes(
    run: TrainRun, network: _Fabric, energy_usd: float | None, bought: int, needed: int
) -> tuple[str, ...]:
    found = []
    if network.why:
        found.append(f"the bought and amortized costs do not include the network: {network.why}")
    if bought > COMPLETE_SYSTEMS * needed:
        whole = f"{bought:,} accelerators of {run.system.id} for {needed:,}"
        found.append(
            f"the bought and amortized costs are for complete systems ({whole}); consider a "
            "smaller system with the same accelerator"
        )
    if energy_usd is None:
        found.append(
            "the power of the system is unknown, so the amortized cost does not include energy"
        )
    return tuple(found)


def _energy_usd(
    log: InputLog, run: TrainRun, hours: float, energy_mwh: float | None
) -> float | None:
    """Return the cost of the run's energy at its own price and power, the site's or the default's."""
    own, name = run.cost, run.request.site
    if own.average_kw is None and energy_mwh is None:
        return None
    site = named(log.catalog, "sites", name, Site, "--site") if name else None
    if own.usd_per_kwh is not None:
        price = log.take("cost.usd_per_kwh", own.usd_per_kwh)
    elif site is not None and site.usd_per_kwh is not None:
        price = log.take(f"sites.{site.id}.usd_per_kwh", site.usd_per_kwh)
    else:
        price = log.parameter("finance", "energy-usd-per-kwh")
    pue = log.chosen("cost.pue", own.pue, "facility", "cloud-pue")
    if own.average_kw is not None:
        kw = log.take("cost.average_kw", own.average_kw)
    else:
        kw = (energy_mwh or 0.0) * KW_PER_MW / hours
    return float(np.asarray(run_energy_usd(kw, pue, hours, price)))


def _own_network(log: InputLog, system: System, bought: int) -> _Fabric | None:
    """Return the network that the maker sells with the system, for the slices bought."""
    own = system.own_network
    if own is None:
        return None
    each = log.take(f"systems.{system.id}.own_network.usd", own.usd) / system.accelerators
    return _Fabric(each * bought, own.name, own=True)


def _fitting(log: InputLog, system: System, rate_gbps: float) -> list[Fabric]:
    """Return the families at the full rate of the NICs: of that rate, or else of a higher one.

    The step time is that of a full-rate tree, so others do not fit.
    """
    able = [
        f
        for f in log.catalog.table("fabrics", Fabric).values()
        if f.protocol in system.protocols
        and f.topology != ALONE
        and (f.oversubscription is None or f.oversubscription.value <= 1.0)
    ]
    same = [f for f in able if f.rate_gbps.value == rate_gbps]
    return same or [f for f in able if f.rate_gbps.value > rate_gbps]


def _network(log: InputLog, run: TrainRun, bought: int, hardware_usd: float) -> _Fabric:
    """Return the network by its share of the cluster, the system's own, or the cheapest that fits.

    A fabric fits with the protocol and rate of the system; the systems include the NICs.
    """
    if run.cost.network_share_frac is not None:
        share = log.take("cost.network_share_frac", run.cost.network_share_frac)
        usd = float(np.asarray(network_from_share_usd(hardware_usd, share)))
        return _Fabric(usd, f"as {share:.0%} of the cluster", share=True)
    system, found = run.system, list[_Fabric]()
    nodes = math.ceil(bought / system.accelerators)
    own = _own_network(log, system, bought)
    if own is not None:
        return own
    if nodes == 1:
        return _Fabric()
    rate = system.scaleout_port_gbps.value if system.scaleout_port_gbps is not None else 0.0
    for family in _fitting(log, system, rate):
        request = FabricRequest(nodes=nodes, system=system.id, fabric=family.id)
        try:
            built = build(resolve(request, log.catalog), InputLog(log.catalog))
        except (InputError, ValueError):  # the family does not support so many nodes
            continue
        if built.totals is not None:
            found.append(_Fabric(built.totals.price.value, family.id))
    best = min(found, key=lambda f: (f.usd, f.name), default=None)
    if best is None:
        why = f"no fabric in the catalog for {system.id} has a price"
        return _Fabric(why=why)
    log.text("fabric", best.name, Status.DERIVED)
    return best
