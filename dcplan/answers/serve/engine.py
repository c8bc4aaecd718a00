"""Engine, release and number formats of a service: given, or the defaults for the hardware."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.serve.request import ServeRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Engine, EngineRelease, Model, WeightFormat
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.serving.engines import GENERIC, release_of
from dcplan.inputs.serving.machines import Machine
from dcplan.inputs.serving.setups import cache_kind
from dcplan.inputs.serving.software import (
    named_engine,
    named_format,
    runs_on,
    usual_engine,
    usual_format,
)
from dcplan.inputs.training.peaks import row_peak


@dataclass(frozen=True)
class Software:
    """Engine and number formats."""

    engine: Engine
    release: EngineRelease | None
    precision: WeightFormat
    cache_kind: str
    notes: tuple[str, ...]

    @property
    def engine_text(self) -> str:
        """Name and release of the engine."""
        return f"{self.engine.id} {self.release.id}" if self.release else self.engine.id

    @property
    def cache_text(self) -> str:
        """Format of the cache."""
        return "fp8" if self.cache_kind == "fp8" else "bf16"


def software(
    request: ServeRequest, catalog: Catalog, machine: Machine, model: Model | None
) -> Software:
    """Return the engine and the formats of a request on one kind of hardware.

    Raises
    ------
    InputError
        With an unknown engine, release or format, and an engine that does not run on the family.
    """
    problems: list[Problem] = []
    engine, release = _engine(request.engine, catalog, machine.accelerator, problems)
    precision = _precision(request.precision, catalog, machine.accelerator, model, problems)
    if problems or engine is None or precision is None:
        raise InputError(problems)
    kind = cache_kind(request.kv_precision or "", engine, precision.math)
    notes = [*_defaults(request, engine, release, precision)]
    if request.kv_precision is None:
        cache = "fp8" if kind == "fp8" else "bf16"
        notes.append(f"KV cache in {cache}, by default; set --kv-precision")
    notes += _widened(machine.accelerator, precision)
    if kind == "fp8" and row_peak(machine.accelerator, "fp8") is None:
        notes.append(
            f"{machine.accelerator.id} does not multiply FP8: the 8-bit cache halves memory "
            "traffic, and attention computes in 16 bit"
        )
    return Software(engine, release, precision, kind, tuple(notes))


def unknown_names(request: ServeRequest, catalog: Catalog) -> list[Problem]:
    """Return a problem for an engine, a release or a precision that the catalog does not have."""
    found: list[Problem] = []
    if request.engine is not None:
        named_engine(request.engine, catalog, Place("--engine"), found)
    if request.precision is not None:
        named_format(request.precision, catalog, Place("--precision"), found)
    return found


def _defaults(
    request: ServeRequest, engine: Engine, release: EngineRelease | None, precision: WeightFormat
) -> list[str]:
    found = []
    if request.engine is None:
        newest = f", newest release line {release.id}" if release else ""
        found.append(f"engine {engine.id}{newest}, by default; set --engine")
    if request.precision is None:
        found.append(f"precision {precision.id}, by default; set --precision")
    return found


def _engine(
    name: str | None, catalog: Catalog, row: Accelerator, problems: list[Problem]
) -> tuple[Engine | None, EngineRelease | None]:
    rows = catalog.table("engines", Engine)
    where = Place("--engine")
    if name is None:
        usual = usual_engine(catalog, row)
        if usual is None:
            cause = f"no engine of the catalog runs on {row.id} ({row.family or GENERIC})"
            problems.append(Problem("DC010", cause, Place("--system")))
            return None, None
        return usual, release_of(usual)
    engine = named_engine(name, catalog, Place("--engine"), problems)
    if engine is None:
        return None, None
    if not runs_on(engine, row):
        names = [e.id for e in rows.values() if runs_on(e, row)]
        cause = f"{engine.id} does not run on {row.id} ({row.family or GENERIC})"
        help_text = f"engines that do: {', '.join(names)}" if names else ""
        problems.append(Problem("DC015", cause, where, help=help_text))
        return None, None
    return engine, release_of(engine, name.partition("@")[2])


def _precision(
    name: str | None,
    catalog: Catalog,
    row: Accelerator,
    model: Model | None,
    problems: list[Problem],
) -> WeightFormat | None:
    if name is None:
        return catalog.get("formats", usual_format(row, model), WeightFormat)
    return named_format(name, catalog, Place("--precision"), problems)


def _widened(row: Accelerator, precision: WeightFormat) -> list[str]:
    """Return a note on a format that the accelerator does not multiply."""
    if precision.math in ("half", "fp32"):
        if precision.weight_bytes.value < 2.0:
            return [
                f"{precision.id}: weights are widened to 16 bit; products run at the 16-bit rate"
            ]
        return []
    if row_peak(row, precision.math) is not None:
        return []
    return [
        f"{row.id} does not multiply {precision.id}: weights keep {precision.weight_bytes.value:g} "
        "bytes in memory and are widened to 16 bit; products run at the 16-bit rate"
    ]
