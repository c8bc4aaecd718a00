"""dcplan/catalog/yaml12.py: YAML 1.2 core types, positions, and what is refused."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.yaml12 import MAX_BYTES, parse, read_text
from dcplan.errors import InputError, Place, Problem


def refused(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        parse(text, "x.yaml")
    return caught.value.problems


@pytest.mark.parametrize(
    ("plain", "value"),
    [  # YAML 1.2.2 section 10.3.2, core schema; what YAML 1.1 reads instead stands behind
        ("NO", "NO"),  # False
        ("off", "off"),  # False
        ("yes", "yes"),  # True
        ("12:30", "12:30"),  # 750
        ("010", 10),  # 8
        ("0o17", 15),  # text
        ("1e3", 1000.0),  # text
        ("15.6e12", 15.6e12),
        ("1_000", "1_000"),  # 1000
        ("0x1F", 31),
        ("0b11", "0b11"),  # 3
        ("2027-01-01", "2027-01-01"),  # a date
        ("2027-Q1", "2027-Q1"),
        ("~", None),
        ("null", None),
        ("nUll", "nUll"),
        ("", None),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("+12", 12),
        (".5", 0.5),
        ("1.", 1.0),
        ("true", True),
        ("tRUE", "tRUE"),
        ("1.2.3", "1.2.3"),
        ('"5"', "5"),
        ("'~'", "~"),
        ('""', ""),
    ],
)
def test_scalars_are_those_of_yaml_1_2_core(plain: str, value: object) -> None:
    read = parse(f"a: {plain}", "x.yaml").data["a"]
    assert read == value
    assert type(read) is type(value)


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(parse("a: .nan", "x").data["a"])


def test_block_texts_are_never_numbers() -> None:
    assert parse("a: |\n  5\nb: >-\n  true\n", "x").data == {"a": "5\n", "b": "true"}


def test_keys_stay_text_and_a_merge_key_is_only_a_key() -> None:
    assert parse("1: a\ntrue: b\n", "x").data == {"1": "a", "true": "b"}
    assert parse("b: &b {x: 1}\na: {<<: *b}", "x").data["a"] == {"<<": {"x": 1}}


def test_a_whole_number_of_any_length_is_read_or_refused_but_is_no_crash() -> None:
    # Python reads at most 4,300 digits (sys.set_int_max_str_digits) and raises ValueError beyond
    with contextlib.suppress(InputError):
        assert parse("a: " + "1" * 5000, "x").data["a"] > 10**300


def test_duplicate_keys_are_all_reported_with_both_places() -> None:
    problems = refused("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert [(p.code, p.cause, str(p.place)) for p in problems] == [
        ("DC005", 'the key "c" occurs twice; first at line 3, column 3', "x.yaml:4:3"),
        ("DC005", 'the key "a" occurs twice; first at line 1, column 1', "x.yaml:5:1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "!thing 5",
        "!!python/object/apply:os.system [ls]",
        "!!int '5'",
        "!!set {b}",
        "!!binary aGk=",
        "!!float 5",
        "!<tag:example.org,2026:x> 1",
    ],
)
def test_a_tag_is_refused_at_its_place(text: str) -> None:
    [problem] = refused(f"a:\n  b: {text}\n")
    assert problem.code == "DC001"
    assert "tags are not allowed" in problem.cause
    assert str(problem.place) == "x.yaml:2:6"


def test_a_string_tag_never_makes_a_number() -> None:
    with contextlib.suppress(InputError):
        assert parse("a: !!str 5", "x").data == {"a": "5"}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n"])
def test_an_empty_file_is_said_to_be_empty(text: str) -> None:
    [problem] = refused(text)
    assert (problem.code, problem.cause) == ("DC001", "the file is empty")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", 2),
        ("a: *b\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a:\n\t- 1\n", 2),
        ("a: 1\n? [x]\n: d\n", 2),
    ],
)
def test_broken_yaml_names_the_line(text: str, place: int) -> None:
    [problem] = refused(text)
    assert problem.code == "DC001"
    assert problem.place is not None
    assert problem.place.line == place


@pytest.mark.parametrize("text", ["a:\n\t- b\n", "a:\u00a06\nb: 1\n"])
def test_a_tab_or_a_non_breaking_space_is_named(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "x.yaml")
    line = 2 if "\t" in text else 1
    expected = f"write plain spaces on line {line}, not a tab or a non-breaking space"
    assert expected in str(caught.value)


def test_control_characters_are_refused() -> None:
    assert refused("a: \x00")[0].code == "DC001"


def test_billion_laughs_are_refused_quickly() -> None:
    # 10 levels of 10 aliases: 10^10 values if it were followed
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    begin = time.perf_counter()
    [problem] = refused("\n".join(lines))
    assert problem.code == "DC007"
    assert time.perf_counter() - begin < 5


def test_too_many_aliases_are_refused_even_when_the_values_are_few() -> None:
    # 21,000 aliases of a list of one: 42,000 values, far below 400,000, but above 20,000 repeats
    [problem] = refused(f"a: &a [1]\nb: [{','.join(['*a'] * 21_000)}]")
    assert problem.code == "DC007"


def test_an_alias_used_a_few_times_is_fine() -> None:
    data = parse("a: &a {x: 1}\nb: [*a, *a]\n", "x").data
    assert data["b"] == [{"x": 1}, {"x": 1}]


def test_an_alias_inside_itself_is_refused() -> None:
    assert [p.code for p in refused("a: &a [1, *a]")] == ["DC007"]


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ("{a: ", "}")])
def test_deep_nesting_is_refused(left: str, right: str) -> None:
    [problem] = refused("a: " + left * 60 + "1" + right * 60)
    assert problem.code == "DC007"
    assert "deeper than 40" in problem.cause
    assert parse("a: " + left * 30 + "1" + right * 30, "x").data["a"]


def test_very_deep_nesting_is_refused_and_does_not_kill_the_process() -> None:
    # 200,000 brackets are 0.4 MB, far below the limit of 8 MB; in a process of its own, for it may
    # die
    code = (
        "from dcplan.catalog.yaml12 import parse\n"
        "from dcplan.errors import InputError\n"
        "try: parse('[' * 200_000 + ']' * 200_000, 'x')\n"
        "except InputError as error: print(error.problems[0].code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "DC007\n")


TEXT = "a: 1\nlist:\n  - id: x\n    value: 2\n  - {id: y, value: [3, 4]}\n"


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [  # line:column counted by hand in TEXT
        (("a",), (1, 4), (1, 1)),
        (("list",), (3, 3), (2, 1)),
        (("list", 0), (3, 5), (3, 5)),
        (("list", 0, "value"), (4, 12), (4, 5)),
        (("list", 1, "value"), (5, 20), (5, 13)),
        (("list", 1, "value", 1), (5, 24), (5, 24)),
        (("list", 1, "absent"), (5, 5), (5, 5)),  # the nearest ancestor
        (("nothing",), (1, 1), (1, 1)),
    ],
)
def test_places_of_values_and_keys(path: tuple, value: tuple, key: tuple) -> None:
    document = parse(TEXT, "f.yaml")
    assert document.place(path) == Place("f.yaml", *value)
    assert document.place(path, key=True) == Place("f.yaml", *key)


def test_a_problem_underlines_the_whole_word() -> None:
    text = (
        parse(TEXT, "f.yaml")
        .problem("DC002", "unknown field", ("list", 0, "value"), key=True)
        .text()
    )
    assert text == "f.yaml:4:5: error[DC002]: unknown field\n  4 |     value: 2\n    |     ^^^^^"


def test_a_missing_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("a: 1\n")
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "plam.yaml")
    [problem] = caught.value.problems
    assert (problem.code, problem.hint) == ("DC006", 'did you mean "plan.yaml"?')


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l1.yaml").write_bytes("a: Zürich\n".encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "l1.yaml")
    assert caught.value.problems[0].code == "DC006"
    assert "not UTF-8" in caught.value.problems[0].cause


def test_a_file_above_the_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "big.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "big.yaml")
    assert caught.value.problems[0].code == "DC007"


LETTERS = st.characters(codec="ascii", min_codepoint=32, max_codepoint=126) | st.sampled_from(
    "é°中😀\n\t"
)
LEAVES = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(LETTERS, max_size=8)
DATA = st.recursive(
    LEAVES,
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text("abc", min_size=1), x, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(DATA)
def test_json_is_read_as_what_it_says(data: object) -> None:
    # YAML 1.2 is meant to be a superset of JSON; libyaml does not read surrogate escapes
    assert parse(json.dumps({"a": data}, ensure_ascii=False), "x").data == {"a": data}
