"""Plans for one variant: each variant alone, and the first decisions of one variant kept in all.

The first decisions of a variant's own plan, followed in every variant, are a plan of the hedge where every
variant offers them. They start the search of the common plan, and are the answer where it finds no
cheaper plan in its time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from dcplan.answers.plan.hedge.plans import Hedged, Together, alone, cost_usd
from dcplan.planning.keys import Key
from dcplan.planning.solve.request import LEAST_S, Clock
from dcplan.planning.solve.solved import Solved
from dcplan.planning.uncertainty.hedge import cvar, first_of, is_first
from dcplan.units import USD_PER_MUSD

OWN_SHARE, KEPT_SHARE = 0.3, 0.2
"""Shares of the remaining time for the plan of each variant, and for its first decisions in the others."""
BASE = "base"
"""Variant of the scenario without overrides."""


@dataclass(frozen=True)
class Guess:
    """Plan of each variant alone, and plans of all variants with the first decisions of one."""

    own: list[Solved]
    kept: dict[int, list[Solved]]
    """By variant whose first decisions they have: the most likely one, and the base scenario."""

    def of_main(self, h: Hedged) -> list[Solved]:
        """Return the plans with the first decisions of the most likely variant."""
        return self.kept[h.main]

    def best(self, h: Hedged) -> list[Solved]:
        """Return the cheapest plans with common first decisions; empty without any."""
        common = [plans for plans in self.kept.values() if _is_common(h, plans)]
        return min(common, key=lambda plans: expected_usd(h, plans), default=[])


def guessed(h: Hedged) -> Guess:
    """Plan each variant alone, and keep the first decisions of one in all."""
    names = [w.name for w in h.variants]
    chosen = {h.main, names.index(BASE)} if BASE in names else {h.main}
    own = _own(h, chosen)
    share = KEPT_SHARE * h.left_s() / (len(names) * len(chosen))
    kept = {i: _kept(h, own, i, share) for i in sorted(chosen)}
    return Guess([_cheaper(x, *same) for x, *same in zip(own, *kept.values(), strict=True)], kept)


def _own(h: Hedged, chosen: Collection[int]) -> list[Solved]:
    """Plan each variant alone, the chosen ones first: each takes at most half of what is left."""
    clock = Clock(OWN_SHARE * h.left_s())
    found: dict[int, Solved] = {}
    for i in sorted(range(len(h.variants)), key=lambda i: (i not in chosen, i)):
        last = len(found) == len(h.variants) - 1
        found[i] = alone(h, h.variants[i], {}, clock.left(LEAST_S) * (1.0 if last else 0.5))
    return [found[i] for i in range(len(h.variants))]


def _cheaper(own: Solved, *others: Solved) -> Solved:
    """Return the cheapest plan of one variant, with the bound of its own plan."""
    known = [x for x in (own, *others) if cost_usd(x) is not None]
    best = min(known, key=lambda x: x.cost_usd, default=own)
    return replace(best, bound=min(own.bound, best.value))


def cheapest(h: Hedged, found: Together, guess: Guess) -> Together:
    """Return the common plan, or the first decisions of one variant in all where these are cheaper.

    The weighted bounds of the variants alone are a bound, too. Halls of ``guess`` without first orders may
    have other fabrics in each variant, so that it may cost less than the bound of the common program,
    which then does not hold for it.
    """
    alone_musd = cvar([x.bound for x in guess.own], h.weights, h.asked.tail_frac)
    plans, guesses = found.plans, guess.best(h)
    if guesses and (not plans or expected_usd(h, guesses) < expected_usd(h, plans)):
        plans = guesses
    if not plans:
        return found
    holds = found.bound_musd * USD_PER_MUSD <= expected_usd(h, plans)
    bound = max(alone_musd, found.bound_musd) if holds else alone_musd
    return replace(found, plans=plans, bound_musd=bound)


def expected_usd(h: Hedged, plans: Sequence[Solved]) -> float:
    """Return the cost of plans of all variants that the hedge minimizes [USD]."""
    return cvar([x.cost_usd for x in plans], h.weights, h.asked.tail_frac)


def _kept(h: Hedged, own: Sequence[Solved], which: int, share_s: float) -> list[Solved]:
    """Return the plan of each variant with the first decisions of one; without a plan of it, none."""
    if cost_usd(own[which]) is None:
        return [replace(x, decisions=None, audit=None) for x in own]
    firsts = first_of(own[which].integer_values, h.through)
    return [
        own[i] if i == which else alone(h, w, firsts, share_s) for i, w in enumerate(h.variants)
    ]


def _is_common(h: Hedged, plans: Sequence[Solved]) -> bool:
    """Return whether all variants have a plan, with the same first decisions."""
    if any(cost_usd(x) is None for x in plans):
        return False
    return all(_made(h, x) == _made(h, plans[0]) for x in plans)


def _made(h: Hedged, plan: Solved) -> dict[Key, float]:
    """Return the decisions of a plan before the variant is known."""
    first = first_of(plan.integer_values, h.through)
    return {key: n for key, n in first.items() if is_first(key, h.through) and round(n)}
