"""One expression gives value and formula: another engine finds the value from the formula."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dcplan.report.book.data.term import (
    Condition,
    Operand,
    Term,
    absolute,
    count_of,
    dot,
    largest,
    number,
    peak_of,
    power,
    read,
    sum_of,
    when,
)
from dcplan.report.book.grid import FIRST, NOWHERE, Row, Sheet, total
from tests.report.books import recalculated, saved, zeroed

QUARTERS = ("2027-Q1", "2027-Q2", "2027-Q3")
NUMBERS = st.integers(-9_999, 9_999).map(lambda n: n / 100)
SERIES = st.lists(NUMBERS, min_size=len(QUARTERS), max_size=len(QUARTERS))
SAME = 1e-9


def divided(left: Operand, right: Operand) -> Term:
    """Divide by what is never 0."""
    return left / (absolute(right) + 1)


def raised(base: Operand, exponent: Operand) -> Term:
    """Raise what is at least 1 to a power from 0 to 2."""
    return power(absolute(base) + 1, 2 * absolute(exponent) / (absolute(exponent) + 1))


def chosen(first: Operand, second: Operand, then: Operand, otherwise: Operand) -> Term:
    """Choose by three comparisons."""
    inner = when(first >= second + 1, then, otherwise - 1)
    return when(first > second, inner, when(first <= -second, -then, otherwise))


def calculations(rows: list[Row]) -> st.SearchStrategy[Term]:
    """Expressions over rows by quarter, single cells, spans and plain numbers."""
    series = [row for row in rows if row.series is not None]
    spans = st.sampled_from([row.span() for row in series] + [series[0].span(1, 3)])
    whole = st.sampled_from([row.span() for row in series])
    leaves = st.one_of(
        st.sampled_from([row.term() for row in rows]),
        NUMBERS.map(number),
        st.sampled_from([total(rows[:3]), total([rows[0], rows[2]]), total([])]),
        spans.map(sum_of),
        spans.map(peak_of),
        st.tuples(whole, whole).map(lambda pair: dot(*pair)),
        st.tuples(whole, whole).map(lambda pair: count_of(pair[0] > pair[1] * (1 + number(0.5)))),
        st.sampled_from([row.so_far() for row in series]),
    )

    def more(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        two = st.tuples(inner, inner)
        return st.one_of(
            two.map(lambda x: x[0] + x[1]),
            two.map(lambda x: x[0] - x[1]),
            two.map(lambda x: x[0] * x[1] / 100),
            two.map(lambda x: divided(*x)),
            two.map(lambda x: raised(*x)),
            two.map(lambda x: largest(*x, 0.5)),
            inner.map(lambda x: -x),
            inner.map(lambda x: 1 + 2 * x),
            st.tuples(inner, inner, inner, inner).map(lambda x: chosen(*x)),
        )

    return st.recursive(leaves, more, max_leaves=12)


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    """Random rows, and lines of random expressions over them."""
    sheet = Sheet("Calc_Power", "Random", "", QUARTERS)
    rows = [
        sheet.frozen(f"row {i}", NOWHERE, "x", np.array(draw(SERIES)), total=False)
        for i in range(3)
    ]
    rows += [sheet.fact(f"cell {i}", NOWHERE, "x", draw(NUMBERS)) for i in range(2)]
    for i in range(8):
        term = draw(calculations(rows))
        sheet.line(f"line {i}", NOWHERE, "x", term, total=True)
        rows.append(sheet.rows[-1])
    return sheet


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # each example is a file: to shrink one takes minutes
)
@given(sheet=sheets())
def test_another_engine_finds_the_value_of_any_expression(
    tmp_path_factory: pytest.TempPathFactory, sheet: Sheet
) -> None:
    book = saved(sheet, tmp_path_factory.mktemp("terms") / "book.xlsx")
    page = openpyxl.load_workbook(recalculated(zeroed(book)), data_only=True)[sheet.name]
    lines = [row for row in sheet.rows if row.formula]
    assert lines
    for row in lines:
        found = [page.cell(row.number, FIRST + 1 + t).value for t in range(len(QUARTERS))]
        texts = [row.formula.text(t) for t in range(len(QUARTERS))] if row.formula else []
        assert found == pytest.approx(list(row.values), rel=SAME, abs=SAME), texts
        assert page.cell(row.number, FIRST).value == pytest.approx(row.value, rel=SAME, abs=SAME)


KNOWN = {
    "systems.dgx-h200.price_usd": Term(310e3, lambda t: "[systems.dgx-h200.price_usd]"),
    "finance.discount-rate": Term(0.1, lambda t: "[finance.discount-rate]"),
    "nodes": Term(4.0, lambda t: "{nodes}"),
    "peak_kw": Term(0.3, lambda t: "{peak_kw}"),
}


def facts() -> st.SearchStrategy[Term]:
    """Expressions as facts have them."""
    leaves = st.sampled_from(list(KNOWN.values())) | st.integers(0, 9_999).map(number)

    def more(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        two = st.tuples(inner, inner)
        return st.one_of(
            two.map(lambda x: x[0] + x[1]),
            two.map(lambda x: x[0] - x[1]),
            two.map(lambda x: x[0] * x[1]),
            two.map(lambda x: x[0] / (x[1] + 1)),
            two.map(lambda x: largest(*x)),
            st.tuples(inner, st.integers(0, 9)).map(
                lambda x: x[0] * power(1 + KNOWN["finance.discount-rate"], x[1])
            ),
        )

    return st.recursive(leaves, more, max_leaves=10)


@given(term=facts())
def test_a_saved_fact_is_read_as_it_was_written(term: Term) -> None:
    again = read(term.text(), KNOWN.__getitem__, KNOWN.__getitem__)
    assert again.text() == term.text()
    np.testing.assert_array_equal(again.number, term.number)  # nan where it is divided by 0


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "{nodes} ** 2",
        "-{nodes}",
        "{nodes}.real",
        "x9",
        "'a' * {nodes}",
        "SUM({nodes})",
    ],
)
def test_what_is_no_formula_of_a_fact_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a formula"):
        read(text, KNOWN.__getitem__, KNOWN.__getitem__)


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(KeyError, match="price"):
        read("[price] * 2", KNOWN.__getitem__, KNOWN.__getitem__)


def test_a_comparison_is_no_number() -> None:
    """Excel ranks TRUE above every number, so a sum of comparisons would differ."""
    condition = number(2) > 1
    assert isinstance(condition, Condition)
    assert not hasattr(condition, "__add__")
