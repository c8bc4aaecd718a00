"""Class values that decide: figures of a catalog or a default where the scenario has none.

They are chosen by a rule, not by a solve: power cost and PUE of sites and halls, what power, cooling
and buildings cost, and lead times. A plan depends on each of them, and an owner of a site or a buyer
knows the real figure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dcplan.provenance import Status
from dcplan.result import Table
from dcplan.specs.check import CLASS_VALUES, ClassValueRow
from dcplan.units import unit_of

CLASS = frozenset({Status.CATALOG, Status.ESTIMATE, Status.DEFAULT})
"""Status of values that no user gave."""
ANY_HALL = "sites.<site>.halls.<hall>"
OVERLAY = "a row of the same id in a folder of --catalogs"


@dataclass(frozen=True)
class Deciding:
    """Inputs that decide, by their keys, and the field that replaces them.

    Parameters
    ----------
    keys : str
        Regular expression of the whole key.
    field : str
        Field of the scenario, as a template of the expression.
    partial : bool
        Whether only a fraction between 0 and 1 is a figure; 0 and 1 are definitions.
    """

    keys: str
    field: str
    partial: bool = False


RULE = (
    Deciding(r"sites\.(.+)\.halls\.(.+)\.[^.]+\.(pue|peak_pue)", r"sites.\1.halls.\2.\3"),
    Deciding(r"sites\.(.+)\.energy\.usd_per_kwh", r"sites.\1.energy.usd_per_kwh"),
    Deciding(r"sites\.(.+)\.power\.(lead_quarters|redundancy|usd_per_kw)", r"sites.\1.power.\2"),
    Deciding(r"power\.power-blocks-usd-per-kw", "sites.<site>.power.usd_per_kw"),
    Deciding(r"power\.block-mw-default", "sites.<site>.power.block_mw"),
    Deciding(r"power\.building-shell-usd-per-mw", OVERLAY),
    Deciding(r"power\.peak-over-rated", "systems.<system>.peak_kw"),
    Deciding(r"finance\.fixed-opex-usd-per-kw-year", OVERLAY),
    Deciding(r"cooling\.(.+)\.fit_out_usd_per_kw", f"{ANY_HALL}.fit_out_usd_per_kw"),
    Deciding(r"cooling\.(.+)\.air_share_frac", f"{ANY_HALL}.air_mw", partial=True),
    Deciding(r"systems\.(.+)\.lead_quarters", "supply: lead_quarters of the system"),
)
"""Inputs that decide, the most specific first; in this order they are listed."""


def class_values(inputs: Iterable[Mapping[str, Any]]) -> Table:
    """Return the class values among the inputs of a plan that decide.

    Inputs of one rule with the same value and source are one row.

    Parameters
    ----------
    inputs : iterable of mapping
        Rows of the input log, with ``key``, ``value``, ``unit``, ``status`` and ``source``.

    Examples
    --------
    >>> row = {"key": "sites.a.energy.usd_per_kwh", "value": 0.07, "unit": "USD/kWh"}
    >>> class_values([row | {"status": "catalog", "source": "EIA"}]).records()[0]["set_instead"]
    'sites.a.energy.usd_per_kwh'
    >>> class_values([row | {"status": "input", "source": None}]).rows
    ()
    """
    same: dict[tuple[int, Any, str, str], list[str]] = defaultdict(list)
    for row in inputs:
        at = _rule_of(row)
        if at is not None:
            rule = RULE[at]
            field = re.sub(rule.keys, rule.field, str(row["key"]))
            same[at, row["value"], field, _source(row)].append(str(row["key"]))
    units = {str(row["key"]): str(row["unit"] or "") for row in inputs}
    found = sorted(same.items(), key=lambda item: (item[0][0], item[1]))
    return CLASS_VALUES.table(
        ClassValueRow(_named(keys), value, units[keys[0]] or unit_of(field), field, source)
        for (_, value, field, source), keys in found
    )


def _rule_of(row: Mapping[str, Any]) -> int | None:
    """Return the index of the rule that an input falls under, if it is a class value."""
    if row["status"] not in CLASS:
        return None
    for at, rule in enumerate(RULE):
        if re.fullmatch(rule.keys, str(row["key"])):
            return at if not rule.partial or 0.0 < float(row["value"]) < 1.0 else None
    return None


def _named(keys: list[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more"


def _source(row: Mapping[str, Any]) -> str:
    """Return the source without its address, which the list of inputs has."""
    return re.split(r" \(https?:", str(row["source"] or ""))[0]
