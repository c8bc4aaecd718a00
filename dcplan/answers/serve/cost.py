"""Cost of an accelerator-hour, owned and rented, and of a million output tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.power import ServicePower
from dcplan.answers.serve.request import ServeRequest
from dcplan.answers.serve.service.outcome import Pool
from dcplan.catalog.rent import has_index
from dcplan.economics.loans import level_payment_usd
from dcplan.economics.run_cost import network_from_share_usd
from dcplan.inputs.residual_value import residual_of
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Finance
from dcplan.units import HOURS_PER_MONTH, HOURS_PER_YEAR, SECONDS_PER_HOUR, TOKENS_PER_MTOKEN

OWNED, RENTED = "owned", "rented"
WHOLE_SYSTEMS = 1.25
"""Accelerators of complete systems over those of the service from which a note is given."""


@dataclass(frozen=True)
class HourCost:
    """Parts of the cost of one accelerator-hour on one basis [USD]."""

    basis: str
    parts: tuple[tuple[str, float], ...]
    low: float | None = None
    high: float | None = None

    @property
    def usd(self) -> float:
        """Sum of the parts."""
        return sum(usd for _, usd in self.parts)


def usd_per_million(hour_usd: float, accelerators: float, tokens_per_s: float) -> float:
    """Return the cost of a million output tokens.

    Examples
    --------
    Eight accelerators at 2 USD an hour give 1,000 tokens/s: 16 / 3.6 USD.

    >>> round(usd_per_million(2.0, 8, 1000.0), 4)
    4.4444
    """
    return hour_usd * accelerators / (tokens_per_s * SECONDS_PER_HOUR) * TOKENS_PER_MTOKEN


@dataclass(frozen=True)
class Costed:
    """A service with its power and its cost."""

    power: ServicePower | None
    owned: HourCost | None
    rented: HourCost | None
    accelerators: int
    """Accelerators with spares."""
    results_per_s: float
    """What a million of costs: output tokens, sequences or images per second."""
    basis: str = field(default="", kw_only=True)
    """Basis on which systems are compared; empty: the owned one, or else the rented one."""

    def per_million(self, cost: HourCost | None) -> float | None:
        """Return the cost of a million results on one basis."""
        if cost is None:
            return None
        return usd_per_million(cost.usd, self.accelerators, self.results_per_s)

    @property
    def main_cost(self) -> HourCost | None:
        """The cost on the basis of the comparison."""
        if self.basis:
            return self.owned if self.basis == OWNED else self.rented
        return self.owned or self.rented

    @property
    def usd_per_million(self) -> float:
        """Cost of a million results for the order of systems; infinite if unknown."""
        value = self.per_million(self.main_cost)
        return math.inf if value is None else value


def next_system(best: Costed, after: Costed, name: str) -> str:
    """Return how much more the next system costs, for the headline; empty if it is unknown."""
    ratio = after.usd_per_million / best.usd_per_million
    if not math.isfinite(ratio):
        return ""
    return f"; the next system, {name}, costs {ratio:.2f} times as much (both {best.basis})"


C = TypeVar("C", bound=Costed)


def ordered(able: Sequence[C], request: ServeRequest) -> list[C]:
    """Return the systems from the cheapest on one common basis, each with that basis.

    The basis is rent where a rent is given or a system has no owned cost; else it is owned cost.
    Without a common basis, it is the one that most systems have, and the others come last.
    """
    counts = {
        RENTED: sum(p.rented is not None for p in able),
        OWNED: sum(p.owned is not None for p in able),
    }
    basis = OWNED if counts[OWNED] == len(able) else max(counts, key=lambda key: counts[key])
    if request.usd_per_accelerator_hour is not None:
        basis = RENTED
    if not counts[basis]:
        basis = ""
    own = [replace(p, basis=basis) for p in able]
    return sorted(own, key=lambda p: (p.usd_per_million, p.accelerators))


def order_notes(able: Sequence[Costed], names: Sequence[str]) -> list[str]:
    """Return which systems have no cost on the basis of the comparison."""
    lacking = [name for p, name in zip(able, names, strict=True) if p.main_cost is None]
    if not lacking or len(able) < 2:
        return []
    return [f"no {able[0].basis} cost of {', '.join(lacking)}: not compared by cost"]


def accelerators_of(run: Hosted, pools: Sequence[Pool]) -> int:
    """Return the accelerators that cost: those that serve, spares, and given ones without work."""
    serving = sum(p.serving for p in pools)
    return serving + sum(p.spares for p in pools) + run.idle(serving)


def idle_notes(run: Hosted, pools: Sequence[Pool]) -> list[str]:
    """Return how many of the given accelerators no replica has."""
    serving = sum(p.serving for p in pools)
    idle, given = run.idle(serving), run.request.accelerators
    if not idle:
        return []
    sizes = sorted({p.layout.accelerators for p in pools})
    each = " and ".join(f"{n:,}" for n in sizes)
    return [
        f"{idle:,} of {given:,} accelerators are idle: replicas have {each}; the cost and the power "
        "include them"
    ]


def cost_notes(run: Hosted, costed: Costed) -> list[str]:
    """Return what is missing in the cost, or what it does not include."""
    notes = []
    if costed.owned is None:
        notes.append(f"{run.machine.name} has no price or power in the catalog: no owned cost")
    if costed.rented is None:
        notes.append(f"{run.machine.accelerator.id} has no rent in the catalog")
    count = costed.accelerators
    systems = -(-count // run.machine.size)
    whole = systems * run.machine.size
    if costed.owned and whole > WHOLE_SYSTEMS * count:
        have = (
            f"a {run.machine.name} has" if systems == 1 else f"{systems} x {run.machine.name} have"
        )
        of = "1 accelerator" if count == 1 else f"{count:,} accelerators"
        notes.append(f"the owned cost is the share of {of}; {have} {whole:,}")
    return notes


class RentBasis(StrEnum):
    """What the rent of an accelerator-hour is."""

    GIVEN = "the given rent"
    OFFER = "the list price of the offer"
    INDEX = "an index of contracts"
    OFFERS = "a median of list prices"


def rent_basis(run: Hosted) -> RentBasis:
    """Return what the rent of a run is."""
    machine = run.machine
    if run.request.usd_per_accelerator_hour is not None:
        return RentBasis.GIVEN
    if machine.system is None and machine.name != machine.accelerator.id:
        return RentBasis.OFFER
    indexed = has_index(run.log.catalog, machine.accelerator.id)
    return RentBasis.INDEX if indexed else RentBasis.OFFERS


def rent_source(run: Hosted) -> str:
    """Return name or number of the prices of the rent, with term and date."""
    rent = run.machine.rent
    if run.request.usd_per_accelerator_hour is not None or rent is None:
        return str(RentBasis.GIVEN)
    return (rent.source or "").partition(":")[0]


def rented_cost(run: Hosted) -> HourCost | None:
    """Return the rent of an accelerator-hour: given, or the default of the hardware."""
    given = run.request.usd_per_accelerator_hour
    rent = Quantity(value=given, status=Status.INPUT) if given is not None else run.machine.rent
    if rent is None:
        return None
    usd = run.log.take("usd_per_accelerator_hour", rent)
    return HourCost(RENTED, ((f"rent: {rent_source(run)}", usd),), rent.low, rent.high)


def needs_network(accelerators: int, system_size: int) -> bool:
    """Return whether a service needs a network: it has more accelerators than one system.

    The rule is the same for one pool and for split pools, so that their costs compare.

    Examples
    --------
    A split service of 48 accelerators in one NVL72, and 16 accelerators in two servers.

    >>> needs_network(48, 72), needs_network(16, 8)
    (False, True)
    """
    return accelerators > system_size


def owned_cost(run: Hosted, pools: Sequence[Pool], power: ServicePower | None) -> HourCost | None:
    r"""Return the cost of an owned accelerator-hour, or None without price or power.

    .. math:: c = \frac{A(P - R (1 + r)^{-L}) + m P + 12\,h\,p_{rated}}{8766} + p\,e\,PUE

    with the annuity A over the life L at the discount rate r, the residual value R, maintenance m,
    hall rent h of a rated kW (building, power and cooling plant) and energy e. P has a network at the
    class share of capital where the service has more than one system. Staff and storage are left out.
    """
    system, log = run.machine.system, run.log
    if system is None or system.price_usd is None or power is None:
        return None
    price = log.take(f"systems.{system.id}.price_usd", system.price_usd)
    if system.own_network is not None:
        price += log.take(f"systems.{system.id}.own_network.usd", system.own_network.usd)
    price /= system.accelerators
    count = accelerators_of(run, pools)
    network = 0.0
    if needs_network(count, run.machine.size) and system.own_network is None:
        share = log.parameter("finance", "band-network-share-frac")
        network = float(np.asarray(network_from_share_usd(price, share)))
    rate, life = (log.parameter("finance", key) for key in ("discount-rate", "hardware-life-years"))
    left = residual_of(Finance(), life, log)(life)
    both = price + network
    yearly = float(level_payment_usd(both, rate, life, balloon_usd=left * both))
    care = both * log.parameter("finance", "maintenance-hardware-frac-per-year")
    hall = log.parameter("finance", "colo-usd-per-kw-month") * power.rated_kw / count
    pue = log.parameter("facility", "cloud-pue")
    energy = log.parameter("finance", "energy-usd-per-kwh") * pue * power.total_kw / count
    name = "systems and network" if network else "systems"
    parts = (
        (f"capital of {name}, {life:g} years at {rate:.0%}", yearly / HOURS_PER_YEAR),
        ("maintenance", care / HOURS_PER_YEAR),
        ("hall: building, power and cooling plant", hall / HOURS_PER_MONTH),
        ("energy with PUE", energy),
    )
    return HourCost(OWNED, parts)
