"""A network with its floor and its bill of materials."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.fabric.bom import Line, Totals
from dcplan.answers.fabric.media import Chosen
from dcplan.answers.fabric.resolve import Asked
from dcplan.answers.fabric.side_networks import Priced
from dcplan.fabric.floor.lengths import Lengths
from dcplan.fabric.floor.placement import Hall
from dcplan.fabric.topology.networks import Network


@dataclass
class Built:
    """A network with its floor and bill."""

    asked: Asked
    network: Network
    hall: Hall | None
    lengths: dict[str, Lengths]
    chosen: Chosen
    bill: list[Line]
    extras: list[Line]
    beside: list[Priced]
    """Storage and management networks."""
    why: str = ""
    """Why there is no bill."""

    @property
    def totals(self) -> Totals | None:
        """Sums of the bill; None where a price is missing."""
        return Totals.of(self.bill) if self.bill else None
