"""The HTML report: self-contained, sound, accessible, and in a real browser."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.answers.tco.answer import tco
from dcplan.api.plan import plan
from dcplan.report.book.influence import influences
from dcplan.report.html import charts
from dcplan.report.html.figures import figures_of
from dcplan.report.html.page import page
from dcplan.report.memo.blocks import Grid
from dcplan.report.memo.content import memo
from dcplan.result import Metric, Result, Table
from dcplan.specs.explain import WHY_NOT, WhyNotRow
from dcplan.specs.plan.decided import JOBS
from tests.plans import planned

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "rect", "line", "use", "text"}


class Outline(HTMLParser):
    """Tags, ids, references and headings of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.headings: list[int] = []
        self.pictures: list[dict[str, str | None]] = []
        self.loaded: list[str] = []
        self.heads: list[dict[str, str | None]] = []
        self.captions = 0
        self.tables = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if known.get("id"):
            self.ids.append(str(known["id"]))
        for name in ("src", "href", "xlink:href"):
            value = known.get(name)
            if value and not value.startswith("#"):
                self.loaded.append(value)
            elif value:
                self.references.append(value[1:])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg":
            self.pictures.append(known)
        if tag == "th":
            self.heads.append(known)
        self.captions += tag == "caption"
        self.tables += tag == "table"


@pytest.fixture(scope="module")
def result() -> Result:
    return planned("train-405b-in-90-days", gap=0.005)


@pytest.fixture(scope="module")
def text(result: Result) -> str:
    return page(result)


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


def test_nothing_is_loaded_and_nothing_is_said_twice(text: str) -> None:
    found = outline(text)
    assert found.loaded == []
    assert "http://" not in re.sub(r"http://www\.w3\.org/[^\"']*", "", text)
    assert "@import" not in text
    assert "url(http" not in text
    assert len(found.ids) == len(set(found.ids))
    assert set(found.references) <= set(found.ids)


def test_headings_pictures_and_tables_are_accessible(text: str) -> None:
    found = outline(text)
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(found.headings, found.headings[1:], strict=False))
    assert len(found.pictures) >= 8
    for picture in found.pictures:
        assert picture.get("role") == "img"
        assert len(str(picture.get("aria-label"))) > 20
    assert found.captions == found.tables
    assert all(head.get("scope") in ("col", "row") for head in found.heads)
    assert '<html lang="en">' in text


def test_the_answer_comes_first_and_the_command_makes_it_again(text: str, result: Result) -> None:
    assert text.index(result.headline[:40]) < text.index("<h2")
    assert "dcplan plan " in text
    for title in (
        "Design of halls, power, network and storage",
        "Cost",
        "Fully used limits",
        "Assumptions by influence",
        "Excluded options",
        "Method and limits",
    ):
        assert title in text


def test_the_decision_stands_first_with_the_figures_of_the_memo(text: str, result: Result) -> None:
    """Money, dates, purchases, alternatives and risks: every cell of the memo is on the page."""
    top = text[text.index('id="decision"') : text.index('class="tiles"')]
    top = re.sub(r'<span class="date">(.*?)</span>', r"\1", top)
    for title, blocks in memo(result).parts:
        assert f"<h3>{title}</h3>" in top
        for block in blocks:
            for row in block.rows if isinstance(block, Grid) else ():
                assert all(escape(cell) in top for cell in row)
    assert "Cash flow</h2>" in top


def test_answers_on_the_same_scenario_are_in_the_decision(result: Result) -> None:
    row = WhyNotRow("dgx-h200", 4.5e6, *[0.0] * 7, "both plans are proved")
    answer = replace(result, verb="explain", tables={"why_not": WHY_NOT.table([row])})
    assert "Another system in the whole plan: not computed. Run" in page(result)
    sentence = (
        "One rack of dgx-h200 in the plan: +USD 4.5 M net present cost; both plans are proved."
    )
    assert sentence in page(result, [answer])
    with pytest.raises(ValueError, match="another scenario"):
        page(result, [replace(answer, scenario={"inputs_sha256": "x"})])


def test_the_same_result_is_the_same_page(result: Result, text: str) -> None:
    assert page(result) == text


def test_the_parts_of_the_waterfall_sum(result: Result) -> None:
    charts = figures_of(result, [])["Cost"]
    words = next(c.words for c in charts if c.title == "Where the money goes")
    numbers = [float(x.replace(",", "")) for x in re.findall(r"-?[\d,]+\.\d", words)]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.05 * len(numbers))
    assert numbers[-1] == pytest.approx(
        float(str(result.metrics["cost.npv_usd"].value)) / 1e6, abs=0.06
    )


def test_the_range_of_a_run_is_the_log_normal_of_its_median_and_confidence(result: Result) -> None:
    charts = figures_of(result, [])["Orders, runs and demand"]
    words = next(c.words for c in charts if "percentile" in c.words)
    low, high = map(float, re.findall(r"percentile (\d+) to (\d+)", words)[0])
    # median 73.7 and P80 87.2 days of the plan: sigma = ln(87.2 / 73.7) / 0.8416; P10 and P90 at
    # 1.2816 sigma
    job = JOBS.rows(result.tables["jobs"])[0]
    p50, p80 = float(str(job.days_p50)), job.days
    assert high == pytest.approx(p50 * (p80 / p50) ** (1.2816 / 0.8416), abs=1)
    assert low == pytest.approx(p50 * (p80 / p50) ** (-1.2816 / 0.8416), abs=1)


