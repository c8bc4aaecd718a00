"""The decision memo: what the result has, and the command for what it lacks."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import dcplan
from dcplan.answers.explain.answer import explain
from dcplan.report.memo.blocks import Items
from dcplan.report.memo.content import Memo, memo
from dcplan.report.memo.text import memo_html, memo_markdown
from dcplan.report.redact import redacted
from dcplan.result import Result
from dcplan.specs.plan.metrics import WAITING_SAVES
from dcplan.specs.plan.money import CASH_FLOW
from tests.answers.one_hall import one_hall
from tests.answers.purchasing import purchasing
from tests.plans import planned

ONE_PAGE_LINES = 75


@pytest.fixture(scope="module")
def starter() -> Result:
    return planned("starter")


def text(result: Result, *others: Result) -> str:
    return memo_markdown(memo(result, others))


def test_the_decision_is_the_headline_and_comes_first(starter: Result) -> None:
    lines = [x for x in text(starter).splitlines() if x]
    assert lines[:2] == ["# Decision memo: starter", f"**{starter.headline}**"]
    assert len(lines) < ONE_PAGE_LINES


def test_what_is_not_computed_has_its_command(starter: Result) -> None:
    found = text(starter)
    assert "not computed. Run `dcplan explain starter --switching-values`." in found
    assert "not computed. Run `dcplan explain starter --why-not dgx-h200`." in found
    assert "no cloud offers. Add `cloud:` and run `dcplan tco starter`." in found


def test_cash_paid_is_without_sales_and_residual_value(starter: Result) -> None:
    cash = CASH_FLOW.rows(starter.tables["cash_flow"])
    total = sum(x.capex_usd + x.energy_usd + x.opex_usd + x.cloud_usd for x in cash)
    (shown,) = re.findall(r"Cash paid [^|]+\| USD ([\d.]+) M", text(starter))
    assert float(shown) * 1e6 == pytest.approx(total, abs=0.05e6)


def test_sales_are_cash_and_no_part_of_the_value_left() -> None:
    """58 nodes for 3.21 M USD; the metric of residual value has both, 19.5 M USD."""
    result = planned("fleet-renewal", sets=["uncertainty.samples=20"])
    found = text(result)
    (sold,) = re.findall(r"Cash from sales of hardware \| USD ([\d.]+) M", found)
    (left,) = re.findall(r"left at the end, not cash \| USD ([\d.]+) M", found)
    assert sold == "3.21"
    both = result.value("cost.residual_usd") / 1e6
    assert float(left) + float(sold) == pytest.approx(both, abs=0.06)


def test_answers_of_explain_replace_the_commands(starter: Result) -> None:
    answer = explain(
        "starter", why_not=["dgx-h200"], switching_value_of=["systems.dgx-h200.price_usd"]
    )
    found = text(starter, answer)
    assert "--why-not" not in found
    assert "--switching-values" not in found
    cost = answer.frame("why_not")["npv_usd"][0]
    assert f"One rack of dgx-h200 in the plan: +USD {cost / 1e3:.0f} k" in found
    assert "No decision changes within the bounds of systems.dgx-h200.price" in found
    assert "with answers of explain" in found


def test_what_later_starts_save_is_an_alternative(starter: Result) -> None:
    saving = WAITING_SAVES(6.5e6)
    known = replace(
        starter,
        metrics=starter.metrics | saving,
        warnings=[*starter.warnings, {"code": "waiting", "message": "at least USD 6.5 M"}],
    )
    line = "Later starts of runs without a deadline: at least USD 6.5 M less net present cost."
    assert line in text(known)
    assert line in text(redacted(known))
    assert "Later starts" not in text(replace(starter, metrics=known.metrics))
    open_ = replace(known, metrics=starter.metrics | WAITING_SAVES(None))
    assert "not computed. Run `dcplan plan starter` with a higher `--time-limit`." in text(open_)


def test_an_answer_on_another_scenario_is_refused(starter: Result) -> None:
    other = replace(starter, verb="explain", scenario={**starter.scenario, "inputs_sha256": "x"})
    with pytest.raises(ValueError, match="another scenario"):
        memo(starter, [other])


def test_the_refusal_of_a_question_without_a_plan_names_its_status(starter: Result) -> None:
    kept = {k: x for k, x in starter.tables.items() if k != "purchases"}
    none = replace(starter, status="infeasible", tables=kept)
    with pytest.raises(ValueError, match="this is plan with status infeasible"):
        memo(none, [])


def test_only_a_plan_becomes_a_memo(starter: Result) -> None:
    with pytest.raises(ValueError, match="a memo needs the result of dcplan plan"):
        memo(replace(starter, verb="tco"))
    with pytest.raises(ValueError, match="status infeasible"):
        memo(replace(starter, status="infeasible", tables={}))


def test_risks_name_overdue_equipment_and_lead_times(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    result = dcplan.plan(purchasing(tmp_path_factory.mktemp("purchasing")))
    found = text(result)
    assert "Order the switchgear of a/new by 2026-05-07, 34 weeks before the plan starts" in found
    assert "Lead time of air-chiller, building, power-block: 11 months (switchgear" in found
    assert "Total |  |  |  |  | USD 53.1 M" in found  # 50.02 M of equipment and 3.09 M of rent


TAXED = "objective: min_after_tax_cost\nfinance: {tax: {income_rate: 0.25}}\n"


def test_with_the_objective_after_taxes_each_cost_says_its_basis(tmp_path: Path) -> None:
    """An hour less of work changes the cost of the objective; the tornado's cost is before taxes."""
    result = dcplan.plan(one_hall(tmp_path, 100_000, TAXED))
    found = text(result)
    assert "less changes the net present cost after taxes and debt by -USD" in found
    assert "net present cost before taxes and debt of the same decisions" in found
    known = replace(
        result,
        metrics=result.metrics | WAITING_SAVES(6.5e6),
        warnings=[{"code": "waiting", "message": "at least USD 6.5 M"}],
    )
    assert "at least USD 6.5 M less net present cost after taxes and debt." in text(known)


