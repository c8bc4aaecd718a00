"""Expected stops, checkpoints, spares and goodput of a job, with bounds, for arrays of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dcplan.reliability.calendar import Chance, Goodput, RunTime, run_time
from dcplan.reliability.checkpoint import blocking_s
from dcplan.reliability.elastic import Kept, SplitStops, elastic_kept, replica_count, split_stops
from dcplan.reliability.goodput import Losses, Recovery, Tier, best_interval_s, losses
from dcplan.reliability.job import Bounds, Machine, Policy
from dcplan.reliability.power_cuts import lost_frac
from dcplan.reliability.spares import (
    PoolRule,
    Spares,
    domain_spares,
    group_spares,
    longest_wait,
    node_spares,
    short_units,
)
from dcplan.units import GIGA, HOURS_PER_DAY, SECONDS_PER_HOUR

Array = npt.NDArray[np.float64]
Value = float | Array


@dataclass(frozen=True)
class Outlook:
    """Expected values for each count."""

    stops_per_day: Array
    replaced_per_day: Array
    recovery: Recovery
    spares: Array
    """Spare accelerators."""
    units: list[Spares]
    """Spares as units, with the units in repair."""
    losses: Losses
    goodput: Goodput
    slowdown: Bounds
    whole_stops_per_day: Array
    """Stops that end the complete job; all stops without elastic replicas."""
    replicas: Array
    """Elastic replicas; 1 without them."""
    pool: PoolRule | None = None
    """Size of the pool of spare nodes that runs share; None: each has its own."""
    power_cut_frac: float = 0.0
    """Share of the days lost to interruptions of power by the grid."""

    @property
    def elastic(self) -> bool:
        """Whether a count has several elastic replicas."""
        return bool((self.replicas > 1).any())

    def run(self, clean_days: Array | float, step_spread_frac: float) -> RunTime:
        """Return the distribution of a run's duration from its days without loss."""
        tier = self.recovery.durable
        cost = tier.restart_s + np.asarray(tier.interval_s) / 2.0
        chance = Chance(self.whole_stops_per_day, cost, tier.interval_s)
        return run_time(clean_days, step_spread_frac, self.goodput, chance, self.slowdown)


def outlook(
    machine: Machine,
    policy: Policy,
    accelerators: Array,
    checkpoint: float,
    group: Array,
    clean_days: Array | float,
) -> Outlook:
    r"""Return stops, checkpoints, spares and goodput of a job on each of several counts.

    Bounds of the goodput vary stop rates, restart times and slow parts one at a time; distances add
    in squares.

    Parameters
    ----------
    machine, policy : Machine, Policy
        Parts and operating policy.
    accelerators : array, shape (n,)
        Accelerators that the job uses. [-]
    checkpoint : float
        Size of one checkpoint. [byte]
    group : array, shape (n,)
        Accelerators of the largest model-parallel group. If scale-up domains have several nodes:
        groups inside a node need spare nodes, larger groups a spare group, and groups above half a
        domain spare domains. [-]
    clean_days : float or array
        Duration without loss; early failures affect short runs more. [days]
    """
    n = np.asarray(accelerators, dtype=np.float64)
    spares = _spares(machine, policy, n, group)
    replicas = replica_count(n, policy.replica_accelerators, group)
    early = _early(policy, clean_days)
    # a node without a spare takes out its replica, and stops the job only if that is the whole job
    short = np.array([s.waiting_frac for s in spares])
    waiting = policy.outage_frac + np.where(replicas > 1, 0.0, short)
    job = _Job(machine, policy, n, checkpoint, early, spares, replicas, waiting)
    inputs = [machine.stops_per_day, policy.restart_h, policy.slow_frac, policy.stall_s]
    best = job.found(*(bounds[1] for bounds in inputs))
    return Outlook(
        best.stops.whole + best.stops.single,
        n * machine.replaced_per_day * early,
        best.recovery,
        np.array([float(s.accelerators) for s in spares]),
        spares,
        best.losses,
        _bounds(job, best, inputs),
        policy.slowdown,
        best.stops.whole,
        replicas,
        _pool_rule(machine, policy),
        lost_frac(policy.cuts, policy.restart_h[1]),
    )


