"""A request of a model without decode with every name resolved: one run for each system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.answers.serve.engine import Software, software, unknown_names
from dcplan.answers.serve.hosted import Hosted, reach
from dcplan.answers.serve.passes.kinds import ENCODER, IMAGE, TEXT, Kind, conflicts
from dcplan.answers.serve.request import ServeRequest
from dcplan.answers.serve.resolve import (
    NamedModel,
    layouts_tried,
    machines_named,
    model_named,
    record_software,
    service_on,
)
from dcplan.answers.serve.texts import read_pixels
from dcplan.catalog.loader import Catalog
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.checkpoint import format_rows
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.images import held_bytes, image_numbers, image_work, usual_steps
from dcplan.inputs.serving.machines import Machine
from dcplan.inputs.serving.setups import Checkpoint
from dcplan.llm.architecture import Architecture
from dcplan.provenance import Quantity, Status
from dcplan.serving.passes import ImageTokens, ImageWork
from dcplan.serving.search import Layout
from dcplan.serving.tables import table
from dcplan.units import MILLI

COMPILED = "compiled"
"""Default engine of image models and vision encoders: engines for text do not run them."""
USUAL_FORMAT = "bf16"
"""Default precision: makers publish these models at 16 bit."""


@dataclass(frozen=True)
class PassRun(Hosted):
    """A service of a model without decode."""

    kind: Kind
    tokens: float
    """Tokens of one item in a pass: of a sequence, or of an image with all passes of a step."""
    image: ImageTokens | None
    """Of a vision encoder."""
    work: ImageWork | None
    """Of a diffusion model."""
    held: Mapping[str, float]
    """What each accelerator holds in addition to the model [byte]."""

    @property
    def per_request(self) -> int:
        """Images of a request; 1 sequence of text."""
        return self.request.images_per_request or 1

    @property
    def limit_s(self) -> float:
        """Limit of the time of a batch; infinite without one."""
        return (self.request.latency_ms or math.inf) * MILLI

    @property
    def passes(self) -> float:
        """Passes of the model one after the other for one item: the denoising steps, or 1."""
        return float(self.work.steps[0]) if self.work else 1.0

    @property
    def item(self) -> str:
        """What the model gives, for people."""
        return "sequence" if self.kind is TEXT else "image"


def resolve(request: ServeRequest, catalog: Catalog, kind: Kind) -> list[PassRun]:
    """Resolve every name of the request, one run for each system.

    Raises
    ------
    InputError
        With every unknown name, flag that does not apply, and impossible layout.
    """
    problems = conflicts(request, kind)
    model = model_named(catalog, request.model, problems)
    machines = machines_named(request, catalog, problems)
    problems += unknown_names(request, catalog)
    try:
        pixels = read_pixels(request.pixels) if request.pixels and kind is IMAGE else None
    except InputError as error:
        problems += error.problems
    if problems or model is None:
        raise InputError(problems)
    runs = []
    for machine in machines:
        try:
            runs.append(_run(request, catalog, kind, model, machine, pixels))
        except InputError as error:
            problems += [p for p in error.problems if p not in problems]
    if problems:
        raise InputError(problems)
    return runs


def _run(
    request: ServeRequest,
    catalog: Catalog,
    kind: Kind,
    model: NamedModel,
    machine: Machine,
    pixels: float | None,
) -> PassRun:
    log, shape = InputLog(catalog), model.shape
    chosen = _software(request, catalog, kind, machine, model)
    checkpoint = Checkpoint(shape, model.row, chosen.precision, chosen.cache_kind)
    found = service_on(log, checkpoint, machine, chosen)
    if kind is not TEXT:
        # the limit of a step is that of text engines; the memory limits a batch of images
        found = replace(found, step_tokens=math.inf, most_running=math.inf)
    tokens, image, work, held = request.isl or 0.0, None, None, {}
    if kind is ENCODER:
        numbers = image_numbers(shape)
        tokens, image = numbers["patches"], table(ImageTokens, [numbers])
    if kind is IMAGE:
        numbers = _image_work(request, log, model, chosen, pixels)
        tokens, work = numbers["tokens"] * numbers["passes"], table(ImageWork, [numbers])
        held = held_bytes(log, numbers)
    tried = _layouts(request, kind, shape, reach(machine, found))
    _record(request, log, chosen)
    name = model.name(request)
    return PassRun(
        *(request, log, name, shape, machine, chosen, found, tuple(tried), request.rate),
        *(kind, tokens, image, work, held),
    )


def _software(
    request: ServeRequest, catalog: Catalog, kind: Kind, machine: Machine, model: NamedModel
) -> Software:
    """Return engine and precision, with the defaults of a model without decode."""
    engine = request.engine or (None if kind is TEXT else COMPILED)
    precision = request.precision or USUAL_FORMAT
    asked = replace(request, engine=engine, precision=precision, kv_precision=USUAL_FORMAT)
    found = software(asked, catalog, machine, model.row)
    notes = [*found.notes]
    if request.engine is None and engine is not None:
        name = found.engine.name
        notes.append(f"engine {found.engine.id}, by default ({name}); set --engine")
    if request.precision is None:
        notes.append(f"precision {found.precision.id}, by default; set --precision")
    return replace(found, notes=tuple(notes))


def _image_work(
    request: ServeRequest, log: InputLog, model: NamedModel, chosen: Software, pixels: float | None
) -> dict[str, float]:
    steps = float(request.steps) if request.steps else usual_steps(log, model.config)
    formats = format_rows(log.catalog, model.row, chosen.precision.id)
    passes = request.guidance_passes
    found = image_work(
        *(log, model.config, model.shape, formats), steps=steps, passes=passes, pixels=pixels
    )
    given = (("steps", steps, request.steps), ("guidance_passes", found["passes"], passes))
    for key, value, own in given:
        status = Status.INPUT if own else Status.DEFAULT
        log.take(key, Quantity(value=value, status=status))
    if pixels is not None:
        log.take("pixels", Quantity(value=pixels, status=Status.INPUT))
    return found


def _layouts(request: ServeRequest, kind: Kind, shape: Architecture, domain: int) -> list[Layout]:
    """Return the layouts to try: of image models and encoders, tensor parallelism alone.

    Raises
    ------
    InputError
        When a given layout of them has pipeline stages, or does not divide the model.
    """
    tried = layouts_tried(request, shape, domain)
    if kind is TEXT:
        return tried
    plain = [x for x in tried if x.accelerators == x.tp]
    if not plain:
        cause = f"{tried[0]}: the images of a replica are divided by tensor parallelism alone"
        raise InputError([Problem("DC052", cause, Place("--layout"), help="--layout tp=2")])
    return plain


def _record(request: ServeRequest, log: InputLog, chosen: Software) -> None:
    """Log the inputs of the request."""
    for key, value in (
        ("input_tokens", request.isl),
        ("images_per_request", request.images_per_request),
        ("latency_ms", request.latency_ms),
        ("requests_per_s", request.rate),
    ):
        if value is not None:
            log.take(key, Quantity(value=float(value), status=Status.INPUT))
    record_software(request, log, chosen)
