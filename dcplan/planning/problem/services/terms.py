"""Demands of a plan from the loads of services and the hardware that may serve them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.demand.periods import Periods
from dcplan.inputs.serving.sizing.pools import DECODE, PREFILL
from dcplan.planning.problem.services.loads import ServiceLoad
from dcplan.planning.problem.services.menu import Entry, Menu
from dcplan.planning.problem.work.terms import TOKENS, DemandTerms, PoolPair, part_id
from dcplan.units import TOKENS_PER_KTOKEN


@dataclass(frozen=True)
class ServiceDemands:
    """Demands of one load, and the pools of its disaggregated replicas."""

    demands: tuple[DemandTerms, ...]
    pairs: tuple[PoolPair, ...]


@dataclass(frozen=True)
class _Slice:
    """A load in one period of the week, or in all hours."""

    id: str
    period: int | None
    hours_frac: float
    high: float
    """Highest load over the mean of the week."""
    mean: float


def service_demands(
    load: ServiceLoad, menu: Menu, periods: Periods | None, at: int | None, unmet_usd: float | None
) -> ServiceDemands:
    r"""Return the demands of a load: one for each period of the week.

    The highest load :math:`h_p` of a period sizes the accelerators, its mean :math:`m_p` the energy:

    .. math:: D_{pt} = h_p\,f\,\bar{D}_t, \qquad \mathrm{load}_p = \rho\,m_p / (h_p f)

    with the peak factor f and the share :math:`\rho` of the throughput in use at the peak.

    Parameters
    ----------
    load : ServiceLoad
        The load.
    menu : Menu
        What may serve it.
    periods : Periods, optional
        Periods of the week; None if all loads are constant.
    at : int, optional
        Row of the load in the periods; None for a constant load.
    unmet_usd : float, optional
        Cost of 1,000 tokens/s that are not served for a quarter.
    """
    slices = _slices(load, periods, at)
    peak = max(slices, key=lambda x: x.high).id
    demands: list[DemandTerms] = []
    pairs: list[PoolPair] = []
    for part in slices:
        main = _demand(load, part, part.id, menu.entries, unmet_usd, peak)
        demands.append(main)
        for i, pair in enumerate(menu.pairs):
            ids = [part_id(part.id, f"{pool}{i + 1}") for pool in (PREFILL, DECODE)]
            both = (pair.prefill, pair.decode)
            peaks = [part_id(peak, f"{pool}{i + 1}") for pool in (PREFILL, DECODE)]
            for name, entry, most, share in zip(ids, both, peaks, (0.0, 1.0), strict=True):
                demands.append(_demand(load, part, name, (entry,), None, most, main.id, share))
            pairs.append(PoolPair(*ids))
    return ServiceDemands(tuple(demands), tuple(pairs))


def _slices(load: ServiceLoad, periods: Periods | None, at: int | None) -> Sequence[_Slice]:
    if periods is None or at is None:
        return [_Slice(load.id, None, 1.0, 1.0, 1.0)]
    rows = zip(periods.hours_frac, periods.high[at], periods.mean[at], strict=True)
    return [
        _Slice(part_id(load.id, f"p{p + 1}"), p, float(hours), float(high), float(mean))
        for p, (hours, high, mean) in enumerate(rows)
    ]


def _demand(
    load: ServiceLoad,
    part: _Slice,
    name: str,
    entries: Sequence[Entry],
    unmet_usd: float | None,
    peak_part: str,
    row: str = "",
    share: float = 1.0,
) -> DemandTerms:
    given, top = load.given, part.high * load.peak_factor
    wanted = tuple(0.0 if row else top * x for x in load.average)
    used = load.room_frac * part.mean / top if top else 0.0
    scale = TOKENS_PER_KTOKEN * part.mean / top if top else 0.0
    replica = {e.key: e.replica for e in entries if e.replica is not None}
    return DemandTerms(
        id=name,
        wanted=wanted,
        each={e.key: load.room_frac * e.ktokens_per_s for e in entries},
        unit=TOKENS,
        load_frac=float(np.clip(used, 0.0, 1.0)),
        unmet_usd=None if unmet_usd is None else unmet_usd * part.hours_frac * part.mean / top,
        scenario_unit=("tokens_per_s", scale),
        load=load.id,
        period=part.period,
        hours_frac=part.hours_frac,
        rent_frac=part.mean / part.high if part.high else 1.0,
        row=row,
        share=share,
        replica=replica,
        peak_part=peak_part if peak_part != name else "",
        spare_replicas=given.spares if replica else 0,
        below_rated_kw={e.key: e.below_rated_kw for e in entries if e.below_rated_kw is not None},
        kept_frac_without_site=0.0 if row else given.kept_frac_without_site.value,
    )