@dataclass(frozen=True)
class _Found:
    losses: Losses
    recovery: Recovery
    stops: SplitStops


@dataclass(frozen=True)
class _Job:
    """A job on each of several counts, with what its rates and times do not change."""

    machine: Machine
    policy: Policy
    n: Array
    checkpoint: float
    early: Array
    """Mean factor on stops."""
    spares: list[Spares]
    replicas: Array
    waiting: Array
    """Share of the time in outages and without a spare."""

    def found(self, rate: Value, restart_h: Value, slow: Value, stall_s: Value) -> _Found:
        """Return stops, checkpoints and losses at a stop rate, a restart time and a slow share.

        Each is one value, or a column of values for as many rows of results.
        """
        machine, policy, n = self.machine, self.policy, self.n
        stops = split_stops(
            n * rate * self.early,
            self.replicas,
            machine.planned_frac,
            policy.whole_stops_per_day,
            at_any_size=policy.whole_at_any_size,
        )
        recovery = _recovery(machine, policy, n, self.checkpoint, stops.whole, restart_h)
        corrupted = (
            n * machine.corrupted_per_day * policy.factor * policy.rollback_h / HOURS_PER_DAY
        )
        kept = _kept(policy, stops, self.replicas, self.spares, restart_h, stall_s)
        slowed = np.minimum(slow + corrupted, 1.0)
        return _Found(losses(stops.whole, recovery, slowed, self.waiting, kept), recovery, stops)


def _bounds(job: _Job, best: _Found, inputs: list[Bounds]) -> Goodput:
    """Return the goodput with its bounds: each input varies alone, distances add in squares."""
    value = np.maximum(np.asarray(best.losses.goodput_frac), 1e-6)

    ends, size = np.array(inputs), len(inputs)
    # rows: each input at its high bound, then each at its low one; all others keep their median
    cases = np.where(
        np.tile(np.eye(size, dtype=bool), (2, 1)),
        np.concatenate([ends[:, 2], ends[:, 0]])[:, None],
        ends[:, 1],
    )
    columns = (cases[:, [i]] for i in range(size))
    lost = (value - np.asarray(job.found(*columns).losses.goodput_frac)) ** 2
    below, above = (np.sqrt(sum(part, np.zeros_like(value))) for part in (lost[:size], lost[size:]))
    return Goodput(value, np.clip(value - below, 1e-6, value), np.clip(value + above, value, 1.0))


def _kept(
    policy: Policy,
    stops: SplitStops,
    replicas: Array,
    spares: list[Spares],
    restart_h: Value,
    stall_s: Value,
) -> Kept | None:
    """Return what stops of single replicas leave of the time; None without several replicas."""
    many = replicas > 1
    if not many.any():
        return None
    rejoin = restart_h if policy.rejoin_h is None else policy.rejoin_h
    short = np.array([short_units(s.mean_down, s.units) for s in spares])
    return elastic_kept(
        stops.single, replicas, stall_s, rejoin * SECONDS_PER_HOUR, np.where(many, short, 0.0)
    )


def _early(policy: Policy, clean_days: Array | float) -> Array:
    """Return the mean factor on stops: nodes with frequent failures, and decaying early failures."""
    days = np.maximum(np.asarray(clean_days, dtype=np.float64), 1e-6)
    faded = policy.early_days / days * -np.expm1(-days / policy.early_days)
    return np.asarray(
        policy.factor
        * (1.0 + (policy.early_factor - 1.0) * np.where(np.isfinite(days), faded, 0.0))
    )


def write_s(policy: Policy, n: Array, checkpoint: float) -> Array:
    """Return the time in which storage takes a checkpoint.

    Storage has the rate of the level, or at least that of the target; a given one has its own rate
    if that is lower.
    """
    storage = np.maximum(policy.level_write_gb_per_s * n, checkpoint / policy.flush_s / GIGA)
    return np.asarray(checkpoint / np.minimum(storage, policy.given_write_gb_per_s) / GIGA)


