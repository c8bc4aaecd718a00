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
"""Part of the plan's number that a formula may miss by rounding."""


class Frozen(StrEnum):
    """Why a fact has no formula, or why an input is not edited for the same decisions."""

    NOT_GIVEN = "neither the scenario nor the catalog gives one: 0"
    NOT_PAID = "nothing is paid for it at this place: 0"
    PASSIVE = "a cable draws no power: 0"
    COUNTED = "the planner counts it"
    CAPACITY = "it decides how much fits, and how many units there are"
    NOT_LISTED = "it follows from catalog values that are not among the inputs"
    BY_QUARTER = "its input has one value for each quarter"
    CLASS_VALUE = "the part has no figure of its own, only that of its class"
    DERIVED = "it follows from other inputs"
    EXISTING = "existing hardware is worth what its system and storage cost"
    QUOTED = "quotes by quarter replace the price"
    SHARED_WORK = "work that can move goes where it is cheapest"
    ON_SITE = "plants on the site share the load with the grid"


ZERO = frozenset({Frozen.NOT_GIVEN, Frozen.NOT_PAID, Frozen.PASSIVE})
"""Reasons of facts that are 0."""


@dataclass
class Facts:
    """Facts in their order."""

    inputs: Mapping[str, Input]
    rows: list[FactRow] = field(default_factory=list)
    live: set[str] = field(default_factory=set)
    """Inputs that formulas read."""
    frozen: dict[tuple[Cell, ...], Frozen] = field(default_factory=dict)
    """Why facts have no formula, by name, place, cooling, item and quarter."""

    def knows(self, key: str) -> bool:
        """Whether the plan used an input."""
        return key in self.inputs

    def input(self, *keys: str) -> Term:
        """Return the first of some inputs that the plan used, for a formula.

        Raises
        ------
        AuditError
            When it used none of them, or the value is no number.
        """
        key = next(filter(self.knows, keys), "")
        value = self.inputs[key].value if key else None
        if not isinstance(value, int | float):
            msg = f"the workbook needs the input {' or '.join(keys)}, which the plan did not use"
            raise AuditError(msg)
        self.live.add(key)
        return Term(float(value), lambda t: f"[{key}]")

    def given(self, key: str) -> Term | Frozen:
        """Return an input that a scenario may leave out."""
        return self.input(key) if self.knows(key) else Frozen.NOT_GIVEN


@dataclass(frozen=True)
class Place:
    """Where facts belong: a rack, a hall unit, a piece, a site."""

    facts: Facts
    where: tuple[str, str, str]
    quarter: int | None = None

    def write(self, name: str, unit: str, planned: float, how: Term | Frozen) -> Term:
        """Write a fact with the plan's own number and return it for later formulas.

        Raises
        ------
        AuditError
            When the formula gives another number than the plan has.
        """
        at = (name, *(x or None for x in self.where), self.quarter)
        if isinstance(how, Frozen):
            text, found = None, 0.0 if how in ZERO else planned
            self.facts.frozen[at] = how
        else:
            text, found = how.text(), how.value
        if not math.isclose(found, planned, rel_tol=SAME):
            msg = f"the workbook has {found!r} for {at}, the plan {planned!r}: {text or how}"
            raise AuditError(msg)
        place, cooling, item = (x or None for x in self.where)
        self.facts.rows.append(
            FactRow(name, place, cooling, item, self.quarter, planned, unit or None, text)
        )
        return Term(planned, lambda t: f"{{{name}}}")
