"""The request of a verb, declared once for command line, Python signature, checks and docs."""

from __future__ import annotations

import dataclasses
import functools
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dcplan.errors import InputError, Place, Problem, did_you_mean

Q = TypeVar("Q")
CHANGE = "K=V"
"""Metavar of flags whose values change inputs, in their order."""


@dataclass(frozen=True)
class Flag:
    """One field of a request.

    Parameters
    ----------
    help : str
        Description in one clause.
    unit : str
        Unit of a number, as printed; empty for a count, a share or a text.
    low, high : float, optional
        Range of a number, both ends allowed.
    choices : tuple of str
        Allowed values; empty for any value.
    names : tuple of str
        Names on the command line; ``--field-name`` by default.
    metavar : str
        Placeholder in the help; by default that of the type.
    complete : str
        Values that Tab completes: a catalog kind, ``scenarios``, ``results``; empty for none.
    argument : bool
        A positional argument instead of a flag.
    python_only : bool
        The field exists in Python only, such as a callback.
    panel : str
        Group of flags in the help.
    lower : bool
        The case of the letters is ignored.
    comma : bool
        One text may hold several values, separated by commas.
    once : bool
        A list of at most one value: a flag that is given twice is refused, not replaced.
    pair : callable, optional
        Makes one text of a key and its value. In Python, the field then also accepts a mapping.
    """

    help: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    metavar: str = ""
    complete: str = ""
    argument: bool = False
    python_only: bool = False
    panel: str = ""
    lower: bool = False
    comma: bool = False
    once: bool = False
    pair: Callable[[str, Any], str] | None = None


@dataclass(frozen=True)
class Field:
    """One field of a request, read from its dataclass."""

    name: str
    kind: type
    """``str``, ``int``, ``float``, ``bool`` or any other type that the field holds."""
    optional: bool
    repeated: bool
    default: Any
    flag: Flag

    @property
    def required(self) -> bool:
        """Whether the field has no default."""
        return self.default is dataclasses.MISSING

    @property
    def spelled(self) -> str:
        """The name in messages: the long flag, or the name of the argument."""
        if self.flag.argument:
            return self.flag.metavar or self.name.upper()
        return next(
            (n for n in self.flag.names if n.startswith("--")), "--" + self.name.replace("_", "-")
        )


def fields_of(request: type) -> tuple[Field, ...]:
    """Return the fields of a request dataclass with their flags.

    Raises
    ------
    TypeError
        When a field has no :class:`Flag`.
    """
    return _fields_of(request)


@functools.cache
def _fields_of(request: Any) -> tuple[Field, ...]:
    hints = typing.get_type_hints(request, include_extras=True)
    found = []
    for each in dataclasses.fields(request):
        notes = getattr(hints[each.name], "__metadata__", ())
        flag = next((x for x in notes if isinstance(x, Flag)), None)
        if flag is None:
            msg = f"{request.__name__}.{each.name} has no Flag"
            raise TypeError(msg)
        kind, optional, repeated = _kind(typing.get_args(hints[each.name])[0])
        default = each.default
        if each.default_factory is not dataclasses.MISSING:
            default = each.default_factory()
        found.append(Field(each.name, kind, optional, repeated, default, flag))
    return tuple(found)


def _kind(hint: Any) -> tuple[type, bool, bool]:
    """Return the plain type of an annotation, whether it allows None, and whether it repeats."""
    optional = False
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [x for x in typing.get_args(hint) if x is not types.NoneType]
        optional = len(parts) < len(typing.get_args(hint))
        hint = parts[0] if len(parts) == 1 else object
    origin = typing.get_origin(hint)
    if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return typing.get_args(hint)[0], optional, True
    return (origin or hint), optional, False


def made(request: type[Q], given: Mapping[str, Any], verb: str) -> Q:
    """Make a request from keyword arguments.

    Raises
    ------
    InputError
        With every unknown name, missing value, wrong type and value out of range at once (DC050).
    """
    known = {f.name: f for f in fields_of(request)}
    problems = [
        Problem("DC050", f"unknown argument {name!r}", Place(verb), did_you_mean(name, known))
        for name in given
        if name not in known
    ]
    problems += [
        Problem("DC050", f"{f.spelled} is needed", Place(verb))
        for f in known.values()
        if f.required and f.name not in given
    ]
    values = {name: _frozen(known[name], x) for name, x in given.items() if name in known}
    problems += [p for name, x in values.items() for p in _wrong(known[name], x)]
    if problems:
        raise InputError(problems)
    return request(**values)


