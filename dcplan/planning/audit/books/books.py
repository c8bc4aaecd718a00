"""Accounts of a plan, by hall and quarter, with its payments."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcplan.economics.cash_flow import Flow
from dcplan.planning.audit.books.hall import HallQuarter
from dcplan.planning.exact_network import Network
from dcplan.planning.problem.terms import PlanningProblem


@dataclass
class Accounts:
    """All recomputed values of a plan."""

    halls: dict[tuple[str, int], HallQuarter] = field(default_factory=dict)
    ordered_networks: dict[tuple[str, int], Network] = field(default_factory=dict)
    """Network of the ordered racks that have not reached their end of life."""
    network_usd: dict[tuple[str, int], float] = field(default_factory=dict)
    """Network bought in a quarter; new racks buy again the network that ended with old racks."""
    parts_bought: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    """Switches and transceivers of the network bought in a quarter."""
    pieces_bought: dict[tuple[str, int], dict[tuple[str, str], int]] = field(default_factory=dict)
    """All parts of the network bought in a quarter, by NIC class and role."""
    network_kw_bought: dict[tuple[str, int], float] = field(default_factory=dict)
    """Power of the switches and optics bought in a quarter."""
    flows: list[Flow] = field(default_factory=list)

    def site(self, problem: PlanningProblem, site: str, t: int, what: str) -> float:
        """Return the sum of a hall value over a site."""
        return sum(
            float(getattr(a, what))
            for (h, q), a in self.halls.items()
            if q == t and problem.hall(h).site == site
        )

    def heat_sources(
        self, problem: PlanningProblem, site: str
    ) -> dict[int, list[tuple[float, float]]]:
        """Return temperature and energy of the heat of liquid-cooled racks of a site, by quarter."""
        found: dict[int, list[tuple[float, float]]] = {t: [] for t in range(problem.quarters)}
        for (key, t), a in self.halls.items():
            hall = problem.hall(key)
            if hall.site != site:
                continue
            for cooling, mwh in a.liquid_mwh_by_cooling.items():
                heat_c = hall.cooling(cooling).heat_c
                if heat_c is not None:
                    found[t].append((heat_c, mwh))
        return found

    def total(self, what: str) -> float:
        """Return the sum of a hall value over all halls and quarters."""
        return sum(float(getattr(a, what)) for a in self.halls.values())
