"""Pages of docs/reference, written from the code: each command, field, catalog, metric and code
stands there once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby

from dcplan.answers.reference.catalog import KEY_FIELDS, catalog_list
from dcplan.answers.reference.columns import columns
from dcplan.answers.reference.fields import FieldDoc, catalog_fields, scenario_fields
from dcplan.answers.reference.metrics import metrics
from dcplan.catalog.field_docs import parts_of
from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.schema import KINDS
from dcplan.errors import CODES, MEANINGS
from dcplan.report.headings import SECTIONS
from dcplan.report.numbers import shown
from dcplan.result import Table
from dcplan.scenario.schema import Scenario

MADE = (
    "<!-- written from the code by tests/docs/test_reference.py; "
    "pytest tests/docs --update-golden writes it anew -->\n"
)
OF_ALL = {"id", "name", "source", "aliases", "note"}
"""Fields of every catalog row."""
EXITS = (
    (0, "done; every expectation of severity error holds"),
    (
        1,
        "it worked and the answer is no: an expectation failed, or `diff --exit-code` found a difference",
    ),
    (2, "the request or the input is wrong; every problem is named by file, line and column"),
    (3, "proved infeasible; the conflict and the smallest changes that help are printed"),
    (
        4,
        "incomplete: time ran out before the gap, or points of a sweep are left; what there is is kept",
    ),
    (70, "a bug in dcplan"),
    (130, "interrupted; the best audited answer so far is kept"),
)


def pages() -> dict[str, str]:
    """File name -> text of every reference page."""
    catalog = load()
    return {
        "cli.md": cli(),
        "scenario.md": scenario(catalog),
        "catalogs.md": catalogs(catalog),
        "metrics.md": metric_page(),
        "tables.md": table_page(),
        "errors.md": errors(),
    }


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; what would break a cell is escaped."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def cli() -> str:
    """Every verb with its arguments and flags, by typer's own writer."""
    call = [sys.executable, "-m", "typer", "dcplan.cli.app", "utils", "docs", "--name", "dcplan"]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120)
    text = done.stdout.replace("```console", "```text").replace("# `dcplan`", "# Command line", 1)
    return f"{MADE}{text.rstrip()}\n\n## Exit codes\n\n{table(('exit', 'meaning'), EXITS)}"


def scenario(catalog: Catalog) -> str:
    """Every field of a scenario by the part it stands in."""
    texts = {
        name: (model.__doc__ or "").strip().split("\n")[0]
        for name, model in parts_of(Scenario).items()
    }
    out = [
        MADE + "# Scenario fields\n",
        "A scenario is a YAML file; unknown fields are refused. Every number may be bare or\n"
        "`{value, low, high, source, as_of, note}`; money also takes `currency`. Lists with ids are addressed as\n"
        "`sites.ashburn.halls.liquid.it_mw` in `--set`, `overrides` and `sweep`. Where a default has a source in\n"
        "brackets, that catalog value stands in.\n"
        "`dcplan explain FIELD` prints one of these lines, `dcplan explain FILE KEY` the value in a file.\n",
    ]
    for prefix, found in groupby(_by_part(scenario_fields(catalog)), key=lambda pair: pair[0]):
        fields = [f for _, f in found]
        out.append(f"## {f'`{prefix}`' if prefix else 'Top level'}\n")
        out.append(texts.get(fields[0].model, "").replace("``", "`") + "\n")
        out.append(_field_table(fields))
    return "\n".join(out)


def _by_part(fields: list[FieldDoc]) -> list[tuple[str, FieldDoc]]:
    """Fields with the part they stand in, parts in the order of the schema."""
    order: dict[str, list[FieldDoc]] = {}
    for f in fields:
        order.setdefault(f.key.rpartition(".")[0], []).append(f)
    return [(prefix, f) for prefix, found in order.items() for f in found]


