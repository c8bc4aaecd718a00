"""Engines: the constants of a release on an accelerator family, from catalog rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Engine, EngineRelease, ServingFamily
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.log import InputLog
from dcplan.serving.tables import EngineTerms

KIND = "serving"
MOST_FRAC = 0.95
"""No kernel exceeds this share of a data-sheet rate; a product of factors is cut there."""
GENERIC = "generic"
TERMS = tuple(f.name for f in fields(EngineTerms))
CAPPED = frozenset(
    {
        "weight_hbm_frac",
        "expert_hbm_frac",
        "linear_flops_frac",
        "expert_flops_frac",
        "cache_hbm_frac",
        "cache_flops_frac",
        "prefill_attention_frac",
    }
)


def engine_of(catalog: Catalog, name: str) -> Engine | None:
    """Return the engine of a name as tables write it, or None.

    Text in brackets and after the first slash does not count; case and punctuation neither.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", name.casefold())).strip("-")
    rows = catalog.table("engines", Engine)
    names = {
        re.sub(r"[^a-z0-9]+", "-", a.casefold()): row
        for row in rows.values()
        for a in (row.id, *row.aliases)
    }
    if plain in names:
        return names[plain]
    # a table may add versions of the engine and of its libraries: "vLLM 0.9.0; PyTorch 2.7"
    starts = [a for a in names if plain.startswith(a + "-")]
    return names[max(starts, key=len)] if starts else None


def release_of(engine: Engine, version: str = "", date: str = "") -> EngineRelease | None:
    """Return the line of releases of a date, else of a version, else the newest.

    All parts of a version count: ``0.5.9`` is before the line 0.5.10. A version that states fewer
    parts than a line names every release that begins with it: ``0.5`` gives the newest line of 0.5.
    A date or version before the first line gives the first line. None if the engine has no lines.
    """
    lines = engine.releases
    if not lines:
        return None
    month = _month(date)
    if month:
        return next((r for r in reversed(lines) if str(r.since)[:7] <= month), lines[0])
    number = _number(version)
    if number:
        parts = len(number)
        return next((r for r in reversed(lines) if _number(r.id)[:parts] <= number), lines[0])
    return lines[-1]


def _month(date: str) -> str:
    found = re.match(r"(20\d\d)-?(\d\d)", date.strip())
    return f"{found[1]}-{found[2]}" if found else ""


def _number(version: str) -> tuple[int, ...]:
    # a number alone is a version, but not the digits that begin the name of a commit
    found = re.match(r"v?(\d+(?:\.\d+)+|\d+$)", version.strip())
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def engine_terms(
    log: InputLog, engine: Engine, release: EngineRelease | None, family: str | None
) -> dict[str, float]:
    """Return the constants of an engine release on a family, with the factor of its port.

    A port factor above 1 lengthens every time: the floors grow, the achieved shares fall.
    """
    kind = log.catalog.find("serving_families", family or GENERIC, ServingFamily)
    groups: list[Mapping[str, float]] = [engine.factors]
    if kind is not None:
        groups.append(kind.factors)
    if release is not None:
        groups.append(release.factors)
    _refuse_unknown(engine, groups)
    values = {}
    for name in TERMS:
        value = log.parameter(KIND, name.replace("_", "-"))
        for group in groups:
            value *= group.get(name.replace("_", "-"), 1.0)
        values[name] = min(value, MOST_FRAC) if name in CAPPED else value
    return ported(values, release.ports.get(family or GENERIC, 1.0) if release else 1.0)


def _refuse_unknown(engine: Engine, groups: list[Mapping[str, float]]) -> None:
    """Refuse a factor on a constant that does not exist."""
    known = [name.replace("_", "-") for name in TERMS]
    unknown = sorted({key for group in groups for key in group} - set(known))
    if unknown:
        place = Place(f"engines.{engine.id}")
        raise InputError(
            [
                Problem(
                    "DC010",
                    f"factors of {engine.id}: no constant {key!r}",
                    place,
                    did_you_mean(key, known),
                    "dcplan catalog list serving",
                )
                for key in unknown
            ]
        )


def ported(values: dict[str, float], factor: float) -> dict[str, float]:
    """Return the constants of a port that takes ``factor`` times as long.

    Examples
    --------
    >>> ported({"layer_us": 10.0, "weight_hbm_frac": 0.8, "overlap_power": 2.0}, 2.0)
    {'layer_us': 20.0, 'weight_hbm_frac': 0.4, 'overlap_power': 2.0}
    """
    rates = CAPPED | {"allreduce_link_frac", "exchange_link_frac"}
    times = {n for n in values if n.endswith(("_us", "_ms", "_passes"))}
    return {
        n: v / factor if n in rates else v * factor if n in times else v for n, v in values.items()
    }
