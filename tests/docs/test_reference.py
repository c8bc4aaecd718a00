"""Generated pages: every name has its line, git keeps no page that is generated, and the navigation
knows every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dcplan.answers.reference.columns import columns
from dcplan.answers.reference.fields import catalog_fields, scenario_fields
from dcplan.answers.reference.glossary import terms
from dcplan.answers.reference.metrics import metrics
from dcplan.answers.reference.names import documented
from dcplan.catalog.schema import KINDS
from dcplan.catalog.yaml12 import parse, read_text
from dcplan.errors import CODES
from dcplan.report.pages.__main__ import PAGES
from dcplan.report.pages.glossary import glossary_page
from dcplan.report.pages.reference import OF_ALL, error_page

ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "docs" / "reference" / "errors.md"


def sections(name: str) -> dict[str, list[str]]:
    """Heading of the second level -> first cells of its table, without backticks."""
    parts = PAGES[f"reference/{name}.md"]().split("\n## ")[1:]
    return {
        part.partition("\n")[0].strip("`"): [
            cell.strip("`").replace("&lt;", "<") for cell in re.findall(r"^\| (.*?) \|", part, re.M)
        ]
        for part in parts
    }


def test_every_field_of_a_scenario_has_its_line() -> None:
    found = sections("scenario")
    keys = [f.key.rpartition(".") for f in scenario_fields()]
    assert len(keys) > 100
    missing = [
        (part, name) for part, _, name in keys if name not in found.get(part or "Top level", ())
    ]
    assert missing == []


def test_every_kind_of_row_has_its_fields() -> None:
    found = sections("catalogs")
    assert list(found) == list(KINDS)
    fields = [f.key.partition(".")[::2] for kind in KINDS for f in catalog_fields(kind)]
    missing = [
        (kind, name)
        for kind, name in fields
        if name.split(".")[0] not in OF_ALL and name not in found[kind]
    ]
    assert missing == []
    assert "gb200-nvl72" in found["systems"]


def test_every_metric_and_every_column_has_its_line() -> None:
    verbs, tables = sections("metrics"), sections("tables")
    assert [m.key for m in metrics() if m.key not in verbs[m.verb]] == []
    assert [c for c in columns() if c.column not in tables[c.table or "In any table"]] == []


def test_every_verb_has_its_flags() -> None:
    from dcplan.cli.app import SUMMARIES

    text = PAGES["reference/cli.md"]()
    assert [v for v in SUMMARIES if f"`dcplan {v}" not in text] == []
    assert "* `--fix-decisions" in text


def test_the_page_of_error_codes_is_what_the_code_says(request: pytest.FixtureRequest) -> None:
    """Messages name this page and its anchors, so git keeps it."""
    made = error_page()
    assert [code for code in CODES if f"\n## {code}\n" not in made] == []
    if request.config.getoption("--update-golden"):
        ERRORS.write_text(made, encoding="utf-8")
    assert ERRORS.read_text(encoding="utf-8") == made, f"pytest {__file__} --update-golden"


def test_every_page_stands_in_the_navigation() -> None:
    file = ROOT / "mkdocs.yml"
    named = list(_paths(parse(read_text(file), str(file)).data["nav"]))
    there = {
        str(p.relative_to(ROOT / "docs"))
        for p in (ROOT / "docs").rglob("*.md")
        if "examples" not in p.parts
    }
    assert sorted(named) == sorted(there | set(PAGES))


def test_git_ignores_every_generated_page() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split("\n")
    pages = [f"docs/{name}" for name in PAGES]
    assert [p for p in pages if p not in ignored and f"{Path(p).parent}/" not in ignored] == []


def _paths(node: object) -> list[str]:
    if isinstance(node, str):
        return [node]
    children = node.values() if isinstance(node, dict) else node
    return [path for child in children for path in _paths(child)]  # type: ignore[attr-defined]


def test_the_glossary_in_git_is_what_the_catalog_says(request: pytest.FixtureRequest) -> None:
    made, page = glossary_page(), ROOT / "docs" / "glossary.md"
    assert len(terms()) >= 80
    if request.config.getoption("--update-golden"):
        page.write_text(made, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == made, f"pytest {__file__} --update-golden"


@pytest.mark.parametrize("word", ["pue", "Approach temperature", "MFU", "leaf switch"])
def test_a_term_is_explained(word: str) -> None:
    found = documented(word)
    assert found.tables["terms"].rows[0][2] in found.headline


def test_most_terms_name_a_metric_a_column_or_a_table() -> None:
    """The others name fields, flags and catalog kinds, which are not looked up here."""
    known = {m.key for m in metrics()} | {c.column for c in columns()}
    known |= {f"{c.table}.{c.column}" for c in columns()} | {c.table for c in columns()}
    named = [(t.id, word.strip()) for t in terms() for word in t.used_in.split(",") if word.strip()]
    assert len(named) > 100
    assert sum(word in known for _, word in named) > 60


def test_the_page_of_python_has_every_function_and_each_of_its_parameters() -> None:
    import inspect

    import dcplan

    made = PAGES["reference/python.md"]()
    for name in dcplan.FUNCTIONS:
        part = made.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert f"dcplan.{name}(" in part
        for parameter in inspect.signature(getattr(dcplan, name)).parameters:
            assert re.search(rf"`[^`]*\b{parameter}\b[^`]*`", part), (name, parameter)
