"""A serving request with every name resolved: one service for each system."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.serve.engine import Software, software, unknown_names
from dcplan.answers.serve.request import ServeRequest, conflicts
from dcplan.answers.serve.texts import read_layout, read_speculation
from dcplan.answers.train.resolve import read_config
from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Model
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.lengths import Lengths, fixed, read_lengths
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.serving.setups import Checkpoint, Service, service
from dcplan.inputs.serving.traffic import Traffic, traffic_of
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import from_config
from dcplan.provenance import Quantity, Status
from dcplan.serving.search import Layout, Limits, Request, layouts
from dcplan.serving.speculative import Speculation

LARGEST_REPLICA = 64
"""Accelerators of a replica that the search tries at most."""


@dataclass(frozen=True)
class ServeRun:
    """One model on one kind of hardware with its engine and layouts."""

    request: ServeRequest
    log: InputLog
    model: str
    shape: Architecture
    machine: Machine
    software: Software
    service: Service
    layouts: tuple[Layout, ...]
    lengths: Lengths
    plan: Speculation
    rate: float | None
    """Request rate to serve: given, or the mean of the trace [1/s]."""
    traffic: Traffic | None

    @property
    def arrival_cv2(self) -> float:
        """Squared coefficient of variation of the times between arrivals."""
        return self.traffic.arrival_cv2 if self.traffic else 1.0

    @property
    def spare_replicas(self) -> int:
        """Spare replicas: the given number, or one more than needed for a given load."""
        request = self.request
        if request.spares is not None:
            return request.spares
        return int(request.accelerators is None and bool(self.rate or request.concurrency))

    @property
    def need(self) -> Request:
        """Mean lengths of the requests."""
        x = self.lengths
        return Request(x.input_mean, x.output_mean, x.hit_mean)

    @property
    def ttft_s(self) -> float:
        """Limit of the time to first token."""
        return self.request.ttft_ms / 1e3

    @property
    def tpot_s(self) -> float:
        """Limit of the time per output token."""
        return self.request.tpot_ms / 1e3

    @property
    def domain(self) -> int:
        """Accelerators over which tensor parallelism may reach."""
        return reach(self.machine, self.service)


def reach(machine: Machine, found: Service) -> int:
    """Return over how many accelerators tensor parallelism reaches: a scale-up domain or a host."""
    return max(int(found.device["domain"]), machine.host_accelerators)


def resolve(request: ServeRequest, catalog: Catalog) -> list[ServeRun]:
    """Resolve every name of the request, one run for each system.

    Raises
    ------
    InputError
        With every unknown name, contradiction and impossible layout.
    """
    problems = conflicts(request)
    row, shape = _model(catalog, request.model, problems)
    lengths, traffic = _lengths(request, problems)
    machines = []
    for name in dict.fromkeys(request.system):
        found = machine_of(catalog, name)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            machines.append(found)
    problems += unknown_names(request, catalog)
    try:
        plan = read_speculation(request.speculative, InputLog(catalog))
    except InputError as error:
        problems += error.problems
    if problems or shape is None or lengths is None:
        raise InputError(problems)
    runs = []
    for machine in machines:
        log = InputLog(catalog)
        plan = read_speculation(request.speculative, log)
        try:
            chosen = software(request, catalog, machine, row)
            run = _run(request, log, (row, shape), machine, chosen, (lengths, traffic), plan)
            runs.append(run)
        except InputError as error:
            problems += [p for p in error.problems if p not in problems]
    if problems:
        raise InputError(problems)
    return runs


def _run(
    request: ServeRequest,
    log: InputLog,
    model: tuple[Model | None, Architecture],
    machine: Machine,
    chosen: Software,
    work: tuple[Lengths, Traffic | None],
    plan: Speculation,
) -> ServeRun:
    (row, shape), (lengths, traffic) = model, work
    checkpoint = Checkpoint(shape, row, chosen.precision, chosen.cache_kind)
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
    domain, most = reach(machine, found), request.accelerators
    if request.layout:
        tried = [read_layout(request.layout[0], shape, domain, most)]
    else:
        tried = layouts(limits_of(shape, domain, min(most or LARGEST_REPLICA, LARGEST_REPLICA)))
    _record(request, log, lengths, chosen)
    return ServeRun(
        request,
        log,
        row.id if row else request.model,
        shape,
        machine,
        chosen,
        found,
        tuple(tried),
        lengths,
        plan,
        request.rate or (traffic.rate if traffic and not request.concurrency else None),
        traffic,
    )


def limits_of(shape: Architecture, domain: int, most: int) -> Limits:
    """Return what the model and the hardware allow of a layout."""
    experts = shape.experts if shape.moe_layers else 0
    return Limits(shape.heads, experts, shape.layers, domain, most)


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
    status = Status.INPUT if request.engine else Status.DEFAULT
    log.text("engine", chosen.engine_text, status)
    status = Status.INPUT if request.precision else Status.DEFAULT
    log.text("precision", chosen.precision.id, status)
    status = Status.INPUT if request.kv_precision else Status.DEFAULT
    log.text("kv_precision", chosen.cache_text, status)


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


def _model(
    catalog: Catalog, name: str, problems: list[Problem]
) -> tuple[Model | None, Architecture | None]:
    """Return row and architecture of a model that generates text."""
    row = model_of(catalog, name)
    if row is None and not name.endswith(".json"):
        hint = did_you_mean(name, catalog.rows["models"])
        cause = f"{name!r} is not a catalog model or a config.json"
        problems.append(Problem("DC010", cause, Place("serve"), hint, "dcplan catalog list models"))
        return None, None
    try:
        shape = from_config(row.config if row else read_config(catalog, name)[0])
    except InputError as error:
        problems += error.problems
        return row, None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problems.append(Problem("DC010", f"not a model config: {error}", Place(name)))
        return row, None
    if not shape.causal:
        cause = (
            f"{name} does not generate tokens one after the other (an encoder or a diffusion "
            "model), so it has no time per output token"
        )
        help_text = "choose a decoder such as llama-3.1-8b; dcplan train estimates this model"
        problems.append(Problem("DC015", cause, Place("serve"), help=help_text))
        return row, None
    return row, shape
