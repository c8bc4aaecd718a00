"""A training request with every name resolved: the input of the search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.common.model_config import model_notes, read_config, read_model
from dcplan.answers.train.key_values import (
    CostSettings,
    Phase,
    read_phase,
    read_ramp,
    read_recovery,
    read_setbacks,
    read_settings,
)
from dcplan.answers.train.request import DEFAULT_BATCH_TOKENS, TrainRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import find_stack, known_stack, unknown_stack
from dcplan.catalog.schema import Accelerator, Recipe, Stack, System
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.peaks import half_peak_note
from dcplan.inputs.training.speed import aged, hardware, slowed, with_host
from dcplan.inputs.training.stacks import default_stack, measured_spread, stack_refusal
from dcplan.llm.architecture import Architecture
from dcplan.llm.configs.names import window_tokens
from dcplan.llm.device_terms import WIDE_GEMMS
from dcplan.llm.vision import assumed, refusal, uncounted_parts
from dcplan.provenance import Quantity, Status
from dcplan.reliability.setbacks import Setbacks
from dcplan.scenario.schema.work import Reliability, Storage
from dcplan.training.estimate import Hardware
from dcplan.training.wide_area import WideArea
from dcplan.units import MILLI


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
    wide: WideArea | None
    reliability: Reliability
    setbacks: Setbacks
    cost: CostSettings
    storage: Storage
    notes: tuple[str, ...]
    """Parts of the model that are not included, and assumptions."""

    @property
    def sites(self) -> int:
        """Sites that train together."""
        return self.request.wan_sites

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
    reliability = read_recovery(request.reliability, "--reliability")
    setbacks = read_setbacks(request.setbacks)
    cost = read_settings(request.cost, CostSettings, "--cost")
    storage = read_settings(request.storage, Storage, "--storage")
    if storage.tiers is not None or storage.hot_frac is not None:
        text = "tiers and hot-frac are choices of a plan; a run takes one tier: give tier"
        raise InputError([Problem("DC015", text, Place("--storage"))])
    shape, published = read_model(catalog, request.model)
    shortest = min([p.seq_len for p in phases] or [request.seq_len])
    cause = refusal(shape, request.images, shortest)
    if cause:
        raise InputError([Problem("DC050", f"{request.model}: {cause}", Place("--images"))])
    tokens = sum(p.tokens for p in phases) or request.tokens or published
    count = request.accelerators
    if request.system is None or count is None or tokens is None:
        given = (("--system", request.system), ("--accelerators", count), ("--tokens", tokens))
        missing = [flag for flag, value in given if value is None]
        helps = {"--system": "dcplan catalog list systems"}
        raise InputError(
            [
                Problem(
                    "DC050",
                    f"{flag} is required to train {request.model}",
                    Place("train"),
                    help=helps.get(flag, ""),
                )
                for flag in missing
            ]
        )
    system = named(catalog, "systems", request.system, System, "train")
    if request.batch_ramp is not None:
        whole = Phase(tokens, request.seq_len, request.step_tokens)
        phases = read_ramp(request.batch_ramp, phases or (whole,))
    row = catalog.get("accelerators", system.accelerator, Accelerator)
    stack = known_stack(catalog, request.stack or default_stack(row))
    moe = shape.moe_layers > 0
    wrong = stack_refusal(catalog, row, stack)
    if wrong is not None:
        next_step = f"dcplan catalog show stacks {stack.id}"
        raise InputError([Problem("DC015", wrong, Place("--stack"), help=next_step)])
    specs = _specs(request, system, stack, log, moe=moe)
    _record(request, shape, tokens, stack, log)
    longest = max([p.seq_len for p in phases] or [request.seq_len])
    notes = _notes(request, shortest, longest, shape, catalog)
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
            tokens=tokens,
            seq_len=request.seq_len,
            batch_tokens=request.step_tokens,
            phases=phases,
            wide=_wide(request, log),
            reliability=reliability,
            setbacks=setbacks,
            cost=cost,
            storage=storage,
            notes=notes,
        )
        for precision, spec in specs.items()
    ]


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


def _wide(request: TrainRequest, log: InputLog) -> WideArea | None:
    """Return the terms of training across sites; None for one site."""
    if request.wan_sites == 1 or request.wan_gbps is None:
        return None
    return WideArea(
        request.wan_sites,
        request.local_steps,
        request.wan_gbps,
        request.sync_bytes_per_param,
        _one_way_s(request, log),
        overlapped=request.wan_overlap,
    )


def _one_way_s(request: TrainRequest, log: InputLog) -> float:
    """Return the latency between two sites: half of the given round trip, or the catalog's."""
    if request.wan_rtt_ms is None:
        return log.parameter("training", "wide-area-latency-s")
    half = Quantity(value=request.wan_rtt_ms * MILLI / 2.0, status=Status.INPUT)
    return log.take("training.wide-area-latency-s", half)


