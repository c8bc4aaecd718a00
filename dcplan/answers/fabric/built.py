"""A network with its floor plan and its bill of materials."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.answers.fabric.bill.extras import extra_lines, nic_lines
from dcplan.answers.fabric.bill.lines import Line, Totals
from dcplan.answers.fabric.bom import link_lines, switch_lines
from dcplan.answers.fabric.design import lengths_of, placed, sized
from dcplan.answers.fabric.media.choice import Chosen, tier_choices
from dcplan.answers.fabric.media.optics import Fitted, fitted
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.answers.fabric.side_networks import Priced, sides
from dcplan.errors import InputError
from dcplan.fabric.floor.lengths import Lengths
from dcplan.fabric.floor.placement import Hall
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, unlike_lanes
from dcplan.provenance import Status

NO_BILL = "quantities only, without power and price"


@dataclass
class Built:
    """A network with its floor plan and bill of materials."""

    resolved: ResolvedFabric
    network: Network
    hall: Hall | None
    lengths: dict[str, Lengths]
    chosen: Chosen
    bill: list[Line]
    extras: list[Line]
    side_networks: list[Priced]
    """Storage and management networks."""
    why: str = ""
    """Reason if there is no bill."""
    same_media: str = ""
    """Remark that the requested media change no link."""

    @property
    def totals(self) -> Totals | None:
        """Sums of the bill; None if a price is missing."""
        return Totals.of(self.bill) if self.bill else None

    @property
    def unlike_lanes(self) -> str:
        """Why transceivers of a tier do not form links; empty where they do."""
        ends = (c.ends for choices in self.chosen.tiers.values() for c in choices)
        found = (unlike_lanes(a.row, b.row) for a, b in filter(None, ends))
        return next((why for why in found if why), "")


def build(resolved: ResolvedFabric, log: InputLog) -> Built:
    """Size, place and price the network.

    Raises
    ------
    InputError
        When no network of that kind fits the nodes, or no medium reaches far enough.
    """
    network = sized(resolved)
    hall = placed(resolved, network, log)
    chosen = Chosen()
    side_networks = sides(resolved, network, chosen.notes, log)
    lengths = lengths_of(resolved, network, hall, log)
    built = Built(resolved, network, hall, lengths, chosen, [], [], side_networks)
    _record(resolved, log)
    parts = fitted(resolved, log)
    if parts is None:
        cause = "no switch model or optics at this speed"
        built.why = f"{cause}: {NO_BILL}"
        return built
    if resolved.family is None:
        taken = parts.family or f"{parts.node.id} and {parts.leaf.id}"
        log.text("fabric.optics", taken, Status.DEFAULT)
    # a length beyond reach is an error, a missing price is not
    try:
        built.chosen = tier_choices(resolved, parts, built.lengths, network, log)
        built.chosen.notes += chosen.notes
        tiers = built.chosen.tiers
        built.same_media = _same_media(built, parts, log)
        built.bill = switch_lines(resolved, network, log)
        built.bill += link_lines(resolved, network, tiers, log)
        units = sum(p.rack_units for p in side_networks)
        built.extras = [*nic_lines(resolved), *extra_lines(built.bill, tiers, units, log)]
    except MissingError as error:
        built.bill, built.extras, built.why = [], [], f"{error}: {NO_BILL}"
    return built


def _same_media(built: Built, parts: Fitted, log: InputLog) -> str:
    """Return a remark where ``--media`` leaves every link with the parts of the family."""
    resolved, asked = built.resolved, built.resolved.request.media
    if asked == "family":
        return ""
    usual = replace(resolved, request=replace(resolved.request, media="family"))
    try:
        plain = tier_choices(usual, parts, built.lengths, built.network, InputLog(log.catalog))
    except (InputError, MissingError):
        return ""
    if _parts_of(plain) != _parts_of(built.chosen):
        return ""
    return f"--media {asked} changes no link"


def _parts_of(chosen: Chosen) -> dict[str, list[tuple[float, int, str]]]:
    return {
        tier: [(c.stock_m, c.links, c.medium.id) for c in choices]
        for tier, choices in chosen.tiers.items()
    }


def _record(resolved: ResolvedFabric, log: InputLog) -> None:
    """Log the choices that the request leaves open."""
    request, unit = resolved.request, resolved.ports.nodes_per_su
    left_open = {
        "topology": (request.topology, resolved.topology),
        "load_balancing": (request.load_balancing, resolved.balancing),
        "planes": (request.planes, str(resolved.ports.planes)),
        "nodes_per_su": (
            request.nodes_per_su,
            str(unit) if resolved.topology == "rail-optimized" else "",
        ),
        "nic_ports_per_cage": (request.nic_ports_per_cage, str(resolved.ports_per_cage)),
    }
    for name, (typed, taken) in left_open.items():
        if typed is None and taken:
            log.text(f"fabric.{name}", taken, Status.DEFAULT)
    system = resolved.system
    if system and system.scaleout_port_gbps and request.nic_gbps is None:
        log.take(f"systems.{system.id}.scaleout_port_gbps", system.scaleout_port_gbps)
