"""Series by quarter in raw data: their fields, and growth expanded to one value per quarter.

``{start: 2e5, growth_frac_per_quarter: 0.15}`` becomes a list when the scenario loads, so that
every reader sees one quantity per quarter. The raw data keep the mapping, whose keys ``--set``
changes.
"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from dcplan.catalog.explain_validation import Locatable, problems_of
from dcplan.catalog.schema.ranges import ByQuarter
from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import LARGEST, Path, Quantity, Status, sealed
from dcplan.scenario.schema import Scenario
from dcplan.units import quarter_index, quarter_name

Pattern = tuple[str, ...]
START, GROWTH, FROM, SHIFT = "start", "growth_frac_per_quarter", "from", "shift_quarters"
KEYS = (START, GROWTH, FROM, SHIFT)
FORM = "{start: 2e5, growth_frac_per_quarter: 0.15}"
MOST_GROWTH = 10.0
"""Largest growth per quarter: a typing mistake beyond, such as 15 for 15%."""
MOST_QUARTERS = 80
"""Longest horizon, and the largest shift."""


@functools.cache
def series_fields() -> dict[Pattern, Any]:
    """Return every field of a scenario that takes a series, with the type of one of its values.

    Examples
    --------
    >>> ("sites", "*", "utility_mw") in series_fields()
    True
    """
    return dict(_fields(Scenario, ()))


def _fields(model: type[BaseModel], at: Pattern) -> Iterator[tuple[Pattern, Any]]:
    for name, info in model.model_fields.items():
        yield from _of_type(info.annotation, info.metadata, (*at, info.alias or name))


def _of_type(
    annotation: Any, metadata: typing.Sequence[Any], at: Pattern
) -> Iterator[tuple[Pattern, Any]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from _fields(annotation, at)
    elif ByQuarter in metadata:
        yield at, typing.get_args(annotation)[0]
    elif typing.get_origin(annotation) is typing.Annotated:
        inner, *marks = typing.get_args(annotation)
        yield from _of_type(inner, marks, at)
    else:
        many = typing.get_origin(annotation) in (list, tuple)
        for part in typing.get_args(annotation):
            yield from _of_type(part, (), (*at, "*") if many else at)


def is_series(path: Path) -> bool:
    """Whether a path of the raw data is a field that takes a series.

    Examples
    --------
    >>> is_series(("sites", 0, "utility_mw")), is_series(("horizon", "start"))
    (True, False)
    """
    return tuple("*" if isinstance(part, int) else part for part in path) in series_fields()


def matches(node: Any, pattern: Pattern, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield path and value of each place of the raw data that a pattern matches.

    Examples
    --------
    >>> list(matches({"sites": [{"utility_mw": 4}]}, ("sites", "*", "utility_mw")))
    [(('sites', 0, 'utility_mw'), 4)]
    """
    if not pattern:
        yield at, node
    elif pattern[0] == "*":
        for i, item in enumerate(node if isinstance(node, list) else ()):
            yield from matches(item, pattern[1:], (*at, i))
    elif isinstance(node, dict) and pattern[0] in node:
        yield from matches(node[pattern[0]], pattern[1:], (*at, pattern[0]))


def is_growth(value: Any) -> bool:
    """Whether a value of a series is a start that grows, rather than a quantity or a list.

    Examples
    --------
    >>> is_growth({"start": 4, "growth_frac_per_quarter": 0.1}), is_growth({"value": 4})
    (True, False)
    """
    return isinstance(value, Mapping) and any(key in value for key in KEYS)


def expanded(
    data: Any, source: Locatable, locate: Callable[[Path], str]
) -> tuple[Any, list[Problem]]:
    """Return the data with every growth as a list of one quantity per quarter, and its problems.

    The value of quarter t is ``start * (1 + growth)^n``, where n counts the quarters from ``from``
    (0 before), or from the start of the horizon. A wrong growth becomes 0, so that other checks
    run.

    Parameters
    ----------
    data : mapping
        Raw scenario with amounts in USD.
    source : Locatable
        Source of the places of problems.
    locate : callable
        ``file:line:col`` of a path.
    """
    problems: list[Problem] = []
    for pattern, kind in series_fields().items():
        for path, value in matches(data, pattern):
            if is_growth(value):
                found = _Growth(value, path, source, _horizon(data), problems)
                data = _replaced(data, path, found.values(kind, locate(path)))
    return data, problems


