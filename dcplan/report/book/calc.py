"""The calculation sheets under construction: facts with their formulas, decisions, and rows to
refer to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dcplan.report.book.data.formula_text import OWN, REFERENCE
from dcplan.report.book.grid import Array, Key, Row, Sheet
from dcplan.report.book.source import Fact, Source


@dataclass
class Calc:
    """The sheets under construction and the rows that later ones refer to."""

    source: Source
    inputs: Mapping[str, str]
    """Address of each input's value."""
    decisions: Sheet
    power: Sheet
    fabric: Sheet
    cost: Sheet
    facts: dict[tuple[str, Key], Row] = field(default_factory=dict)
    rows: dict[tuple[str, Key], Row] = field(default_factory=dict)
    rest: dict[tuple[str, str, str], Array] = field(default_factory=dict)
    """Payments that no formula gives, as found."""
    limits: list[tuple[str, int, Row, Row]] = field(default_factory=list)
    """What is limited, the first quarter in which it is, its live row, and its limit by quarter."""

    def fact(self, name: str, key: Key) -> Row:
        """The row of a fact."""
        return self.facts[name, key]

    def decision(self, what: str, key: Key) -> Row:
        """The row of an amount; one of zeros is written where the plan has none."""
        if (what, key) not in self.rows:
            values = self.source.amount(what, key)
            self.rows[what, key] = self.decisions.frozen(what, key, "", values, total=False)
        return self.rows[what, key]

    def keep(self, name: str, key: Key, row: Row) -> Row:
        """Remember a row under a name."""
        self.rows[name, key] = row
        return row

    def limit(self, check: str, where: str, row: Row, sheet: Sheet, factor: float = 1.0) -> None:
        """Write a limit of the audit beside the live row that it holds, where the row is what the
        audit measured.
        """
        found = self.source.limits.get((check, where))
        if found is None:
            return
        since, used, most = found[0], found[1] * factor, found[2] * factor
        values = row.values[since : since + len(used)]
        if np.all(np.isclose(values, used, rtol=1e-9, atol=1e-9)) and np.all(
            values <= most + 1e-9 * (1 + abs(most))
        ):
            series = np.concatenate([np.full(since, most[0]), most])
            kept = sheet.frozen(
                f"limit: {check}", row.key, row.unit, series, "derived", total=False
            )
            self.limits.append((f"{check} of {where}", since, row, kept))

    def write_facts(
        self, sheet: Sheet, key: Key, names: tuple[str, ...], unit: str | None = None
    ) -> None:
        """Facts of one key with their formulas."""
        known = self.source.facts.get(key, {})
        for name in names:
            if name in known:
                fact = known[name]
                self.facts[name, key] = sheet.fact(
                    name,
                    key,
                    fact.unit if unit is None else unit,
                    fact.value,
                    self.formula(fact, key),
                )

    def write_series(self, sheet: Sheet, key: Key, names: tuple[str, ...]) -> None:
        """Facts of one key that vary in time."""
        known = self.source.by_quarter.get(key, {})
        for name in names:
            facts = known.get(name)
            if not facts:
                continue
            values = np.array([f.value for f in facts] + [0.0] * (self.source.length - len(facts)))
            if all(f.formula for f in facts):
                texts = [self.formula(f, key) or "0" for f in facts]
                row = sheet.line(name, key, facts[0].unit, values, _listed(texts), total=False)
            else:
                row = sheet.frozen(name, key, facts[0].unit, values, "derived", total=False)
            self.facts[name, key] = row

    def formula(self, fact: Fact, key: Key) -> str | None:
        """A fact's formula over addresses; None for a plain number."""
        if not fact.formula:
            return None
        text = REFERENCE.sub(lambda m: self.inputs[m[1]], fact.formula)
        return OWN.sub(lambda m: self.facts[m[1], key].cell(), text).replace("**", "^")


def _listed(texts: list[str]) -> Callable[[int], str]:
    return lambda t: texts[t] if t < len(texts) else "0"


def times(row: Row, fact: Row) -> Callable[[int], str]:
    """A row times a single value."""
    return lambda t: f"{row.at(t)} * {fact.cell()}"