def _specs(
    request: TrainRequest, system: System, stack: Stack, log: InputLog, *, moe: bool
) -> dict[str, Hardware]:
    """Return the accelerator's data for the search at each precision.

    Unsupported precisions are rejected together.
    """
    specs, refused = {}, []
    row = log.catalog.get("accelerators", system.accelerator, Accelerator)
    gb_per_s = _gb_per_s(request, system)
    for precision in request.precision:
        spec = hardware(row.id, precision, gb_per_s, log, moe=moe, stack=stack.label)
        if isinstance(spec, str):
            next_step = f"dcplan catalog show accelerators {row.id}"
            refused.append(Problem("DC010", spec, Place("train"), help=next_step))
        else:
            device = replace(spec.device, in_network=float(request.in_network_reduction))
            spec = aged(replace(spec, device=device), row, request.start, log)
            spec = with_host(spec, system, log, typed="offload" in (request.layout or ""))
            specs[precision] = at_power(spec, request.power_limit_frac, log)
    if refused:
        raise InputError(refused)
    return specs


def _notes(
    request: TrainRequest, shortest: int, longest: int, shape: Architecture, catalog: Catalog
) -> tuple[str, ...]:
    """Return notes on parts of the model that are not included, and on assumptions.

    ``shortest`` and ``longest`` are lengths of sequences of the phases. [tokens]
    """
    config = read_config(catalog, request.model)[0]
    found = [f"{part} is not included: not supported yet" for part in uncounted_parts(config)]
    found += model_notes(catalog, request.model)
    found += _unusual(request, longest, config, catalog)
    if shape.tower is not None and not request.images:
        found.append("without --images, the vision encoder uses memory but no time")
    if shape.tower is not None and request.images:
        room = request.images * shape.tower_tokens / shortest
        found += assumed(config)
        found.append(
            f"images fill {room:.0%} of a sequence; the vision encoder and projector are trained "
            "too"
        )
    if not shape.causal:
        found.append(
            "a token is a latent patch or a text token; text encoders and VAE are not included"
        )
    return tuple(found)


def _unusual(
    request: TrainRequest, longest: int, config: Mapping[str, Any], catalog: Catalog
) -> list[str]:
    """Return notes on requests that are possible but are probably not meant."""
    found = []
    context = window_tokens(config)
    if 0 < context < longest:
        found.append(
            f"sequences of {longest:,} tokens are longer than the context of the model, "
            f"{context:,} tokens: set --seq-len, unless the run extends the context"
        )
    system = catalog.get("systems", request.system or "", System)
    first = catalog.get("accelerators", system.accelerator, Accelerator).available_from
    if request.start is not None and first is not None and request.start < first:
        found.append(f"{system.accelerator} is available from {first}, after --start")
    return found


def at_power(spec: Hardware, power_frac: float, log: InputLog) -> Hardware:
    r"""Return an accelerator limited to a share of its TDP.

    Matrix products and attention slow down as :math:`p^a`; memory-bound kernels, limited by HBM, do
    not.
    """
    if power_frac >= 1.0:
        return spec
    slower = power_frac ** log.parameter("power", "gemm-power-exponent")
    return slowed(spec, slower)


def _gb_per_s(request: TrainRequest, system: System) -> float:
    """Return the scale-out bandwidth of one accelerator; 0 selects the family's class value.

    If the number of ports is unknown, each accelerator has one.
    """
    own = system.scaleout_port_gbps.value if system.scaleout_port_gbps else 0.0
    ports = system.scaleout_ports / system.accelerators if system.scaleout_ports else 1.0
    return ports * (request.nic_port_gbps or own) / 8.0