def _replaced(node: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    if isinstance(node, list):
        return [_replaced(x, path[1:], value) if i == path[0] else x for i, x in enumerate(node)]
    return {k: _replaced(v, path[1:], value) if k == path[0] else v for k, v in node.items()}


def _horizon(data: Any) -> tuple[int, int] | None:
    """Return index of the first quarter and number of quarters; None if the horizon is wrong."""
    given = data.get("horizon")
    if not isinstance(given, Mapping):
        return None
    first, quarters = _quarter(given.get("start")), given.get("quarters")
    if first is None or not isinstance(quarters, int) or not 1 <= quarters <= MOST_QUARTERS:
        return None
    return first, quarters


def _quarter(text: Any) -> int | None:
    try:
        return quarter_index(text) if isinstance(text, str) else None
    except ValueError:
        return None


@dataclass(frozen=True)
class _Growth:
    """The mapping of one growth with its checks."""

    given: Mapping[str, Any]
    path: Path
    source: Locatable
    horizon: tuple[int, int] | None
    problems: list[Problem]

    def values(self, kind: Any, at: str) -> list[Quantity]:
        """Return one quantity per quarter; a single 0 if the growth or the horizon is wrong."""
        before = len(self.problems)
        self._check_keys()
        start, growth = self._start(kind, at), self._growth()
        moved = self._whole()
        first = self._first(moved)
        if len(self.problems) > before or self.horizon is None or start is None:
            return [Quantity(value=0.0)]
        words = self._words(start.value, growth, moved)
        zero = f"0 before {quarter_name(self.horizon[0] + first + moved)}" * (FROM in self.given)
        steps = [t - moved - first for t in range(self.horizon[1])]
        try:
            return [
                start.times(0.0, zero) if zero and n < 0 else _value(start, growth, n, words)
                for n in steps
            ]
        except ValidationError:
            self._add("DC004", f"{words} exceeds {LARGEST:g} within the horizon", GROWTH)
            return [Quantity(value=0.0)]

    def _add(
        self, code: str, cause: str, *keys: str, key: bool = False, hint: str = "", help: str = FORM
    ) -> None:
        dotted = ".".join(map(str, (*self.path, *keys)))
        self.problems.append(
            self.source.problem(
                code, f"{dotted}: {cause}", (*self.path, *keys), key=key, hint=hint, help=help
            )
        )

    def _check_keys(self) -> None:
        for name in self.given:
            if name not in KEYS:
                self._add("DC002", "unknown field", name, key=True, hint=did_you_mean(name, KEYS))
        # a demand that only begins later has a start and a first quarter
        needed = (START,) if {FROM, SHIFT} & set(self.given) else (START, GROWTH)
        for name in needed:
            if name not in self.given:
                self._add("DC003", f"growth needs {name}")

    def _start(self, kind: Any, at: str) -> Quantity | None:
        """Return the start value with status and place."""
        given = self.given.get(START)
        if START not in self.given:
            return None
        if isinstance(given, list):
            help_text = "give one number, or the list without start"
            self._add("DC004", "growth has one start, got a list", START, help=help_text)
            return None
        try:
            found: Quantity = TypeAdapter(kind).validate_python(given)
        except ValidationError as error:
            found_here = problems_of(error, self.source, Quantity, (*self.path, START))
            self.problems.extend(replace(problem, help=FORM) for problem in found_here)
            return None
        sealed_start: Quantity = sealed(found, status=Status.INPUT, locate=lambda _: at)
        return sealed_start

    def _growth(self) -> float:
        given = self.given.get(GROWTH, 0.0)
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if number and math.isfinite(given) and -1.0 < given <= MOST_GROWTH:
            return float(given)
        cause = f"expected a fraction above -1 and at most {MOST_GROWTH:g}, got {given!r}"
        self._add("DC004", cause, GROWTH, help="0.15 is 15% more each quarter, -0.1 is 10% less")
        return 0.0

    def _whole(self) -> int:
        given = self.given.get(SHIFT, 0)
        if isinstance(given, int) and not isinstance(given, bool) and abs(given) <= MOST_QUARTERS:
            return given
        cause = f"expected an integer from -{MOST_QUARTERS} to {MOST_QUARTERS}, got {given!r}"
        self._add("DC004", cause, SHIFT, help="2 is two quarters later, -1 one quarter earlier")
        return 0

    def _first(self, moved: int) -> int:
        """Return the quarter of the horizon from which growth counts, before the shift."""
        if FROM not in self.given or self.horizon is None:
            return 0
        start, quarters = self.horizon
        given = _quarter(self.given[FROM])
        if given is None:
            cause = f"expected a quarter such as 2027-Q3, got {self.given[FROM]!r}"
            self._add("DC004", cause, FROM)
            return 0
        last = quarter_name(start + quarters - 1)
        if not 0 <= given - start < quarters or given - start + moved >= quarters:
            late = f" {moved} quarters later" if moved > 0 else ""
            cause = (
                f"{self.given[FROM]}{late} is outside the horizon {quarter_name(start)} to {last}"
            )
            self._add("DC015", cause, FROM, help="give a quarter of the horizon, or leave from out")
        return given - start

    def _words(self, start: float, growth: float, moved: int) -> str:
        """Return the note of the values: start, growth, first quarter and shift."""
        way = "growing" if growth >= 0.0 else "falling"
        since = f" from {self.given[FROM]}" if FROM in self.given else ""
        unit = "quarter" if abs(moved) == 1 else "quarters"
        by = f", {abs(moved)} {unit} {'later' if moved > 0 else 'earlier'}" if moved else ""
        return f"{start:,g} {way} {abs(growth) * 100.0:g}% a quarter{since}{by}"


def _value(start: Quantity, growth: float, quarters: int, words: str) -> Quantity:
    """Return start * (1 + growth)^quarters; the start value holds before."""
    note = "; ".join(filter(None, (start.note, words)))
    return start.times((1.0 + growth) ** max(quarters, 0), note)
