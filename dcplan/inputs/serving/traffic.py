"""A trace of requests as traffic: lengths, rate, burstiness, and cached tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.inputs.serving.lengths import Lengths
from dcplan.inputs.serving.traces import Trace, read_trace
from dcplan.serving.queue.prefix import hit_tokens

SPAN_EPS = 1e-3


@dataclass(frozen=True)
class Traffic:
    """A trace with its rate and burstiness."""

    trace: Trace
    lengths: Lengths
    rate: float
    """Mean request rate [1/s]."""
    arrival_cv2: float
    """Squared coefficient of variation of the times between arrivals."""


def traffic_of(path: str, hit_frac: float) -> Traffic:
    """Read a trace as traffic; hashes of blocks give its cached tokens, in a cache without limit.

    Raises
    ------
    InputError
        When the file cannot be read or has a wrong line.
    """
    trace = read_trace(Path(path))
    inputs = trace.input_tokens.astype(np.float64)
    outputs = np.maximum(trace.output_tokens.astype(np.float64), 1.0)
    hits = np.floor(hit_frac * inputs)
    if trace.block_hashes is not None:
        hits = hit_tokens(trace.block_hashes, block_tokens(trace))[0].astype(np.float64)
    gaps = np.diff(trace.arrivals_s)
    span = max(float(trace.arrivals_s[-1]), SPAN_EPS)
    mean = float(gaps.mean()) if gaps.size else span
    cv2 = float(gaps.var()) / mean**2 if gaps.size > 1 and mean > 0 else 1.0
    rate = max(gaps.size, 1) / span
    return Traffic(trace, Lengths(inputs, outputs, np.minimum(hits, inputs - 1.0)), rate, cv2)


def block_tokens(trace: Trace) -> int:
    """Return the tokens of a block: the power of 2 nearest to the longest prompt over its blocks."""
    blocks = trace.block_hashes or ()
    sizes = [n / len(b) for n, b in zip(trace.input_tokens, blocks, strict=False) if b]
    return int(2 ** round(float(np.log2(max(max(sizes, default=1.0), 1.0)))))
