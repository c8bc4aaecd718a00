"""What ``dcplan train`` is asked, and the ask with every name looked up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dcplan.answers.common.catalog_rows import named
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Model, Recipe, Stack, System
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.devices import default_stack, measured_spread
from dcplan.inputs.log import Ledger
from dcplan.inputs.speed import aged, hardware, slowed
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import from_config
from dcplan.llm.vision import assumed, left_out, refusal
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema.work import Reliability, Storage
from dcplan.training.estimate import Hardware
from dcplan.training.wide_area import WideArea

LARGEST = 1e18
MOST_ACCELERATORS = 10_000_000
DEFAULT_BATCH_TOKENS = 4e6
"""Tokens of a step where none is given; the headline says so."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a run with its own sequence length and batch."""

    tokens: float
    seq_len: int
    global_batch_tokens: float


@dataclass(frozen=True)
class Ask:
    """What the command line asks: names as typed, amounts or None where left out."""

    model: str
    system: str | None
    accelerators: int | None
    tokens: float | None
    seq_len: int
    global_batch_tokens: float | None
    precisions: tuple[str, ...]
    link_gbps: float | None
    stack: str | None = None
    layout: str | None = None
    top: int = 1
    usd_per_accelerator_hour: float | None = None
    site: str | None = None
    power_frac: float = 1.0
    """Power limit over TDP, 0.7 to 1."""
    phases: tuple[Phase, ...] = ()
    in_network: bool = False
    """Scale-out switches add gradients up."""
    wide: WideArea | None = None
    start: str | None = None
    """Quarter the run starts in, for young generations."""
    reliability: Reliability = field(default_factory=Reliability)
    storage: Storage = field(default_factory=Storage)
    replicas: int = 0
    """Runs to play through stop by stop; 0 leaves it at the closed form."""
    deadline_days: float | None = None
    """The answer gives the probability of ending within it."""
    images: float = 0.0
    """Images (or tiles) of one sequence, for a model with a vision encoder."""
    hardware_age_years: float = 0.0
    """From the purchase of owned hardware to the start of the run."""


@dataclass(frozen=True)
class Asked:
    """The ask at one precision with every name looked up: what the search is run on."""

    shape: Architecture
    system: System
    spec: Hardware
    accelerators: int
    tokens: float
    seq_len: int
    batch_tokens: float
    precision: str
    precisions: tuple[str, ...]
    stack: str
    measured: bool
    usd_per_accelerator_hour: float | None
    site: str | None
    power_frac: float = 1.0
    reliability: Reliability = field(default_factory=Reliability)
    storage: Storage = field(default_factory=Storage)
    images: float = 0.0
    notes: tuple[str, ...] = ()
    """What of the model is not counted, or taken as given."""


def resolve(ask: Ask, catalog: Catalog, ledger: Ledger) -> list[Asked]:
    """Look up every name of the ask, one entry a precision.

    Raises
    ------
    InputError
        When a name is unknown, an amount is missing, or no precision is possible.
    """
    problems = [*_unknown(ask, catalog), *_impossible(ask)]
    if problems:
        raise InputError(problems)
    shape, published = read_model(catalog, ask.model)
    cause = refusal(shape, ask.images, min([p.seq_len for p in ask.phases] or [ask.seq_len]))
    if cause:
        raise InputError([Problem("DC050", f"{ask.model}: {cause}", Place("--images"))])
    system = _system(catalog, ask.system)
    tokens = sum(p.tokens for p in ask.phases) or ask.tokens or published
    missing = [
        flag
        for flag, v in (("--accelerators", ask.accelerators), ("--tokens", tokens))
        if v is None
    ]
    if missing or ask.accelerators is None or tokens is None:
        raise InputError(
            [
                Problem("DC050", f"{flag} is needed to train {ask.model}", Place("train"))
                for flag in missing
            ]
        )
    row = catalog.get("accelerators", system.accelerator, Accelerator)
    stack = catalog.get("stacks", ask.stack or default_stack(row), Stack)
    gb_per_s = _gb_per_s(ask, system)
    specs = _specs(ask, row, gb_per_s, stack, ledger, moe=shape.moe_layers > 0)
    batch = ask.global_batch_tokens or max(DEFAULT_BATCH_TOKENS, float(ask.seq_len))
    own = ask.tokens or ask.phases
    ledger.take("tokens", Quantity(value=tokens, status=Status.INPUT if own else Status.CATALOG))
    given = Status.INPUT if ask.global_batch_tokens else Status.DEFAULT
    ledger.take("global_batch_tokens", Quantity(value=batch, status=given))
    if shape.tower is not None:
        ledger.take(
            "images",
            Quantity(value=ask.images, status=Status.INPUT if ask.images else Status.DEFAULT),
        )
    ledger.text("stack", stack.id, Status.INPUT if ask.stack else Status.DEFAULT)
    known = measured_spread(row, stack, moe=shape.moe_layers > 0) is not None
    return [
        Asked(
            shape,
            system,
            spec,
            ask.accelerators,
            tokens,
            ask.seq_len,
            batch,
            precision,
            ask.precisions,
            stack.id,
            known,
            ask.usd_per_accelerator_hour,
            ask.site,
            ask.power_frac,
            reliability=ask.reliability,
            storage=ask.storage,
            images=ask.images,
            notes=_notes(ask, shape, read_config(catalog, ask.model)[0]),
        )
        for precision, spec in specs.items()
    ]


