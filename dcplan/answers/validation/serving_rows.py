"""Rows of a table of measured serving: each becomes a configuration, or has a reason why not."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from dcplan.answers.validation.serving_cells import (
    MEDIAN_GAP,
    MOST_RUNNING,
    Pool,
    Row,
    Unsupported,
    count_of,
    known,
    lengths,
    load_of,
    number,
    pools,
)
from dcplan.catalog.accelerator_names import accelerator_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Accelerator, Engine, EngineRelease, Model, WeightFormat
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import KIND, engine_of, release_of
from dcplan.inputs.serving.models import format_of, shape_of
from dcplan.inputs.serving.setups import Checkpoint, Service, cache_kind, service
from dcplan.serving.memory import weight_bytes
from dcplan.serving.tables import ServedLayout, ServedModel, table
from dcplan.units import GIGA

QUANTITIES = ("tpot_ms", "ttft_ms", "e2e_ms", "output_tokens_per_s_total", "power_w")
USUAL_INPUT = "usual-input-tokens"
MOST_OVER_MEMORY = 1.1
"""Weights of a measured row over the memory at most."""


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
            With the reason: a missing column, an unknown model, accelerator, engine, precision or
            scenario, speculative decoding without accepted tokens.
        """
        model = known(self._model(row.get("model", "")), row, "model")
        accelerator = known(self._accelerator(row.get("accelerator", "")), row, "accelerator")
        engine = known(self._engine(row.get("engine", "")), row, "engine")
        stated = row.get("precision_weights", "")
        precision = known(self._format(stated), row, "precision_weights")
        if row.get("speculative", "n")[:1].lower() == "y":
            msg = "speculative decoding: the row does not state the accepted tokens"
            raise Unsupported(msg)
        try:
            kind = cache_kind(row.get("precision_kv", ""), engine, precision.math)
        except ValueError as error:
            raise Unsupported(f"precision_kv: {error}") from error
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
        mode, requests = load_of(row)
        isl, osl = lengths(row, self.log.parameter(KIND, USUAL_INPUT))
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
