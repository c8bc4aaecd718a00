"""Axes of a sweep: what is written is what is swept."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.scenario.axes import axes_of, split_sets
from dcplan.scenario.load import load

EXPANDED = {
    "x=range(0.08,0.20,0.04)": (
        0.08,
        0.12,
        0.16,
        0.2,
    ),  # the last is included, no 0.12000000000000001
    "x=range(3,1,-1)": (3.0, 2.0, 1.0),
    "x=range(1,3)": (1.0, 2.0, 3.0),
    "x=linspace(0,1,5)": (0.0, 0.25, 0.5, 0.75, 1.0),
    "x=logspace(1,100,3)": (1.0, 10.0, 100.0),
    "x=choice(a,b)": ("a", "b"),
    "x=h200,gb300": ("h200", "gb300"),
    "x=[1,2],[3,4]": ([1, 2], [3, 4]),
    "x=1,true,~": (1, True, None),
}


@pytest.mark.parametrize(("text", "values"), EXPANDED.items())
def test_values_of_an_axis(text: str, values: tuple[object, ...]) -> None:
    (axis,), plain = split_sets([text])
    assert axis.values == values
    assert plain == []


@pytest.mark.parametrize("text", ["x=0.1", "x=[1,2]", "x={a: 1, b: 2}", "x='a,b'", "x=", "x"])
def test_a_plain_change_is_no_axis(text: str) -> None:
    assert split_sets([text]) == ([], [text])


WRONG = {
    "x=range(1)": "expected range(",
    "x=range(1,3,0)": "a step of 0",
    "x=range(1,3,-1)": "a step of -1",
    "x=linspace(1,2)": "expected linspace",
    "x=linspace(1,2,1e9)": "must be 1 to",
    "x=logspace(0,1,3)": "above 0",
    "x=uniform(2,1)": "uniform(low,high)",
    "x=normal(1,0)": "normal(mean,sd)",
    "x=triangular(1,3,2)": "triangular(",
    "x=rnage(1,3)": 'did you mean "range"?',
    "x=range(a,b)": "needs numbers",
    "x=1,,2": "an empty value",
    "x=range(.nan,1)": "needs numbers",
    "x=range(0,1,1e-9)": "must be 1 to",
}


@pytest.mark.parametrize(("text", "cause"), WRONG.items())
def test_a_wrong_axis_says_what_is_expected(text: str, cause: str) -> None:
    with pytest.raises(InputError, match="DC051") as error:
        split_sets([text])
    assert cause in str(error.value)


def test_all_wrong_axes_are_told_at_once() -> None:
    with pytest.raises(InputError) as error:
        split_sets(["a=range(1)", "b=uniform(1)"])
    assert len(error.value.problems) == 2


def test_axes_of_a_file_and_their_places(tmp_path: Path) -> None:
    question = load("retrofit-air-hall")
    assert [a.values for a in axes_of(question.scenario, question.tree)] == [
        (0.08, 0.12, 0.16, 0.2),
        (0.07, 0.12),
    ]
    text = question.file.read_text(encoding="utf-8").replace(
        "{range: [0.08, 0.20], step: 0.04}", "{rnage: [0, 1]}"
    )
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(text, encoding="utf-8")
    question = load(str(wrong))
    with pytest.raises(InputError) as error:
        axes_of(question.scenario, question.tree)
    line = 1 + text[: text.index("{rnage")].count("\n")
    assert f"wrong.yaml:{line}:" in str(error.value)
    assert 'did you mean "range"?' in str(error.value)
