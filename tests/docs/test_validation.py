"""docs/validation says what `dcplan validate` says now, to the digits that machines agree on."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.catalog.schema.published import SUBJECTS
from tests.docs.blocks import same
from tests.docs.validation import END, MARK, OPEN, accuracy, below

FOLDER = Path(__file__).parents[2] / "docs" / "validation"
PAGES = ["training", *(s for s in SUBJECTS if s != "claims")]
"""Claims have a page of their own, docs/claims.md."""


@pytest.mark.slow
@pytest.mark.parametrize("subject", PAGES)
def test_the_page_is_what_the_tool_says(subject: str, request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{subject}.md"
    head, mark, written = file.read_text(encoding="utf-8").partition(MARK)
    assert mark, f"{file} has no mark"
    made = f"\n\n{below(subject)}"
    if request.config.getoption("--update-golden") and not same(
        written.split("\n"), made.split("\n")
    ):
        file.write_text(f"{head}{MARK}{made}", encoding="utf-8")
        written = made
    assert same(written.split("\n"), made.split("\n")), f"pytest {__file__} -m slow --update-golden"


@pytest.mark.slow
def test_the_readme_says_how_accurate_it_is(request: pytest.FixtureRequest) -> None:
    file = FOLDER.parents[1] / "README.md"
    text = file.read_text(encoding="utf-8")
    head, _, rest = text.partition(OPEN)
    written, mark, tail = rest.partition(END)
    assert mark, "README has no place for the table"
    made = f"\n\n{accuracy()}\n"
    if request.config.getoption("--update-golden") and written != made:
        file.write_text(f"{head}{OPEN}{made}{END}{tail}", encoding="utf-8")
        written = made
    assert same(written.split("\n"), made.split("\n"))


def test_every_page_of_validation_is_generated() -> None:
    assert {f.stem for f in FOLDER.glob("*.md")} == {*PAGES, "index"}
