"""Facts of a plan: each is an expression over inputs and earlier facts, or frozen for a reason.

The formula of a fact is saved as text over input keys in brackets and other facts of the same place
in braces: ``{nodes} * [systems.dgx-h200.price_usd]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dcplan.errors import AuditError
from dcplan.inputs.log import Input
from dcplan.report.book.data.term import Term
from dcplan.result import Cell
from dcplan.specs.plan.book import FactRow

SAME = 1e-12
"""Relative tolerance of a formula for rounding errors."""


class Frozen(StrEnum):
    """Reason why a fact has no formula, or why an input cannot be edited for the same decisions."""

    NOT_GIVEN = "neither the scenario nor the catalog gives a value: 0"
    NOT_PAID = "no payment at this place: 0"
    PASSIVE = "a cable consumes no power: 0"
    COUNTED = "the planner counts it"
    CAPACITY = "it affects how much fits, and the number of units"
    NOT_LISTED = "it depends on catalog values that are not among the inputs"
    BY_QUARTER = "its input has one value per quarter"
    CLASS_VALUE = "the part has no specific value, only that of its class"
    DERIVED = "it is derived from other inputs"
    EXISTING = "the value of existing hardware depends on the price of its system and storage"
    RETIRES = "it sets when existing hardware retires, and what the plan may sell"
    QUOTED = "quotes by quarter replace the price"
    SHARED_WORK = "movable work runs at the cheapest place"
    ON_SITE = "plants on site share the load with the grid"


ZERO = frozenset({Frozen.NOT_GIVEN, Frozen.NOT_PAID, Frozen.PASSIVE})
"""Reasons for facts that are 0."""


@dataclass
class Facts:
    """Facts in order."""

    inputs: Mapping[str, Input]
    rows: list[FactRow] = field(default_factory=list)
    live: set[str] = field(default_factory=set)
    """Inputs used in formulas."""
    frozen: dict[tuple[Cell, ...], Frozen] = field(default_factory=dict)
    """Reason why facts have no formula, by name, place, cooling, item and quarter."""

    def knows(self, key: str) -> bool:
        """Whether the plan used an input."""
        return key in self.inputs

    def input(self, *keys: str) -> Term:
        """Return the first of some inputs that the plan used, for a formula.

        Raises
        ------
        AuditError
            When the plan used none of them, or the value is not a number.
        """
        key = next(filter(self.knows, keys), "")
        value = self.inputs[key].value if key else None
        if not isinstance(value, int | float):
            msg = f"the workbook needs the input {' or '.join(keys)}, which the plan did not use"
            raise AuditError(msg)
        self.live.add(key)
        return Term(float(value), lambda t: f"[{key}]")

    def given(self, key: str) -> Term | Frozen:
        """Return an optional input."""
        return self.input(key) if self.knows(key) else Frozen.NOT_GIVEN


@dataclass(frozen=True)
class Place:
    """Place of facts: a rack, a hall unit, a piece, a site."""

    facts: Facts
    where: tuple[str, str, str]
    quarter: int | None = None

    def write(self, name: str, unit: str, planned: float, how: Term | Frozen) -> Term:
        """Write a fact with the plan's number, and return it for later formulas.

        Raises
        ------
        AuditError
            When the formula gives a different number than the plan.
        """
        at = (name, *(x or None for x in self.where), self.quarter)
        if isinstance(how, Frozen):
            text, found = None, 0.0 if how in ZERO else planned
            self.facts.frozen[at] = how
        else:
            text, found = how.text(), how.value
        if not math.isclose(found, planned, rel_tol=SAME):
            msg = (
                f"the workbook has {found!r} for {at}, but the plan has {planned!r}: {text or how}"
            )
            raise AuditError(msg)
        place, cooling, item = (x or None for x in self.where)
        self.facts.rows.append(
            FactRow(name, place, cooling, item, self.quarter, planned, unit or None, text)
        )
        return Term(planned, lambda t: f"{{{name}}}")