def test_html_is_one_file_with_the_same_words(starter: Result) -> None:
    made = memo(starter)
    page = memo_html(made)
    assert "<script" not in page
    assert "http" not in page
    words = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    for cell in ("USD 34.1 M", "Run first-model finishes by", "dcplan explain starter --why-not"):
        assert cell in words
        assert cell in memo_markdown(made)


def test_a_name_of_the_scenario_cannot_become_markup(starter: Result) -> None:
    made = memo(replace(starter, headline="a <b>bold</b> | `x` plan"))
    assert "&lt;b&gt;" in memo_markdown(made)
    assert "<b>bold" not in memo_html(made)


def test_a_redacted_memo_withholds_amounts_of_items(starter: Result) -> None:
    found = text(redacted(starter))
    assert "| Total |  |  |  |  | withheld |" in found
    assert "USD 34 M" not in found


def longest(result: Result) -> Memo:
    """The memo with every part as long as its limits of rows allow, in lines that wrap."""
    rent = "Rent of aws-p5en-48xlarge, reserved-3y: USD 119.3 M present cost, +USD 45.8 M against owning"
    value = (
        "systems.gb200-nvl72.price_usd at 4,150,000 (now 3,400,000, default bounds): racks of gb200-nvl72 "
        "in columbus/liquid changes from 51 to 12; keeping the plan costs up to USD 12.5 M"
    )
    more = {
        "Alternatives": 6 * (rent,),
        "Risks": 6 * (rent,),
        "What would change the decision": 4 * (value,),
    }
    made = memo(result)
    parts = tuple(
        (title, (*blocks, *((Items(more[title]),) if title in more else ())))
        for title, blocks in made.parts
    )
    return replace(made, parts=parts)


def test_the_page_takes_the_paper_of_the_printer(starter: Result) -> None:
    page = memo_html(memo(starter))
    (rule,) = re.findall(r"@page\{([^}]*)\}", page)
    assert "size" not in rule  # a page of A4 would be scaled or cut on Letter
    assert page.count('<div class="pairs">') == 1  # figures alone are printed in two halves


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_the_longest_memo_prints_on_one_page(starter: Result, tmp_path: Path, paper: str) -> None:
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is not installed"
    file, out = tmp_path / "memo.html", tmp_path / "memo.pdf"
    text = memo_html(longest(starter)).replace("@page{", f"@page{{size:{paper};")
    file.write_text(text, encoding="utf-8")
    subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--print-to-pdf={out}",
            file.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert out.read_bytes().count(b"/MediaBox") == 1
