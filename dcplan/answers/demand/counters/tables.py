"""Tables and words about counters of accelerators."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from dcplan.answers.demand.counters.counted import (
    ALLOCATED,
    BUSY,
    IDLE,
    IDLE_ANY,
    IDLE_S,
    SM,
    TENSOR,
    Counted,
    held_h,
)
from dcplan.answers.demand.jobs.tables import date_text
from dcplan.demand.counters import hours_by, value_quantile
from dcplan.inputs.counters.jobs import How
from dcplan.inputs.counters.names import MEANINGS
from dcplan.specs.demand import counters as spec
from dcplan.specs.demand.log import FileRow, FindingRow

WHOLE = 10.0
"""Number from which a sentence shows no decimals."""
MOSTLY_KNOWN_FRAC = 0.99
"""Share of the hours with samples below which a counter is named as partly unknown."""


def _frac(part: float | None, known: float) -> float | None:
    return None if part is None or not known else part / known


def _priced(hours: float | None, price: float | None) -> float | None:
    return None if hours is None or price is None else hours * price


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= WHOLE else f"{value:.2g}"


def file_rows(found: Counted) -> Iterator[FileRow]:
    """Return the files with samples."""
    for f in found.read.files:
        first, last = date_text(f.first_s), date_text(f.last_s)
        yield FileRow(f.path, f.kind, f.rows, first, last, f.sha256)


def finding_rows(found: Counted) -> Iterator[FindingRow]:
    """Return what the reader found."""
    for n in found.read.notes.findings():
        yield FindingRow(str(n.kind), n.count, str(n.place), n.what, n.effect)


def use_rows(found: Counted) -> Iterator[spec.UseRow]:
    """Return the measures; they are different things and do not add up."""
    for name, measure in found.measures.items():
        part, known = found.total(name)
        usd = _priced(part, found.price)
        yield spec.UseRow(name, measure.definition, part, known, _frac(part, known), usd)


def group_row(
    by: str,
    group: str,
    seen_h: float,
    parts: Mapping[str, tuple[float, float]],
    price: float | None,
) -> spec.GroupRow:
    """Return the use of one group; a part that is known in no hour is unknown."""
    cells: list[float | None] = []
    for name in (ALLOCATED, BUSY, SM, TENSOR, IDLE):
        hours, known = parts[name]
        part = hours if known else None
        shares = [] if name == ALLOCATED else [_frac(part, known)]
        cells += [part, *shares, _priced(part, price)]
    return spec.GroupRow(by, group, seen_h, *cells)


def value_rows(found: Counted) -> Iterator[spec.ValueRow]:
    """Return the values of each counter that the files have."""
    hours = found.spans.hours
    everywhere = np.zeros(len(hours), dtype=np.int64)
    for counter, value in found.read.samples.values.items():
        total, known = (float(x[0]) for x in hours_by(hours, value, everywhere, 1))
        low, middle, high = (value_quantile(hours, value, q) for q in (0.1, 0.5, 0.9))
        unit = MEANINGS[counter].unit
        if known:
            yield spec.ValueRow(counter, unit, known, total / known, low, middle, high)
        else:
            yield spec.ValueRow(counter, unit, 0.0, None, None, None, None)


def coverage_row(found: Counted) -> spec.CoverageRow:
    """Return what the samples cover."""
    spans = found.spans
    gap_h = float(spans.gap_h.sum())
    return spec.CoverageRow(
        len(spans.interval_s),
        len(spans.hours),
        float(np.median(spans.interval_s)),
        spans.seen_h,
        spans.window_h,
        spans.seen_h / spans.window_h,
        len(spans.gaps),
        gap_h,
        float(spans.gap_h.max(initial=0.0)),
        max(spans.window_h - spans.seen_h - gap_h, 0.0),
    )


def headline(found: Counted) -> str:
    """Return the four measures in one sentence, and what was idle while allocated."""
    spans = found.spans
    shares = []
    for name in (ALLOCATED, BUSY, SM, TENSOR):
        share = _frac(*found.total(name))
        shares.append(f"{name} {'unknown' if share is None else format(share, '.0%')}")
    idle, known = found.total(IDLE)
    unused = "what was idle while allocated is unknown"
    if idle is not None:
        usd = _priced(idle, found.price)
        money = "" if usd is None else f", {_short(usd)} USD"
        unused = (
            f"{_short(idle)} accelerator-hours ({idle / known:.0%} of the allocated ones{money}) idle "
            "for more than 10 min while allocated"
        )
    return (
        f"{len(spans.interval_s):,} accelerators, {spans.seen_h / spans.window_h:.0%} of the window "
        f"with samples: {', '.join(shares)}; {unused}"
    )


def notes(found: Counted) -> list[str]:
    """Return what the samples do not say."""
    texts = []
    if found.held.how is How.NOT:
        text = (
            f"samples are not separated into allocated and free: {found.held.why_not}; the shares "
            f"are of all hours with samples, and {IDLE_ANY!r} counts free accelerators as well"
        )
        if found.log is not None:
            hours = held_h(found.log, found.read.samples)
            text += (
                f"; by the log alone, its jobs held {hours:,.0f} accelerator-hours in the window "
                "of the samples"
            )
        texts.append(text)
    for name in (BUSY, SM, TENSOR):
        part, known = found.total(name)
        if part is None:
            texts.append(f"no sample has the counter of {name!r}: it is unknown, not 0")
        elif known < MOSTLY_KNOWN_FRAC * found.spans.seen_h:
            texts.append(
                f"the counter of {name!r} is known in {known / found.spans.seen_h:.0%} of the hours "
                "with samples; its share is of these"
            )
    allocated, known = found.total(ALLOCATED)
    if allocated is not None and known < MOSTLY_KNOWN_FRAC * found.spans.seen_h:
        texts.append(
            f"the allocation is known in {known / found.spans.seen_h:.0%} of the hours with "
            "samples; the others are neither allocated nor free"
        )
    interval_s = float(np.median(found.spans.interval_s))
    if interval_s > IDLE_S or math.isclose(interval_s, IDLE_S):
        texts.append(
            f"the samples are {interval_s / 60:.3g} min apart: one idle sample counts as an idle "
            "period"
        )
    return texts