def checked(request: Q) -> Q:
    """Check that every value of a request has its type and is in its range.

    Raises
    ------
    InputError
        With every invalid value (DC050).
    """
    problems = [p for f in fields_of(type(request)) for p in _wrong(f, getattr(request, f.name))]
    if problems:
        raise InputError(problems)
    return request


def _frozen(field: Field, value: Any) -> Any:
    """Convert a value for the request: a list to a tuple, an absent list to the default."""
    if field.kind is Path and value is not None:
        return _paths(field, value)
    if field.kind is str and isinstance(value, os.PathLike):
        return os.fspath(value)
    if not field.repeated:
        return value
    if value is None and not field.optional:
        return () if field.required else field.default
    if field.flag.pair is not None and isinstance(value, Mapping):
        return tuple(field.flag.pair(key, x) for key, x in value.items())
    if field.flag.pair is not None:
        value = _texts(value)
    if (field.flag.comma or field.flag.once) and isinstance(value, str):
        value = (value,)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    if not field.flag.comma:
        return tuple(value)
    parts = (x.split(",") if isinstance(x, str) else (x,) for x in value)
    each = (x.strip() if isinstance(x, str) else x for part in parts for x in part)
    return tuple(x for x in each if x != "")


def _texts(value: Any) -> Any:
    """Return a number, or the numbers of a list, as texts: ``NAME=N`` may be a plain ``N``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, list | tuple):
        return tuple(str(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in value)
    return value


def _paths(field: Field, value: Any) -> Any:
    """Convert texts to paths; one path of a repeated field is a list of one."""
    if isinstance(value, str | os.PathLike):
        path = Path(value)
        return (path,) if field.repeated else path
    if field.repeated and isinstance(value, Sequence):
        return tuple(Path(x) if isinstance(x, str) else x for x in value)
    return value


def _wrong(field: Field, value: Any) -> list[Problem]:
    if value is None and (field.optional or field.default is None):
        return []
    if field.repeated:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return [_problem(field, f"{value!r}: a list of values is needed")]
        if field.required and not value:
            return [_problem(field, f"{field.spelled} is needed, and nothing is given")]
        if field.flag.once and len(value) > 1:
            return [_problem(field, f"{field.spelled} is given {len(value)} times: give it once")]
        return [p for x in value for p in _wrong_value(field, x)]
    return _wrong_value(field, value)


def _wrong_value(field: Field, value: Any) -> list[Problem]:
    flag = field.flag
    if field.kind in (int, float):
        allowed: Any = int if field.kind is int else (int, float)
        low = -float("inf") if flag.low is None else flag.low
        high = float("inf") if flag.high is None else flag.high
        if isinstance(value, bool) or not isinstance(value, allowed) or not low <= value <= high:
            what = "a whole number" if field.kind is int else "a number"
            return [_problem(field, f"{value!r}: {what}{range_of(flag)} is needed")]
    if field.kind is Path and not isinstance(value, Path):
        return [_problem(field, f"{value!r}: a path is needed")]
    if field.kind is bool and not isinstance(value, bool):
        return [_problem(field, f"{value!r}: true or false is needed")]
    if field.kind is str and not isinstance(value, str):
        return [_problem(field, f"{value!r}: a text is needed")]
    if value == "":
        return [_problem(field, f"{field.spelled} is empty")]
    if flag.choices and (value.lower() if flag.lower else value) not in flag.choices:
        hint = did_you_mean(str(value).lower() if flag.lower else str(value), flag.choices)
        return [_problem(field, f"{value!r}: must be one of {', '.join(flag.choices)}", hint)]
    return []


def range_of(flag: Flag) -> str:
    """Return the range of a number in words, with its unit; empty if it has no range."""
    unit = f" {flag.unit}" if flag.unit else ""
    if flag.low is not None and flag.high is not None:
        return f" from {_number(flag.low)} to {_number(flag.high)}{unit}"
    if flag.low is not None:
        return f" from {_number(flag.low)}{unit}"
    return f" up to {_number(flag.high)}{unit}" if flag.high is not None else ""


def _number(value: float) -> str:
    """Format a bound with thousands separators."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:,g}"


def _problem(field: Field, cause: str, hint: str = "") -> Problem:
    return Problem("DC050", cause, Place(field.spelled), hint)
