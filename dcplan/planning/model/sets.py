"""Sparse index sets of the model, built in plain Python before its variables."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from dataclasses import dataclass

from dcplan.facility.electrical.power import TWO_SIDES
from dcplan.planning.problem.fabrics.network_steps import link_usd
from dcplan.planning.problem.fabrics.switch_steps import most_ports
from dcplan.planning.problem.terms import (
    ExistingTerms,
    FabricOption,
    Placement,
    PlanningProblem,
    PortClass,
    SwitchSteps,
)
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, MONTHS_PER_QUARTER

P = tuple[str, str, str]
"""Hall, cooling and system."""
F = tuple[str, str, str]
"""Hall, fabric option and NIC class."""


@dataclass(frozen=True)
class Sets:
    """Index sets and look-ups; lists keep the order of the problem, so models are equal."""

    problem: PlanningProblem
    quarters: range
    months: range
    places: dict[P, Placement]
    orders: list[tuple[str, str, str, int]]
    fleet: list[P]
    in_hall: dict[str, list[P]]
    with_cooling: dict[tuple[str, str], list[P]]
    same_system: dict[tuple[str, str], list[P]]
    classes: dict[str, list[PortClass]]
    options: dict[str, list[str]]
    option: dict[tuple[str, str], FabricOption]
    served: dict[str, list[tuple[str, str]]]
    """Hall -> pairs of fabric option and NIC class that the option can connect."""
    class_of: dict[str, PortClass]

    def days_in_quarter(self, config: RunOption, t: int) -> float:
        """Return the days of a run in a quarter."""
        first = config.start_month * DAYS_PER_MONTH
        begin, end = t * DAYS_PER_QUARTER, (t + 1) * DAYS_PER_QUARTER
        return max(0.0, min(first + config.days, end) - max(first, begin))

    def active_months(self, config: RunOption) -> range:
        """Return the months in which a run uses its accelerators."""
        return range(config.start_month, min(config.start_month + config.months, len(self.months)))

    @functools.cached_property
    def cloud_runs(self) -> list[tuple[int, RunOption]]:
        """Return the run options on rented accelerators, with their numbers."""
        return [(i, run) for i, run in enumerate(self.problem.run_options) if run.on_cloud]

    @functools.cached_property
    def runs_in_month(self) -> dict[tuple[str, int], list[int]]:
        """Return the run options that use accelerators of a hall or offer in a month."""
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        for i, config in enumerate(self.problem.run_options):
            for month in self.active_months(config):
                found[config.place, month].append(i)
        return found

    @functools.cached_property
    def runs_of_system(self) -> dict[tuple[str, str, int], list[int]]:
        """Return the run options that use accelerators of a system in a hall in a month."""
        found: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        for (place, month), runs in self.runs_in_month.items():
            for i in runs:
                found[place, self.problem.run_options[i].system, month].append(i)
        return found

    @functools.cached_property
    def days_of_runs(self) -> dict[tuple[str, str, int], list[tuple[int, float]]]:
        """Return the run options of a system in a hall, or of an offer, with their days in a quarter."""
        found: dict[tuple[str, str, int], list[tuple[int, float]]] = defaultdict(list)
        for i, config in enumerate(self.problem.run_options):
            first = int(config.start_month // MONTHS_PER_QUARTER)
            for t in self.quarters[first:]:
                days = self.days_in_quarter(config, t)
                if days <= 0:
                    break
                found[config.place, config.system, t].append((i, days))
        return found

    @functools.cached_property
    def pool_steps(self) -> list[tuple[str, str, int, int]]:
        """Return hall, system and month of runs that share spare nodes, with each spare, from 1 on."""
        options, found = self.problem.run_options, []
        for (place, system, month), runs in self.runs_of_system.items():
            rule, most = self.problem.pools.get((place, system)), defaultdict[str, int](int)
            if rule is None:
                continue
            for run in (options[i] for i in runs):
                most[run.job] = max(most[run.job], run.pooled_nodes)
            spares = rule.spares(sum(most.values()))
            found += [(place, system, month, k) for k in range(1, spares + 1)]
        return found

    @functools.cached_property
    def pooled_months(self) -> dict[tuple[str, str, int], list[int]]:
        """Return the spares of each pool: hall, system and month -> numbers from 1 on."""
        found: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        for place, system, month, k in self.pool_steps:
            found[place, system, month].append(k)
        return found

    def alive(self, key: P, t: int) -> list[int]:
        """Return the order quarters whose racks are in service in quarter t."""
        place, life = self.places[key], self.problem.finance.life_quarters
        return [q for q in self.order_quarters(key) if q + place.lead <= t < q + place.lead + life]

    def order_quarters(self, key: P) -> list[int]:
        """Return the quarters in which a placement may be ordered.

        It must be released, and delivered inside the horizon.
        """
        place = self.places[key]
        if (
            place.system not in self.problem.orderable
            or (place.hall, place.system) in self.problem.closed
        ):
            return []
        return list(range(place.first_order, len(self.quarters) - place.lead))

    def existing(self, key: P) -> list[ExistingTerms]:
        """Return the assets and orders of a placement."""
        return [x for x in self.problem.existing if x.key == key]

    def fleet_alive(self, t: int) -> bool:
        """Return whether the given fleet is still in service in quarter t."""
        return t < self.problem.finance.life_quarters

    def share(self, hall: str, fabric: str, ports: str, what: str) -> float:
        """Return one per-port value of a NIC class on a fabric option.

        It is usd, kw, upper_usd, upper_kw or upper_racks.
        """
        if self.relaxed:
            what = what.removeprefix("upper_")
        return float(getattr(self.option[hall, fabric].shares[self.class_of[ports]], what))

    def existing_ports(self, hall: str, ports: str, last: int | None = None) -> int:
        """Return the ports of a hall's assets of a NIC class: all, or those that end in a quarter."""
        return sum(
            self.places[x.key].ports * x.racks
            for x in self.problem.existing
            if x.in_service
            and x.key[0] == hall
            and self.places[x.key].port_class.id == ports
            and last in (None, x.last)
        )

    def ended(self, hall: str, ports: str) -> list[int]:
        """Return the quarters inside the horizon in which assets of a hall and NIC class end."""
        found = {
            x.last
            for x in self.problem.existing
            if x.in_service and x.key[0] == hall and 0 < x.last < len(self.quarters)
        }
        return sorted(q for q in found if self.existing_ports(hall, ports, q))

    @functools.cached_property
    def step_costs(self) -> dict[F, SwitchSteps]:
        """Return hall, fabric and NIC class -> steps of its cost.

        It is empty if hardware reaches its end of life, or goes back to a lessor, inside the horizon.
        """
        problem = self.problem
        life = problem.finance.life_quarters
        if not problem.integer_switches or min(life, self.first_return) < problem.quarters:
            return {}
        found = {
            (o.hall, o.id, c.id): steps
            for o in problem.fabrics
            for c, steps in o.step_costs.items()
        }
        return {key: steps for key, steps in found.items() if not self.ended(key[0], key[2])}

    @functools.cached_property
    def first_return(self) -> float:
        """Return the first quarter in which leased racks may go back; infinite without leases."""
        return min(
            (
                self.places[key].lead + x.quarters + min(self.order_quarters(key))
                for x in self.problem.finance.leases
                for key in self.places
                if x.covers(key[2]) and self.order_quarters(key)
            ),
            default=math.inf,
        )

    @functools.cached_property
    def step_loads(self) -> dict[F, SwitchSteps]:
        """Return hall, fabric and NIC class -> steps of its power and space.

        It is empty with rounding margins, which cover integer switch counts in another way.
        """
        problem = self.problem
        if not problem.integer_switches or not self.relaxed:
            return {}
        return {
            (o.hall, o.id, c.id): steps
            for o in problem.fabrics
            for c, steps in o.step_loads.items()
        }

    def counted(self, part: str) -> list[F]:
        """Return the networks whose switches or transceivers the model counts as integers.

        It is empty if the part has no limit, or a network has no steps.
        """
        if part not in {p.part for p in self.problem.parts}:
            return []
        keys = [
            (h, f, c)
            for h, pairs in self.served.items()
            for f, c in pairs
            if self.option[h, f].tiers
        ]
        found = [k for k in keys if k in self.step_costs and part in self.step_costs[k].jumps]
        return found if len(found) == len(keys) else []

    @functools.cached_property
    def renewed(self) -> list[tuple[str, str, str, int]]:
        """Return purchases that may replace ended ports: hall, fabric, NIC class, quarter."""
        life = min(self.problem.finance.life_quarters, self.first_return)
        keys = [
            (h, f, c)
            for h, pairs in self.served.items()
            for f, c in pairs
            if (h, f, c) not in self.step_costs and self.option[h, f].tiers
        ]
        first = {(h, c): min([life, *self.ended(h, c)]) for h, _, c in keys}
        return [(h, f, c, t) for h, f, c in keys for t in self.quarters if t >= first[h, c]]

    def freed_usd(self, hall: str, fabric: str, ports: str) -> float:
        """Return the maximum cost that a replaced port saves a new port.

        It is the port's share without its own optics and cable.
        """
        option, kind = self.option[hall, fabric], self.class_of[ports]
        own = link_usd(option.designs[kind], option.parts[kind])
        return max(float(option.shares[kind].usd) - own, 0.0)

    @functools.cached_property
    def backed(self) -> list[str]:
        """Return the sites with halls that need power blocks."""
        return [
            s.id
            for s in self.problem.sites
            if any(h.needs_blocks for h in self.problem.halls if h.site == s.id)
        ]

    @property
    def two_sided(self) -> list[str]:
        """Return the sites whose power blocks are bought in pairs."""
        return [s for s in self.backed if self.problem.site(s).redundancy == TWO_SIDES]

    @property
    def periods(self) -> range:
        """Return the periods of the week."""
        return range(len(self.problem.periods))

    @property
    def relaxed(self) -> bool:
        """Return whether limits use ideal shares without margin.

        Then the bound also holds for integer switch counts.
        """
        return self.problem.margin_factor == 0

    def ports_cap(self, hall: str, ports: PortClass) -> int:
        """Return an upper bound on the NIC ports of a class in a hall."""
        own = [p for k in self.in_hall[hall] if (p := self.places[k]).port_class == ports]
        return most_ports(self.problem.hall(hall), own)


