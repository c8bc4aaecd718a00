"""A training request with every name resolved: the input of the search."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.common.model_config import read_model
from dcplan.answers.train.key_values import (
    CostSettings,
    read_recovery,
    read_setbacks,
    read_settings,
)
from dcplan.answers.train.notes import notes_of
from dcplan.answers.train.phase_values import Phase, read_phase, read_ramp
from dcplan.answers.train.request import DEFAULT_BATCH_TOKENS, TrainRequest
from dcplan.answers.train.speed import span_of, specs_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import find_stack, known_stack, unknown_stack
from dcplan.catalog.schema import Accelerator, Recipe, Stack, System
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.peaks import half_peak_note
from dcplan.inputs.training.stacks import default_stack, measured_spread, stack_refusal
from dcplan.llm.architecture import Architecture
from dcplan.llm.device_terms import WIDE_GEMMS
from dcplan.llm.vision.joined import refusal
from dcplan.provenance import Quantity, Status
from dcplan.reliability.setbacks import Setbacks
from dcplan.scenario.schema.reliability import Reliability
from dcplan.scenario.schema.work import Storage
from dcplan.training.estimate import Hardware
from dcplan.training.wide_area import Span


@dataclass(frozen=True)
class TrainRun:
    """A request at one precision with every name resolved, or one phase of it."""

    request: TrainRequest
    shape: Architecture
    system: System
    spec: Hardware
    precision: str
    stack: str
    measured: bool
    """Whether measured runs exist for the accelerator with this stack."""
    accelerators: int
    tokens: float
    seq_len: int
    batch_tokens: float
    phases: tuple[Phase, ...]
    span: Span
    reliability: Reliability
    setbacks: Setbacks
    cost: CostSettings
    storage: Storage
    notes: tuple[str, ...]
    """Parts of the model that are not included, and assumptions."""

    @property
    def parts(self) -> int:
        """Halls of all sites that train together, each with an equal part of the batch."""
        return self.span.parts

    @property
    def order_accelerators(self) -> int:
        """Accelerators of the smallest order: a slice of a pod, or the complete system."""
        return self.system.slice_accelerators or self.system.accelerators

    @property
    def images(self) -> float:
        """Images (or tiles) of a sequence."""
        return self.request.images

    @property
    def steps(self) -> float:
        """Optimizer steps of all phases."""
        parts = [(p.tokens, p.global_batch_tokens) for p in self.phases]
        return sum(n / batch for n, batch in parts or [(self.tokens, self.batch_tokens)])

    def by_phase(self) -> list[TrainRun]:
        """Return the run once for each phase; a run without phases is one phase."""
        return [
            replace(self, tokens=p.tokens, seq_len=p.seq_len, batch_tokens=p.global_batch_tokens)
            for p in self.phases
        ] or [self]


def resolve(request: TrainRequest, log: InputLog) -> list[TrainRun]:
    """Resolve every name of the request, one run per precision.

    Raises
    ------
    InputError
        When a name is unknown, an amount is missing, or no precision is possible.
    """
    catalog = log.catalog
    batch = request.global_batch_tokens or DEFAULT_BATCH_TOKENS
    phases = tuple(read_phase(text, batch) for text in request.phases)
    _check_tokens(request, phases)
    reliability = _recovery(request)
    setbacks = read_setbacks(request.setbacks)
    cost = read_settings(request.cost, CostSettings, "--cost")
    storage = _storage(request)
    shape, published = read_model(catalog, request.model)
    shortest = min(_seq_lens(request, phases))
    _check_images(request, shape, shortest)
    known = sum(p.tokens for p in phases) or request.tokens or published
    name, count, tokens = _required(request, known)
    system = named(catalog, "systems", name, System, "train")
    if request.batch_ramp is not None:
        whole = Phase(tokens, request.seq_len, request.step_tokens)
        phases = read_ramp(request.batch_ramp, phases or (whole,))
    row = catalog.get("accelerators", system.accelerator, Accelerator)
    stack = _stack(request, row, catalog)
    moe = shape.moe_layers > 0
    specs = specs_of(request, system, stack, log, moe=moe)
    _record(request, shape, tokens, stack, log)
    _check_exchanges(request, phases or (Phase(tokens, request.seq_len, request.step_tokens),))
    span = span_of(request, log)
    more = 1.0 + span.extra_tokens_frac
    phases = tuple(replace(p, tokens=p.tokens * more) for p in phases)
    notes = notes_of(request, shortest, max(_seq_lens(request, phases)), shape, catalog)
    if any(spec.recipe.gemm not in WIDE_GEMMS for spec in specs.values()):
        notes += tuple(filter(None, [half_peak_note(catalog, row)]))
    return [
        TrainRun(
            request=request,
            shape=shape,
            system=system,
            spec=spec,
            precision=precision,
            stack=stack.label,
            measured=measured_spread(row, stack, moe=moe) is not None,
            accelerators=count,
            tokens=tokens * more,
            seq_len=request.seq_len,
            batch_tokens=request.step_tokens,
            phases=phases,
            span=span,
            reliability=reliability,
            setbacks=setbacks,
            cost=cost,
            storage=storage,
            notes=notes,
        )
        for precision, spec in specs.items()
    ]


def _recovery(request: TrainRequest) -> Reliability:
    """Return the settings of ``--reliability``; spares that runs share are for plans."""
    found = read_recovery(request.reliability, "--reliability")
    if found.pool_spares:
        cause = "pool_spares shares spares between the runs of a plan, and `train` has one run"
        more = "omit pool-spares; spares sets the spare nodes of the run"
        raise InputError([Problem("DC015", cause, Place("--reliability"), help=more)])
    return found


def _storage(request: TrainRequest) -> Storage:
    """Return the storage of a run, which is one tier."""
    storage = read_settings(request.storage, Storage, "--storage")
    if storage.tiers is not None or storage.hot_frac is not None:
        text = "tiers and hot-frac are choices of a plan; a run takes one tier: give tier"
        raise InputError([Problem("DC015", text, Place("--storage"))])
    return storage


def _seq_lens(request: TrainRequest, phases: tuple[Phase, ...]) -> list[int]:
    """Return the lengths of sequences of the phases, or of the request without phases."""
    return [p.seq_len for p in phases] or [request.seq_len]


def _check_images(request: TrainRequest, shape: Architecture, shortest: int) -> None:
    """Refuse images that the model does not take, or more than fill the shortest sequence."""
    cause = refusal(shape, request.images, shortest)
    if cause:
        raise InputError([Problem("DC050", f"{request.model}: {cause}", Place("--images"))])


def _required(request: TrainRequest, tokens: float | None) -> tuple[str, int, float]:
    """Return system, accelerators and tokens of the run, which must be known."""
    system, count = request.system, request.accelerators
    if system is not None and count is not None and tokens is not None:
        return system, count, tokens
    given = (("--system", system), ("--accelerators", count), ("--tokens", tokens))
    missing = [flag for flag, value in given if value is None]
    helps = {"--system": "dcplan catalog list systems"}
    cause = f"is required to train {request.model}"
    raise InputError(
        [
            Problem("DC050", f"{flag} {cause}", Place("train"), help=helps.get(flag, ""))
            for flag in missing
        ]
    )


def _stack(request: TrainRequest, row: Accelerator, catalog: Catalog) -> Stack:
    """Return the given stack, or that of the accelerator; refuse one that it does not run."""
    stack = known_stack(catalog, request.stack or default_stack(row))
    wrong = stack_refusal(catalog, row, stack)
    if wrong is not None:
        next_step = f"dcplan catalog show stacks {stack.id}"
        raise InputError([Problem("DC015", wrong, Place("--stack"), help=next_step)])
    return stack


def _check_exchanges(request: TrainRequest, phases: tuple[Phase, ...]) -> None:
    """Refuse more local steps than the run has, because its sites would never exchange."""
    steps = sum(p.tokens / p.global_batch_tokens for p in phases)
    if request.local_steps > steps:
        cause = (
            f"with {request.local_steps:,} local steps the sites never exchange, because the run has "
            f"{steps:,.0f} steps"
        )
        step = "give fewer, such as 50 to 500"
        raise InputError([Problem("DC050", cause, Place("--local-steps"), help=step)])


def _check_tokens(request: TrainRequest, phases: tuple[Phase, ...]) -> None:
    """Refuse a number of tokens that is not the sum of the phases, which are the complete run."""
    total = sum(p.tokens for p in phases)
    if not phases or request.tokens is None or math.isclose(total, request.tokens):
        return
    rest = request.tokens - total
    add = f", or add --phase tokens={rest:g} for the rest" if rest > 0 else ""
    cause = (
        f"--tokens {request.tokens:g} is not the sum of the phases, {total:g}: the phases are the "
        f"complete run"
    )
    raise InputError([Problem("DC050", cause, Place("--tokens"), help=f"omit --tokens{add}")])


def unknown_names(request: TrainRequest, catalog: Catalog) -> list[Problem]:
    """Return a problem for each precision and stack missing from the catalog."""
    found = []
    for precision in request.precision:
        if catalog.find("recipes", precision, Recipe) is None:
            names = sorted(catalog.rows["recipes"])
            cause = f"unknown precision {precision!r}: use one of {', '.join(names)}"
            hint = did_you_mean(precision, names)
            found.append(Problem("DC050", cause, Place("--precision"), hint))
    if request.stack and find_stack(catalog, request.stack) is None:
        found.append(unknown_stack(catalog, request.stack, Place("--stack")))
    return found


def _record(
    request: TrainRequest, shape: Architecture, tokens: float, stack: Stack, log: InputLog
) -> None:
    """Log the inputs of the run, given or default."""
    own = Status.INPUT if request.tokens or request.phases else Status.CATALOG
    log.take("tokens", Quantity(value=tokens, status=own))
    own = Status.INPUT if request.global_batch_tokens else Status.DEFAULT
    log.take("global_batch_tokens", Quantity(value=request.step_tokens, status=own))
    if shape.tower is not None:
        own = Status.INPUT if request.images else Status.DEFAULT
        log.take("images", Quantity(value=request.images, status=own))
    log.text("stack", stack.label, Status.INPUT if request.stack else Status.DEFAULT)