def _recovery(
    machine: Machine, policy: Policy, n: Array, checkpoint: float, stops: Array, restart_h: Value
) -> Recovery:
    flush = write_s(policy, n, checkpoint)
    copy = blocking_s(checkpoint, n, machine.host_gb_per_s)
    save = policy.pause_s + (flush if policy.blocking else copy)
    save = np.full_like(n, policy.save_s) if policy.save_s is not None else save
    interval = best_interval_s(stops, save, 0.0 if policy.blocking else flush)
    interval = np.maximum(policy.interval_s, save) if policy.interval_s is not None else interval
    restart = restart_h * SECONDS_PER_HOUR
    read_s = checkpoint / policy.given_read_gb_per_s / GIGA
    # a given restart time contains the loading, so that the policy has none
    load = max(policy.load_s, read_s) if policy.load_s else 0.0
    durable = Tier(save, interval, np.zeros_like(n) + (restart + load))
    if not policy.peer:
        return Recovery(durable)
    return Recovery(
        durable,
        Tier(copy, best_interval_s(stops, copy, copy), np.zeros_like(n) + restart),
        machine.peer_frac,
    )


def down_frac(machine: Machine, policy: Policy) -> float:
    """Return the share of time that one node is in repair."""
    days = policy.repair_h / HOURS_PER_DAY
    return min(machine.replaced_per_day * policy.factor * machine.node_accelerators * days, 0.5)


@lru_cache(maxsize=65536)
def _spare(nodes: int, group: int, machine: Machine, share: float, confidence: float) -> Spares:
    """Return spare nodes, groups or domains, depending on the share of a domain in a group."""
    node_accelerators = machine.node_accelerators
    if machine.swap_nodes and nodes >= machine.swap_nodes:
        return group_spares(nodes, machine.swap_nodes, node_accelerators, share, confidence)
    if machine.domain_nodes > 1 and group > machine.domain_nodes // 2:
        return domain_spares(nodes, machine.domain_nodes, node_accelerators, share, confidence)
    if machine.domain_nodes > 1 and group > 1:
        return group_spares(nodes, group, node_accelerators, share, confidence)
    return node_spares(nodes, node_accelerators, share, confidence)


def _spares(machine: Machine, policy: Policy, n: Array, group: Array) -> list[Spares]:
    if policy.provider_spares:
        return [Spares(0, 0, 0, 0)] * n.size
    size = machine.node_accelerators
    share = down_frac(machine, policy)
    nodes = np.ceil(n / size).astype(int)
    if policy.spares is not None:
        return [Spares(policy.spares * size, policy.spares, 0, 0, int(m) * share) for m in nodes]
    taken = np.broadcast_to(np.ceil(np.asarray(group) / size).astype(int), n.shape)
    rule = _pool_rule(machine, policy)
    return [
        _spare(int(m), int(g), machine, share, policy.spare_confidence)
        if rule is None or not _by_node(machine, int(m), int(g))
        else _pooled(int(m), rule)
        for m, g in zip(nodes, taken, strict=True)
    ]


def _pool_rule(machine: Machine, policy: Policy) -> PoolRule | None:
    if not policy.pooled or policy.provider_spares or policy.spares is not None:
        return None
    share = down_frac(machine, policy)
    return PoolRule(machine.node_accelerators, share, policy.spare_confidence)


def _by_node(machine: Machine, nodes: int, group: int) -> bool:
    """Return whether any spare node replaces any node of a job, as in ``_spare``."""
    swapped = machine.swap_nodes and nodes >= machine.swap_nodes
    return not swapped and (machine.domain_nodes == 1 or group <= 1)


def _pooled(nodes: int, rule: PoolRule) -> Spares:
    """Return the spares of a run that shares them."""
    mean_down, spares = longest_wait(nodes, rule)
    alone = rule.spares(nodes) * rule.node_accelerators
    return Spares(alone, spares, 0, 0, mean_down, nodes)
