"""Simulation of a run stop by stop, for many replicas at once.

It gives the distribution of finish dates; the closed form gives only averages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.reliability.goodput import Recovery, Value
from dcplan.units import SECONDS_PER_DAY, SECONDS_PER_HOUR

Array = npt.NDArray[np.float64]
COUNT_EPS = 1e-9
"""Rounding tolerance of a count of intervals."""
UNSAVED_EPS = 1e-6
"""Tolerance on the part of an interval that is not saved."""
TRAINED_FRAC = 1.0 - UNSAVED_EPS
MOST_RESTARTS = 2000
MOST_STOPS = 20_000
"""Maximum stops of a replica; with more stops it never ends, which is an error."""


@dataclass(frozen=True)
class Hazards:
    """Stops of a run, its spares and its repairs."""

    stops_per_day: float
    replaced_frac: float = 0.0
    """Share of the stops that remove a node."""
    spares: int = 0
    repair_h: float = 0.0
    """Mean repair time of a removed node; exponential."""
    early_factor: float = 0.0
    """Stop rate at the start divided by the later rate, minus 1; it decays."""
    early_days: float = 1.0
    """Decay time of the early stops; no effect if the factor is 0."""
    restart_spread: float = 0.0
    """Sigma of the log-normal restart time; the mean does not change."""


@dataclass(frozen=True)
class Simulation:
    """Wall-clock days of each replica, and its stops."""

    days: Array
    stops: Array
    waited_days: Array
    """Time of waiting for a spare node."""

    def goodput_frac(self, clean_days: float) -> float:
        """Return mean lasting progress divided by mean wall-clock time."""
        return float(clean_days / self.days.mean())


def simulate(
    clean_days: float, recovery: Recovery, hazards: Hazards, replicas: int, seed: int
) -> Simulation:
    """Simulate a run until its last step, with all replicas in parallel.

    Time advances from stop to stop. Between two stops, the run repeats (train, save). A stop loses
    unsaved work and costs a restart, which may stop again. If a node is removed and all spares are
    in repair, the run waits. With a peer tier, a share of the stops loses only the work since the
    last peer copy.

    Parameters
    ----------
    clean_days : float
        Days of training without any loss. [days]
    recovery : Recovery
        Checkpoint tiers.
    hazards : Hazards
        Stops, spares, repairs.
    replicas : int
        Runs to simulate, at least 1.
    seed : int
        Seed of the random numbers; the same seed gives the same days.

    Raises
    ------
    ValueError
        If a run makes no progress because it stops again before it can save.

    Examples
    --------
    >>> from dcplan.reliability.goodput import Tier
    >>> quiet = simulate(10.0, Recovery(Tier(10.0, 1000.0, 600.0)), Hazards(0.0), 2, 1)
    >>> [round(float(d), 4) for d in quiet.days]
    [10.1, 10.1]
    """
    state = _State.start(clean_days, recovery, hazards, replicas, seed)
    for _ in range(MOST_STOPS):
        if not state.open.any():
            return Simulation(
                state.wall / SECONDS_PER_DAY, state.stops, state.waited / SECONDS_PER_DAY
            )
        state.advance()
    msg = f"a run of {clean_days:g} days does not end: {hazards.stops_per_day:g} stops per day outpace its checkpoints"
    raise ValueError(msg)


@dataclass
class _State:
    """All replicas between two stops; times in seconds."""

    recovery: Recovery
    hazards: Hazards
    rng: np.random.Generator
    work: float
    wall: Array
    durable: Array
    """Progress that the durable tier has saved."""
    progress: Array
    """Progress to continue from: in the memory of peers, or in the durable tier."""
    stops: Array
    waited: Array
    back_at: Array
    """End of repair of each spare node, by replica."""
    open: npt.NDArray[np.bool_]

    @classmethod
    def start(
        cls, clean_days: float, recovery: Recovery, hazards: Hazards, replicas: int, seed: int
    ) -> _State:
        zero = np.zeros(replicas)
        spares = np.zeros((replicas, hazards.spares))
        rng = np.random.default_rng(seed)
        many = np.ones(replicas, dtype=np.bool_)
        work = clean_days * SECONDS_PER_DAY
        return cls(
            recovery,
            hazards,
            rng,
            work,
            zero,
            zero.copy(),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            spares,
            many,
        )

    def advance(self) -> None:
        """Train until the next stop or the end; then recover."""
        gap = self._gap()
        left = self._wall_of(self.work - self.progress)
        ends = self.open & (left <= gap)
        self.wall = np.where(ends, self.wall + left, self.wall)
        self.open &= ~ends
        stopped = self.open
        if not stopped.any():
            return
        self.wall = np.where(stopped, self.wall + gap, self.wall)
        self.stops += stopped
        reached = self.progress + self._trained(gap)
        # a durable checkpoint follows every interval of progress, whatever copies the peers have in
        # between
        rounds = np.floor((reached - self.durable) / self.recovery.durable.interval_s + COUNT_EPS)
        self.durable = np.where(
            stopped, self.durable + rounds * self.recovery.durable.interval_s, self.durable
        )
        self._recover(stopped, gap, reached)

    def _recover(self, stopped: npt.NDArray[np.bool_], gap: Array, reached: Array) -> None:
        peer = self.recovery.peer
        back, restart = self.durable, np.full_like(gap, self.recovery.durable.restart_s)
        if peer:
            kept = self.rng.random(gap.size) < self.recovery.peer_frac
            # the copy of the peers is at most one of its intervals old
            rounds = np.floor((reached - self.progress) / peer.interval_s)
            copied = np.maximum(self.progress + rounds * peer.interval_s, back)
            back, restart = np.where(kept, copied, back), np.where(kept, peer.restart_s, restart)
        self.progress = np.where(stopped, back, self.progress)
        taken = stopped & (self.rng.random(gap.size) < self.hazards.replaced_frac)
        waits = self._replace(taken)
        self.waited += np.where(stopped, waits, 0.0)
        spent, again = self._restarts(restart)
        self.stops += np.where(stopped, again, 0.0)
        self.wall = np.where(stopped, self.wall + waits + spent, self.wall)

    def _gap(self) -> Array:
        """Return the seconds to the next stop; early stops are more frequent."""
        h = self.hazards
        if h.stops_per_day <= 0:
            return np.full(self.wall.size, np.inf)
        mean = SECONDS_PER_DAY / h.stops_per_day
        area = self.rng.exponential(mean, self.wall.size)
        if h.early_factor <= 0:
            return area
        # invert the integrated hazard t + a T (1 - exp(-t/T)) from the current time, with Newton
        # steps
        decay = h.early_days * SECONDS_PER_DAY
        more = h.early_factor * np.exp(-self.wall / decay)
        gap = area / (1.0 + more)
        for _ in range(6):
            faded = np.exp(-gap / decay)
            gap = gap - (gap + more * decay * (1.0 - faded) - area) / (1.0 + more * faded)
        return np.maximum(gap, 0.0)

    def _overhead(self) -> Value:
        """Return wall-clock time divided by training time, because of peer copies between stops."""
        peer = self.recovery.peer
        return 1.0 + peer.save_s / peer.interval_s if peer else 1.0

    def _wall_of(self, training: Array) -> Array:
        """Return the wall-clock time of training with its saves."""
        d = self.recovery.durable
        lead = self.progress - self.durable
        saves = np.floor((lead + np.maximum(training, 0.0)) / d.interval_s + COUNT_EPS)
        return training * self._overhead() + saves * d.save_s

    def _trained(self, gap: Array) -> Array:
        """Return the training in a gap; work in progress at its end is not saved."""
        d, more = self.recovery.durable, self._overhead()
        first = np.maximum(d.interval_s - (self.progress - self.durable), 0.0)
        before = np.minimum(gap / more, first)
        rest = np.maximum(gap - first * more - d.save_s, 0.0)
        cycle = d.interval_s * more + d.save_s
        whole = np.floor(rest / cycle)
        after = whole * d.interval_s + np.minimum(
            (rest - whole * cycle) / more, d.interval_s * TRAINED_FRAC
        )
        # before the end of the first save, its interval is trained but not durable
        unsaved = np.minimum(before, first - d.interval_s * (1.0 - TRAINED_FRAC))
        return np.where(gap >= first * more + d.save_s, first + after, unsaved)

    def _replace(self, taken: npt.NDArray[np.bool_]) -> Array:
        """Return the waiting time to replace each removed node by a spare [s].

        Without a free spare, the run waits for the first repair.
        """
        h = self.hazards
        zero = np.zeros(taken.size)
        if h.repair_h <= 0 or not taken.any():
            return zero
        # the run continues with the first node that leaves repair, or with a free spare
        own = self.wall + self.rng.exponential(h.repair_h * SECONDS_PER_HOUR, taken.size)
        rows = np.arange(taken.size)
        first = np.argmin(self.back_at, axis=1) if h.spares else np.zeros(taken.size, dtype=np.intp)
        spare = self.back_at[rows, first] if h.spares else np.full(taken.size, np.inf)
        if h.spares:
            self.back_at[rows, first] = np.where(taken, np.maximum(spare, own), spare)
        return np.where(taken, np.maximum(np.minimum(spare, own) - self.wall, 0.0), 0.0)

    def _restarts(self, mean_s: Array) -> tuple[Array, Array]:
        """Return the time of a restart with its repetitions, and the stops in it [s], [-]."""
        sigma, rate = self.hazards.restart_spread, self.hazards.stops_per_day / SECONDS_PER_DAY
        spent, stops = np.zeros_like(mean_s), np.zeros_like(mean_s)
        todo = np.ones(mean_s.size, dtype=np.bool_)
        for _ in range(MOST_RESTARTS):
            if not todo.any():
                return spent, stops
            asked = mean_s * np.exp(sigma * self.rng.standard_normal(mean_s.size) - sigma**2 / 2.0)
            until = (
                self.rng.exponential(1.0 / rate, mean_s.size)
                if rate > 0
                else np.full_like(mean_s, np.inf)
            )
            spent += np.where(todo, np.minimum(asked, until), 0.0)
            todo &= until < asked
            stops += todo
        msg = f"{self.hazards.stops_per_day:g} stops per day interrupt every restart"
        raise ValueError(msg)
