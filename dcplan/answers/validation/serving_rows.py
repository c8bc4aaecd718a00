"""Rows of a table of measured serving: each becomes a configuration, or has a reason why not.

The columns are those of ``catalogs/runs/serving_runs.csv``. A disaggregated row states its pools in
``notes``: ``prefill 1x(tp1 dp4 ep4); decode 4x(tp8 dp1 ep8, bs 1)``. Lengths that vary are stated
as ``lengths uniform in 0.8-1.0 of nominal``.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from dcplan.catalog.accelerator_names import accelerator_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Accelerator, Engine, EngineRelease, Model, WeightFormat
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import engine_of, release_of
from dcplan.inputs.serving.models import format_of, shape_of
from dcplan.inputs.serving.setups import Checkpoint, Service, cache_kind, service
from dcplan.serving.memory import weight_bytes
from dcplan.serving.tables import ServedLayout, ServedModel, table
from dcplan.units import GIGA

Row = Mapping[str, str]
T = TypeVar("T")
QUANTITIES = ("tpot_ms", "ttft_ms", "e2e_ms", "output_tokens_per_s_total", "power_w")
POOLS = re.compile(
    r"prefill (\d+)x\(tp(\d+) dp(\d+) ep(\d+)[^)]*\); decode (\d+)x\(tp(\d+) dp(\d+) ep(\d+)(?:, bs (\d+))?"
)
LENGTHS = re.compile(r"lengths uniform in (\d+\.?\d*)-(\d+\.?\d*) of nominal")
COPIES = re.compile(r"attention-DP")
MEDIAN_GAP = re.compile(r"tpot = median inter-token latency")
"""A median leaves out the steps that a prompt delays."""
MOST_RUNNING = re.compile(r"max_num_seqs (\d+)")
MOST_COUNT = 1_000_000
"""Accelerators or ranks of a row at most: a larger number is a typing mistake."""
MOST_TOKENS = 100_000_000
MOST_OVER_MEMORY = 1.1
"""Weights of a measured row over the memory at most."""
TYPICAL_INPUT_TOKENS = 200.0
"""Prompt of a row without ``isl``: rows of power name none, and decode power hardly depends on it."""
CLOSED, STATIC, SATURATED = "closed", "static", "saturated"


class Unsupported(Exception):  # noqa: N818
    """A row that the model does not support, with the reason."""


@dataclass(frozen=True)
class Pool:
    """Replicas of one layout."""

    replicas: int
    tp: int
    dp: int
    pp: int = 1
    ep: int = 1


@dataclass(frozen=True)
class ServingRun:
    """One measured row, ready for the serving room."""

    id: str
    source: str
    date: str
    model_id: str
    accelerator: Accelerator
    engine: Engine
    release: EngineRelease | None
    mode: str
    """``closed``, ``static`` or ``saturated``."""
    service: Service
    decode: Pool
    prefill: Pool | None
    accelerators: int
    input_tokens: float
    output_tokens: float
    requests: float
    """Concurrent requests of all replicas; infinite if saturated."""
    most_running: float
    median_gap: bool = False
    """Whether the measured time per output token is the median gap, without delays by prompts."""
    measured: dict[str, float] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """Return the family of the accelerator."""
        return self.accelerator.family or "generic"

    @property
    def early_port(self) -> bool:
        """Whether the release had an early port to this family, which is reported apart."""
        return self.release is not None and self.family in self.release.ports


class Reader:
    """Reader of rows, with a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self.log = catalog, InputLog(catalog)
        self._model = functools.cache(lambda name: model_of(catalog, name))
        self._accelerator = functools.cache(lambda name: accelerator_of(catalog, name))
        self._engine = functools.cache(lambda name: engine_of(catalog, name))
        self._format = functools.cache(lambda name: format_of(catalog, name))
        self._shape = functools.cache(lambda name: shape_of(catalog.get("models", name, Model)))
        self._service = functools.cache(self._service_of)

    def read(self, row: Row) -> ServingRun:
        """Read one row.

        Raises
        ------
        Unsupported
            With the reason: a missing column, an unknown model, accelerator, engine or precision,
            speculative decoding without accepted tokens.
        """
        model = known(self._model(row.get("model", "")), row, "model")
        accelerator = known(self._accelerator(row.get("accelerator", "")), row, "accelerator")
        engine = known(self._engine(row.get("engine", "")), row, "engine")
        stated = row.get("precision_weights", "")
        precision = known(self._format(stated), row, "precision_weights")
        if row.get("speculative", "n")[:1].lower() == "y":
            msg = "speculative decoding: the row does not state the accepted tokens"
            raise Unsupported(msg)
        kind = cache_kind(row.get("precision_kv", ""), engine, precision.math)
        release = release_of(engine, row.get("engine_version", ""), row.get("date", ""))
        found = self._service(
            model.id, precision.id, kind, accelerator.id, engine.id, release.id if release else ""
        )
        if isinstance(found, str):
            raise Unsupported(found)
        if not self._shape(model.id).causal or not self._shape(model.id).head:
            msg = f"{model.id} does not generate tokens one after the other"
            raise Unsupported(msg)
        count = count_of(row, "accelerators") or 1
        decode, prefill, batch = pools(row, count, int(found.numbers["experts"]))
        decode = holding(decode, prefill is not None, found)
        check_memory(found, prefill or decode)
        check_memory(found, decode)
        isl, osl = lengths(row)
        mode, requests = load_of(row)
        limit = MOST_RUNNING.search(row.get("notes", ""))
        most = float(limit[1]) if limit else found.most_running
        return ServingRun(
            id=row.get("id", ""),
            source=row.get("source", ""),
            date=row.get("date", ""),
            model_id=model.id,
            accelerator=accelerator,
            engine=engine,
            release=release,
            mode=mode,
            service=found,
            decode=decode,
            prefill=prefill,
            accelerators=count,
            input_tokens=isl,
            output_tokens=osl,
            requests=requests,
            most_running=min(most, batch or math.inf) * decode.dp,
            median_gap=bool(MEDIAN_GAP.search(row.get("notes", ""))),
            measured={q: value for q in QUANTITIES if (value := number(row, q))},
        )

    def _service_of(
        self, model: str, precision: str, kind: str, accelerator: str, engine: str, release: str
    ) -> Service | str:
        row = self.catalog.get("engines", engine, Engine)
        checkpoint = Checkpoint(
            self._shape(model),
            self.catalog.get("models", model, Model),
            self.catalog.get("formats", precision, WeightFormat),
            kind,
        )
        return service(
            self.log,
            checkpoint,
            self.catalog.get("accelerators", accelerator, Accelerator),
            row,
            next((r for r in row.releases if r.id == release), None),
        )


