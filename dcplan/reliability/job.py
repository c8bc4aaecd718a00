"""Terms of a job: its share of the parts of a machine, and its operating policy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts, lost_frac
from dcplan.units import HOURS_PER_YEAR

Bounds = tuple[float, float, float]
"""P10, value, P90."""


@dataclass(frozen=True)
class Machine:
    """One accelerator's share of the parts of a job, and their grouping."""

    stops_per_day: Bounds
    """Stops of one accelerator with its share of all parts. [1/day]"""
    replaced_per_day: float
    corrupted_per_day: float
    peer_frac: float
    """Share of the stops that do not affect the memory of other hosts."""
    node_accelerators: int
    domain_nodes: int
    """Nodes in one scale-up domain; 1 if it is a host."""
    host_gb_per_s: float
    """Rate from one accelerator to its host's memory. [GB/s]"""
    planned_frac: float = 0.0
    """Share of the stops that are planned: they always stop the complete job."""
    swap_nodes: int = 0
    """Nodes that are always replaced together (a TPU cube behind optical switches); 0: by
    model-parallel group."""


@dataclass(frozen=True)
class Policy:
    """Operating policy of the job."""

    restart_h: Bounds
    """Time of detection and restart, without loading."""
    load_s: float
    pause_s: float
    """Fixed time of a checkpoint in addition to its copy or write."""
    flush_s: float
    """Time in which storage must accept a checkpoint."""
    level_write_gb_per_s: float
    """Write rate of one accelerator."""
    slow_frac: Bounds
    rollback_h: float
    repair_h: float
    spare_confidence: float
    outage_h_per_year: float
    replica_accelerators: int | None = None
    """Accelerators of an elastic replica; None: every stop ends the complete job."""
    stall_s: Bounds = (0.0, 0.0, 0.0)
    """Time that all replicas lose when one of them stops. [s]"""
    rejoin_h: float | None = None
    """Time from a stop until its replica trains again; None: detection and restart."""
    whole_stops_per_day: float = 0.0
    """Most stops of the complete job with elastic replicas. [1/day]"""
    whole_at_any_size: bool = False
    """Whether that rate holds at any number of accelerators."""
    blocking: bool = False
    peer: bool = False
    factor: float = 1.0
    """Factor on all stops if nodes with frequent failures stay in use."""
    early_factor: float = 1.0
    early_days: float = 1.0
    """Decay time of the early stops; no effect if the factor is 1."""
    slowdown: Bounds = (1.0, 1.0, 1.0)
    """Step time in production divided by the predicted step time."""
    given_read_gb_per_s: float = math.inf
    given_write_gb_per_s: float = math.inf
    """Rates of a storage of given size, which may be below the rates of the level."""
    save_s: float | None = None
    interval_s: float | None = None
    spares: int | None = None
    """Given number of spare nodes."""
    pooled: bool = False
    """Whether the runs of a system in a hall share one set of spare nodes."""
    provider_spares: bool = False
    """Whether the provider replaces a failed node from its pool without waiting (rented
    hardware)."""
    cuts: PowerCuts = NO_CUTS
    """Interruptions of its power by the grid."""

    @property
    def outage_frac(self) -> float:
        """Return the share of time without power or cooling, or at reduced power."""
        cut = lost_frac(self.cuts, self.restart_h[1])
        return min(self.outage_h_per_year / HOURS_PER_YEAR + cut, 1.0)
