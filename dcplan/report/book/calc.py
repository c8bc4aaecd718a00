"""The calculation sheets under construction: facts, decisions and referenced rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.report.book.data.term import Array, Operand, Term, by_quarter, read
from dcplan.report.book.grid import NOWHERE, Key, Row, Sheet
from dcplan.report.book.source import Fact, Line, Source


@dataclass
class Calc:
    """The sheets under construction, and the rows that later sheets refer to."""

    source: Source
    decisions: Sheet
    power: Sheet
    fabric: Sheet
    cost: Sheet
    facts: dict[tuple[str, Key], Row] = field(default_factory=dict)
    rows: dict[tuple[str, Key], Row] = field(default_factory=dict)
    lines: dict[Line, Row] = field(default_factory=dict)
    """Payments."""
    left: list[Row] = field(default_factory=list)
    """Residual value at the end of the horizon (money received)."""
    ends: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    """The same rows by line and site."""
    rest: dict[Line, Array] = field(default_factory=dict)
    """Payments without a formula, with their values in the plan."""
    limits: list[tuple[str, int, Row, Row]] = field(default_factory=list)
    """Name, first limited quarter, live row, and limit by quarter."""

    def fact(self, name: str, key: Key = NOWHERE) -> Row:
        """Return the row of a fact."""
        return self.facts[name, key]

    def decision(self, what: str, key: Key) -> Row:
        """Return the row of an amount; write a row of zeros if the plan has none."""
        if (what, key) not in self.rows:
            values = self.source.amount(what, key)
            self.rows[what, key] = self.decisions.frozen(what, key, "", values, total=False)
        return self.rows[what, key]

    def keep(self, name: str, row: Row) -> Row:
        """Remember a row under a name and its key."""
        self.rows[name, row.key] = row
        return row

    def keep_left(self, kind: str, share: Term) -> Row:
        """Write the share of the price left at the end, by quarter of purchase, as a formula."""
        key = (kind, "", "")
        row = self.decisions.line("share left", key, "fraction", share, total=False)
        return self.keep("share left", row)

    def limit(self, check: str, where: str, row: Row, sheet: Sheet, factor: float = 1.0) -> None:
        """Write a limit of the audit for its live row, if the audit measured it."""
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

    def write_facts(self, sheet: Sheet, key: Key, names: tuple[str, ...]) -> None:
        """Write facts of one key with their formulas."""
        known = self.source.facts.get(key, {})
        for name in names:
            if name in known:
                fact = known[name]
                value = self.term(fact, key) if fact.formula else fact.value
                self.facts[name, key] = sheet.fact(name, key, fact.unit, value)

    def cooled(self, name: str, key: Key) -> Row:
        """Return PUE or WUE of the racks of a placement: its own, or that of the hall as designed."""
        hall, cooling, _ = key
        return self.fact(name, key if (name, key) in self.facts else (hall, cooling, ""))

    def write_series(self, sheet: Sheet, key: Key, names: tuple[str, ...]) -> None:
        """Write facts of one key that vary in time."""
        known = self.source.by_quarter.get(key, {})
        for name in names:
            facts = known.get(name)
            if not facts:
                continue
            length, unit = self.source.length, facts[0].unit
            if all(f.formula for f in facts):
                term = by_quarter([self.term(f, key) for f in facts], length)
                row = sheet.line(name, key, unit, term, total=False)
            else:
                values = np.array([f.value for f in facts] + [0.0] * (length - len(facts)))
                row = sheet.frozen(name, key, unit, values, "derived", total=False)
            self.facts[name, key] = row

    def term(self, fact: Fact, key: Key) -> Term:
        """Return the formula of a fact over the cells of inputs and of other facts."""

        def own(name: str) -> Operand:
            return self.facts[name, key]

        return read(fact.formula, self.source.inputs.__getitem__, own)
