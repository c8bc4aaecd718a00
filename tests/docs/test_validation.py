"""Tables of validation: those that git keeps are what `dcplan validate` says now, and generated
pages show every figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan.catalog.subjects import SUBJECTS
from dcplan.report.pages.serving import serving_errors, serving_page
from dcplan.report.pages.validation import (
    COMPARED,
    accuracy,
    figures_of,
    summary,
    training_page,
    whole_runs,
)
from dcplan.result import Result, Table
from tests.docs.blocks import same

ROOT = Path(__file__).parents[2]
VALIDATION = ROOT / "docs" / "validation"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "written"),
    [
        (ROOT / "README.md", "accuracy", accuracy),
        (VALIDATION / "index.md", "summary", summary),
        (VALIDATION / "serving.md", "errors", serving_errors),
        (VALIDATION / "runs.md", "whole runs", whole_runs),
    ],
    ids=["README", "validation", "serving", "runs"],
)
def test_tables_in_git_are_what_the_tool_says(
    file: Path, name: str, written: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    start, end = f"<!-- {name}: written by the tool -->", f"<!-- /{name} -->"
    head, _, rest = file.read_text(encoding="utf-8").partition(start)
    kept, mark, tail = rest.partition(end)
    assert mark, f"{file} has no place for the table"
    made = f"\n\n{written()}\n"
    if request.config.getoption("--update-golden") and kept != made:
        file.write_text(f"{head}{start}{made}{end}{tail}", encoding="utf-8")
        kept = made
    assert same(kept.split("\n"), made.split("\n")), f"pytest {__file__} -m slow --update-golden"


def test_every_subject_is_compared() -> None:
    written = {"training", "serving", "price-performance", "engineers", "index"}
    assert {*COMPARED, "claims"} == set(SUBJECTS)
    assert {f.stem for f in VALIDATION.glob("*.md")} == {*COMPARED, *written}


def test_the_page_of_training_shows_groups_and_the_worst_runs() -> None:
    text = training_page()
    assert "\n## By stack\n\n| stack | runs |" in text
    assert "| megatron-core | 310 |" in text
    _, _, worst = text.partition("\n## The 12 worst\n")
    rows = [line for line in worst.split("\n") if line.startswith("| ")][1:]
    errors = [abs(float(row.split("|")[-2].strip(" %"))) for row in rows]
    assert len(errors) == 12
    assert errors == sorted(errors, reverse=True)


def test_the_pages_of_serving_show_classes_and_groups() -> None:
    short, whole = serving_errors(), serving_page()
    for text in (short, whole):
        assert "| closed loop | `tpot_ms` | 2,542 |" in text
        assert "| early port | `e2e_ms` |" in text
        assert "| b200-sxm | `output_tokens_per_s_total` |" in text
    assert "| gb10 |" in whole
    assert "| gb10 |" not in short  # four figures


FIGURES = (
    *("id", "figure", "unit", "published", "computed", "error_frac", "verdict", "basis", "note"),
    *("published_low", "published_high"),
)


def test_a_page_shows_every_figure_with_its_source() -> None:
    figures = Table(
        FIGURES,
        (
            ("a", "spine", "", 12, 12, 0.0, "exact", "given", None, None, None),
            ("a", "power_kw", "kW", 100.0, 112.0, 0.12, "near", "independent", "x|y", 90.0, 105.0),
            ("b", "pue", "fraction", 1.1, 1.5, None, "far", "fitted", None, 1.0, 1.2),
        ),
    )
    sources = Table(
        ("id", "name", "asked", "source", "url", "note"),
        (
            ("a", "First design", "dcplan fabric -n 4", "A paper", "https://a.example", "open"),
            ("b", "Second", "dcplan facility", "A talk", None, None),
        ),
    )
    text = figures_of(
        Result("validate", "ok", 0, "", tables={"figures": figures, "sources": sources}), "a test"
    )
    assert "3 figures computed by verbs: 1 exact, 0 close, 1 near, 1 far." in text
    first, _, second = text.partition("## Second\n")
    assert "`dcplan fabric -n 4`\n\n[A paper](https://a.example). open\n" in first
    assert "| `spine` | 12 | 12 | +0.0% | exact, given |  |" in first
    assert "| `power_kw` | 100 (90 to 105) kW | 112 kW | +12.0% | near | x\\|y |" in first
    assert "\nA talk\n" in second
    assert "| `pue` | 1.1 (1 to 1.2) | 1.5 |  | far, fitted |  |" in second
