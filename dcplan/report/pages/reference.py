"""Reference pages: every command, scenario field, catalog, metric, column and error code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import groupby

from dcplan.answers.reference.catalog import KEY_FIELDS, catalog_list
from dcplan.answers.reference.columns import ColumnDoc, columns
from dcplan.answers.reference.fields import FieldDoc, catalog_fields, scenario_fields
from dcplan.answers.reference.metrics import metrics
from dcplan.catalog.field_docs import parts_of
from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.schema import KINDS
from dcplan.errors import CODES, MEANINGS
from dcplan.report.pages.page_text import MADE, page_table
from dcplan.report.text.numbers import shown
from dcplan.result import Table
from dcplan.scenario.schema import Scenario
from dcplan.specs import registry

OF_ALL = {"id", "name", "source", "aliases", "note"}
"""Fields of every catalog row, which the tables do not repeat."""
EXITS = (
    (0, "success; every expectation of severity error holds"),
    (1, "negative answer: an expectation failed, or `diff --exit-code` found a difference"),
    (2, "invalid request or input; every problem is reported with file, line and column"),
    (3, "proved infeasible; the conflict, the balance and tested remedies are printed"),
    (
        4,
        "incomplete: the proven gap is above the requested one, no plan was found in time, or "
        "points of a sweep are pending; results are kept, and a note says what limits the gap",
    ),
    (70, "a bug in dcplan"),
    (130, "interrupted; the best audited answer so far is kept"),
)

SCENARIO = """\
# Scenario fields

A scenario is a YAML file; unknown fields are rejected. Every number may be a plain number or
`{value, low, high, source, as_of, note}`; money also accepts `currency`. Use the ids of lists
in `--set`, `overrides` and `sweep`, as in `sites.ashburn.halls.liquid.it_mw`. If a default has
a source in brackets, dcplan uses that catalog value. `dcplan explain FIELD` prints one of
these lines, `dcplan explain FILE KEY` the value in a file.
"""
CATALOGS = """\
# Catalogs

The catalogs contain only data: YAML and CSV under `catalogs/`, each row with a source.
`dcplan catalog show ID` prints a row's values with bounds, status, source and date;
`--catalogs DIR` overlays your own rows, field by field.
"""
METRICS = """\
# Metrics

These are the keys of `metrics` in a result, of `expect:`, of `diff` and of the CSV. `<…>` is a
placeholder for an id. A result document (`dcplan.result/1`, `dcplan schema result`) contains
status, exit code, metrics with bounds and unit, tables, inputs with their sources,
expectations and warnings.
"""
TABLES = """\
# Tables

These are the columns of `tables` in a result, of its CSV files and of workbook sheets. `<…>`
is a placeholder for a name from the data. Names end in their units: `_usd`, `_kw`, `_gb_per_s`
(gigabytes), `_gbps` (gigabits), `_frac` (0.1 is 10 %). `dcplan explain COLUMN` prints these
lines.
"""
ERRORS = """\
# Error codes

Input errors end with exit code 2. All problems are reported at once: `file:line:col:
error[DCnnn]: cause`, the line, the nearest known name, and the next step. `dcplan explain
DC014` prints the text of one code.
"""


def cli() -> str:
    """Write every verb with its arguments and flags, using typer's documentation writer."""
    call = [sys.executable, "-m", "typer", "dcplan.cli.app", "utils", "docs", "--name", "dcplan"]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603 (no user input)
    text = done.stdout.replace("```console", "```text").replace("# `dcplan`", "# Command line", 1)
    return f"{MADE}{text.rstrip()}\n"


def scenario() -> str:
    """Write every field of a scenario by part."""
    texts = {name: _summary(model) for name, model in parts_of(Scenario).items()}
    out = [MADE + SCENARIO]
    for part, fields in _by_part(scenario_fields(load())).items():
        out.append(f"## {f'`{part}`' if part else 'Top level'}\n")
        out.append(texts.get(fields[0].model, "") + "\n")
        out.append(_field_table([(f.key.rpartition(".")[2], f) for f in fields]))
    return "\n".join(out)


