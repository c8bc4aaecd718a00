"""docs/examples: what the main example's exports look like, made by this test and compared with
what is committed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.tco.answer import tco
from dcplan.api.plan import plan
from dcplan.report.book.write import workbook
from dcplan.report.csvs import metrics_csv, table_csv
from dcplan.report.html.page import page
from dcplan.report.redact import redacted
from dcplan.report.text.markdown import LIMIT, markdown
from dcplan.result import Metric, Result, Table
from dcplan.specs.plan.decided import RACKS
from dcplan.specs.regression.compared import FIGURES_COMPARED, FigureCompared
from dcplan.specs.regression.diff import INPUTS_CHANGED, Change, InputChange

ROOT = Path(__file__).parents[2]
NAME = "train-405b-in-90-days"


@pytest.fixture(scope="module")
def result() -> Result:
    """The main example, read by the path that a user of the repository types."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return plan(f"scenarios/{NAME}.yaml")
    finally:
        os.chdir(before)


def test_the_committed_examples_are_what_the_tool_writes(
    result: Result, request: pytest.FixtureRequest
) -> None:
    made: dict[str, str] = {
        f"{NAME}.md": markdown(result),
        f"{NAME}.html": page(result),
        f"{NAME}-metrics.csv": metrics_csv(result),
        f"{NAME}-cashflow.csv": table_csv(result.tables["cash_flow"]),
    }
    folder = ROOT / "docs" / "examples"
    if request.config.getoption("--update-golden"):
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")
    for name, text in made.items():
        known = (folder / name).read_text(encoding="utf-8")
        assert _plain(known) == _plain(text), f"{name}: pytest {__file__} --update-golden"


def _plain(text: str) -> str:
    """Pictures are compared by their words, digits after the fifth not at all."""
    text = re.sub(r"<svg(?! [^>]*class=\"drawing\").*?</svg>", "", text, flags=re.DOTALL)
    return re.sub(r"(\d\.\d{5})\d+", r"\1", text)


def test_markdown_stays_under_a_comments_size_and_is_cut_by_sections() -> None:
    table = Table(("name", "usd"), tuple((f"row {i} {'x' * 200}", float(i)) for i in range(400)))
    names = (
        "racks",
        "halls",
        "power",
        "jobs",
        "cost",
        "cashflow",
        "excluded",
        "bands",
        "network",
        "storage",
        "ends",
        "onsite",
        "cloud",
        "commitments",
        "lead_times",
    )
    text = markdown(Result("plan", "ok", 0, "big", tables=dict.fromkeys(names, table)))
    assert len(text) < LIMIT
    assert text.count("<details>") == text.count("</details>") > 3
    assert "Not shown here" in text
    assert text.count("| row ") % 30 == 0  # whole sections


def test_markdown_of_hostile_names_stays_text() -> None:
    evil = "<b>|x\n# head @team [a](b)"
    result = Result(
        "plan",
        "ok",
        0,
        evil,
        metrics={evil: Metric(1.0, "", evil)},
        tables={"racks": Table((evil,), ((evil,),))},
        scenario={"name": "--><script>"},
    )
    text = markdown(result)
    assert "<b>" not in text
    assert "<script>" not in text
    assert "@team" not in text
    assert "\n# head" not in text
    assert text.startswith("<!-- dcplan:----script- -->")


SECRET = 3_123_457.0


def test_redacted_results_hold_no_quote_in_any_format() -> None:
    value = f"value: {SECRET}, low: {SECRET - 11}, high: {SECRET + 13}, source: ACME-1"
    quote = f"systems.gb200-nvl72.price_usd={{{value}}}"
    open_ = plan(NAME, sets=[quote], gap=0.05)
    assert str(int(SECRET)) in open_.to_json().replace(".0", "")
    hidden = redacted(open_)
    texts = {"json": hidden.to_json(), "md": markdown(hidden), "html": page(hidden)}
    texts |= {name: table_csv(table) for name, table in hidden.tables.items()}
    racks = RACKS.rows(open_.tables["racks"])[0].racks
    for name, text in texts.items():
        for number in (SECRET, SECRET - 11, SECRET + 13, SECRET * racks):
            assert f"{number:.0f}" not in text, (name, number)
            assert f"{number:,.0f}" not in text, (name, number)
        assert "ACME-1" not in text, name
    with pytest.raises(ValueError, match="with a plan can become a workbook"):
        workbook(hidden)


