"""Accelerators and instances by the names of price lists."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcplan.catalog.accelerator_names import accelerator_of as by_name
from dcplan.catalog.accelerator_names import plain_name
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Offer, System
from dcplan.errors import did_you_mean

MEMORY = re.compile(r"\d+gb")
MAKERS = frozenset({"nvidia", "amd", "google", "aws", "intel", "instinct", "gpu", "tensor", "core"})


@dataclass(frozen=True)
class Match:
    """What a name in a price list means."""

    id: str | None
    """Catalog id of the accelerator; None if it is not certain."""
    candidates: tuple[str, ...] = ()
    """Accelerators that fit an ambiguous name."""
    why: str = ""
    """Why it is not certain."""


def _tokens(text: str) -> frozenset[str]:
    joined = re.sub(r"(\d+)\s*gb\b", r"\1gb", text.casefold())
    return frozenset(re.findall(r"[a-z0-9]+", joined)) - MAKERS


def accelerator_of(text: str, catalog: Catalog) -> Match:
    """Return the accelerator of a name in a price list, or the candidates and why it is not known.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> accelerator_of("H200-141GB SXM", load()).id
    'h200-sxm'
    >>> accelerator_of("NVIDIA A100 SXM4 80 GB", load()).id
    'a100-80g-sxm'
    >>> accelerator_of("H100", load()).why
    "ambiguous accelerator 'H100': use h100-nvl, h100-pcie, h100-sxm, h100-sxm-500w or h100-sxm-power-capped"
    """
    row = by_name(catalog, text)
    if row is not None:
        return Match(row.id)
    asked = _tokens(text)
    table = catalog.table("accelerators", Accelerator)
    whole = [key for key, r in table.items() if asked in map(_tokens, (key, r.name, *r.aliases))]
    if asked and len(whole) == 1:
        return Match(whole[0])
    names = {key: _tokens(" ".join((key, r.name, *r.aliases))) for key, r in table.items()}
    for wanted in (asked, frozenset(x for x in asked if not MEMORY.fullmatch(x))):
        fits = sorted(key for key, known in names.items() if wanted and wanted <= known)
        if len(fits) == 1:
            return Match(fits[0])
        if fits:
            several = f"{', '.join(fits[:-1])} or {fits[-1]}"
            return Match(None, tuple(fits), f"ambiguous accelerator {text!r}: use {several}")
    hint = did_you_mean(text.casefold(), list(table))
    end = f"; did you mean {hint}?" if hint else ""
    return Match(None, (), f"unknown accelerator {text!r}{end}")


def by_instance(name: str, count: int, candidates: tuple[str, ...], catalog: Catalog) -> str | None:
    """Return the candidate in an instance or system of this name in the catalog, of any provider.

    Parameters
    ----------
    name
        Name of the instance, such as ``p5.48xlarge`` or ``hgx-h100-8``.
    count
        Accelerators of the instance.
    candidates
        Accelerators that it may have.
    catalog
        Catalog with offers and systems.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> by_instance("HGX H100 8", 8, ("h100-nvl", "h100-sxm"), load())
    'h100-sxm'
    >>> by_instance("big-8", 8, ("h100-nvl", "h100-sxm"), load()) is None
    True
    """
    asked = plain_name(name)
    rows: list[Offer | System] = [
        *catalog.table("cloud", Offer).values(),
        *catalog.table("systems", System).values(),
    ]
    found = {
        row.accelerator
        for row in rows
        if asked in map(plain_name, (row.id, row.name, *row.aliases))
        and row.accelerators == count
        and row.accelerator in candidates
    }
    return found.pop() if len(found) == 1 else None
