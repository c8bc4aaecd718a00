"""The answer to a published question, from a verb or a public function of a physics room."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.reference.catalog import catalog_show
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Model
from dcplan.catalog.schema.published import Published
from dcplan.errors import InputError, Place, Problem
from dcplan.result import Cell, Metric, Result
from dcplan.scenario.load import packaged_file
from dcplan.units import unit_of

ROOMS = ("economics", "facility", "fabric", "llm", "reliability", "training")
"""Rooms whose public functions a row may name: arguments and results are numbers."""
_CELL = re.compile(r"(\w+)\[(.+)\]\.(.+)")
Lookup = Callable[[str], Metric | None]


def figure_of(row: Published, folders: tuple[str, ...]) -> Lookup:
    """Answer the question of a row; return the lookup of its figures by key.

    Raises
    ------
    InputError
        When the row has no valid question.
    """
    return _of_function(row) if row.verb == "function" else _of_verb(row, folders)


def _of_verb(row: Published, folders: tuple[str, ...]) -> Lookup:
    result = _answered(row, folders)
    if row.verb == "catalog":
        fields = {r["field"]: r for r in result.tables["values"].records()}
        return lambda key: _field(fields.get(key))

    def lookup(key: str) -> Metric | None:
        cell = _CELL.fullmatch(key)
        if cell is None:
            return result.metrics.get(key)
        name, first, column = cell.groups()
        table = result.tables.get(name)
        if table is None or column not in table.columns:
            return None
        value = next((r[column] for r in table.records() if _names(r, first)), None)
        return Metric(value, unit_of(column)) if isinstance(value, int | float) else None

    return lookup


EXAMPLES = "logs"
"""Folder of packaged logs among the examples."""


def _answered(row: Published, folders: tuple[str, ...]) -> Result:
    """Call the verb; a row names packaged examples and catalog ids, never files."""
    ask, known = dict(row.asked), not {"epw", "catalogs"} & set(row.asked)
    if "scenario" in ask:
        file = packaged_file(str(ask["scenario"]))
        known, ask["scenario"] = known and file is not None, file
    if "files" in ask:
        logs = data_dir("scenarios") / EXAMPLES
        ask["files"] = [logs / f"{name}.csv" for name in ask["files"]]
        known &= all(f.is_file() and f.parent == logs for f in ask["files"])
    listed = ask.get("cash_flows")
    if listed is not None:  # payments in the row, which read no catalog and no file
        known &= isinstance(listed, list) and all("=" in str(x) for x in listed)
    models = [str(ask[key]) for key in ("model", "job", "for_job") if ask.get(key) is not None]
    if models:
        catalog = load_catalog(tuple(Path(f) for f in folders))
        known &= all(catalog.find("models", name, Model) is not None for name in models)
    if not known:
        allowed = "packaged examples and catalog rows, but no paths, no `epw` and no `catalogs`"
        cause = f"{row.id}: a row can use {allowed}"
        help_text = "scenario: cases/frontier; model: llama-3.1-405b"
        raise InputError([Problem("DC010", cause, Place(row.id), help=help_text)])
    if row.verb != "demand" and listed is None:  # logs and lists of payments need no catalog
        ask["catalogs"] = folders
    try:
        return _answers()[row.verb](**ask)
    except WRONG as error:
        raise InputError(
            [Problem("DC003", f"{row.id}: {row.verb}: {error}", Place(row.id))]
        ) from error


def _names(row: Mapping[str, Cell], cells: str) -> bool:
    """Return whether the first cell of a row, or its first two, are those of a figure's key."""
    first, *rest = (str(cell) for cell in row.values())
    return cells in (first, f"{first}, {rest[0]}" if rest else first)


def _field(row: Mapping[str, Cell] | None) -> Metric | None:
    value = row["value"] if row else None
    if row is None or not isinstance(value, int | float):
        return None
    low, high = (x if isinstance(x, int | float) else None for x in (row["low"], row["high"]))
    return Metric(value, str(row["unit"] or ""), "", low, high)


def _of_function(row: Published) -> Lookup:
    """Call a public function of a physics room with the numbers of the row."""
    ask = dict(row.asked)
    name = str(ask.pop("of", ""))
    room, _, rest = name.partition(".")
    module, _, function = rest.rpartition(".")
    cause = f"{row.id}: {name!r} is not a public function of {', '.join(ROOMS)}"
    problem = Problem("DC010", cause, Place(row.id), help="of: economics.loans.level_payment_usd")
    if (
        room not in ROOMS
        or not module.replace("_", "").replace(".", "").isalnum()
        or function.startswith("_")
    ):
        raise InputError([problem])
    try:
        found = getattr(importlib.import_module(f"dcplan.{room}.{module}"), function)
    except (ImportError, AttributeError) as error:
        raise InputError([problem]) from error
    if not inspect.isfunction(found) or not found.__module__.startswith(f"dcplan.{room}."):
        raise InputError([problem])
    value = _called(row, name, found, ask)

    def lookup(key: str) -> Metric | None:
        one = value if key == "result" else getattr(value, key, None)
        number = one.item() if isinstance(one, np.ndarray | np.generic) and one.size == 1 else one
        return Metric(float(number), "") if isinstance(number, int | float) else None

    return lookup


WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions from arguments that do not fit a function; a row may come from any user."""


def _called(row: Published, name: str, function: Callable[..., Any], ask: Mapping[str, Any]) -> Any:
    """Call the function; missing or unsuitable arguments are a problem of the row."""
    try:
        inspect.signature(function).bind(**ask)
    except TypeError as error:
        raise InputError([Problem("DC003", f"{row.id}: {name}: {error}", Place(row.id))]) from error
    try:
        given = {
            k: np.asarray(v, dtype=float) if isinstance(v, list) else v for k, v in ask.items()
        }
        with np.errstate(all="ignore"):
            return function(**given)
    except WRONG as error:
        cause = f"{row.id}: {name} fails with these arguments: {error or type(error).__name__}"
        raise InputError([Problem("DC040", cause, Place(row.id))]) from error


def _answers() -> dict[str, Callable[..., Result]]:
    from dcplan.answers.demand.answer import demand
    from dcplan.answers.fabric.answer import fabric
    from dcplan.answers.facility.answer import facility
    from dcplan.answers.plan.answer import plan
    from dcplan.answers.tco.answer import tco
    from dcplan.answers.train.answer import train

    def show(kind: str, id: str, catalogs: tuple[str, ...] = ()) -> Result:
        return catalog_show(kind, id, catalogs)

    return {
        "plan": plan,
        "train": train,
        "fabric": fabric,
        "facility": facility,
        "tco": tco,
        "demand": demand,
        "catalog": show,
    }
