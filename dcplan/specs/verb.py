"""A function of a request as a function of keywords, with their signature and docstring."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dcplan.specs.request import Field, Q, checked, fields_of, made, range_of

A = TypeVar("A")


def verb(request: type[Q], name: str) -> Callable[[Callable[[Q], A]], Callable[..., A]]:
    """Make a function of a request callable with the fields of the request as keywords.

    The only argument may also be the request itself. Positional fields of the command line are
    positional here, too. The request gives the signature and the parameters of the docstring.
    """

    def decorate(function: Callable[[Q], A]) -> Callable[..., A]:
        positional = [f.name for f in fields_of(request) if f.flag.argument]

        @functools.wraps(function)
        def call(*given: Any, **fields: Any) -> A:
            if len(given) == 1 and isinstance(given[0], request) and not fields:
                return function(checked(given[0]))
            if len(given) > len(positional):
                msg = f"{name} takes {len(positional)} positional arguments, not {len(given)}"
                raise TypeError(msg)
            return function(
                made(request, {**dict(zip(positional, given, strict=False)), **fields}, name)
            )

        call.__signature__ = signature_of(request)  # type: ignore[attr-defined]
        text, mark, raised = (inspect.getdoc(function) or "").partition("\nRaises\n")
        call.__doc__ = f"{text.rstrip()}\n\n{parameters_text(request)}\n{mark}{raised}"
        return call

    return decorate


def signature_of(request: type) -> inspect.Signature:
    """Return the Python signature of a request."""
    empty = inspect.Parameter.empty
    ordered = sorted(fields_of(request), key=lambda f: not f.flag.argument)
    return inspect.Signature(
        [
            inspect.Parameter(
                f.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD
                if f.flag.argument
                else inspect.Parameter.KEYWORD_ONLY,
                default=empty if f.required else f.default,
                annotation=_annotation(f),
            )
            for f in ordered
        ]
    )


def _annotation(field: Field) -> str:
    text = getattr(field.kind, "__name__", str(field.kind))
    if isinstance(field.kind, type) and issubclass(field.kind, str):
        text = "str"  # a name of a fixed list
    text = f"Sequence[{text}]" if field.repeated else text
    text = f"{text} | Mapping[str, Any]" if field.flag.pair is not None else text
    return f"{text} | None" if field.optional else text


def parameters_text(request: type) -> str:
    """Return the numpy-style list of a request's fields, with ranges, choices and units."""
    lines = ["Parameters", "----------"]
    for f in fields_of(request):
        default = "" if f.required or f.default in (None, ()) else f", default {f.default}"
        optional = ", optional" if f.default in (None, ()) else ""
        lines.append(f"{f.name} : {_annotation(f).removesuffix(' | None')}{optional}{default}")
        more = f" One of {', '.join(f.flag.choices)}." if f.flag.choices else ""
        limits = range_of(f.flag) if f.kind in (int, float) else ""
        more += f" Allowed:{limits}." if limits else ""
        unit = f" [{f.flag.unit}]" if f.flag.unit and not limits else ""
        lines.append(f"    {f.flag.help[:1].upper()}{f.flag.help[1:].rstrip('.')}.{more}{unit}")
    return "\n".join(lines)
