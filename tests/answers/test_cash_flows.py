"""Lists of cash flows: published examples to the printed digit, conventions, and refusals by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.flows.read import MOST_TIMES
from dcplan.answers.tco.request import TcoRequest
from dcplan.answers.validation.published_answers import figure_of
from dcplan.catalog.published import read as rows_of
from dcplan.economics.break_even import payback_time
from dcplan.economics.discounting import irr
from dcplan.errors import InputError
from dcplan.report.book.write import workbook
from dcplan.report.html.page import page
from dcplan.result import Result
from tests.economics.published import EXCEL_DATED_FLOWS, EXCEL_IRR_FLOWS

DATED = "".join(f"{day},{usd}\n" for day, usd in EXCEL_DATED_FLOWS.items())


def listed(tmp_path: Path, text: str, name: str = "flows.csv") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def value(result: Result, key: str) -> float | None:
    found = result.metrics[f"cash_flows.{key}"].value
    assert found is None or isinstance(found, int | float)
    return found


def refused(*given: str, **flags: object) -> list[str]:
    """The problems of a list, each with its place and its help."""
    with pytest.raises(InputError) as error:
        tco(cash_flows=given, **flags)  # type: ignore[arg-type]
    return [f"{p.place}: {p.code} {p.cause} {p.help}" for p in error.value.problems]


def test_dated_list_of_the_microsoft_pages(tmp_path: Path) -> None:
    """XIRR 0.373362535 and XNPV 2,086.647602 at 9 %; money out 10,000, money in 13,000."""
    result = tco(cash_flows=(listed(tmp_path, "date,amount\n" + DATED),), discount_rate=0.09)
    assert value(result, "irr_frac") == pytest.approx(0.373362535, abs=1e-8)
    assert value(result, "npv_usd") == pytest.approx(2086.647602, abs=5e-7)
    assert value(result, "moic_ratio") == pytest.approx(1.3)
    assert value(result, "paid_usd") == 10_000
    assert value(result, "received_usd") == 13_000
    assert value(result, "rates") == 1
    choices = [row["choice"] for row in result.tables["conventions"].records()]
    assert "actual/365: days over 365" in choices
    assert "XNPV, XIRR" in choices


def test_payback_of_the_dated_list_by_hand(tmp_path: Path) -> None:
    """-3,000 after 2008-10-30 (day 303), +250 after 2009-02-15 (day 411): day 303 + 108 x 3000 / 3250."""
    result = tco(cash_flows=(listed(tmp_path, "date,amount\n" + DATED),), discount_rate=0.09)
    assert value(result, "payback_years") == pytest.approx((303 + 108 * 3000 / 3250) / 365)
    rows = result.tables["cash_flows"].records()
    before, after = (float(str(rows[i]["present_so_far_usd"])) for i in (3, 4))
    days = 411 + 45 * before / (before - after)  # 2009-04-01 is day 456
    assert value(result, "discounted_payback_years") == pytest.approx(days / 365)


@pytest.mark.parametrize(
    ("count", "printed"), [(6, 0.087), (5, -0.021), (3, -0.444)], ids=["five", "four", "two"]
)
def test_periodic_irr_of_the_microsoft_page(count: int, printed: float) -> None:
    flows = {str(k): usd for k, usd in enumerate(EXCEL_IRR_FLOWS[:count])}
    assert value(tco(cash_flows=flows), "irr_frac") == pytest.approx(printed, abs=0.0005)


@pytest.mark.parametrize(
    ("flows", "rate", "printed"),
    [
        ({1: -10_000, 2: 3_000, 3: 4_200, 4: 6_800}, 0.10, 1_188.44),
        ({0: -40_000, 1: 8_000, 2: 9_200, 3: 10_000, 4: 12_000, 5: 14_500}, 0.08, 1_922.06),
        (
            {0: -40_000, 1: 8_000, 2: 9_200, 3: 10_000, 4: 12_000, 5: 14_500, 6: -9_000},
            0.08,
            -3_749.47,
        ),
    ],
    ids=["from-one", "today", "sixth-year"],
)
def test_npv_of_the_microsoft_page(flows: dict[int, float], rate: float, printed: float) -> None:
    given = {str(k): usd for k, usd in flows.items()}
    result = tco(cash_flows=given, discount_rate=rate)
    assert value(result, "npv_usd") == pytest.approx(printed, abs=0.005)


def test_several_rates_are_all_named_and_none_is_the_return() -> None:
    """-100 + 230 / 1.1 - 132 / 1.21 = 0, and the same at 1.2."""
    result = tco(cash_flows="0=-100,1=230,2=-132")
    assert value(result, "irr_frac") is None
    assert value(result, "rates") == 2
    rows = result.tables["rates_of_return"].records()
    assert [row["rate_frac"] for row in rows] == pytest.approx([0.1, 0.2])
    assert [row["present_value_above"] for row in rows] == ["positive", "negative"]
    note = str(result.warnings[0]["message"])
    assert note.startswith("2 rates of return: 10.0000%, 20.0000%")
    assert "2 rates of return" in result.headline


def test_a_list_whose_sign_changes_may_have_no_rate() -> None:
    """1 - 2 x + 2 x^2 has no real root."""
    result = tco(cash_flows="0=100,1=-200,2=200", discount_rate=0.05)
    assert value(result, "rates") == 0
    assert value(result, "irr_frac") is None
    assert "no rate of return: the present value is positive" in str(result.warnings[0]["message"])


def test_borrowing_has_a_cost_and_no_payback() -> None:
    result = tco(cash_flows="0=100,1=-110")
    assert value(result, "irr_frac") == pytest.approx(0.1)
    assert value(result, "payback_periods") is None
    assert "cost of borrowing" in str(result.warnings[0]["message"])


def test_without_a_change_of_sign_there_is_no_return() -> None:
    (problem,) = refused("0=100,1=230")
    assert "all 2 amounts are money in" in problem
    assert "--discount-rate" in problem
    assert "are zero" in refused("0=0,1=0", discount_rate=0.1)[0]
    result = tco(cash_flows="0=-100,1=-110", discount_rate=0.1)
    assert value(result, "npv_usd") == pytest.approx(-200)
    assert "cash_flows.irr_frac" not in result.metrics
    assert "all 2 amounts are money out" in str(result.warnings[0]["message"])


def test_wrong_rows_are_named_by_file_and_row(tmp_path: Path) -> None:
    text = (
        "date,amount,currency\n2008-01-01,-10000,USD\n2008-02-30,5,USD\n\n3/4/2008,5,USD\n"
        '2008-05-01,"1,000",USD\n2008-06-01,7,CHF\n2008-07-01,nan,USD\n,3,USD\n'
    )
    path = listed(tmp_path, text)
    problems = refused(path)
    assert [p.split(" ")[0] for p in problems] == [f"{path}:{n}:" for n in (3, 5, 6, 7, 8, 9)]
    assert all("DC058" in p for p in problems)
    assert "day is out of range" in problems[0]
    assert "write year-month-day" in problems[1]
    assert "without separators of thousands" in problems[2]
    assert "--fx CHF=RATE" in problems[3]


def test_many_wrong_rows_are_counted(tmp_path: Path) -> None:
    path = listed(tmp_path, "date,amount\n" + "x,1\n" * 30)
    problems = refused(path)
    assert len(problems) == 21
    assert any("10 more rows are wrong" in problem for problem in problems)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("date,value\n2027-01-01,1\n", "no column amount"),
        ("date,period,amount\n2027-01-01,0,1\n", "keep one of them"),
        ("date,amount,usd\n2027-01-01,0,1\n", "more than one column is amount"),
        ("date;amount\n2027-01-01;1\n", "';' as delimiter"),
        ("date,amount\n", "there is no payment"),
        ("period,amount\n-1,1\n", "write a whole number"),
        ("date,amount\n2027-01-01,1_000\n", "write a number"),
    ],
)
def test_a_table_that_is_no_list_is_refused(tmp_path: Path, text: str, cause: str) -> None:
    assert any(cause in problem for problem in refused(listed(tmp_path, text)))


def test_a_list_of_too_many_times_is_refused() -> None:
    texts = [f"{k}={-1 if k else 900}" for k in range(MOST_TIMES + 1)]
    assert "add up the payments of each month" in refused(*texts)[0]


def test_flags_without_an_effect_are_refused(tmp_path: Path) -> None:
    path = listed(tmp_path, "date,amount\n" + DATED)
    assert "FILE: DC050 has no effect" in refused(path, scenario="starter")[0]
    assert "--set: DC050" in refused(path, sets=("a=1",))[0]
    assert "--time-limit: DC050" in refused(path, time_limit_s=9.0)[0]
    assert "--fx: DC050" in refused("0=1", fx=("EUR=1.1",))[0]
    assert "--day-count: DC015" in refused("0=-1,1=2", day_count="actual-365")[0]
    assert "--cash-flows: DC050" in refused(path, "0=1")[0]
    assert "no such file" in refused("nowhere.csv")[0]
    for flags in ({"discount_rate": 0.1}, {"day_count": "periodic"}, {"fx": ("EUR=1.1",)}):
        with pytest.raises(InputError, match="only with --cash-flows"):
            tco(TcoRequest("own-or-rent-1024-h200", **flags))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="tco needs a scenario, or --cash-flows"):
        tco(TcoRequest())


def test_columns_of_a_real_list(tmp_path: Path) -> None:
    """Rows in any order, two on one date, a currency, a column that is not used, blank rows, a BOM."""
    text = (
        "\ufeffDate,Amount,Line,Currency,Memo\n2028-01-01,60,rent,EUR,a\n\n2027-01-01,-80,racks,USD,b\n"
        "2027-01-01,-20,,USD,c\n"
    )
    result = tco(cash_flows=(listed(tmp_path, text),), fx=("EUR=2.0",), discount_rate=0.1)
    assert value(result, "irr_frac") == pytest.approx(0.2)
    assert value(result, "npv_usd") == pytest.approx(-100 + 120 / 1.1)
    lines = {row["line"]: row["usd"] for row in result.tables["cash_flow_lines"].records()}
    assert lines == {"racks": -80, "without a line": -20, "rent": 120}
    notes = [str(w["message"]) for w in result.warnings]
    assert "columns that are not used: Memo" in notes
    assert any("time 0 is the earliest date, 2027-01-01" in note for note in notes)


def test_periodic_counts_dates_as_steps(tmp_path: Path) -> None:
    """A quarterly list: 5 % a quarter, whatever the days of the quarters."""
    text = "date,amount\n2027-03-31,-100\n2027-06-30,5\n2027-09-30,105\n"
    path = listed(tmp_path, text)
    quarterly = tco(cash_flows=(path,), day_count="periodic")
    assert value(quarterly, "irr_frac") == pytest.approx(0.05)
    dated = value(tco(cash_flows=(path,)), "irr_frac")
    worth = (
        -100
        + 5 / (1 + float(dated or 0)) ** (91 / 365)
        + 105 / (1 + float(dated or 0)) ** (183 / 365)
    )
    assert worth == pytest.approx(0.0, abs=1e-9)


def test_a_list_without_times_counts_its_rows(tmp_path: Path) -> None:
    path = listed(tmp_path, "amount\n" + "".join(f"{usd}\n" for usd in EXCEL_IRR_FLOWS))
    assert value(tco(cash_flows=(path,)), "irr_frac") == pytest.approx(irr(EXCEL_IRR_FLOWS).rate)


def test_a_payback_that_is_undone_counts_from_the_last_crossing() -> None:
    """-100, +120, -50, +60: above zero at 0.83, below at 2, above for good at 2.5."""
    assert payback_time([-100.0, 120.0, -50.0, 60.0], np.arange(4.0)) == pytest.approx(2.5)


def test_a_list_has_a_page_and_a_workbook() -> None:
    result = tco(cash_flows="0=-100,1=60,2=70", discount_rate=0.1)
    assert "Internal rate of return" in page(result)
    assert workbook(result)[:2] == b"PK"


@pytest.mark.parametrize("ask", ['["0=-100", "1=120"]', '["flows.csv"]', '["0=-100", "x.csv"]'])
def test_a_published_row_lists_its_payments_and_names_no_file(tmp_path: Path, ask: str) -> None:
    (tmp_path / "published").mkdir()
    text = f"""published:
  - id: own-list
    name: a list of ours
    source: "by hand: 120 / 100 - 1"
    subject: tco
    verb: tco
    ask: {{cash_flows: {ask}}}
    figures: {{cash_flows.irr_frac: 0.2}}
"""
    (tmp_path / "published" / "own.yaml").write_text(text, encoding="utf-8")
    row = next(row for row in rows_of("tco", (tmp_path,)) if row.id == "own-list")
    if "csv" not in ask:
        found = figure_of(row, (str(tmp_path),))("cash_flows.irr_frac")
        assert found is not None
        assert found.value == pytest.approx(0.2)
        return
    with pytest.raises(InputError, match="own-list: a row can use packaged examples"):
        figure_of(row, (str(tmp_path),))
