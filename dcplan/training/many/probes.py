"""The smallest counts that reach step times: which count of a device to search next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.llm.tables import Array

SEARCH_USUAL_FRAC = 0.75
"""Lowest time of micro-batches divided by a usual step time, the first guess of a step time."""
SEARCH_ROUNDS = 14
SEARCH_ABOVE = 1.04
"""Multiple of a wanted step time up to which a search looks for layouts."""
SEARCH_FAR = 1.3
"""The same before any step time is known."""
SEARCH_JUMP = 1.5
"""Ratio to the next count after one at which no layout fits in memory."""


@dataclass
class Probes:
    """Step times of one device, as far as they are known, and the counts that matter."""

    counts: Array
    """Counts that may be searched, ascending."""
    wanted_s: Array
    """Wanted step times, one row each, at every count; no row if every count matters. [s]"""
    guess_s: Array
    """First guess of the step time at every count. [s]"""
    time_s: Array
    """Step time of every searched count; not a number if it is not searched. [s]"""
    above: npt.NDArray[np.bool_]
    """Whether the step time is only known to be at least ``time_s``."""

    def next(self) -> dict[int, float]:
        """Return the counts to search next, and the longest step time that matters at each.

        It is empty if the smallest count of each wanted step time is known.
        """
        known = ~np.isnan(self.time_s)
        if not self.wanted_s.size:
            return {int(i): np.inf for i in np.flatnonzero(~known)}
        exact = np.flatnonzero(known & ~self.above & np.isfinite(self.time_s))
        expected = self._expected(exact)
        found: dict[int, float] = {}
        wants = list(self.wanted_s)
        if not exact.size:
            wants = [wants[i] for i in sorted({0, len(wants) // 2, len(wants) - 1})]
        for want in wants:
            known_here = known & ~(self.above & (want > self.time_s))
            hits = np.flatnonzero(known_here & (self.time_s <= want) & ~self.above)
            end = int(hits[0]) if hits.size else self.counts.size
            failed = np.flatnonzero(known_here[:end])
            start = int(failed[-1]) + 1 if failed.size else 0
            if start >= end:
                continue
            for i in self._between(start, end, expected, want):
                bar = float(want[i]) * (SEARCH_ABOVE if exact.size else SEARCH_FAR)
                found[i] = max(found.get(i, 0.0), bar)
        return found

    def _between(self, start: int, end: int, expected: Array, want: Array) -> set[int]:
        """Return the counts to search in a range with the smallest count of a step time."""
        hoped = np.flatnonzero(expected[start:end] <= want[start:end])
        at = start + int(hoped[0]) if hoped.size else end - 1
        if start and expected[start - 1] <= want[start - 1]:
            # it failed though its neighbors promise more: memory is short
            jump = int(np.searchsorted(self.counts, self.counts[start - 1] * SEARCH_JUMP))
            return {min(max(at, jump), start + (end - start) // 2)}
        return {at}

    def _expected(self, exact: npt.NDArray[np.intp]) -> Array:
        """Return the expected step times: the rate of one accelerator between searched counts."""
        if not exact.size:
            return self.guess_s
        logs, cost = np.log(self.counts), self.time_s[exact] * self.counts[exact]
        return np.asarray(np.interp(logs, logs[exact], cost) / self.counts)