def _specs(
    ask: Ask, row: Accelerator, gb_per_s: float, stack: Stack, ledger: Ledger, *, moe: bool
) -> dict[str, Hardware]:
    """What the search knows of the accelerator at each precision; those it does not have are
    refused together.
    """
    specs, refused = {}, []
    for precision in ask.precisions:
        spec = hardware(row.id, precision, gb_per_s, ledger, moe=moe, stack=stack.id)
        if isinstance(spec, str):
            refused.append(
                Problem(
                    "DC010", spec, Place("train"), help=f"dcplan catalog show accelerators {row.id}"
                )
            )
        else:
            device = replace(spec.device, in_network=float(ask.in_network))
            spec = aged(replace(spec, device=device), row, ask.start, ledger)
            specs[precision] = at_power(spec, ask.power_frac, ledger)
    if refused:
        raise InputError(refused)
    return specs


def _notes(ask: Ask, shape: Architecture, config: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the model is not counted, or taken as given."""
    found = [f"{part} is not counted: not supported yet" for part in left_out(config)]
    if shape.tower is not None and not ask.images:
        found.append("no --images: the vision encoder costs memory but no time")
    if shape.tower is not None and ask.images:
        room = (
            ask.images * shape.tower_tokens / min([p.seq_len for p in ask.phases] or [ask.seq_len])
        )
        found += assumed(config)
        found.append(
            f"images fill {room:.0%} of a sequence; vision encoder and projector are trained along"
        )
    if not shape.causal:
        found.append(
            "a token is a latent patch or a text token; text encoders and VAE are not counted"
        )
    return tuple(found)


def at_power(spec: Hardware, power_frac: float, ledger: Ledger) -> Hardware:
    r"""An accelerator held to a share of its TDP.

    Matrix products and attention slow down as :math:`p^a`; memory-bound kernels, limited by HBM, do
    not.
    """
    if power_frac >= 1.0:
        return spec
    slower = power_frac ** ledger.parameter("power", "gemm-power-exponent")
    return slowed(spec, slower)


def _impossible(ask: Ask) -> list[Problem]:
    """Amounts that no run has, all of them."""
    found = []
    if not ask.precisions:
        found.append(Problem("DC050", "at least one precision is needed", Place("--precision")))
    amounts = {
        "--accelerators": ask.accelerators,
        "--tokens": ask.tokens,
        "--seq-len": ask.seq_len,
        "--global-batch-tokens": ask.global_batch_tokens,
        "--link-gbps": ask.link_gbps,
        "--top": ask.top,
    }
    for flag, value in amounts.items():
        if value is not None and not 0 < value <= LARGEST:
            found.append(
                Problem(
                    "DC050",
                    f"{value:g}: a number above 0, at most {LARGEST:g}, is needed",
                    Place(flag),
                )
            )
    if ask.accelerators is not None and ask.accelerators > MOST_ACCELERATORS:
        found.append(
            Problem("DC050", f"at most {MOST_ACCELERATORS:,} accelerators", Place("--accelerators"))
        )
    if (
        ask.usd_per_accelerator_hour is not None
        and not 0 <= ask.usd_per_accelerator_hour <= LARGEST
    ):
        found.append(
            Problem(
                "DC050", "a price is a number, not negative", Place("--usd-per-accelerator-hour")
            )
        )
    wide = ask.wide
    if wide and ask.accelerators is not None and ask.accelerators % wide.sites:
        cause = f"{ask.accelerators} accelerators do not divide among {wide.sites} sites: -n counts all of them"
        found.append(Problem("DC050", cause, Place("--sites")))
    if wide and not (wide.value_bytes <= 64 and wide.token_penalty_frac <= 10):
        found.append(
            Problem(
                "DC050", "at most 64 bytes a value and a penalty of 10", Place("--wan-value-bytes")
            )
        )
    if wide and (ask.global_batch_tokens or DEFAULT_BATCH_TOKENS) / wide.sites < ask.seq_len:
        found.append(
            Problem(
                "DC050",
                "each site needs at least one sequence a step",
                Place("--global-batch-tokens"),
            )
        )
    if ask.global_batch_tokens and not ask.phases and ask.global_batch_tokens < ask.seq_len:
        cause = (
            f"{ask.global_batch_tokens:g} tokens a step is less than one sequence of {ask.seq_len}"
        )
        found.append(Problem("DC050", cause, Place("--global-batch-tokens")))
    step = ask.global_batch_tokens or max(DEFAULT_BATCH_TOKENS, float(ask.seq_len))
    if ask.tokens is not None and 0 < ask.tokens < step and not ask.phases:
        cause = f"{ask.tokens:g} tokens are less than one step of {step:,.0f}"
        found.append(
            Problem("DC050", cause, Place("--tokens"), help="--tokens 15e12 is 15 trillion")
        )
    return found


def _unknown(ask: Ask, catalog: Catalog) -> list[Problem]:
    """Names that no catalog row has, all of them."""
    found = []
    for precision in ask.precisions:
        if catalog.find("recipes", precision, Recipe) is None:
            names = sorted(catalog.rows["recipes"])
            cause = f"no precision {precision!r}: one of {', '.join(names)}"
            found.append(
                Problem("DC050", cause, Place("--precision"), did_you_mean(precision, names))
            )
    if ask.stack and catalog.find("stacks", ask.stack, Stack) is None:
        hint = did_you_mean(ask.stack, catalog.rows["stacks"])
        found.append(
            Problem(
                "DC010",
                f"no stack {ask.stack!r}",
                Place("--stack"),
                hint,
                "dcplan catalog list stacks",
            )
        )
    return found


def _gb_per_s(ask: Ask, system: System) -> float:
    """Scale-out of one accelerator; 0 leaves it to the family's class value. A link without known
    ports is one each.
    """
    port = ask.link_gbps or (system.scaleout_port_gbps.value if system.scaleout_port_gbps else 0.0)
    ports = system.scaleout_ports / system.accelerators if system.scaleout_ports else 1.0
    return ports * port / 8.0


def read_model(catalog: Catalog, name: str) -> tuple[Architecture, float | None]:
    """Architecture and published training tokens of a catalog model, or of a ``config.json``.

    Raises
    ------
    InputError
        When the file cannot be read as a model; the message names the field.
    """
    config, published = read_config(catalog, name)
    try:
        return from_config(config), published
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError([Problem("DC010", f"not a model config: {error}", Place(name))]) from error


def read_config(catalog: Catalog, name: str) -> tuple[Mapping[str, Any], float | None]:
    """Configuration of a catalog model, or of a file.

    Raises
    ------
    InputError
        When the file is missing or no JSON object.
    """
    row = catalog.find("models", name, Model)
    if row is not None:
        return row.config, row.training_tokens.value if row.training_tokens else None
    try:
        config = json.loads(Path(name).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Problem("DC010", f"not a model config: {error}", Place(name))]) from error
    if not isinstance(config, dict):
        raise InputError(
            [Problem("DC010", "not a model config: a JSON object is expected", Place(name))]
        )
    return config, None


def _system(catalog: Catalog, name: str | None) -> System:
    if name is None:
        cause, help_ = "--system is needed to train a catalog model", "dcplan catalog list systems"
        raise InputError([Problem("DC050", cause, Place("train"), help=help_)])
    return named(catalog, "systems", name, System, "train")
