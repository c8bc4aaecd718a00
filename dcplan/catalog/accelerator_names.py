"""Accelerators by the names that people and tables write."""

from __future__ import annotations

import re

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator

MAKERS = frozenset({"nvidia", "amd", "intel"})
"""Makers that tables write before a name or leave out."""


def plain_name(text: str) -> str:
    """Return a name in lower case, without its maker, with one hyphen between words.

    Parameters
    ----------
    text
        A name as written, such as ``"NVIDIA H100 SXM (power capped)"``.

    Returns
    -------
    str
        Words of letters and digits; empty if there are none.

    Examples
    --------
    >>> plain_name("H100 SXM (power capped)")
    'h100-sxm-power-capped'
    >>> plain_name("NVIDIA Jetson AGX Orin 64G"), plain_name("nvidia_h200_sxm")
    ('jetson-agx-orin-64g', 'h200-sxm')
    """
    words = re.findall(r"[a-z0-9]+", text.casefold())
    return "-".join(word for word in words if word not in MAKERS)


def accelerator_of(catalog: Catalog, name: str) -> Accelerator | None:
    """Return the accelerator of this name, or None.

    Case, punctuation and the maker do not matter. A name must equal the id or an alias of a row in
    every other word: ``H100`` alone fits several parts and returns None.

    Parameters
    ----------
    catalog
        Catalog with the kind ``accelerators``.
    name
        A name as written in a table.

    Returns
    -------
    Accelerator or None
        The row whose id or alias has the same plain name.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> [accelerator_of(load(), x).id for x in ("H100 SXM", "A100 SXM 80GB (330 W cap)", "Gaudi2")]
    ['h100-sxm', 'a100-80g-sxm-330w', 'gaudi2']
    >>> accelerator_of(load(), "mixed AMD fleet") is None
    True
    """
    asked = plain_name(name)
    if not asked:
        return None
    rows = catalog.table("accelerators", Accelerator).values()
    return next((r for r in rows if asked in map(plain_name, (r.id, *r.aliases))), None)