def test_influence_is_the_plans_own_answer_at_the_bound(result: Result) -> None:
    found = influences(result)
    top = next(x for x in found if x.key == "systems.gb200-nvl72.price_usd")
    for bound, usd in ((top.low, top.at_low_usd), (top.high, top.at_high_usd)):
        there = plan("train-405b-in-90-days", sets=[f"{top.key}={bound!r}"], fix_decisions=result)
        assert usd == pytest.approx(float(str(there.metrics["cost.npv_usd"].value)), rel=1e-9)
    widths = [x.swing_usd for x in found]
    assert widths == sorted(widths, reverse=True)


def test_rate_and_residual_value_are_among_the_assumptions_by_influence(result: Result) -> None:
    """Neither has bounds in the scenario: the catalog gives 8 to 12 % and a low and a high curve."""
    found = {x.key: x for x in influences(result)}
    rate = next(x for key, x in found.items() if key.startswith("finance.discount"))
    assert (rate.low, rate.high) == (0.08, 0.12)
    left = found["finance.residual"]
    for curve, usd in (("low", left.at_low_usd), ("high", left.at_high_usd)):
        sets = [f"finance.residual={curve}"]
        there = plan("train-405b-in-90-days", sets=sets, fix_decisions=result)
        assert usd == pytest.approx(float(str(there.metrics["cost.npv_usd"].value)), rel=1e-9)
    assert f"{left.swing_usd / 1e6:,.1f}"[:3] in page(result)


def test_hostile_text_stays_text() -> None:
    evil = '<script>alert(1)</script>"&\x1b[31m'
    table = Table((evil, "usd"), ((evil, 1.0), ("=1+1", 2.0)))
    left = Table(("kind", "id", "where", "reason"), ((evil, evil, evil, evil),))
    result = Result(
        "plan",
        "ok",
        0,
        evil,
        scenario={"name": evil, "path": evil},
        metrics={evil: Metric(1.0, "", evil)},
        tables={"bands": table, "excluded": left},
        warnings=[{"code": "x", "message": evil}],
        inputs=[{"key": evil, "value": evil, "unit": evil, "status": evil, "source": evil}],
    )
    text = page(result)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert text.count("<script") == 1


def test_a_facility_has_a_page() -> None:
    """Its table of racks has other columns than a plan's."""
    found = facility(
        site="us-ashburn", cooling="direct-liquid-tower", it_mw=20, system="gb300-nvl72"
    )
    assert "Racks of the hall" in page(found)


def test_the_break_even_is_where_the_running_sums_cross_for_good() -> None:
    """Paid by month: owning 10, 1, 1, 1 and renting 4 each. Sums 10, 11, 12, 13 and 4, 8, 12, 16."""
    chart = charts.cumulative({"owned": [10e6, 1e6, 1e6, 1e6], "a.on-demand": [4e6] * 4})
    assert chart.words.endswith("a.on-demand costs more from month 4")
    never = charts.cumulative({"owned": [10e6, 1e6], "a": [4e6, 1e6]})
    assert never.words.endswith("a never costs more than owning")


def test_other_answers_have_a_page_too() -> None:
    text = page(tco("own-or-rent-1024-h200", sets=["sensitivity.samples=10"]))
    assert "What decides" in text
    assert "Rental options for the same work" in text


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_a_real_browser_shows_it_without_errors_or_sideways_scrolling(
    browser: Any, text: str, tmp_path: Path, width: int
) -> None:
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(file.as_uri())
    assert browser.get_log("browser") == []
    wide, shown = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert wide <= shown
    for picture in browser.find_elements("css selector", "figure svg"):
        assert picture.size["height"] > 40
        assert picture.size["width"] > 200


@pytest.mark.browser
@pytest.mark.slow
def test_tables_sort_by_a_click(browser: Any, text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    browser.get(file.as_uri())
    script = """
    const tables = [...document.querySelectorAll('table.sorts')];
    const table = tables.find(t => t.caption.textContent.startsWith('Cost over'));
    const heads = [...table.querySelectorAll('thead th')];
    const i = heads.findIndex(h => h.textContent.startsWith('Amount, USD'));
    heads[i].querySelector('button').click();
    return [heads[i].getAttribute('aria-sort'), ...[...table.tBodies[0].rows].map(r => r.cells[i].textContent)];
    """
    order, *cells = browser.execute_script(script)
    factor = {"k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9}
    values = [float(c.split()[0].replace(",", "")) * factor.get(c.split()[-1], 1.0) for c in cells]
    assert order == "ascending"
    assert values == sorted(values)
    assert len(values) > 5


@pytest.mark.browser
@pytest.mark.slow
def test_a_table_is_copied_as_csv(browser: Any, text: str, tmp_path: Path, result: Result) -> None:
    """The button hands the whole table to the clipboard: header and rows, numbers without commas."""
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    browser.get(file.as_uri())
    script = """
    const copies = [];
    document.execCommand = () => { copies.push(document.activeElement.value); return true; };
    const tables = [...document.querySelectorAll('table.sorts')];
    const table = tables.find(t => t.caption.textContent.startsWith('Training runs'));
    const button = table.caption.querySelector('button');
    button.click();
    return [copies[0], button.textContent];
    """
    copied, said = browser.execute_script(script)
    rows = list(csv.reader(io.StringIO(copied)))
    assert said == "copied"
    assert len(rows) == 1 + len(result.tables["jobs"].rows)
    assert rows[0][0] == "Job"
    assert rows[1][rows[0].index("Accelerators")] == "3580"


@pytest.mark.browser
@pytest.mark.slow
def test_without_javascript_everything_is_there(browser: Any, text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL), encoding="utf-8")
    browser.get(file.as_uri())
    shown = browser.find_element("css selector", "main").text
    assert "Design of halls, power, network and storage" in shown
    assert "gb200-nvl72" in shown
