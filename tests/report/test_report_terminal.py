"""Text on a pipe: plain, aligned, whole."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from dcplan.report.text.bars import quarter_lines
from dcplan.report.text.terminal import table_text, write_text
from dcplan.result import Metric, Result, Table
from dcplan.specs.plan.money import CASH_FLOW, CashRow

LONG = "a reason that goes on " * 20
SHORT = 5
"""Rows of excluded options in the short form."""


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def answer(rows: int = 2) -> Result:
    return Result(
        "plan",
        "ok",
        0,
        "[red]x[/red]: 3 racks",
        metrics={"cost.npv_usd": Metric(44.7e6, "USD", "Net present cost")},
        tables={
            "racks": Table(
                ("hall", "cooling", "racks", "price_usd"),
                (("a/b", "tower", 9, 1e6), ("c", "air", 120, None)),
            ),
            "excluded": Table(
                ("kind", "id", "where", "reason"),
                tuple(("job", f"j{i}", "", LONG) for i in range(rows)),
            ),
            "decisions": Table(("decision",), (("order",),)),
        },
        inputs=[
            {
                "key": "k",
                "value": 7,
                "unit": "kW",
                "status": "catalog",
                "at": None,
                "source": f"{LONG}[1]",
            }
        ],
        expectations=[
            {
                "id": "a",
                "metric": "days",
                "severity": "error",
                "owner": "me",
                "observed": 85.5,
                "limit": "<= 80",
                "max": 80.0,
                "passed": False,
                "reason": "",
                "note": None,
            },
            {
                "id": "b",
                "metric": "pue",
                "severity": "warn",
                "owner": None,
                "observed": 1.3,
                "limit": "<= 1.2",
                "max": 1.2,
                "passed": False,
                "reason": "",
                "note": None,
            },
            {
                "id": "c",
                "metric": "npv",
                "severity": "error",
                "owner": None,
                "observed": None,
                "limit": None,
                "passed": None,
                "reason": "needs a base",
                "note": None,
            },
        ],
    )


def text_of(
    result: Result, *, verbose: bool = False, color: bool = True, stream: io.StringIO | None = None
) -> str:
    stream = stream or io.StringIO()
    write_text(result, stream, color=color, verbose=verbose)
    return stream.getvalue()


@pytest.mark.parametrize("color", [True, False])
def test_piped_text_has_no_ansi_codes_and_is_never_cut(
    monkeypatch: pytest.MonkeyPatch, color: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = text_of(answer(), color=color)
    assert "\x1b" not in text
    assert "…" not in text
    assert LONG.rstrip() in text


def test_headline_stands_first_and_markup_is_text() -> None:
    assert text_of(answer()).splitlines()[0] == "[red]x[/red]: 3 racks"


def test_table_columns_are_aligned_and_numbers_stand_right() -> None:
    assert table_text(answer(), "racks") == (
        "Hall  Cooling  Racks  Price, USD M\n"
        "a/b   tower        9             1\n"
        "c     air        120             -\n"
    )


def test_short_form_hides_columns_and_rows_and_says_so() -> None:
    short, full = text_of(answer(SHORT + 3)), text_of(answer(SHORT + 3), verbose=True)
    assert "3 more rows with -v" in short
    assert f"j{SHORT}" not in short
    assert f"j{SHORT + 2}" in full
    assert "tower" not in short
    assert "tower" in full
    assert f"{LONG}[1]" in full


def test_expectations_show_their_verdict_owner_and_reason() -> None:
    lines = text_of(answer()).splitlines()
    assert "FAIL a: days = 85.5, required <= 80 (owner: me)" in lines
    assert "warn b: pue = 1.3, required <= 1.2" in lines
    assert "skip c: npv needs a base" in lines


def test_text_on_a_terminal_is_bold_and_wraps_instead_of_cutting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = text_of(answer(), stream=Screen())
    assert "\x1b[1m" in screen
    assert "…" not in screen
    assert screen.count("reason") > 2 * 20 - 1  # each of the 20 words of both rows


def test_metrics_and_inputs_are_sections() -> None:
    head, line = table_text(answer(), "metrics").splitlines()
    assert head.split() == ["Metric", "Value", "Unit", "Meaning"]
    assert line.startswith("cost.npv_usd ")
    assert line.endswith("USD   Net present cost")
    assert table_text(answer(), "inputs").splitlines()[1].split()[:4] == ["k", "7", "kW", "catalog"]
    with pytest.raises(KeyError):
        table_text(answer(), "nothing")


def test_a_plan_that_fails_an_expectation_is_not_said_to_be_missing() -> None:
    found = replace(answer(), status="expectation_failed", scenario={"path": "a.yaml"})
    text = text_of(found)
    assert "why there is no plan" not in text
    assert "dcplan tco a.yaml" in text


def by_quarter(load_mw: list[float], limit_mw: float | None, cash_usd: list[float]) -> Result:
    """A plan with a power, a cash flow and a fleet table of some quarters of 2027 and later."""
    quarters = [f"{2027 + i // 4}-Q{i % 4 + 1}" for i in range(len(cash_usd))]
    power = [("s", q, mw, limit_mw) for q, mw in zip(quarters, load_mw, strict=True)]
    cash = [CashRow(q, *([0.0] * 9), usd) for q, usd in zip(quarters, cash_usd, strict=True)]
    fleet = [(q, hall, 64) for q in quarters[1:] for hall in ("s/a", "s/b")]
    return Result(
        *("plan", "ok", 0, "x"),
        tables={
            "power": Table(("site", "quarter", "facility_mw", "utility_mw"), tuple(power)),
            "cash_flow": CASH_FLOW.table(cash),
            "fleet": Table(("quarter", "hall", "accelerators"), tuple(fleet)),
        },
    )


def test_quarters_have_a_line_for_power_cash_and_accelerators() -> None:
    """4 of 8 MW is half of a full bar; a quarter without a row of the fleet has no accelerators."""
    found = by_quarter([0.0, 2.0, 4.0, 4.0], 8.0, [40e6, 5e6, 5e6, 10e6])
    assert quarter_lines(found) == [
        "Facility power 2027-Q1  ▂▄▄ 2027-Q4  max 4.0 MW (50.0% of utility)",
        "Cash out       2027-Q1 █▁▁▂ 2027-Q4  max USD 40 M",
        "Accelerators   2027-Q1  ███ 2027-Q4  max 128",
    ]


def test_power_without_a_limit_is_as_high_as_its_largest_value() -> None:
    line = quarter_lines(by_quarter([1.0, 2.0, 4.0], None, [1e6] * 3))[0]
    assert line == "Facility power 2027-Q1 ▂▄█ 2027-Q3  max 4.0 MW"


def test_a_plan_of_ten_years_fits_a_terminal_and_short_ones_have_no_lines() -> None:
    lines = quarter_lines(by_quarter([3.0] * 40, 4.0, [1e9] * 40))
    assert max(map(len, lines)) <= 80
    assert lines[1] == f"Cash out       2027-Q1 {'█' * 14} 2036-Q4  max USD 1 bn"  # 3 quarters each
    assert quarter_lines(by_quarter([3.0] * 2, 4.0, [1e9] * 2)) == []


def test_only_output_with_block_characters_has_the_lines() -> None:
    found = by_quarter([1.0, 2.0, 4.0], 8.0, [1e6] * 3)
    for encoding, there in (("utf-8", True), ("ascii", False), ("latin-1", False)):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        write_text(found, stream, color=False)
        stream.seek(0)
        assert ("2027-Q1 ▁▂▄ 2027-Q3" in stream.read()) is there
