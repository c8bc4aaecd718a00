"""What serves a load on every system and offer: replicas, pools, and throughput of an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.inputs.cloud_prices import is_cloud, offer_of, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.serving.sizing.options import (
    KeyedWork,
    Replica,
    ReplicaPair,
    best_pair,
    keyed,
    replicas,
    sized,
)
from dcplan.inputs.serving.sizing.pools import DECODE, PREFILL
from dcplan.inputs.serving.sizing.states import States
from dcplan.planning.problem.services.spec import HostedWork, ServiceSpec, hosted
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import NearestLatency, ReplicaTerms
from dcplan.units import MILLI, TOKENS_PER_KTOKEN

MOST_OF_ONE_POOL = 0.95
"""Accelerators of a pair of pools over those of one pool, at most, for a pair in the menu."""


@dataclass(frozen=True)
class Entry:
    """Hardware that may serve a load."""

    place: str
    system: str
    ktokens_per_s: float
    """Throughput of one accelerator at its highest rate, with waits for instances [1,000 tokens/s]."""
    replica: ReplicaTerms | None = None
    below_rated_kw: float | None = None
    """Rated power less the power at this rate, of one accelerator."""

    @property
    def key(self) -> tuple[str, str]:
        """Hall or offer, and system."""
        return self.place, self.system


@dataclass(frozen=True)
class PairEntry:
    """Prefill and decode pools that may serve a load in one hall."""

    prefill: Entry
    decode: Entry


@dataclass(frozen=True)
class Menu:
    """All hardware that may serve a load."""

    entries: tuple[Entry, ...]
    pairs: tuple[PairEntry, ...] = ()


@dataclass(frozen=True)
class _Hosting:
    """A service on one target in each precision."""

    target: Target
    machine: Machine
    nic_gb_per_s: float | None
    rtt_s: float
    works: tuple[tuple[HostedWork, KeyedWork], ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.target.place, self.target.system


class ServiceMenu:
    """Builder of the menu of one service."""

    def __init__(self, spec: ServiceSpec, log: InputLog, excluded: list[ExcludedOption]) -> None:
        self.spec, self.log, self.excluded = spec, log, excluded
        self.missed: list[tuple[float, NearestLatency]] = []
        """Lowest latencies of hardware that misses a limit, with the largest ratio to a limit."""

    def menu(
        self, where: Iterable[Target], requests_per_s: float, rtt_s: Callable[[Target], float]
    ) -> Menu:
        """Return what may serve a load.

        Parameters
        ----------
        where : iterable of Target
            Places and systems; of equal ones the last counts, which has the slowest link.
        requests_per_s : float
            Highest request rate of the load, which sets the size of the replicas.
        rtt_s : callable
            Network time between the users and a target.
        """
        hosts = {t.place + t.system: t for t in where}
        found = [x for t in hosts.values() if (x := self._hosting(t, rtt_s(t))) is not None]
        entries: dict[tuple[str, str], Entry] = {}
        for host in found:
            entry = self._entry(host, requests_per_s)
            if entry is not None:
                entries[entry.key] = entry
        return Menu(tuple(entries.values()), tuple(self._pairs(found, entries)))

    def _hosting(self, target: Target, rtt_s: float) -> _Hosting | None:
        name = row_of(offer_of(target.place)) if is_cloud(target.place) else target.system
        machine = machine_of(self.log.catalog, name)
        nic = None if is_cloud(target.place) else target.gb_per_s
        works = (
            hosted(self.spec, machine, self.log, nic, rtt_s)
            if isinstance(machine, Machine)
            else machine.cause
        )
        if isinstance(works, str) or not isinstance(machine, Machine):
            self._exclude(target, str(works))
            return None
        return _Hosting(target, machine, nic, rtt_s, tuple((w, keyed(w.work)) for w in works))

    def _entry(self, host: _Hosting, requests_per_s: float) -> Entry | None:
        spares = 0 if is_cloud(host.target.place) else self.spec.given.spares
        able = [
            (replica.needed(requests_per_s, spares), -replica.requests_per_s, work, replica)
            for work, key in host.works
            for replica in replicas(key)
            if replica.accelerators <= host.target.limit
        ]
        if not able:
            self._exclude(host.target, self._reason(host))
            return None
        _, _, work, best = min(able, key=lambda x: x[:2])
        return self._made(host, work, best, "")

    def _made(self, host: _Hosting, work: HostedWork, replica: Replica, pool: str) -> Entry:
        each = replica.requests_per_s * self.spec.output_tokens / replica.accelerators
        terms = ReplicaTerms(
            *(replica.accelerators, replica.layout, work.engine, work.precision),
            *(replica.requests_per_s, pool, host.nic_gb_per_s, host.rtt_s),
        )
        tdp = host.machine.accelerator.tdp_kw
        below = None
        if tdp is not None and not is_cloud(host.target.place):
            key = f"accelerators.{host.machine.accelerator.id}.tdp_kw"
            below = self.log.take(key, tdp) * (1.0 - replica.power_frac)
        rate = each / TOKENS_PER_KTOKEN * host.target.available_frac
        return Entry(host.target.place, host.target.system, rate, terms, below)

    def _pairs(
        self, hosts: Sequence[_Hosting], entries: dict[tuple[str, str], Entry]
    ) -> Iterable[PairEntry]:
        """Yield pairs of pools in one hall that need fewer accelerators than one pool does."""
        how = self.spec.given.disaggregated
        if how == "never":
            return
        for first in hosts:
            for second in hosts:
                same = first.key == second.key
                together = first.target.place == second.target.place
                if not together or is_cloud(first.target.place):
                    continue
                if not same and how != "any-systems":
                    continue
                found = self._best_pair(first, second)
                if found is None:
                    continue
                work, later, pair = found
                if self._is_worth(pair, [entries.get(x.key) for x in (first, second)]):
                    yield PairEntry(
                        self._made(first, work, pair.prefill, PREFILL),
                        self._made(second, later, pair.decode, DECODE),
                    )

    def _best_pair(
        self, first: _Hosting, second: _Hosting
    ) -> tuple[HostedWork, HostedWork, ReplicaPair] | None:
        """Return the best pair in one precision, whose pools exchange their cache."""
        found = []
        for work, key in first.works:
            for later, other in second.works:
                if later.precision == work.precision:
                    pair = best_pair(key, other)
                    found += [(work, later, pair)] if pair is not None else []
        return min(found, key=lambda x: x[2].accelerators_per_rps, default=None)

    def _is_worth(self, pair: ReplicaPair, entries: Sequence[Entry | None]) -> bool:
        """Whether a pair needs fewer accelerators than one pool on either of its systems."""
        output = self.spec.output_tokens / TOKENS_PER_KTOKEN
        each = [output / e.ktokens_per_s for e in entries if e is not None]
        return pair.accelerators_per_rps < MOST_OF_ONE_POOL * min(each, default=float("inf"))

    def _reason(self, host: _Hosting) -> str:
        """Return why no layout serves: memory, or a latency limit with the nearest possible one."""
        reasons = []
        for work, key in host.works:
            states, limits = sized(key).states, work.work.limits
            if not states.fits.any():
                reasons.append(f"the model does not fit in {work.precision}")
                continue
            lowest = self._lowest(host, work, states)
            reasons.append(
                f"in {work.precision} no layout meets TTFT {limits.ttft_s / MILLI:,.0f} ms and TPOT "
                f"{limits.tpot_s / MILLI:,.1f} ms for {limits.quantile:.0%} of the requests; with one "
                f"request they are {lowest.ttft_ms:,.0f} ms and {lowest.tpot_ms:,.1f} ms"
            )
        return "; ".join(reasons)

    def _lowest(self, host: _Hosting, work: HostedWork, states: States) -> NearestLatency:
        """Return the latency of one request in the layout that is nearest to both limits."""
        limits, fits = work.work.limits, states.fits > 0
        over = np.maximum(states.tpot_floor_s / limits.tpot_s, states.ttft_floor_s / limits.ttft_s)
        at = int(np.argmin(np.where(fits, over, np.inf)))
        ttft, tpot = states.ttft_floor_s[at] + host.rtt_s, states.tpot_floor_s[at]
        found = NearestLatency(
            *(self.spec.given.id, host.target.system, work.precision),
            *(float(ttft) / MILLI, float(tpot) / MILLI),
        )
        self.missed.append((float(over[at]), found))
        return found

    @property
    def nearest(self) -> NearestLatency | None:
        """Return the hardware that is nearest to the limits; None if no model fits anywhere."""
        return min(self.missed, key=lambda x: x[0])[1] if self.missed else None

    def _exclude(self, target: Target, reason: str) -> None:
        option = ExcludedOption(
            Kind.INFERENCE, self.spec.given.id, f"{target.place} {target.system}", reason
        )
        if option not in self.excluded:
            self.excluded.append(option)
