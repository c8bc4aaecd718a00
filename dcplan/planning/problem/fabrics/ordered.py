"""A fabric family as a scenario orders it: topology, planes, oversubscription and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.catalog.schema import Fabric, Switch
from dcplan.fabric.effective import LinkSpeed, effective_frac
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.fabric.topology.direct import GROUP_SWITCHES
from dcplan.fabric.topology.kinds import ALONE, DRAGONFLY, SCHEDULED
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, radix_of
from dcplan.planning.problem.terms import PortClass
from dcplan.scenario.schema import GivenFabric

MOST_ONE_SWITCH_PORTS = 1024
"""NIC ports that a hall can hold up to which a plan may choose a single switch: 8 times the ports of
a switch of 128."""


@dataclass(frozen=True)
class Ordered:
    """A family with the topology and the settings of the scenario's given fabric, if there is one."""

    family: Fabric
    topology: str
    given: GivenFabric | None

    @property
    def models(self) -> tuple[str, str, str]:
        """Return leaf, spine and core switch."""
        f = self.family
        return f.leaf, f.spine or f.leaf, f.core or f.spine or f.leaf

    @property
    def planes(self) -> int:
        """Return the number of planes."""
        if self.topology in {SCHEDULED, DRAGONFLY}:
            return 1
        return (self.given and self.given.planes) or self.family.planes

    def tiers(self, hall_ports: int) -> Sequence[int]:
        """Return the numbers of tiers that the plan may choose; other topologies than trees have 2.

        A single switch is an option of halls that hold few NIC ports.
        """
        if self.topology in {SCHEDULED, DRAGONFLY}:
            return (2,)
        if self.given and self.given.tiers:
            return (self.given.tiers,)
        one = self.topology == ALONE or hall_ports <= MOST_ONE_SWITCH_PORTS
        return (1, *self.family.tiers) if one else self.family.tiers

    @property
    def oversubscription(self) -> tuple[float, float]:
        """Return the oversubscription of leaf and spine switches."""
        usual = self.family.oversubscription.value if self.family.oversubscription else 1.0
        over = self.given.oversubscription if self.given else None
        return (
            over.leaf_spine.value if over and over.leaf_spine else usual,
            over.spine_core.value if over and over.spine_core else 1.0,
        )

    def design(self, link_gbps: float, tiers: int, log: InputLog) -> ClosDesign:
        """Return the ports of the switches at a link speed.

        Raises
        ------
        MissingError
            If a switch lacks the speed, or the settings leave no port.
        """
        self._refuse_unused()
        leaf = radix_of(log, self.models[0], link_gbps)
        if self.topology == SCHEDULED:
            return self._scheduled(leaf, log)
        radix = min(radix_of(log, model, link_gbps) for model in self.models[:tiers])
        if self.topology == DRAGONFLY:
            return _dragonfly(radix)
        leaf_spine, spine_core = self.oversubscription
        ends = self.given.endpoints_per_leaf if self.given else None
        try:
            return design(
                radix,
                tiers,
                planes=self.planes,
                leaf_spine=leaf_spine,
                spine_core=spine_core,
                endpoints_per_leaf=ends,
            )
        except ValueError as error:
            raise MissingError(str(error)) from error

    def _refuse_unused(self) -> None:
        """Refuse settings that a network without tiers of a tree does not have."""
        if self.given is None or self.topology not in {SCHEDULED, DRAGONFLY}:
            return
        over = self.given.oversubscription
        unused = {
            "planes": (self.given.planes or 1) > 1,
            "tiers": self.given.tiers not in (None, 2),
            "oversubscription": bool(over.leaf_spine or over.spine_core),
            "endpoints_per_leaf": self.given.endpoints_per_leaf is not None,
        }
        names = [name for name, given in unused.items() if given]
        if names:
            msg = f"a {self.topology} network takes no {' or '.join(names)}; leave them out of `fabric`"
            raise MissingError(msg)

    def _scheduled(self, down: int, log: InputLog) -> ClosDesign:
        row = log.catalog.get("switches", self.models[0], Switch)
        if row.fabric_ports is None or row.fabric_gbps is None:
            msg = f"{row.id} has no ports towards the spine switches of a scheduled fabric (fabric_ports, fabric_gbps)"
            raise MissingError(msg)
        spine = radix_of(log, self.models[1], row.fabric_gbps.value)
        up = row.fabric_ports
        return ClosDesign(down + up, 2, 1, down, up, spine, spine)

    def speed(self, ports: PortClass, plan: ClosDesign, tiers: int, log: InputLog) -> LinkSpeed:
        """Return what a NIC port gets in a job over several leaf switches."""
        rate = min(ports.gbps, self.family.rate_gbps.value)
        alone = self.topology == ALONE
        if tiers == 1:  # one switch, or one per rail: no path to choose
            frac = 1.0
        else:
            leaf_spine, spine_core = self.oversubscription
            frac = effective_frac(
                log.parameter("network", f"effective-{self.balancing}-frac"),
                log.parameter("network", "effective-adaptive-frac"),
                1.0 if self.topology in {SCHEDULED, DRAGONFLY} else leaf_spine,
                spine_core if tiers > 2 else 1.0,
                log.parameter("network", "crossing-traffic-frac"),
                log.parameter("network", "pod-crossing-traffic-frac"),
            )
        exchange = 1.0 / (1.0 + log.parameter("network", "rail-only-exchange-slower-frac"))
        return LinkSpeed(
            round(rate * frac, 3), exchange if alone else 1.0, self.family.in_network_reduction
        )

    @property
    def balancing(self) -> str:
        """Return the load balancing of flows over paths."""
        return (self.given and self.given.load_balancing) or self.family.load_balancing


def _dragonfly(radix: int) -> ClosDesign:
    """Return the ports of a Slingshot switch: a quarter to nodes, 31 to its group."""
    return ClosDesign(radix, 2, 1, radix // 4, GROUP_SWITCHES - 1, radix)
