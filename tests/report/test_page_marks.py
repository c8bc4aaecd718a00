"""Bars and points of the page say the cells of the tables; a slider chooses the quarter."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.tco.answer import tco
from dcplan.report.html import drawings, quarterly
from dcplan.report.html.figures import MOST_RENTS, figures_of
from dcplan.report.html.page import page
from dcplan.report.html.states import states_of
from dcplan.report.text.numbers import plain
from dcplan.result import Result, Table
from tests.plans import planned

Marks = dict[tuple[str, str], float]
MARK = re.compile(
    r'class="mark" data-at="([^"]*)" data-series="([^"]*)" data-value="([^"]*)" '
    r'data-unit="([^"]*)"[^>]*><title>([^<]*)</title>'
)


@pytest.fixture(scope="module")
def renewal() -> Result:
    return planned("fleet-renewal", gap=0.005)


@pytest.fixture(scope="module")
def rent() -> Result:
    return tco("own-or-rent-1024-h200", sets=["sensitivity.samples=10"])


def marks_of(result: Result) -> dict[str, Marks]:
    """Values of each picture by place and series, with their text checked."""
    found: dict[str, Marks] = {}
    pattern = (
        r'<div class="wide" tabindex="0" role="region" aria-label="Picture: ([^"]*)">(.*?)</div>'
    )
    for name, svg in re.findall(pattern, page(result), flags=re.DOTALL):
        marks: Marks = {}
        for at, series, value, unit, title in MARK.findall(svg):
            assert (at, series) not in marks
            marks[unescape(at), unescape(series)] = float(value)
            names = ", ".join(x for x in (at, series) if x)
            assert title.startswith(f"{names}: {plain(float(value))} {unit}")
        found[unescape(name)] = marks
    return found


def tables_of(result: Result) -> dict[str, list[dict[str, Any]]]:
    """Tables as other programs read them."""
    tables = json.loads(result.to_json())["tables"]
    return {
        name: [dict(zip([c["name"] for c in t["columns"]], row, strict=True)) for row in t["rows"]]
        for name, t in tables.items()
    }


def nonzero(sums: dict[tuple[str, str], float]) -> Marks:
    return {key: value for key, value in sums.items() if value}


def test_power_and_capacity_say_the_cells_of_their_tables(renewal: Result) -> None:
    marks, tables = marks_of(renewal), tables_of(renewal)
    power: dict[tuple[str, str], float] = defaultdict(float)
    for row in tables["power"]:
        power[row["quarter"], row["site"]] += row["facility_mw"]
        power[row["quarter"], "utility limit"] += row["utility_mw"]
    assert marks["Power against the utility limit"] == nonzero(power)
    fleet: dict[tuple[str, str], float] = defaultdict(float)
    for row in tables["fleet"]:
        fleet[row["quarter"], row["system"]] += row["accelerators"]
    assert marks["Capacity by quarter"] == nonzero(fleet)


def test_workloads_say_the_accelerators_that_serve_them(renewal: Result) -> None:
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for row in tables_of(renewal)["served_by"]:
        unused = row["kind"] == "unused"
        name = "unused" if unused else f"{row['workload']} on {row['system']}"
        expected[row["quarter"], name] += row["average_accelerators"]
    assert marks_of(renewal)["Workloads by system"] == pytest.approx(nonzero(expected))


def test_cash_says_payments_and_their_running_sum(renewal: Result) -> None:
    rows = tables_of(renewal)["cash_flow"]
    names = ("capex", "energy", "opex", "cloud", "sales", "debt_service")
    expected = {
        (r["quarter"], n.replace("_", " ")): r[f"{n}_usd"] / 1e6 for r in rows for n in names
    }
    expected |= {(r["quarter"], "debt drawn"): -r["debt_drawn_usd"] / 1e6 for r in rows}
    sums = accumulate((r["cash_out_usd"] + r["sales_usd"]) / 1e6 for r in rows)
    expected |= {(r["quarter"], "running sum"): x for r, x in zip(rows, sums, strict=True)}
    assert marks_of(renewal)["Cash flow"] == pytest.approx(nonzero(expected))


def test_the_waterfall_says_the_cost_by_group(renewal: Result) -> None:
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for row in tables_of(renewal)["cost"]:
        expected["", row["group"]] += row["usd"] / 1e6
    npv = float(str(renewal.metrics["cost.npv_usd"].value)) / 1e6
    expected["", "discounting"] = npv - sum(expected.values())
    expected["", "net present cost"] = npv
    found = marks_of(renewal)["Where the money goes"]
    assert found == pytest.approx(nonzero(expected))


def test_owning_and_renting_say_their_running_sums(rent: Result) -> None:
    tables, marks = tables_of(rent), marks_of(rent)
    ways = [f"{r['offer']}.{r['term']}" for r in tables["rented"]][:MOST_RENTS]
    expected = {}
    for name in ("owned", *ways):
        sums = accumulate(r[f"{name}_usd"] / 1e6 for r in tables["months"])
        expected |= {(f"month {m}", name): x for m, x in enumerate(sums, 1)}
    assert marks["Break-even in cash"] == pytest.approx(expected)
    now = float(str(rent.metrics["owned.npv_usd"].value)) - min(
        float(str(m.value))
        for k, m in rent.metrics.items()
        if k.startswith("rented.") and k.endswith("npv_usd")
    )
    tornado = {
        (f"at its {end} bound", r["input"]): (r[f"over_rent_at_{end}_usd"] - now) / 1e6
        for r in tables["tornado"]
        for end in ("low", "high")
    }
    assert marks["What decides"] == pytest.approx(nonzero(tornado))


def test_every_picture_has_words(renewal: Result, rent: Result) -> None:
    for result in (renewal, rent):
        for charts in figures_of(result, []).values():
            assert all(len(chart.words) > 20 for chart in charts)
            assert all('role="img" aria-label="' in chart.svg for chart in charts)


def test_a_run_says_its_median_days() -> None:
    result = planned("train-405b-in-90-days", gap=0.005)
    jobs = {("", row["job"]): row["days_p50"] for row in tables_of(result)["jobs"]}
    assert marks_of(result)["Training runs"] == jobs


def test_a_quarter_has_the_cells_of_its_tables(renewal: Result) -> None:
    """2027-Q2: 512 accelerators, 1.441 of 4 MW, 0.936 M + 0.326 M USD with debt, chat lacks 8,280 tokens/s."""
    states = {state.quarter: state for state in states_of(renewal)}
    assert list(states) == list(dict.fromkeys(r["quarter"] for r in tables_of(renewal)["power"]))
    second = dict(states["2027-Q2"].figures)
    assert second["Accelerators in service, owned and rented"] == "512"
    assert second["Facility power of the utility limit"] == "1.441 of 4 MW (36%)"
    assert second["Paid so far, less sales"] == "1.26 M USD"
    assert second["Demands not served in full"] == "chat"
    paid = marks_of(renewal)["Cash flow"]["2027-Q3", "running sum"]  # after sales of USD 3.2 M
    assert dict(states["2027-Q3"].figures)["Paid so far, less sales"] == f"{paid:.2f} M USD"
    tables = dict(states["2027-Q2"].tables)
    assert ("chat", "tokens_per_s", "300,000", "291,720", "8,280") in tables["Demand"].rows
    assert [row[-1] for row in tables["Who is served"].rows] == ["200", "312"]
    assert [row[-1] for row in tables["Capacity by system"].rows] == ["512"]


def test_an_answer_without_cash_or_quarters_has_fewer_states(renewal: Result, rent: Result) -> None:
    cash = renewal.tables["cash_flow"]
    empty = [
        {name: None if name.endswith("_usd") else cell for name, cell in row.items()}
        for row in cash.records()
    ]
    blank = Table(cash.columns, tuple(tuple(row.values()) for row in empty))
    hidden = replace(renewal, tables={**renewal.tables, "cash_flow": blank})
    names = {name for state in states_of(hidden) for name, _ in state.figures}
    assert names == {name for name, _ in states_of(renewal)[0].figures if "Paid" not in name}
    assert states_of(rent) == ()


@pytest.fixture(scope="module")
def opened(renewal: Result, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    driver = shutil.which("chromedriver")
    assert driver, "chromedriver is not installed"
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(page(renewal), encoding="utf-8")
    found = webdriver.Chrome(options=options, service=Service(driver))
    found.get(Path(file).as_uri())
    yield found
    found.quit()


@pytest.mark.browser
@pytest.mark.slow
def test_the_slider_chooses_state_bands_and_drawings(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    slider = opened.find_element("id", "slider")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)  # the second quarter
    shown = [x for x in opened.find_elements("css selector", ".state") if x.is_displayed()]
    assert [x.get_attribute("data-quarter") for x in shown] == ["2027-Q2"]
    assert slider.get_attribute("aria-valuetext") == "2027-Q2"
    assert len(opened.find_elements("css selector", "svg .band")) == 4
    words = [x.text for x in opened.find_elements("css selector", "figcaption")]
    assert (
        "frankfurt/old-air in 2027-Q2: 32 of 120 rack positions taken; 32 racks dgx-h100" in words
    )
    full = "return document.querySelectorAll('.slot:not(.frame)').length"
    assert opened.execute_script(full) == 32
    slider.send_keys(Keys.END)
    assert opened.execute_script(full) == 3 + 4


@pytest.mark.browser
@pytest.mark.slow
def test_pointer_and_arrow_keys_show_the_values(opened: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    box = opened.find_element("css selector", "[aria-label='Picture: Capacity by quarter']")
    tip = opened.find_element("id", "tip")
    opened.execute_script("arguments[0].focus()", box)
    box.send_keys(Keys.ARROW_RIGHT)
    assert tip.text == "2027-Q1, dgx-h100: 512 accelerators"
    box.send_keys(Keys.END)
    assert tip.text == "2028-Q2, gb200-nvl72: 288 accelerators"
    box.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()
    bar = box.find_element("css selector", ".mark[data-at='2027-Q2']")
    ActionChains(opened).scroll_to_element(box).move_to_element(bar).perform()
    assert tip.text == "2027-Q2, dgx-h100: 512 accelerators"


def test_a_name_without_a_glyph_is_drawn_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chart = quarterly.power(["2027-Q1"], {"法兰克福": [1.0]}, [2.0])
    assert "法兰克福" in chart.svg


def test_the_picture_of_the_fleet_has_the_largest_systems_and_one_series_of_rents(
    renewal: Result,
) -> None:
    """Eight systems of 80 to 10 accelerators and two rents: six systems, 20 + 10 others, 5 + 7 rented."""
    fleet = renewal.tables["fleet"]
    blank = dict.fromkeys(fleet.columns) | {"quarter": "2027-Q1", "origin": "ordered by the plan"}
    rows = [blank | {"system": f"s{n}", "accelerators": 10.0 * n} for n in range(1, 9)]
    rows += [
        blank | {"system": name, "accelerators": n, "origin": "rented"}
        for name, n in (("a", 5.0), ("b", 7.0))
    ]
    table = Table(fleet.columns, tuple(tuple(row.values()) for row in rows))
    found = marks_of(replace(renewal, tables={**renewal.tables, "fleet": table}))
    shown = {name: n for (quarter, name), n in found["Capacity by quarter"].items() if n}
    expected = {f"s{n}": 10.0 * n for n in range(3, 9)} | {
        "others": 30.0,
        "rented accelerators": 12.0,
    }
    assert shown == expected


def test_racks_of_network_and_storage_are_said_to_be_those_of_the_last_quarter() -> None:
    chart = drawings.hall("a/b", [("s", 3, 2, 10.0)], 20, 5, {"2027-Q1": {"s": 1}})
    assert "2 racks of network and storage (gray), as in the last quarter" in chart.svg
    assert chart.words.startswith("a/b: 5 of 20 rack positions taken; 3 racks s, 2 nodes")


def test_every_system_of_a_hall_has_its_rack_drawn() -> None:
    chart = drawings.hall("a/b", [(f"s{i}", 1, 1, 10.0) for i in range(7)], 20, 7)
    assert [f">s{i}</text>" in chart.svg for i in range(7)] == [True] * 7
