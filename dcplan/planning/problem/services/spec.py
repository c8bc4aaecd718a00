"""A service of the scenario with its model, lengths and software resolved."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Engine, Model, WeightFormat
from dcplan.errors import InputError, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.model_files import with_library_defaults
from dcplan.inputs.serving.engines import release_of
from dcplan.inputs.serving.lengths import Lengths, fixed, read_lengths
from dcplan.inputs.serving.machines import Machine
from dcplan.inputs.serving.setups import Checkpoint, cache_kind, service
from dcplan.inputs.serving.sizing.layouts import LARGEST_REPLICA, limits_of, reach
from dcplan.inputs.serving.sizing.work import LatencyLimits, ServedWork
from dcplan.inputs.serving.software import (
    named_engine,
    named_format,
    runs_on,
    usual_engine,
    usual_format,
)
from dcplan.inputs.serving.traffic import Traffic, traffic_of
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import timed_config
from dcplan.llm.configs.names import window_tokens
from dcplan.provenance import Path, Quantity, Status
from dcplan.scenario.load import Question, inside_project
from dcplan.scenario.schema import Inference
from dcplan.scenario.schema.service import QUANTILE
from dcplan.serving.search import layouts
from dcplan.units import MILLI


@dataclass(frozen=True)
class ServiceSpec:
    """A computed service: model, requests, limits and software."""

    given: Inference
    row: Model | None
    shape: Architecture
    lengths: Lengths
    traffic: Traffic | None
    engine: Engine | None
    """Engine of the scenario; None for the default of each accelerator."""
    version: str
    precisions: tuple[WeightFormat, ...]
    """Formats of the scenario; empty for the default of each accelerator."""

    @property
    def window_tokens(self) -> int:
        """Return the context window of the model; 0 if its row states none."""
        return window_tokens(self.row.config) if self.row is not None else 0

    @property
    def output_tokens(self) -> float:
        """Mean output tokens of a request."""
        return self.lengths.output_mean


@dataclass(frozen=True)
class HostedWork:
    """A service on one kind of hardware, ready to be sized."""

    work: ServedWork
    engine: str
    precision: str


def spec_of(given: Inference, question: Question, log: InputLog) -> ServiceSpec:
    """Return a service of the scenario with all its names and files resolved.

    Raises
    ------
    InputError
        With every unknown name and unreadable file.
    """
    i = [x.id for x in question.scenario.workloads.inference].index(given.id)
    path: Path = ("workloads", "inference", i)
    problems: list[Problem] = []
    found = _model(given, question, path, problems)
    engine = None
    if given.engine is not None:
        where = question.tree.place((*path, "engine"))
        engine = named_engine(given.engine, question.catalog, where, problems)
    formats = []
    for k, name in enumerate(given.precision or ()):
        where = question.tree.place((*path, "precision", k))
        form = named_format(name, question.catalog, where, problems)
        formats += [form] if form is not None else []
    work = _requests(given, question, path, problems)
    if problems or found is None or work is None:
        raise InputError(problems)
    version = (given.engine or "").partition("@")[2]
    _record(given, work[0], set(question.tree.data["workloads"]["inference"][i]), log)
    return ServiceSpec(given, *found, *work, engine, version, tuple(formats))


def _model(
    given: Inference, question: Question, path: Path, problems: list[Problem]
) -> tuple[Model | None, Architecture] | None:
    name = given.model or ""
    row = model_of(question.catalog, name)
    try:
        if row is not None:
            return row, timed_config(row.config)
        problem = question.tree.problem("DC008", f"model {name} leaves the project", path)
        file = inside_project(question.file, name, problem)
        config = json.loads(file.read_text(encoding="utf-8-sig"))
        return None, timed_config(with_library_defaults(question.catalog, config))
    except InputError as error:
        problems += error.problems
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        cause = f"{given.id}: model {name} cannot be served: {error}"
        problems.append(question.tree.problem("DC010", cause, (*path, "model")))
    return None


def _requests(
    given: Inference, question: Question, path: Path, problems: list[Problem]
) -> tuple[Lengths, Traffic | None] | None:
    hits = given.prefix_hit_frac
    try:
        if given.trace is not None:
            found = traffic_of(_file(given.trace, question, (*path, "trace")), hits)
            arrivals = found.trace.arrivals_s
            if given.load_field == "trace" and arrivals[-1] <= arrivals[0]:
                cause = (
                    f"{given.id}: the requests of {given.trace} arrive at one moment, so they give "
                    "no load"
                )
                help_text = "give tokens_per_s, requests_per_s or users next to the trace"
                where = (*path, "trace")
                problems.append(question.tree.problem("DC055", cause, where, help=help_text))
            return found.lengths, found
        if given.lengths is not None:
            return read_lengths(_file(given.lengths, question, (*path, "lengths")), hits), None
        return fixed(given.isl or 1.0, given.osl or 2.0, hits), None
    except InputError as error:
        problems += error.problems
        return None


def _file(name: str, question: Question, path: Path) -> str:
    problem = question.tree.problem("DC008", f"{name} leaves the project", path)
    return str(inside_project(question.file, name, problem))


def _record(given: Inference, lengths: Lengths, named: set[str], log: InputLog) -> None:
    """Log the numbers of a service, given or default."""
    key = f"workloads.inference.{given.id}"
    slo = given.slo
    assert slo is not None  # noqa: S101 - the schema requires it with a model
    log.take(f"{key}.slo.ttft_ms", slo.ttft_ms)
    log.take(f"{key}.slo.tpot_ms", slo.tpot_ms)
    rows = (
        ("isl", lengths.input_mean, given.isl is not None),
        ("osl", lengths.output_mean, given.osl is not None),
        ("prefix_hit_frac", given.prefix_hit_frac, "prefix_hit_frac" in named),
        ("slo.quantile", slo.quantile, slo.quantile != QUANTILE),
        ("spares", float(given.spares), "spares" in named),
    )
    for name, value, own in rows:
        status = Status.INPUT if own else Status.DEFAULT
        log.take(f"{key}.{name}", Quantity(value=value, status=status))


def limits_at(spec: ServiceSpec, rtt_s: float) -> LatencyLimits:
    """Return the latency limits of a service after the network time to its users."""
    slo = spec.given.slo
    assert slo is not None  # noqa: S101 - the schema requires it with a model
    ttft = slo.ttft_ms.value * MILLI - rtt_s
    return LatencyLimits(ttft, slo.tpot_ms.value * MILLI, slo.quantile)


def hosted(
    spec: ServiceSpec, machine: Machine, log: InputLog, nic_gb_per_s: float | None, rtt_s: float
) -> list[HostedWork] | str:
    """Return a service on one kind of hardware in each precision, or why it cannot run there.

    Parameters
    ----------
    spec : ServiceSpec
        The service.
    machine : Machine
        The hardware.
    log : InputLog
        Log of the inputs.
    nic_gb_per_s : float, optional
        Scale-out rate of one accelerator, one way. None: a replica stays in one instance, or in the
        scale-up domain that connects instances.
    rtt_s : float
        Network time between the users and the hardware.
    """
    networked = nic_gb_per_s is not None
    row, catalog = machine.accelerator, log.catalog
    engine = spec.engine or usual_engine(catalog, row)
    if engine is None or not runs_on(engine, row):
        name = engine.id if engine else "no engine of the catalog"
        return f"{name} does not run on {row.id}" if engine else f"{name} runs on {row.id}"
    limits = limits_at(spec, rtt_s)
    if limits.ttft_s <= 0.0:
        return (
            f"the network time to the users, {rtt_s / MILLI:,.0f} ms, exceeds the limit of the TTFT"
        )
    release = release_of(engine, spec.version)
    text = f"{engine.id} {release.id}" if release else engine.id
    usual = (catalog.get("formats", usual_format(row, spec.row), WeightFormat),)
    found: list[HostedWork] = []
    reason = ""
    for form in spec.precisions or usual:
        kind = cache_kind(spec.given.kv_precision or "", engine, form.math)
        point = Checkpoint(spec.shape, spec.row, form, kind)
        made = service(
            *(log, point, row, engine, release),
            nic_gb_per_s=nic_gb_per_s or machine.nic_gb_per_s,
            domain=machine.domain,
        )
        if isinstance(made, str):
            reason = made
            continue
        domain = reach(machine, made)
        largest = LARGEST_REPLICA if networked else min(max(machine.size, domain), LARGEST_REPLICA)
        tried = layouts(limits_of(spec.shape, domain, largest))
        cv2 = spec.traffic.arrival_cv2 if spec.traffic else 1.0
        work = ServedWork(made, tuple(tried), spec.lengths, limits, arrival_cv2=cv2)
        found.append(HostedWork(work, text, form.id))
    return found or reason
