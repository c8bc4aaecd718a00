"""Models and accelerators as inputs of the training room."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dcplan.catalog.releases import find_stack
from dcplan.catalog.schema import Accelerator, Model, Recipe, Stack, System
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.model_files import with_library_defaults
from dcplan.inputs.training.coefficients import coefficients
from dcplan.inputs.training.devices import (
    CLOCKED,
    SMALL_DOMAIN,
    device_terms,
    recipe_terms,
    record_training,
)
from dcplan.inputs.training.peaks import missing_peak
from dcplan.inputs.training.stacks import default_stack, spread_frac, stack_refusal, stack_terms
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import timed_config
from dcplan.llm.device_terms import DeviceTerms
from dcplan.scenario.load import Question, inside_project
from dcplan.training.estimate import Hardware
from dcplan.training.maturity import maturity_frac
from dcplan.training.shapes import trained_shape
from dcplan.units import GIGA, quarter_index


def architecture(reference: str, question: Question) -> Architecture:
    """Return the shape of a catalog model, or of a ``config.json`` in the scenario's folder.

    Raises
    ------
    InputError
        If the file is missing or is not a readable model, or training does not support its layers.
    """
    return _read(reference, question, trained_shape)


def served_architecture(reference: str, question: Question) -> Architecture:
    """Return the shape of the same model as engines serve it.

    Raises
    ------
    InputError
        If the file is missing or is not a readable model.
    """
    return _read(reference, question, timed_config)


def _read(
    reference: str, question: Question, shape: Callable[[Mapping[str, Any]], Architecture]
) -> Architecture:
    """Return the shape that a function makes of the configuration of a model."""
    where: tuple[str | int, ...] = ("workloads",)
    try:
        if not reference.endswith(".json"):
            return shape(question.catalog.get("models", reference, Model).config)
        problem = question.tree.problem("DC008", f"model {reference} leaves the project", where)
        file = inside_project(question.file, reference, problem)
        config = json.loads(file.read_text(encoding="utf-8"))
        return shape(with_library_defaults(question.catalog, config))
    except (OSError, ValueError, RecursionError) as error:
        cause = f"model {reference}: {error}"
        raise InputError([question.tree.problem("DC010", cause, where)]) from error


def hardware(
    accelerator: str,
    precision: str,
    gb_per_s: float,
    log: InputLog,
    *,
    moe: bool,
    stack: str | None = None,
) -> Hardware | str:
    """Return an accelerator's training numbers for a precision and stack, or the reason for none."""
    catalog = log.catalog
    row = catalog.get("accelerators", accelerator, Accelerator)
    device = device_terms(catalog, row, scaleout_gb_per_s=gb_per_s or None)
    if isinstance(device, str):
        return device
    stack_row = find_stack(catalog, stack or default_stack(row))
    recipe_row = catalog.find("recipes", precision, Recipe)
    if stack_row is None or recipe_row is None:
        what = f"stack {stack!r}" if stack_row is None else f"precision {precision!r}"
        return f"{what} is not in the catalog"
    recipe = recipe_terms(recipe_row)
    refused = stack_refusal(catalog, row, stack_row) or _refused(row, recipe_row, log)
    if refused is not None:
        return refused
    terms = stack_terms(stack_row, row.family, log)
    record_training(log, row, recipe.gemm, stack_row.id)
    return Hardware(
        device,
        terms,
        recipe,
        coefficients(log),
        spread_frac(log, row, stack_row, moe=moe),
        streams_weights=row.kind == "wafer",
    )


def _refused(row: Accelerator, recipe: Recipe, log: InputLog) -> str | None:
    """Return why an accelerator does not support a recipe, or None if it does."""
    if recipe.families and row.family not in recipe.families:
        known = ", ".join(recipe.families)
        return f"{row.id} does not support {recipe.id}; families that do: {known}"
    if recipe.id == "bf16" and row.bf16_tflops is None and row.fp16_tflops is not None:
        return f"{row.id} does not support bf16"
    return missing_peak(log.catalog, row, recipe.gemm)


def slowed(spec: Hardware, frac: float) -> Hardware:
    """Return hardware whose matrix products and attention run at a fraction of their speed."""
    return replace(spec, device=slowed_device(spec.device, frac))


def slowed_device(device: DeviceTerms, frac: float) -> DeviceTerms:
    """Return an accelerator whose matrix products and attention run at a fraction of their speed."""
    return replace(device, **{name: getattr(device, name) * frac for name in CLOCKED})


def linked(spec: Hardware, exchange_frac: float, *, in_network: bool) -> Hardware:
    """Return hardware on a network with a slower all-to-all, or with switches that reduce."""
    device = replace(spec.device, exchange_frac=exchange_frac, in_network=float(in_network))
    return replace(spec, device=device)


def with_host(
    spec: Hardware, row: System | None, log: InputLog, *, typed: bool = False
) -> Hardware:
    """Return hardware with the host memory of its system, if its search or a typed layout offloads.

    An unknown host memory is no limit.
    """
    if row is None or row.host_dram_gb is None or not (typed or offloads(spec)):
        return spec
    reserve = log.parameter("training", "host-memory-reserve-frac")
    total = log.take(f"systems.{row.id}.host_dram_gb", row.host_dram_gb)
    usable = total / row.accelerators * (1.0 - reserve)
    return replace(spec, device=replace(spec.device, host_gb=usable))


def offloads(spec: Hardware) -> bool:
    """Return whether the search tries to move activations to host memory."""
    fast = spec.device.host_gb_per_s * GIGA >= spec.coefficients.offload_bytes_per_s
    return spec.stack.offloads and fast and not spec.streams_weights


def host_note(system: System) -> str:
    """Return the note on a layout that offloads to a host memory of unknown size."""
    return (
        f"the layout moves activations to host memory, and the catalog has no host_dram_gb of "
        f"{system.id}: its size is not checked; a scenario gives it as prices.{system.id}.host_dram_gb"
    )


def in_instance(spec: Hardware, accelerators: int) -> Hardware:
    """Return hardware in a rented instance, which may have a part of a server.

    Accelerators of several instances are in one scale-up domain only if that is larger than a
    server.
    """
    device = spec.device
    if device.domain > SMALL_DOMAIN:
        return spec
    size = float(accelerators)
    return replace(
        spec, device=replace(device, domain=min(device.domain, size), node=min(device.node, size))
    )


def aged(spec: Hardware, row: Accelerator, start: str | None, log: InputLog) -> Hardware:
    """Return hardware with the speed of a young generation, whose software is not mature.

    The age is that of the run's start; :func:`maturity_frac` gives the speed.
    """
    if start is None or row.available_from is None:
        return spec
    age = float(quarter_index(start) - quarter_index(row.available_from))
    return slowed(spec, maturity_of(age, log))


def maturity_of(age_quarters: float, log: InputLog) -> float:
    """Return the speed of software of an age relative to settled software."""
    first = log.parameter("training", "maturity-first-frac")
    return maturity_frac(age_quarters, first, log.parameter("training", "maturity-quarters"))


def software_age_quarters(row: Accelerator, stack: Stack) -> float | None:
    """Return the age of a stack's release on an accelerator, or None if one has no date.

    It is the time from the accelerator's first quarter to the month of the release; a stack
    without dated releases has no age.
    """
    if row.available_from is None or not stack.releases or stack.dated is None:
        return None
    year, month = (int(part) for part in (stack.dated + "-01").split("-")[:2])
    return year * 4.0 + (month - 1.0) / 3.0 - quarter_index(row.available_from)
