"""Defaults of a service: the engine and the weight format for an accelerator, and their names."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Engine, Model, WeightFormat
from dcplan.errors import Place, Problem, did_you_mean
from dcplan.inputs.serving.engines import GENERIC, engine_of
from dcplan.inputs.serving.models import format_of
from dcplan.inputs.training.peaks import row_peak

USUAL = "vllm"
NARROW = (("nvfp4", "fp4"), ("mxfp4", "fp4"), ("fp8", "fp8"))
"""Weight formats from the narrowest, with the peak that multiplies them."""
WIDE = "bf16"
MICROSCALED = frozenset({"cdna4"})
"""Families whose 4-bit products are MXFP4."""


def runs_on(engine: Engine, row: Accelerator) -> bool:
    """Whether an engine runs on the family of an accelerator."""
    return not engine.runs_on or (row.family or GENERIC) in engine.runs_on


def usual_engine(catalog: Catalog, row: Accelerator) -> Engine | None:
    """Return the default engine of an accelerator: vLLM where it runs; None if none runs."""
    rows = catalog.table("engines", Engine)
    return next((e for e in (rows[USUAL], *rows.values()) if runs_on(e, row)), None)


def named_engine(
    name: str, catalog: Catalog, where: Place, problems: list[Problem]
) -> Engine | None:
    """Return the engine of a name with an optional release."""
    rows = catalog.table("engines", Engine)
    plain, _, version = name.partition("@")
    engine = engine_of(catalog, plain)
    if engine is None:
        known = [*rows, *(a for e in rows.values() for a in e.aliases)]
        cause, hint = f"unknown engine {plain!r}", did_you_mean(plain, known)
        problems.append(Problem("DC010", cause, where, hint, "dcplan catalog list engines"))
        return None
    lines = [r.id for r in engine.releases]
    if version and (not lines or not version.lstrip("v")[:1].isdigit()):
        has = f"release lines {', '.join(lines)}" if lines else "no release lines"
        cause = f"unknown release {version!r} of {engine.id}, which has {has}"
        problems.append(Problem("DC010", cause, where, did_you_mean(version, lines)))
        return None
    return engine


def named_format(
    name: str, catalog: Catalog, where: Place, problems: list[Problem]
) -> WeightFormat | None:
    """Return the weight format of a name; an unknown one becomes a problem."""
    found = format_of(catalog, name)
    if found is None:
        known = list(catalog.rows["formats"])
        cause = f"unknown precision {name!r}: use one of {', '.join(known)}"
        problems.append(Problem("DC050", cause, where, did_you_mean(name, known)))
    return found


def usual_format(row: Accelerator, model: Model | None) -> str:
    """Return the narrowest weight format that an accelerator multiplies and the model has.

    A model whose only checkpoint is 4 bit keeps it. Other models can be quantized after training.
    """
    own = tuple(model.checkpoints) if model is not None else ()
    narrow = [f for f, math in NARROW if row_peak(row, math) is not None]
    if row.family in MICROSCALED:
        narrow = [f for f in narrow if f != "nvfp4"]
    else:
        narrow = [f for f in narrow if f != "mxfp4"] if "nvfp4" in narrow else narrow
    if own and not set(own) & {"fp8"} and not set(own) & set(narrow):
        return own[0]
    if own == ("mxfp4",):
        return own[0]
    if own:
        published = [f for f in narrow if f in own]
        return published[0] if published else WIDE
    return narrow[0] if narrow else WIDE
