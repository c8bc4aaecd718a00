"""Plans of a search of halls: the best one, the proven bound, and solutions that became no plan."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import Outcome, contradicted
from dcplan.planning.solve.large.racks import Found, RackStage
from dcplan.planning.solve.large.small_model import STRATEGY
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession

WORTH = 0.25
"""Share of the requested gap that a solution must promise before its racks are searched, which takes
seconds."""
EARLY = 4
"""Solutions after which one is made a plan, whatever it promises."""
FIRST_WITHIN = 0.03
"""Distance from the bound from which a first solution is made a plan at once."""
OTHER_SHARE = 0.5
"""Share of the remaining time for plans of other solutions of the program of halls."""
TINY = 1e-6


class Plans:
    """Plans that ``stage`` makes of halls."""

    def __init__(self, stage: RackStage, session: SolveSession) -> None:
        """Begin without a plan and without a bound."""
        self.stage, self.session = stage, session
        self.gap = session.gap
        self.best: Found | None = None
        self.bound = self.relaxed = -math.inf
        """Proven bound, and that of the linear relaxation."""
        self.others: list[tuple[float, dict[Key, float]]] = []
        """Solutions of the program of halls that became no plan, with their costs."""
        self.planned: set[frozenset[tuple[Key, int]]] = set()
        """Halls and fabrics that have a plan."""
        self.slack = math.inf
        """Smallest difference between the cost of a plan and that of its halls in the relaxation."""

    @property
    def proved(self) -> bool:
        """Whether the bound proves the requested gap of the best plan."""
        return self.done(self.bound)

    @property
    def goes_on(self) -> bool:
        """Whether the gap is open and time is left."""
        return not self.proved and self.session.clock.left() > 0

    def plan(self, chosen: Mapping[Key, float], cost: float) -> None:
        """Make a plan of halls with a cost in the relaxation."""
        self.keep(self.stage.plan(chosen), cost)

    def keep(self, found: Found | None, cost: float) -> None:
        """Keep a plan if it is the best one; its halls have a cost in the relaxation."""
        if found is None:
            return
        self.planned.add(halls_of(found.integer_values))
        self.slack = min(self.slack, found.value - cost)
        if self.best is None:  # the rest is for a method that finds a first plan
            self.session.clock.take_the_rest()
        if self.best is None or found.value < self.best.value:
            self.best = found
            if contradicted(self.bound, found.value):
                self.bound = self.relaxed

    def done(self, bound: float) -> bool:
        """Return whether a bound proves the requested gap of the best plan."""
        return self.within(bound, self.gap)

    def within(self, bound: float, gap: float) -> bool:
        """Return whether a bound proves a gap of the best plan."""
        best = self.best
        return best is not None and best.value - bound <= gap * abs(best.value)

    def relax(self, bound: float) -> None:
        """Take the bound of the linear relaxation, which no wrong bound of integers replaces."""
        self.relaxed = bound
        self.prove(bound)

    def prove(self, bound: float) -> None:
        """Raise the bound, if a bound is higher; one above the best plan is wrong, and is left out."""
        if self.best is None or not contradicted(bound, self.best.value):
            self.bound = max(self.bound, bound)
        self.session.reporter.proved(self.bound)

    def early(self, program: Matrix, values: Vector) -> None:
        """Make the first plan of a solution that is close to the bound, or of a later one.

        It is improved by site at once, because a good plan ends the search earlier.
        """
        cost = float(program.cost @ values) + program.offset
        near = cost - self.bound <= FIRST_WITHIN * abs(cost)
        if self.best is None and (near or len(self.others) + 1 >= EARLY):
            self.plan(dict(zip(program.columns, values, strict=True)), cost)
            self.by_site(self.best, cost)
        else:
            self.later(program, values)

    def later(self, program: Matrix, values: Vector) -> None:
        """Keep a solution of which a plan may be made."""
        cost = float(program.cost @ values) + program.offset
        self.others.append((cost, dict(zip(program.columns, values, strict=True))))

    def take(self, program: Matrix, outcome: Outcome, *, by_site: bool = True) -> None:
        """Make a plan of a solution of the program if it promises a better one, improved by site.

        Without ``by_site`` the racks end where the bound proves the requested gap.
        """
        cost = outcome.objective
        if outcome.values is None or cost + self.least_slack() > self.worth():
            return
        enough = -math.inf if by_site else self._enough()
        found = self.stage.plan(
            dict(zip(program.columns, outcome.values, strict=True)), enough=enough
        )
        self.keep(found, cost)
        self.others = [x for x in self.others if abs(x[0] - cost) > TINY * abs(cost)]
        if by_site and not self.session.request.screen:
            self.by_site(found, cost)

    def make_others(self, *, by_site: bool) -> None:
        """Make plans of the other solutions of the program of halls; ``by_site`` improves each."""
        until_s = self.session.clock.spent() + OTHER_SHARE * self.session.clock.left()
        for cost, chosen in sorted(self.others, key=lambda x: x[0]):
            late = self.session.stopped or self.session.clock.spent() > until_s
            if late or self.proved or cost + self.least_slack() > self.worth():
                return
            if halls_of(chosen) in self.planned:
                continue
            found = self.stage.plan(chosen)
            self.keep(found, cost)
            if by_site:
                self.by_site(found, cost)

    def by_site(self, found: Found | None, cost: float) -> None:
        """Improve a plan of halls with a cost in the relaxation."""
        if found is not None and not self.proved:
            self.keep(self.stage.improved(found, self._enough(), by_site=True), cost)

    def improve(self) -> None:
        """Improve the best plan."""
        if self.best is not None:
            self.keep(self.stage.improved(self.best, self._enough()), self.bound)

    def _enough(self) -> float:
        """Return the cost of a plan at which the bound proves the requested gap."""
        return self.bound / (1.0 - self.gap if self.bound > 0 else 1.0 + self.gap)

    def least_slack(self) -> float:
        """Return the smallest amount by which a plan cost more than its halls; 0 without a plan."""
        return self.slack if math.isfinite(self.slack) else 0.0

    def worth(self) -> float:
        """Return the cost below which a plan is clearly better."""
        if self.best is None:
            return math.inf
        return self.best.value - WORTH * self.gap * abs(self.best.value)


def halls_of(values: Mapping[Key, float]) -> frozenset[tuple[Key, int]]:
    """Return the fabrics and units of halls of a solution."""
    whole = ((key, round(v)) for key, v in values.items() if key.name in STRATEGY)
    return frozenset((key, n) for key, n in whole if n)