def catalogs() -> str:
    """Write every catalog kind with its fields, and the rows of the kinds used in scenarios."""
    catalog = load()
    kinds = [(f"[`{k}`](#{k})", len(catalog.rows[k]), _summary(KINDS[k])) for k in KINDS]
    out = [MADE + CATALOGS, page_table(("kind", "rows", "what"), kinds)]
    for kind in KINDS:
        named = [(f.key.partition(".")[2], f) for f in catalog_fields(kind)]
        own = [(name, f) for name, f in named if name.split(".")[0] not in OF_ALL]
        out.append(f"## {kind}\n\n{_summary(KINDS[kind])}\n\n{_field_table(own)}")
        if kind in KEY_FIELDS:
            out.append(_rows(kind, catalog_list(kind).tables["rows"], catalog))
    return "\n".join(out)


def metric_page() -> str:
    """Write every metric by verb."""
    out = [MADE + METRICS]
    for verb, found in groupby(metrics(), key=lambda m: m.verb):
        rows = [(f"`{m.key}`", m.unit, m.meaning) for m in found]
        out.append(f"## {verb}\n\n{page_table(('metric', 'unit', 'meaning'), rows)}")
    return "\n".join(out)


def table_page() -> str:
    """Write every column by table, common columns first."""
    tables: dict[str, list[ColumnDoc]] = {"": []}
    for column in columns():
        tables.setdefault(column.table, []).append(column)
    declared = (table for verb in registry.VERBS for table in registry.tables(verb).values())
    titles = {table.name: table.title for table in declared}
    out = [MADE + TABLES]
    for name, found in sorted(tables.items()):
        heading = f"## {name or 'In any table'}\n\n"
        heading += f"*{titles[name]}.*\n\n" if titles.get(name) else ""
        rows = [(f"`{c.column}`", c.meaning) for c in found]
        out.append(heading + page_table(("column", "meaning"), rows))
    return "\n".join(out)


def error_page() -> str:
    """Write every exit code and every error code, each error code with its own anchor.

    Messages refer to this page, so it is under version control: ``docs/reference/errors.md``.
    """
    out = [ERRORS]
    for code, title in CODES.items():
        out.append(f"## {code}\n\n**{title[0].upper()}{title[1:]}.** {MEANINGS[code]}\n")
    out.append(f"## Exit codes\n\n{page_table(('exit', 'meaning'), EXITS)}")
    return "\n".join(out)


PAGES: dict[str, Callable[[], str]] = {
    "reference/cli.md": cli,
    "reference/scenario.md": scenario,
    "reference/catalogs.md": catalogs,
    "reference/metrics.md": metric_page,
    "reference/tables.md": table_page,
}
"""Path under ``docs/`` -> the function that writes the page."""


def _summary(model: type) -> str:
    """Return the first sentence of a class, on one line."""
    return " ".join((model.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")


def _by_part(fields: Sequence[FieldDoc]) -> dict[str, list[FieldDoc]]:
    """Return fields by part, in the order of the schema."""
    parts: dict[str, list[FieldDoc]] = {}
    for f in fields:
        parts.setdefault(f.key.rpartition(".")[0], []).append(f)
    return parts


def _field_table(named: Sequence[tuple[str, FieldDoc]]) -> str:
    rows = [(f"`{name}`", f.type, f.unit, f.default, f.meaning) for name, f in named]
    return page_table(("field", "type", "unit", "default", "meaning"), rows)


def _rows(kind: str, found: Table, catalog: Catalog) -> str:
    rows = []
    for record in found.records():
        name, *rest = record.items()
        source = catalog.rows[kind][str(name[1])].source.title
        rows.append((f"`{name[1]}`", *(shown(c, v) for c, v in rest), source))
    return page_table((*found.columns, "source"), rows)