def known(found: T | None, row: Row, column: str) -> T:
    """Return a row of the catalog that a cell names.

    Raises
    ------
    Unsupported
        If the catalog has none.
    """
    if found is None:
        msg = f"no {column.replace('_', ' ')} {row.get(column, '')!r} in the catalog"
        raise Unsupported(msg)
    return found


def number(row: Row, column: str) -> float | None:
    """Return a number of a row; None if the cell is empty.

    Raises
    ------
    Unsupported
        If the cell is not a number above 0.
    """
    text = row.get(column, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise Unsupported(f"{column} {text!r} is not a number") from error
    if not (value >= 0 and math.isfinite(value)):
        raise Unsupported(f"{column} {text!r} is not a number of at least 0")
    return value


def count_of(row: Row, column: str) -> int | None:
    """Return a count of a row; None if the cell is empty.

    Raises
    ------
    Unsupported
        If the cell is not a whole number from 1 to MOST_COUNT.
    """
    value = number(row, column)
    if value is None:
        return None
    if value != int(value) or not 1 <= value <= MOST_COUNT:
        msg = f"{column} {row[column].strip()!r} is not a whole number from 1 to {MOST_COUNT:,}"
        raise Unsupported(msg)
    return int(value)


def lengths(row: Row) -> tuple[float, float]:
    """Return mean input and output tokens."""
    isl, osl = number(row, "isl"), number(row, "osl")
    if isl is None and row.get("scenario", "") != "fixed-concurrency":
        msg = "missing isl"
        raise Unsupported(msg)
    if osl is None:
        msg = "missing osl"
        raise Unsupported(msg)
    if not 1 <= osl <= MOST_TOKENS or (isl or 0) > MOST_TOKENS:
        msg = f"isl and osl are from 1 to {MOST_TOKENS:,} tokens"
        raise Unsupported(msg)
    found = LENGTHS.search(row.get("notes", ""))
    mean = (float(found[1]) + float(found[2])) / 2.0 if found else 1.0
    return max((isl or TYPICAL_INPUT_TOKENS) * mean, 1.0), max(osl * mean, 1.0)


def load_of(row: Row) -> tuple[str, float]:
    """Return the mode of a measurement and its concurrent requests."""
    text = row.get("concurrency_or_batch", "").strip()
    if text == "saturated":
        return SATURATED, math.inf
    requests = number(row, "concurrency_or_batch")
    if not requests:
        msg = "missing concurrency_or_batch"
        raise Unsupported(msg)
    return (CLOSED if row.get("scenario", "") == "fixed-concurrency" else STATIC), requests


def pools(row: Row, count: int, experts: int) -> tuple[Pool, Pool | None, int]:
    """Return decode pool, prefill pool if the row is disaggregated, and the batch limit of a rank."""
    if row.get("disaggregated", "n")[:1].lower() == "y":
        found = POOLS.search(row.get("notes", ""))
        if not found or not all(0 < int(found[i]) <= MOST_COUNT for i in (1, 2, 3, 5, 6, 7)):
            msg = "disaggregated: notes do not state both pools, as prefill 1x(tp1 dp4 ep4); decode 4x(tp8 dp1 ep8)"
            raise Unsupported(msg)
        n = [int(x or 0) for x in found.groups()]
        return Pool(n[4], n[5], n[6], 1, n[7]), Pool(n[0], n[1], n[2], 1, n[3]), n[8]
    tp, pp, dp, ep = (count_of(row, c) or 1 for c in ("tp", "pp", "dp", "ep"))
    if pp * dp > count:
        msg = f"pp {pp} x dp {dp} is more than the {count} accelerators of the row"
        raise Unsupported(msg)
    if not row.get("tp"):
        tp = max(count // (pp * dp), 1)
    if tp * pp * dp > count:
        # a table may count cores or experts ranks in tp
        tp = max(count // (pp * dp), 1)
    if experts and tp * dp < ep <= count // pp and ep % tp == 0:
        # experts on more ranks than attention: every rank group has its own copy of attention
        dp = ep // tp
    if COPIES.search(row.get("notes", "")) and experts and tp > 1:
        tp, dp, ep = 1, tp * dp, tp * dp
    return Pool(max(count // (tp * pp * dp), 1), tp, dp, pp, ep), None, 0


def check_memory(given: Service, pool: Pool) -> None:
    """Refuse a layout whose weights are clearly larger than the memory.

    A tenth more is allowed: tables round the size of the memory, and checkpoints differ.

    Raises
    ------
    Unsupported
        With both sizes.
    """
    model = table(ServedModel, [{**given.numbers}])
    needed = float(np.max(weight_bytes(model, table(ServedLayout, [pool]))))
    have = given.device["memory_bytes"]
    if needed > MOST_OVER_MEMORY * have:
        msg = f"weights of {needed / GIGA:,.0f} GB on an accelerator of {have / GIGA:,.0f} GB"
        raise Unsupported(msg)


def holding(pool: Pool, apart: bool, given: Service) -> Pool:
    """Return the pool; one whose replica cannot hold the experts spans all its accelerators.

    Tables then name the tensor-parallel size of one attention copy only.
    """
    numbers = given.numbers
    total = numbers["moe_layers"] * numbers["experts"] * numbers["expert_params"]
    if not total or apart or pool.replicas == 1:
        return pool
    share = total * numbers["expert_bytes"] / (pool.tp * pool.dp * pool.pp)
    if share <= given.device["memory_bytes"]:
        return pool
    return Pool(1, pool.tp, pool.dp * pool.replicas, pool.pp, max(pool.ep, 2))
