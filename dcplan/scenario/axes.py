"""Axes of a sweep: values of one input, listed, stepped or sampled from a distribution.

In a file: ``sweep: {sites.a.energy.usd_per_kwh: {range: [0.08, 0.2], step: 0.04}}``.
On the command line: ``--set sites.a.energy.usd_per_kwh=range(0.08,0.2,0.04)``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.catalog.yaml12 import Document, parse
from dcplan.errors import InputError, Problem, did_you_mean
from dcplan.scenario.schema import Scenario
from dcplan.scenario.shift import NAME as SHIFT_NAME
from dcplan.scenario.tree import Tree, set_document

MOST_VALUES = 100_000
DIGITS = 12
"""Significant digits of stepped values: 0.08 + 2 * 0.04 is 0.16."""
LISTS = {
    "choice": "choice(a,b,…)",
    "range": "range(first,last[,step]), last included",
    "linspace": "linspace(first,last,n)",
    "logspace": "logspace(first,last,n)",
}
SPREADS = {
    "uniform": "uniform(low,high)",
    "normal": "normal(mean,sd)",
    "lognormal": "lognormal(median,sigma)",
    "triangular": "triangular(low,mode,high)",
}
FORMS = LISTS | SPREADS
CALL = re.compile(r"\s*([a-z]+)\s*\((.*)\)\s*", re.DOTALL)


@dataclass(frozen=True)
class Axis:
    """One input that a sweep varies: its values, or its distribution."""

    key: str
    values: tuple[Any, ...] = ()
    kind: str = "choice"
    numbers: tuple[float, ...] = ()
    """Parameters of a distribution."""

    @property
    def sampled(self) -> bool:
        """Whether values are sampled rather than listed."""
        return self.kind in SPREADS


def axes_of(scenario: Scenario, tree: Tree) -> list[Axis]:
    """Axes of a file's ``sweep:``.

    Raises
    ------
    InputError
        With every wrong axis and its place.
    """
    found, problems = [], []
    for key, spec in scenario.sweep.items():
        try:
            found.append(_axis(key, *_form(spec)))
        except ValueError as error:
            problems.append(tree.problem("DC051", f"sweep: {key}: {error}", ("sweep", key)))
    if problems:
        raise InputError(problems)
    return found


def _form(spec: Any) -> tuple[str, list[Any]]:
    """Kind and arguments of a value under ``sweep:``."""
    if isinstance(spec, list):
        return "choice", spec
    if not isinstance(spec, Mapping):
        msg = "expected a list of values or one of " + ", ".join(
            f"{{{name}: […]}}" for name in FORMS
        )
        raise ValueError(msg)  # noqa: TRY004 - reported with its place like any wrong value
    rest = {k: v for k, v in spec.items() if k != "step"}
    if len(rest) != 1 or next(iter(rest)) not in FORMS:
        hint = did_you_mean(next(iter(rest), ""), FORMS)
        msg = f"expected one of {', '.join(FORMS)}, got {', '.join(map(str, rest)) or 'nothing'} {hint}".strip()
        raise ValueError(msg)
    kind, arguments = next(iter(rest.items()))
    if not isinstance(arguments, list):
        msg = f"{kind} needs a list"
        raise ValueError(msg)  # noqa: TRY004 - reported with its place like any wrong value
    if "step" in spec and kind != "range":
        msg = f"step is valid only with range, not with {kind}"
        raise ValueError(msg)
    return kind, [*arguments, spec["step"]] if "step" in spec else arguments


def split_sets(sets: Sequence[str]) -> tuple[list[Axis], list[str]]:
    """Separate axes from plain ``--set`` changes.

    Raises
    ------
    InputError
        With every wrong axis.

    Examples
    --------
    >>> axes, plain = split_sets(["a.b=range(1,3)", "c=[1,2]", "d=x,y"])
    >>> [(x.key, x.values) for x in axes], plain
    ([('a.b', (1, 2, 3)), ('d', ('x', 'y'))], ['c=[1,2]'])
    """
    axes, plain, problems = [], [], []
    for text in sets:
        key, mark, value = text.partition("=")
        form = _called(value) if mark else None
        if form is None:
            plain.append(text)
            continue
        document = Document(f"--set {key.strip()}", None)
        try:
            axes.append(_axis(key.strip(), form[0], [_value(part) for part in form[1]]))
        except ValueError as error:
            problems.append(document.problem("DC051", f"--set {text}: {error}", ()))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return axes, plain


def _called(text: str) -> tuple[str, list[str]] | None:
    """Kind and arguments of ``kind(…)`` or of a bare list with commas; None for a plain value."""
    call = CALL.fullmatch(text)
    if call and call[1] != SHIFT_NAME:
        if call[1] in FORMS:
            return call[1], _parts(call[2])
        hint = did_you_mean(call[1], (*FORMS, SHIFT_NAME))
        if hint:
            msg = f"unknown form {call[1]!r} {hint}; forms: {'; '.join(FORMS.values())}"
            raise InputError([Problem("DC051", f"--set …={text}: {msg}")])
        return None
    parts = _parts(text)
    return ("choice", parts) if len(parts) > 1 else None


def _parts(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        if char == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _value(text: str) -> Any:
    """A YAML value on the command line."""
    return set_document(f"value={text}")[1].data if text.strip() else parse("''", "--set").data


def _axis(key: str, kind: str, arguments: Sequence[Any]) -> Axis:
    """Expand one axis.

    Raises
    ------
    ValueError
        When its arguments do not fit its kind.
    """
    if kind == "choice":
        if not arguments or any(a == "" for a in arguments):
            msg = "an empty value"
            raise ValueError(msg)
        if any(
            a == b and type(a) is type(b) for i, a in enumerate(arguments) for b in arguments[:i]
        ):
            msg = "the same value twice"
            raise ValueError(msg)
        return Axis(key, tuple(arguments))
    numbers = [_number(a, kind) for a in arguments]
    lengths = {"range": (2, 3), "linspace": (3,), "logspace": (3,), "triangular": (3,)}.get(
        kind, (2,)
    )
    if len(numbers) not in lengths:
        msg = f"expected {FORMS[kind]}"
        raise ValueError(msg)
    if kind in SPREADS:
        return Axis(key, (), kind, _spread(kind, numbers))
    found = [float(f"{x:.{DIGITS}g}") for x in _STEPPED[kind](numbers)]
    whole = all(isinstance(a, int) for a in arguments) and all(x.is_integer() for x in found)
    return Axis(key, tuple(int(x) if whole else x for x in found), kind)


def _number(value: Any, kind: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        msg = f"{kind} needs numbers, got {value!r}"
        raise ValueError(msg)
    return float(value)


def _spread(kind: str, numbers: list[float]) -> tuple[float, ...]:
    a, b = numbers[0], numbers[1]
    good = {
        "uniform": a < b,
        "normal": b > 0.0,
        "lognormal": a > 0.0 and b > 0.0,
        "triangular": a <= b <= numbers[-1] and a < numbers[-1],
    }
    if not good[kind]:
        msg = f"{', '.join(f'{x:g}' for x in numbers)} are not {SPREADS[kind]}"
        raise ValueError(msg)
    return tuple(numbers)


def _stepped(numbers: list[float]) -> list[float]:
    first, last, step = (*numbers, 1.0)[:3]
    if len(numbers) == 2 and abs(last - first) < 1.0:
        msg = f"give a step between {first:g} and {last:g}: {FORMS['range']}"
        raise ValueError(msg)
    if step == 0.0 or (last - first) / step < 0.0:
        msg = f"a step of {step:g} does not go from {first:g} to {last:g}"
        raise ValueError(msg)
    count = _counted((last - first) / step + 1e-9 + 1.0)
    return [first + i * step for i in range(count)]


def _even(numbers: list[float]) -> list[float]:
    first, last, n = numbers
    count = _counted(n)
    return [first + (last - first) * i / max(count - 1, 1) for i in range(count)]


def _log_even(numbers: list[float]) -> list[float]:
    first, last, n = numbers
    if first <= 0.0 or last <= 0.0:
        msg = "logspace needs two values above 0"
        raise ValueError(msg)
    return [math.exp(x) for x in _even([math.log(first), math.log(last), n])]


def _counted(n: float) -> int:
    if not 1 <= n <= MOST_VALUES:
        msg = f"{n:g} values: must be 1 to {MOST_VALUES:,}"
        raise ValueError(msg)
    return int(n)


_STEPPED: dict[str, Callable[[list[float]], list[float]]] = {
    "range": _stepped,
    "linspace": _even,
    "logspace": _log_even,
}