def make_sets(problem: PlanningProblem) -> Sets:
    """Build the sparse sets of a planning problem."""
    places = {p.key: p for p in problem.placements}
    in_hall: dict[str, list[P]] = {h.id: [] for h in problem.halls}
    with_cooling: dict[tuple[str, str], list[P]] = {
        (h.id, c.id): [] for h in problem.halls for c in h.coolings
    }
    same_system: dict[tuple[str, str], list[P]] = defaultdict(list)
    classes: dict[str, list[PortClass]] = {h.id: [] for h in problem.halls}
    for key, place in places.items():
        in_hall[place.hall].append(key)
        with_cooling[place.hall, place.cooling].append(key)
        same_system[place.hall, place.system].append(key)
        if place.port_class not in classes[place.hall]:
            classes[place.hall].append(place.port_class)
    options: dict[str, list[str]] = {h.id: [] for h in problem.halls}
    served: dict[str, list[tuple[str, str]]] = {h.id: [] for h in problem.halls}
    for option in problem.fabrics:
        options[option.hall].append(option.id)
        served[option.hall] += [
            (option.id, c.id) for c in classes[option.hall] if c in option.shares
        ]
    fleet = problem.fleet
    draft = Sets(
        problem=problem,
        quarters=range(problem.quarters),
        months=range(problem.quarters * MONTHS_PER_QUARTER),
        places=places,
        orders=[],
        fleet=list(same_system.get((fleet.hall, fleet.system), [])) if fleet else [],
        in_hall=in_hall,
        with_cooling=with_cooling,
        same_system=dict(same_system),
        classes=classes,
        options=options,
        option={(o.hall, o.id): o for o in problem.fabrics},
        served=served,
        class_of={c.id: c for found in classes.values() for c in found},
    )
    draft.orders.extend((*key, t) for key in places for t in draft.order_quarters(key))
    return draft


def most_racks(sets: Sets, key: P, t: int) -> int:
    """Return an upper bound on the racks of one order: the capacity of the hall type."""
    place = sets.places[key]
    supply = next((s.racks[t] for s in sets.problem.supply if s.system == place.system), math.inf)
    return int(min(place.max_racks_unit * sets.problem.hall(place.hall).count, supply))
