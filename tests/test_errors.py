"""dcplan/errors.py: how a finding is written, and what InputError carries."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import errors
from dcplan.errors import AuditError, InputError, Place, Problem, did_you_mean


def test_exit_codes_are_those_of_the_published_table() -> None:
    # docs/reference/errors.md: 0 done, 1 "no", 2 input, 3 infeasible, 4 incomplete, 70 bug, 130
    # interrupted
    codes = (
        errors.EXIT_OK,
        errors.EXIT_NO,
        errors.EXIT_INPUT,
        errors.EXIT_INFEASIBLE,
        errors.EXIT_INCOMPLETE,
        errors.EXIT_BUG,
        errors.EXIT_INTERRUPTED,
    )
    assert codes == (0, 1, 2, 3, 4, 70, 130)
    assert InputError.exit_code == 2
    assert AuditError.exit_code == 70


def test_every_code_has_three_digits_and_its_own_sentence() -> None:
    assert all(re.fullmatch(r"DC\d{3}", code) for code in errors.CODES)
    assert len(set(errors.CODES.values())) == len(errors.CODES)


def test_no_code_has_two_titles(repo) -> None:
    # a key written twice in the table would lose its first title; a title with "or" joins two
    tree = ast.parse((repo / "dcplan" / "errors.py").read_text(encoding="utf-8"))
    tables = [
        [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    ]
    assert len(tables) == 2
    for keys in tables:
        assert len(set(keys)) == len(keys)
    joined = [code for code, title in errors.CODES.items() if ", or " in title]
    assert joined == []


def test_a_table_of_runs_and_a_length_have_different_codes() -> None:
    assert "table of runs" in errors.CODES["DC053"]
    assert "length" in errors.CODES["DC054"]
    assert set(errors.MEANINGS) == set(errors.CODES)


def test_every_code_used_in_the_source_is_in_the_table(repo) -> None:
    used = set()
    for file in (repo / "dcplan").rglob("*.py"):
        used |= set(re.findall(r'"(DC\d{3})"', file.read_text(encoding="utf-8")))
    assert used <= set(errors.CODES)
    assert len(used) > 15


def test_place_without_line_shows_only_the_file() -> None:
    assert str(Place("a.yaml")) == "a.yaml"
    assert str(Place("a.yaml", 3, 7)) == "a.yaml:3:7"


def test_places_sort_by_file_then_line_then_column() -> None:
    places = [Place("b", 1, 1), Place("a", 10, 1), Place("a", 2, 9), Place("a", 2, 3)]
    assert sorted(places) == [
        Place("a", 2, 3),
        Place("a", 2, 9),
        Place("a", 10, 1),
        Place("b", 1, 1),
    ]


def test_problem_text_shows_line_caret_hint_and_help() -> None:
    problem = Problem(
        "DC002",
        "utilty_mw: unknown field",
        Place("s.yaml", 12, 5),
        hint='did you mean "utility_mw"?',
        help="dcplan schema scenario",
        excerpt="    utilty_mw: 14",
        width=9,
    )
    # column 5 = four blanks before the first of nine carets; the gutter is as wide as "12"
    assert problem.text() == (
        "s.yaml:12:5: error[DC002]: utilty_mw: unknown field\n"
        "  12 |     utilty_mw: 14\n"
        '     |     ^^^^^^^^^ did you mean "utility_mw"?\n'
        "help: dcplan schema scenario"
    )


def test_problem_without_place_keeps_the_hint_and_severity() -> None:
    problem = Problem("DC050", "no such verb", hint='did you mean "plan"?', severity="warning")
    assert problem.text() == 'warning[DC050]: no such verb\n  did you mean "plan"?'


def test_problem_of_width_zero_still_has_one_caret() -> None:
    text = Problem("DC004", "empty", Place("f", 1, 1), excerpt="a", width=0).text()
    assert text.splitlines()[-1] == "    | ^"


def test_input_error_carries_and_prints_every_problem_in_order() -> None:
    error = InputError(Problem("DC004", f"problem {i}") for i in range(3))
    assert [p.cause for p in error.problems] == ["problem 0", "problem 1", "problem 2"]
    assert str(error) == "\n\n".join(f"error[DC004]: problem {i}" for i in range(3))


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("utilty_mw", ["utility_mw", "halls"], 'did you mean "utility_mw"?'),
        (
            "h200",
            ["dgx-h200", "dgx-b200"],
            'did you mean "dgx-h200"?',
        ),  # a part of the name is enough
        (
            "mi355x",  # an accelerator where its systems are meant, not the next accelerator's
            ["mi325x-8", "mi355x-96-dlc", "mi355x-8-air", "mi355x-128-dlc"],
            'did you mean "mi355x-8-air", "mi355x-96-dlc" or "mi355x-128-dlc"?',
        ),
        ("xq", ["xqzzzzzzzzzz"], ""),  # two letters are too few for that
        ("anything", [], ""),
    ],
)
def test_did_you_mean(word: str, known: list[str], expected: str) -> None:
    assert did_you_mean(word, known) == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6))
def test_did_you_mean_finds_a_word_that_is_there(known: list[str]) -> None:
    assert did_you_mean(known[0], iter(known)) == f'did you mean "{known[0]}"?'
