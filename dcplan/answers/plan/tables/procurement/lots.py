"""Purchases and rents of a plan, each with its payments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup, Goods, Unit

RENT = frozenset({FlowGroup.CLOUD, FlowGroup.POST_HORIZON})


@dataclass(frozen=True)
class Lot:
    """Payments of one purchase."""

    flows: tuple[Flow, ...]

    @property
    def first(self) -> Flow:
        """Return the earliest payment."""
        return self.flows[0]

    @property
    def goods(self) -> Goods:
        """Return what the purchase buys."""
        goods = self.first.goods
        if goods is None:
            msg = f"a purchase without goods: {self.first.line}"
            raise ValueError(msg)
        return goods

    @property
    def usd(self) -> float:
        """Return the sum of the payments [USD]."""
        return sum(f.usd for f in self.flows)

    @property
    def quantity(self) -> float:
        """Return the sum of the amounts, in the unit of the goods; support is one lot."""
        if self.goods.unit is Unit.LOT and self.first.offer:
            return 1.0
        return sum(f.goods.quantity for f in self.flows if f.goods)


def lots(flows: Sequence[Flow]) -> Iterator[Lot]:
    """Yield the purchases among the payments; storage of one hall and quarter is one purchase."""
    storage: dict[tuple[object, ...], list[Flow]] = defaultdict(list)
    for f in flows:
        if f.group is not FlowGroup.CAPEX or not f.usd:
            continue
        if f.asset is AssetClass.STORAGE and f.goods is not None:
            storage[f.quarter, f.goods.place, f.goods.serves_from].append(f)
        else:
            yield Lot((f,))
    for found in storage.values():
        yield Lot(tuple(found))


def rents(flows: Sequence[Flow]) -> Iterator[Lot]:
    """Yield the rents: each commitment, on demand each offer and term, and each accompanying cost."""
    found: dict[tuple[object, ...], list[Flow]] = defaultdict(list)
    for f in flows:
        if f.group in RENT and f.goods is not None and f.asset is not AssetClass.LEASED:
            term = f.term if f.goods.unit is Unit.ACCELERATOR_HOUR else ""
            found[f.offer, term, f.goods.serves_from, f.goods.item].append(f)
    for lot in found.values():
        yield Lot(tuple(sorted(lot, key=lambda f: f.quarter)))