def _field_table(fields: Sequence[FieldDoc]) -> str:
    rows = [(f"`{f.key.rpartition('.')[2]}`", f.type, f.unit, f.default, f.meaning) for f in fields]
    return table(("field", "type", "unit", "default", "meaning"), rows)


def catalogs(catalog: Catalog) -> str:
    """Every kind with its fields, and the rows of those that a scenario names."""
    out = [
        MADE + "# Catalogs\n",
        "Data only: YAML and CSV under `catalogs/`, each row with a source. `dcplan catalog show ID` prints a row's\n"
        "values with bounds, status, source and date; `--catalogs DIR` overlays your own, field by field.\n",
        table(
            ("kind", "rows", "what"),
            [(f"[`{k}`](#{k})", len(catalog.rows[k]), _what(k)) for k in KINDS],
        ),
    ]
    for kind in KINDS:
        fields = [
            f
            for f in catalog_fields(kind)
            if f.key.split(".")[1] not in {"id", "name", "source", "aliases", "note"}
        ]
        out.append(f"## {kind}\n")
        out.append(f"{_what(kind)}\n")
        rows = [
            (f"`{f.key.partition('.')[2]}`", f.type, f.unit, f.default, f.meaning) for f in fields
        ]
        out.append(table(("field", "type", "unit", "default", "meaning"), rows))
        if kind in KEY_FIELDS:
            out.append(_rows(kind, catalog_list(kind).tables["rows"], catalog))
    return "\n".join(out)


def _what(kind: str) -> str:
    return (KINDS[kind].__doc__ or "").strip().split("\n")[0].replace("``", "`")


def _rows(kind: str, found: Table, catalog: Catalog) -> str:
    rows = [
        (
            f"`{r[0]}`",
            *(shown(c, v) for c, v in zip(found.columns[1:], r[1:], strict=True)),
            catalog.rows[kind][str(r[0])].source.title,
        )
        for r in found.rows
    ]
    return table((*found.columns, "source"), rows)


def metric_page() -> str:
    """Every metric by verb."""
    out = [
        MADE + "# Metrics\n",
        "Keys of `metrics` in a result, of `expect:`, `diff` and the CSV. `<…>` stands for an id. A result\n"
        "document (`dcplan.result/1`, `dcplan schema result`) holds status, exit code, metrics with bounds and unit,\n"
        "tables, inputs with their sources, expectations and warnings.\n",
    ]
    for verb, found in groupby(metrics(), key=lambda m: m.verb):
        out.append(f"## {verb}\n")
        out.append(
            table(("metric", "unit", "meaning"), [(f"`{m.key}`", m.unit, m.meaning) for m in found])
        )
    return "\n".join(out)


def table_page() -> str:
    """Every column by table."""
    out = [
        MADE + "# Tables\n",
        "Columns of `tables` in a result, of its CSV files and of workbook sheets. `<…>` stands for a name that is\n"
        "data. Units are the ends of names: `_usd`, `_kw`, `_gb_per_s` (gigabytes), `_gbps` (gigabits), `_frac`\n"
        "(0.1 is 10 %). `dcplan explain COLUMN` prints these lines.\n",
    ]
    for name, found in groupby(columns(), key=lambda c: c.table):
        out.append(f"## {name or 'In any table'}\n")
        if name in SECTIONS:
            out.append(f"*{SECTIONS[name]}.*\n")
        out.append(table(("column", "meaning"), [(f"`{c.column}`", c.meaning) for c in found]))
    return "\n".join(out)


def errors() -> str:
    """Every code with its meaning, under an anchor of its own."""
    out = [
        MADE + "# Error codes\n",
        "Wrong input ends with exit 2 and names every problem at once: `file:line:col: error[DCnnn]: cause`, the\n"
        "line, the nearest known name, and the next step. `dcplan explain DC014` prints what stands here.\n",
    ]
    for code, title in CODES.items():
        out.append(f"## {code}\n\n**{title[0].upper()}{title[1:]}.** {MEANINGS[code]}\n")
    return "\n".join(out)
