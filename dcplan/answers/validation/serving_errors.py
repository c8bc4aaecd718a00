"""Errors of predicted serving figures: by class and group, of energy, and of the choice of layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.answers.validation.serving_cells import CLOSED, SATURATED, Row
from dcplan.answers.validation.serving_rows import ServingRun
from dcplan.result import Metric
from dcplan.specs.metric import MetricSpec
from dcplan.specs.validation import serving as specs
from dcplan.specs.validation.serving import ServingSummaryRow

CLOSE_FRAC = 0.10
EARLY = "early port"


@dataclass(frozen=True)
class Figure:
    """One measured quantity of one row, with its prediction."""

    run: ServingRun
    quantity: str
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Return the relative error."""
        return self.predicted / self.measured - 1.0

    @property
    def inside(self) -> bool:
        """Return whether the measurement is in the interval."""
        return self.low <= self.measured <= self.high

    @property
    def kind(self) -> str:
        """Return the class of measurement, as the goals name it."""
        if self.run.early_port:
            return EARLY
        if self.run.prefill is not None:
            return "disaggregated"
        if self.run.mode == CLOSED:
            return "closed loop"
        if self.run.mode == SATURATED:
            return "saturated"
        if self.quantity == "ttft_ms" and self.run.requests == 1:
            return "one request"
        return "static batch"


def summary(figures: Sequence[Figure], group: Callable[[Figure], str]) -> list[ServingSummaryRow]:
    """Return the errors by group and quantity."""
    groups: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for f in figures:
        groups[group(f), f.quantity].append(f)
    rows = []
    for (name, quantity), members in sorted(groups.items()):
        error = np.array([f.error for f in members])
        size = np.abs(error)
        rows.append(
            ServingSummaryRow(
                group=name,
                quantity=quantity,
                figures=len(members),
                median_abs_error_frac=float(np.median(size)),
                mean_abs_error_frac=float(size.mean()),
                p90_abs_error_frac=float(np.quantile(size, 0.9)),
                bias_frac=float(np.median(error)),
                coverage_frac=float(np.mean([f.inside for f in members])),
            )
        )
    return rows


GOALS: tuple[tuple[MetricSpec, str, str], ...] = (
    (specs.TPOT_ERROR, "closed loop", "tpot_ms"),
    (specs.SPLIT_ERROR, "disaggregated", "tpot_ms"),
    (specs.STATIC_ERROR, "static batch", "e2e_ms"),
    (specs.RATE_ERROR, "saturated", "output_tokens_per_s_total"),
    (specs.PREFILL_ERROR, "one request", "ttft_ms"),
    (specs.TTFT_ERROR, "closed loop", "ttft_ms"),
)


def metrics_of(
    rows: Sequence[Row], runs: Sequence[ServingRun], figures: Sequence[Figure]
) -> dict[str, Metric]:
    """Return the counts of rows and the errors that the goals name."""
    found = {
        **specs.ROWS_TOTAL(len(rows)),
        **specs.ROWS_SUPPORTED(len(runs)),
        **specs.FIGURES_MEASURED(len(figures)),
    }
    for spec, kind, quantity in GOALS:
        errors = [abs(f.error) for f in figures if f.kind == kind and f.quantity == quantity]
        if errors:
            found |= spec(float(np.median(errors)))
    energy = energy_errors(figures)
    if energy:
        found |= specs.ENERGY_ERROR(float(np.median(np.abs(energy))))
    hits = layout_hits(figures)
    if hits:
        found |= specs.LAYOUT_HITS(float(np.mean(hits)))
    return found


def energy_errors(figures: Sequence[Figure]) -> list[float]:
    """Return the relative errors of power over output rate, for rows that measure both."""
    both: dict[int, dict[str, Figure]] = defaultdict(dict)
    for f in figures:
        both[id(f.run)][f.quantity] = f
    errors = []
    for row in both.values():
        power, rate = row.get("power_w"), row.get("output_tokens_per_s_total")
        if power is not None and rate is not None and not power.run.early_port:
            predicted = power.predicted / rate.predicted
            errors.append(predicted / (power.measured / rate.measured) - 1.0)
    return errors


def layout_hits(figures: Sequence[Figure]) -> list[bool]:
    """Return for each group of rows that differ only in layout whether the chosen one is good.

    A group has the same model, engine release, accelerator, precision, lengths and requests for
    each accelerator; the choice maximizes the predicted output rate for each accelerator.
    """
    groups: dict[tuple[object, ...], list[Figure]] = defaultdict(list)
    for f in figures:
        r = f.run
        if f.quantity != "output_tokens_per_s_total" or r.mode != CLOSED or r.early_port:
            continue
        key = (
            r.model_id,
            r.engine.id,
            r.release.id if r.release else "",
            r.accelerator.id,
            r.service.numbers["expert_bytes"],
            r.service.numbers["dense_bytes"],
            r.input_tokens,
            r.output_tokens,
            r.requests,
        )
        groups[key].append(f)
    hits = []
    for members in groups.values():
        if len({(f.run.decode, f.run.prefill) for f in members}) < 2:
            continue
        measured = np.array([f.measured / f.run.accelerators for f in members])
        predicted = np.array([f.predicted / f.run.accelerators for f in members])
        hits.append(
            bool(measured[int(np.argmax(predicted))] >= (1.0 - CLOSE_FRAC) * measured.max())
        )
    return hits