def test_an_expectation_that_was_not_compared_is_not_said_to_fail() -> None:
    entry = {
        "id": "drift",
        "metric": "cost.npv_usd",
        "passed": None,
        "severity": "error",
        "note": "",
    }
    result = Result("plan", "ok", 0, "x", expectations=[entry])
    for text in (markdown(result), page(result)):
        assert "FAILED" not in text
        assert "not compared" in text


def test_redaction_hides_overlays_and_what_divides_into_a_tariff(tmp_path: Path) -> None:
    (tmp_path / "mine" / "systems").mkdir(parents=True)
    (tmp_path / "mine" / "systems" / "quote.yaml").write_text(
        f"systems:\n  - {{id: gb200-nvl72, price_usd: {{value: {SECRET}, source: ACME-2}}}}\n",
        encoding="utf-8",
    )
    hidden = redacted(plan(NAME, catalogs=[str(tmp_path / "mine")], gap=0.05))
    text = hidden.to_json()
    assert f"{SECRET:.0f}" not in text
    assert "ACME-2" not in text
    assert hidden.metrics["cost.energy_usd"].value is None
    assert all(cell is None for row in hidden.tables["cash_flow"].rows for cell in row[1:])
    assert hidden.metrics["cost.capex_usd"].value is not None


def test_a_redacted_comparison_holds_nothing_that_divides_into_the_rent() -> None:
    """Rent over the hours of the same answer is its price: sums of the rented side and its years
    go with the quote."""
    quote = "cloud.prices.aws-p5en-48xlarge.reserved_3y_usd_per_h={value: 37.318, source: ACME-3}"
    open_ = tco("own-or-rent-1024-h200", sets=[quote, "sensitivity.samples=50"])
    hidden = redacted(open_)
    for name in ("rented", "years", "bridge", "npv_by_line", "lines"):
        for column in (c for c in open_.tables[name].columns if "usd" in c):
            assert all(row[column] is None for row in hidden.tables[name].records()), (name, column)
            assert any(row[column] is not None for row in open_.tables[name].records()), (
                name,
                column,
            )
    rented = [key for key in open_.metrics if key.startswith("rented.") and "usd" in key]
    assert len(rented) > 5
    assert all(hidden.metrics[key].value is None for key in rented)
    text = hidden.to_json()
    for secret in ("37.318", f"{37.318 / 8:.6g}", "ACME-3"):
        assert secret not in text
        assert secret in open_.to_json()
    assert hidden.metrics["owned.npv_usd"].value == open_.metrics["owned.npv_usd"].value


def test_a_redacted_explanation_holds_no_price() -> None:
    key = "systems.dgx-h200.price_usd"
    found = explain("own-or-rent-1024-h200", sets=[f"{key}=311000"], switching_value_of=[key])
    assert "311000" in json.dumps(found.as_dict())
    assert "311000" not in json.dumps(redacted(found).as_dict())


def test_a_redacted_comparison_holds_no_price() -> None:
    row = InputChange("s", Change.CHANGED, "systems.a.price_usd", 350000, 311000, "a:1", "b:1")
    found = Result("diff", "ok", 0, "x", tables={INPUTS_CHANGED.name: INPUTS_CHANGED.table([row])})
    assert "311000" not in json.dumps(redacted(found).as_dict())
    assert redacted(found).tables[INPUTS_CHANGED.name].rows[0][2] == "systems.a.price_usd"


def test_a_redacted_headline_holds_no_proceeds_of_a_sale() -> None:
    found = plan("fleet-renewal", gap=0.05)
    assert any(row[0] == "dispose" for row in found.tables["decisions"].rows)
    assert "sell" in found.headline
    assert "sell" not in redacted(found).headline


def test_a_redacted_comparison_of_plans_holds_no_sum_of_hidden_rows() -> None:
    """Sales of one system over its count are its resale price; a plan without prices has neither."""
    rows = [
        FigureCompared("s", "Cash from sales of hardware", "", 0.0, 311000.0, 311000.0, None, "USD", ""),
        FigureCompared("s", "Net present cost", "cost.npv_usd", 5.0, 7.0, 2.0, 0.4, "USD", ""),
        FigureCompared("s", "First order", "", "2027-01", "2027-04", None, None, "", ""),
    ]  # fmt: skip
    found = Result(
        "diff", "ok", 0, "x", tables={FIGURES_COMPARED.name: FIGURES_COMPARED.table(rows)}
    )
    sales, cost, order = FIGURES_COMPARED.rows(redacted(found).tables[FIGURES_COMPARED.name])
    assert (sales.before, sales.after, sales.change) == (None, None, None)
    assert (cost.before, cost.after) == (5.0, 7.0)
    assert order.after == "2027-04"
