"""A serving request with every name resolved: one service for each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dcplan.answers.common.model_config import read_config
from dcplan.answers.serve.engine import Software, software, unknown_names
from dcplan.answers.serve.hosted import Hosted
from dcplan.answers.serve.passes.kinds import Kind, inapplicable
from dcplan.answers.serve.passes.vision import Vision, tower_checkpoint, vision_of, vision_problems
from dcplan.answers.serve.request import ServeRequest, conflicts
from dcplan.answers.serve.texts import read_layout, read_speculation
from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Model
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.lengths import Lengths, fixed, read_lengths
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.serving.setups import Checkpoint, Service, service
from dcplan.inputs.serving.sizing.layouts import LARGEST_REPLICA, limits_of, reach
from dcplan.inputs.serving.sizing.work import LatencyLimits, ServedWork
from dcplan.inputs.serving.traffic import Traffic, traffic_of
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import timed_config
from dcplan.provenance import Quantity, Status
from dcplan.serving.search import Layout, Request, layouts
from dcplan.serving.speculative import Speculation
from dcplan.units import MILLI


@dataclass(frozen=True)
class ServeRun(Hosted):
    """A service that generates text, with its requests."""

    lengths: Lengths
    plan: Speculation
    traffic: Traffic | None
    vision: Vision | None = None
    """Images of each prompt."""

    @cached_property
    def work(self) -> ServedWork:
        """What the sizing of the service needs."""
        request = self.request
        return ServedWork(
            self.service,
            self.layouts,
            self.lengths,
            LatencyLimits(request.ttft_ms * MILLI, request.tpot_ms * MILLI, request.quantile),
            self.plan,
            self.traffic.arrival_cv2 if self.traffic else 1.0,
            self.vision.encode_s if self.vision else 0.0,
        )

    @property
    def need(self) -> Request:
        """Mean lengths of the requests, and the longest one that the cache must hold."""
        return self.work.need

    def rejected_frac(self, kv_tokens: float) -> float:
        """Return the share of the requests that are longer than the cache of a replica."""
        return float((self.lengths.input_tokens + self.lengths.output_tokens > kv_tokens).mean())

    @property
    def ttft_s(self) -> float:
        """Limit of the time to first token."""
        return self.work.limits.ttft_s

    @property
    def tpot_s(self) -> float:
        """Limit of the time per output token."""
        return self.work.limits.tpot_s


@dataclass(frozen=True)
class NamedModel:
    """A model of the catalog or of a file."""

    row: Model | None
    config: Mapping[str, Any]
    shape: Architecture

    def name(self, request: ServeRequest) -> str:
        """Return the id of the row, or the file."""
        return self.row.id if self.row else request.model


def resolve(request: ServeRequest, catalog: Catalog) -> list[ServeRun]:
    """Resolve every name of the request, one run for each system.

    Raises
    ------
    InputError
        With every unknown name, contradiction and impossible layout.
    """
    problems = conflicts(request)
    model = model_named(catalog, request.model, problems)
    if model is not None:
        problems += [*inapplicable(request, Kind.DECODE), *vision_problems(request, model.shape)]
    lengths, traffic = _lengths(request, problems)
    machines = machines_named(request, catalog, problems)
    problems += unknown_names(request, catalog)
    try:
        plan = read_speculation(request.speculative, InputLog(catalog))
    except InputError as error:
        problems += error.problems
    if problems or model is None or lengths is None:
        raise InputError(problems)
    runs = []
    for machine in machines:
        log = InputLog(catalog)
        plan = read_speculation(request.speculative, log)
        try:
            chosen = software(request, catalog, machine, model.row)
            run = _run(request, log, model, machine, chosen, (lengths, traffic), plan)
            runs.append(run)
        except InputError as error:
            problems += [p for p in error.problems if p not in problems]
    if problems:
        raise InputError(problems)
    return runs


def machines_named(
    request: ServeRequest, catalog: Catalog, problems: list[Problem]
) -> list[Machine]:
    """Return the hardware of the request, each once; what is unknown becomes a problem."""
    machines = []
    for name in dict.fromkeys(request.system):
        found = machine_of(catalog, name)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            machines.append(found)
    return machines


def service_on(
    log: InputLog, checkpoint: Checkpoint, machine: Machine, chosen: Software
) -> Service:
    """Return the numbers of a checkpoint on a machine.

    Raises
    ------
    InputError
        With what the row of the accelerator lacks.
    """
    found = service(
        log,
        checkpoint,
        machine.accelerator,
        chosen.engine,
        chosen.release,
        nic_gb_per_s=machine.nic_gb_per_s,
        domain=machine.domain,
    )
    if isinstance(found, str):
        raise InputError([Problem("DC010", found, Place("--system"))])
    return found


def layouts_tried(request: ServeRequest, shape: Architecture, domain: int) -> list[Layout]:
    """Return the given layout, or all that the search tries.

    Raises
    ------
    InputError
        With every rule that the given layout violates.
    """
    most = request.accelerators
    if request.layout:
        return [read_layout(request.layout[0], shape, domain, most)]
    return layouts(limits_of(shape, domain, min(most or LARGEST_REPLICA, LARGEST_REPLICA)))


def _run(
    request: ServeRequest,
    log: InputLog,
    model: NamedModel,
    machine: Machine,
    chosen: Software,
    work: tuple[Lengths, Traffic | None],
    plan: Speculation,
) -> ServeRun:
    shape, (lengths, traffic) = model.shape, work
    checkpoint = Checkpoint(shape, model.row, chosen.precision, chosen.cache_kind)
    found = service_on(log, checkpoint, machine, chosen)
    vision = None
    if request.images and shape.tower is not None:
        tower = service_on(log, tower_checkpoint(log, shape.tower), machine, chosen)
        vision = vision_of(model.config, shape, (found, tower), lengths.input_mean, request.images)
        found, lengths = vision.served(found), lengths.longer(vision.tokens)
    tried = layouts_tried(request, shape, reach(machine, found))
    _record(request, log, lengths, chosen)
    return ServeRun(
        request,
        log,
        model.name(request),
        shape,
        machine,
        chosen,
        found,
        tuple(tried),
        request.rate or (traffic.rate if traffic and not request.concurrency else None),
        lengths,
        plan,
        traffic,
        vision,
    )


def _record(request: ServeRequest, log: InputLog, lengths: Lengths, chosen: Software) -> None:
    """Log the inputs of the service, given or default."""
    for key, value in (
        ("input_tokens", lengths.input_mean),
        ("output_tokens", lengths.output_mean),
        ("ttft_ms", request.ttft_ms),
        ("tpot_ms", request.tpot_ms),
        ("quantile_frac", request.quantile),
        ("prefix_hit_frac", request.prefix_hit_frac),
        *((("requests_per_s", request.rate),) if request.rate else ()),
        *((("concurrency", float(request.concurrency)),) if request.concurrency else ()),
    ):
        log.take(key, Quantity(value=value, status=Status.INPUT))
    record_software(request, log, chosen)
    status = Status.INPUT if request.kv_precision else Status.DEFAULT
    log.text("kv_precision", chosen.cache_text, status)


def record_software(request: ServeRequest, log: InputLog, chosen: Software) -> None:
    """Log engine and precision, given or default."""
    status = Status.INPUT if request.engine else Status.DEFAULT
    log.text("engine", chosen.engine_text, status)
    status = Status.INPUT if request.precision else Status.DEFAULT
    log.text("precision", chosen.precision.id, status)


def _lengths(
    request: ServeRequest, problems: list[Problem]
) -> tuple[Lengths | None, Traffic | None]:
    """Return the lengths of the requests, and the trace if they come from one."""
    share = min(request.prefix_hit_frac, 1.0)
    try:
        if request.trace is not None:
            traffic = traffic_of(request.trace, share)
            return traffic.lengths, traffic
        if request.lengths is not None:
            return read_lengths(request.lengths, share), None
    except InputError as error:
        problems += error.problems
    if request.isl is None or request.osl is None:
        return None, None
    return fixed(request.isl, request.osl, share), None


def model_named(catalog: Catalog, name: str, problems: list[Problem]) -> NamedModel | None:
    """Return a model by its name or file; what cannot be read becomes a problem."""
    row = model_of(catalog, name)
    if row is None and not name.endswith(".json"):
        hint = did_you_mean(name, catalog.rows["models"])
        cause = f"{name!r} is not a catalog model or a config.json"
        problems.append(Problem("DC010", cause, Place("serve"), hint, "dcplan catalog list models"))
        return None
    try:
        config = row.config if row else read_config(catalog, name)[0]
        return NamedModel(row, config, timed_config(config))
    except InputError as error:
        problems += error.problems
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problems.append(Problem("DC010", f"not a model config: {error}", Place(name)))
    return None
