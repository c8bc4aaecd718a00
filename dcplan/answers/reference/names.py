"""``dcplan explain FIELD | METRIC | CODE``: the meaning of a name, without a scenario."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.reference.columns import ColumnDoc, columns
from dcplan.answers.reference.columns import named as columns_named
from dcplan.answers.reference.fields import (
    STANDS_IN,
    FieldDoc,
    catalog_fields,
    fine_tuning_fields,
    scenario_fields,
)
from dcplan.answers.reference.glossary import term_named, terms
from dcplan.answers.reference.metrics import MetricDoc, fits, metrics
from dcplan.catalog.loader import load as catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import KINDS, Term
from dcplan.errors import CODES, EXIT_OK, MEANINGS, InputError, Place, Problem, did_you_mean
from dcplan.planning.problem.build import build
from dcplan.result import Result, Table
from dcplan.scenario.ref import ScenarioRef
from dcplan.scenario.tree import split_key
from dcplan.specs import explain as specs
from dcplan.specs.headers import header

CODE = re.compile(r"[Dd][Cc]\d{3}")
PAGE = "docs/reference/errors.md"


def documented(word: str) -> Result:
    """Explain a code, a metric, a field or a table column.

    Raises
    ------
    InputError
        When no such name exists.
    """
    if CODE.fullmatch(word):
        return _code(word.upper())
    found, named, columned = _fields(word), _metrics(word), columns_named(word)
    term = term_named(word)
    if not found and not named and not columned and term is None:
        examples = [p.stem for p in data_dir("scenarios").glob("*.yaml")]
        names = [
            *examples,
            *(f.key for f in scenario_fields()),
            *(m.key for m in metrics()),
            *(c.column for c in columns()),
            *(t.name for t in terms()),
            *(header(c.column) for c in columns()),
        ]
        hint = did_you_mean(word, [*names, *(n.split(".")[-1] for n in names)])
        cause = f"{word!r} is not a file, field, metric, column, term or code"
        raise InputError(
            [Problem("DC002", cause, Place("explain"), hint, "docs/reference lists all names")]
        )
    if columned and "." in word:  # a table column, even if it also matches the pattern of a metric
        named = [m for m in named if word in m.key.split(", ")]
    tables = {}
    if term is not None:
        tables["terms"] = specs.TERMS.table([_term_row(term)])
    if found:
        tables["fields"] = _field_table(found)
    if named:
        tables["metrics"] = specs.METRICS.table(
            specs.MetricRow(m.key, m.verb, m.unit, m.meaning) for m in named
        )
    if columned:
        tables["columns"] = specs.COLUMNS.table(
            specs.ColumnRow(c.column, c.table or "any", c.meaning) for c in columned
        )
    first = [f"{term.name}: {term.definition}"] if term else []
    first += [f"{f.key}: {f.meaning}" for f in found] + [f"{m.key}: {m.meaning}" for m in named]
    first += [_in_table(c) for c in columned]
    more = len(first) - 1
    headline = first[0] + (
        f" ({more} more {'entry' if more == 1 else 'entries'} below)" if more else ""
    )
    return Result("explain", "ok", EXIT_OK, headline, tables=tables)


def value_of(ref: ScenarioRef, key: str) -> Result:
    """Explain a value of a scenario: its value, origin and meaning.

    Raises
    ------
    InputError
        When the scenario is invalid, or the plan uses no such value.
    """
    question = ref.question()
    inputs = inputs_of(build(question))
    fields = _fields(key)
    stands_in = {f"{kind}.{name}" for f in fields for kind, name in STANDS_IN.findall(f.meaning)}
    found = [r for r in inputs if _below(str(r["key"]), key)] or [
        r for r in inputs if r["key"] in stands_in
    ]
    if not found:
        hint = did_you_mean(key, [str(r["key"]) for r in inputs])
        cause = f"this plan uses no value {key!r}" + (f": {fields[0].meaning}" if fields else "")
        help_text = f"dcplan check {ref.scenario} -v lists all values"
        if _metrics(key):
            cause = f"{key!r} is a figure of the answer, not an input of the plan"
            help_text, hint = f"dcplan explain {key}", ""
        raise InputError([Problem("DC014", cause, Place("explain"), hint, help_text)])
    first = found[0]
    name, status = str(first["key"]), str(first["status"])
    if not _below(name, key):  # a default of the catalog is used
        name, status = key, f"{status}, default {name}"
    values = Table(
        specs.VALUES.names, tuple(tuple(row[c] for c in specs.VALUES.names) for row in found)
    )
    tables = {specs.VALUES.name: values}
    if fields:
        tables["fields"] = _field_table(fields)
    text = (
        f"{name} = {first['value']:,.6g}"
        if isinstance(first["value"], float)
        else f"{name}: {first['value']}"
    )
    headline = f"{text} {first['unit']}".rstrip() + f" ({status})"
    return Result("explain", "ok", EXIT_OK, headline, scenario=describe(question), tables=tables)


def _term_row(term: Term) -> specs.TermRow:
    return specs.TermRow(
        term.name, term.unit, term.definition, term.standard, term.used_in, term.source.title
    )


def _in_table(doc: ColumnDoc) -> str:
    where = f"table {doc.table}" if doc.table else "any table"
    return f"{doc.column} ({where}): {doc.meaning}"


def _below(key: str, asked: str) -> bool:
    """Whether an input is the requested key or a part of it."""
    return key == asked or key.startswith((f"{asked}.", f"{asked}["))


def _field_table(found: Sequence[FieldDoc]) -> Table:
    return specs.FIELDS.table(
        specs.FieldRow(f.key, f.of, f.type, f.unit, f.default, f.meaning) for f in found
    )


def _code(code: str) -> Result:
    if code not in CODES:
        hint = did_you_mean(code, CODES)
        raise InputError(
            [Problem("DC002", f"no code {code}", Place("explain"), hint, f"all codes: {PAGE}")]
        )
    rows = (
        specs.AboutRow("code", code),
        specs.AboutRow("title", CODES[code]),
        specs.AboutRow("meaning", MEANINGS[code]),
        specs.AboutRow("page", f"{PAGE}#{code.lower()}"),
    )
    headline = f"{code}: {CODES[code]}. {MEANINGS[code]} ({PAGE}#{code.lower()})"
    return Result("explain", "ok", EXIT_OK, headline, tables={"about": specs.ABOUT.table(rows)})


def _metrics(word: str) -> list[MetricDoc]:
    """Return metrics with this key; ``<…>`` matches any id."""
    return [
        m for m in metrics() if word == m.key or any(fits(key, word) for key in m.key.split(", "))
    ]


def _fields(word: str) -> list[FieldDoc]:
    """Return fields by their full key with or without ids, or by their last name only."""
    try:
        parts = split_key(word)
    except ValueError:
        return []
    scenario = [*scenario_fields(catalog()), *fine_tuning_fields(catalog())]
    whole = [f for f in scenario if _matches(f.key.split("."), parts)]
    roots = [f.key for f in whole] or [".".join(parts)]
    whole += [f for f in scenario if f.key.startswith(tuple(f"{root}." for root in roots))]
    if not whole and parts and parts[0] in KINDS:
        whole = [f for f in catalog_fields(parts[0]) if _matches(f.key.split("."), parts)]
    if whole or len(parts) != 1:
        return whole
    rest = [f for kind in KINDS for f in catalog_fields(kind)]
    named = [f for f in (*scenario, *rest) if f.key.split(".")[-1] == word]
    return list({(f.model, f.of): f for f in reversed(named)}.values())[::-1]


def _matches(key: list[str], parts: list[str]) -> bool:
    """Whether a typed key matches a field; ids between its names are ignored."""
    left = iter(parts)
    return (
        bool(parts)
        and parts[-1] == key[-1]
        and parts[0] == key[0]
        and all(name in left for name in key)
        and (len(parts) <= 2 * len(key))
    )
