"""The workbook is live and right: recalculated by an independent engine it equals the plan, edited
or not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import openpyxl
import pytest
import yaml

from dcplan.answers.imports.workbook import import_book
from dcplan.api.plan import plan
from dcplan.errors import InputError
from dcplan.report.book.data.tables import BookData
from dcplan.report.book.write import workbook
from dcplan.result import Result, Table
from tests.plans import planned
from tests.report.books import (
    by_libreoffice,
    cells,
    editable,
    edited,
    frozen_cells,
    live_cells,
    planned_with_facts,
    recalculated,
    recalculated_with_errors,
    summary,
    zeroed,
)

SCENARIOS = ("train-405b-in-90-days", "own-or-rent-1024-h200", "fleet-renewal", "meta-24k-h100")
HALF_CENT_USD = 0.005
REFERENCE = re.compile(r"(?:[A-Za-z_]+!)?\$?[A-Z]{1,3}\$?\d+")
PLAIN = {"0", "1", "2", "3", "4", "12", "24", "100", "1000", "8760"}


class Made(NamedTuple):
    """A scenario, its plan, its workbook, and what the workbook is computed from."""

    name: str
    result: Result
    file: Path
    data: BookData


@pytest.fixture(scope="module", params=SCENARIOS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A scenario, its plan and its workbook."""
    result, data = planned_with_facts(request.param)
    file = tmp_path_factory.mktemp("book") / "book.xlsx"
    file.write_bytes(workbook(result))
    return Made(request.param, result, file, data)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One plan and its workbook."""
    result = plan(SCENARIOS[0], gap=0.005)
    file = tmp_path_factory.mktemp("book") / "book.xlsx"
    file.write_bytes(workbook(result))
    return result, file


def test_with_zeroed_caches_another_engine_finds_the_plans_figures(made: Made) -> None:
    _, result, file, _ = made
    bare = zeroed(file)
    assert set(summary(bare).values()) == {0.0}  # the caches are gone
    found = summary(recalculated(bare))
    assert found
    for key, value in found.items():
        assert value == pytest.approx(result.metrics[key].value, rel=1e-9), key


def test_five_edited_inputs_give_the_same_decisions_figures(made: Made) -> None:
    name, result, file, _ = made
    for seed in (1, 2):
        rng = random.Random(seed)  # noqa: S311 - a fixed choice of inputs
        known = editable(file)
        changes = {key: known[key] * rng.uniform(1.0, 1.15) for key in rng.sample(sorted(known), 5)}
        found = summary(recalculated(edited(file, changes)))
        there = plan(
            name, sets=[f"{key}={value!r}" for key, value in changes.items()], fix_decisions=result
        )
        for key, value in found.items():
            # the amounts rented are continuous, and the solver stops within its own tolerance
            cent = HALF_CENT_USD if key.endswith("_usd") else None
            assert value == pytest.approx(there.metrics[key].value, rel=1e-9, abs=cent), (
                key,
                changes,
            )


def test_exactly_these_cells_are_live(made: Made, golden: Callable[[str, str], None]) -> None:
    golden(f"book/{made.name}-live.txt", live_cells(made.file))


def test_exactly_these_facts_and_inputs_are_frozen_and_say_why(
    made: Made, golden: Callable[[str, str], None]
) -> None:
    golden(f"book/{made.name}-frozen.txt", frozen_cells(made.data))


def test_checks_are_green_and_no_cell_is_an_error(made: Made) -> None:
    again = cells(recalculated(zeroed(made.file)), values=True)
    assert not [at for at, value in again.items() if str(value).startswith("#")]
    assert again["Summary", "B3"] == "OK"
    checks = [
        v
        for (sheet, at), v in again.items()
        if sheet == "Checks" and at.startswith("D") and at != "D5"
    ]
    assert set(checks) == {"OK"}
    assert len(checks) > 10


def test_an_edit_beyond_the_grid_turns_a_check_red(one: tuple[Result, Path]) -> None:
    _, file = one
    switch = next(name for name in editable(file) if name.endswith("typical_kw"))
    wide = edited(file, {switch: 100.0})
    found = cells(recalculated(wide), values=True)
    assert found["Summary", "B3"] == "CHECK"


def test_two_exports_are_the_same_bytes(one: tuple[Result, Path]) -> None:
    result, file = one
    assert workbook(result) == file.read_bytes()


def test_each_row_is_one_formula_and_holds_no_facts(one: tuple[Result, Path]) -> None:
    formulas = {
        at: v
        for at, v in cells(one[1], values=False).items()
        if isinstance(v, str) and v.startswith("=")
    }
    rows: dict[tuple[str, str], set[str]] = {}
    for (sheet, at), text in formulas.items():
        if not (sheet.startswith("Calc") or sheet == "Cashflow"):
            continue
        column, row = re.match(r"([A-Z]+)(\d+)", at).groups()  # type: ignore[union-attr]
        if column >= "G" or len(column) > 1:
            relative = re.sub(rf"(?<![A-Z$]){column}(?=\d)", "C", text)
            rows.setdefault((sheet, row), set()).add(relative)
        for number in re.findall(
            r"(?<![A-Za-z$\d.])\d+(?:\.\d+)?(?:e-?\d+)?", REFERENCE.sub("", text)
        ):
            assert number in PLAIN, (sheet, at, text)
    assert len(rows) > 30
    assert not {row: texts for row, texts in rows.items() if len(texts) > 1}


def test_text_that_looks_like_a_formula_stays_text(tmp_path: Path) -> None:
    scenario = tmp_path / "evil.yaml"
    text = Path("scenarios/own-or-rent-1024-h200.yaml").read_text(encoding="utf-8")
    source = '{value: 340000, source: "=HYPERLINK(1)", note: "@SUM(1)"}'
    scenario.write_text(
        text.replace("fleet: {", f"prices: {{dgx-h200: {{price_usd: {source}}}}}\nfleet: {{"),
        "utf-8",
    )
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(plan(str(scenario))))
    found = [at for at, value in cells(file, values=False).items() if value == "=HYPERLINK(1)"]
    assert found
    import openpyxl

    book = openpyxl.load_workbook(file)
    assert {book[sheet][at].data_type for sheet, at in found} == {"s"}


def test_edited_inputs_come_back_as_overrides(one: tuple[Result, Path], tmp_path: Path) -> None:
    result, file = one
    change = {"systems.gb200-nvl72.price_usd": 3_000_000.0, "sites.ashburn.energy.usd_per_kwh": 0.1}
    book = edited(file, change)
    answer, text = import_book(book)
    assert answer.metrics["rows.imported"].value == 2
    block = yaml.safe_load(text)["overrides"]["workbook"]
    assert {key: entry["value"] for key, entry in block.items()} == change
    base = Path("scenarios/train-405b-in-90-days.yaml").read_text(encoding="utf-8")
    scenario = tmp_path / "edited.yaml"
    scenario.write_text(base + "\n" + text + "scenarios: {edited: [workbook]}\n", encoding="utf-8")
    there = plan(str(scenario), variant="edited", fix_decisions=result)
    assert summary(recalculated(book))["cost.npv_usd"] == pytest.approx(
        there.metrics["cost.npv_usd"].value, rel=1e-9
    )


def test_cells_that_are_no_inputs_are_refused_by_row(
    one: tuple[Result, Path], tmp_path: Path
) -> None:
    import openpyxl

    book = openpyxl.load_workbook(one[1])
    sheet = book["Inputs"]
    for row in range(6, sheet.max_row + 1):
        if sheet.cell(row, 1).value == "accelerators.gb200.hbm_gb":
            sheet.cell(row, 3).value = 200
        if sheet.cell(row, 1).value == "systems.gb200-nvl72.price_usd":
            sheet.cell(row, 3).value = "much"
    book.save(tmp_path / "bad.xlsx")
    with pytest.raises(InputError, match="'much' is not a number"):
        import_book(tmp_path / "bad.xlsx")
    (tmp_path / "no.xlsx").write_bytes(b"PK nothing")
    with pytest.raises(InputError, match="cannot be read"):
        import_book(tmp_path / "no.xlsx")


def test_only_a_plan_becomes_a_workbook() -> None:
    with pytest.raises(ValueError, match="with a plan can become a workbook"):
        workbook(Result("plan", "ok", 0, "", tables={"x": Table((), ())}))


@pytest.mark.office
@pytest.mark.slow
def test_libreoffice_finds_the_plans_figures(made: Made, tmp_path: Path) -> None:
    """The reference spreadsheet recalculates on loading; by default it trusts the caches."""
    _, result, file, _ = made
    found = summary(by_libreoffice(zeroed(file), tmp_path))
    for key, value in found.items():
        assert value == pytest.approx(result.metrics[key].value, rel=1e-9), key


def test_an_error_in_a_check_turns_the_master_check(one: tuple[Result, Path]) -> None:
    found = cells(
        recalculated_with_errors(edited(one[1], {"finance.discount_rate": -1.0})), values=True
    )
    assert found["Summary", "B3"] == "CHECK"


def _checks(file: Path) -> dict[str, str]:
    """Every check and whether it holds."""
    found = cells(file, values=True)
    last = max(int(at[1:]) for sheet, at in found if sheet == "Checks" and at.startswith("A"))
    return {
        str(found["Checks", f"A{n}"]): str(found.get(("Checks", f"D{n}")))
        for n in range(6, last + 1)
        if ("Checks", f"A{n}") in found
    }


def test_an_edit_past_a_limit_turns_its_check_and_the_master_check(tmp_path: Path) -> None:
    # 20 switches of 1 kW become 40 MW, beyond the hall and the grid; 40 times the price is beyond
    # the budget
    result = planned("retrofit-air-hall", gap=0.05)
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(result))
    before = _checks(file)
    assert set(before.values()) == {"OK"}
    limits = ("hall IT MW", "utility MW", "budget USD so far")
    rows = {name: [k for k in before if f"in which {name}" in k] for name in limits}
    assert all(rows.values()), before
    assert (
        any(k.startswith("expected: power-headroom") for k in before) is False
    )  # a warning does not gate
    names = editable(file)
    switch = next(k for k in names if k.endswith("typical_kw"))
    system = next(k for k in names if k.startswith("systems.") and k.endswith("price_usd"))
    after = _checks(
        recalculated(edited(file, {switch: names[switch] * 2000, system: names[system] * 40}))
    )
    for name in limits:
        assert any(after[k] == "CHECK" for k in rows[name]), (name, after)
    assert after["All checks"] == "CHECK"


def test_expectations_on_live_figures_are_checks(one: tuple[Result, Path], tmp_path: Path) -> None:
    result = replace(
        one[0],
        expectations=[
            {
                "id": "cap",
                "metric": "cost.capex_usd",
                "severity": "error",
                "passed": True,
                "max": 1e12,
                "min": None,
                "equals": None,
            },
            {
                "id": "low",
                "metric": "cost.capex_usd",
                "severity": "error",
                "passed": False,
                "max": 1.0,
                "min": None,
                "equals": None,
            },
        ],
    )
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook(result))
    found = _checks(file)
    assert found["expected: cap: cost.capex_usd max 1e+12"] == "OK"
    assert found["expected: low: cost.capex_usd max 1"] == "CHECK"
    assert found["All checks"] == "CHECK"
    assert cells(file, values=True)["Cover", "B3"] == "CHECK"
    assert _checks(recalculated(zeroed(file))) == found


def test_sheets_of_tables_have_headers_for_people(made: Made) -> None:
    """``mfu_frac`` is ``MFU``, in cells with a percent format; no machine name is a header."""
    book = openpyxl.load_workbook(made.file)
    for name in ("Sources", "Training", "Dictionary"):
        heads = [c.value for row in book[name].iter_rows() for c in row if c.font.b and c.value]
        assert heads
        assert not [h for h in heads if "_" in str(h) and not str(h).startswith("=")]
    percent = [
        c
        for row in book["Training"].iter_rows()
        for c in row
        if str(c.number_format).endswith("%") and isinstance(c.value, float)
    ]
    assert all(0.0 <= c.value <= 1.0 for c in percent)
