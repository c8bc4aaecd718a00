"""``dcplan report``: one result, two results, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dcplan
from dcplan.report.html.page import page
from dcplan.report.redact import redacted
from dcplan.result import Result
from tests.cli.conftest import Ran
from tests.plans import planned

PRICE = "systems.gb200-nvl72.price_usd=4.6e6"


@pytest.fixture(scope="module")
def before() -> Result:
    return planned("fleet-renewal")


@pytest.fixture(scope="module")
def after() -> Result:
    return planned("fleet-renewal", sets=[PRICE])


def test_a_redacted_page_has_no_price(
    here: Callable[..., Ran], tmp_path: Path, before: Result, after: Result
) -> None:
    files = [
        str(dcplan.export(x, tmp_path / f"{n}.json")) for x, n in ((before, "a"), (after, "b"))
    ]
    ran = here("report", *files, "--redact", "-o", str(tmp_path / "page.html"))
    assert ran.code == 0, ran.err
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "4,600,000" not in text
    assert "4.60" not in text
    assert "systems.gb200-nvl72.price_usd" in text


def test_a_redacted_diff_has_totals_and_no_unit_prices(before: Result, after: Result) -> None:
    """A price per token and the cost of energy, over known quantities, are prices of the user."""
    known = dcplan.diff(before, after)
    hidden = redacted(known)
    for name in ("metrics_changed", "figures_compared"):
        was = {row["metric"]: row["before"] for row in known.tables[name].records()}
        now = {row["metric"]: row["before"] for row in hidden.tables[name].records()}
        assert now["cost.npv_usd"] == was["cost.npv_usd"]
        removed = [x for x in was if x == "cost.energy_usd" or "usd_per" in str(x)]
        assert removed
        assert all(now[x] is None and was[x] is not None for x in removed)


def test_a_further_answer_of_two_that_are_no_plans_is_refused(
    here: Callable[..., Ran], tmp_path: Path
) -> None:
    hall = dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20)
    file = str(dcplan.export(hall, tmp_path / "a.json"))
    ran = here("report", file, file, "--with", file)
    assert ran.code == 2
    assert "leave out --with" in ran.err


def test_one_result_is_the_page_of_export(
    here: Callable[..., Ran], tmp_path: Path, before: Result
) -> None:
    file = dcplan.export(before, tmp_path / "a.json")
    assert here("report", str(file)).code == 0
    saved = (tmp_path / "a.html").read_text("utf-8")
    assert saved == page(dcplan.read(file))


def test_a_label_needs_two_results(
    here: Callable[..., Ran], tmp_path: Path, before: Result
) -> None:
    file = dcplan.export(before, tmp_path / "a.json")
    ran = here("report", str(file), "--label", "now")
    assert ran.code == 2
    assert "DC050" in ran.err


def test_an_answer_on_neither_scenario_is_refused(
    here: Callable[..., Ran], tmp_path: Path, before: Result, after: Result
) -> None:
    files = [
        str(dcplan.export(x, tmp_path / f"{n}.json")) for x, n in ((before, "a"), (after, "b"))
    ]
    other = dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20)
    third = str(dcplan.export(other, tmp_path / "c.json"))
    ran = here("report", *files, "--with", third)
    assert ran.code == 2
    assert "neither plan" in ran.err


@pytest.mark.parametrize("verb", ["report", "export"])
def test_a_further_answer_of_one_that_is_no_plan_is_refused(
    here: Callable[..., Ran], tmp_path: Path, verb: str
) -> None:
    hall = dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20)
    file = str(dcplan.export(hall, tmp_path / "hall.json"))
    more = ("--to", "html") if verb == "export" else ()
    ran = here(verb, file, *more, "--with", file, "-o", str(tmp_path / "page.html"))
    assert ran.code == 2
    assert "DC050" in ran.err
    assert "this is facility with status ok" in ran.err
    assert "leave out --with" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_a_further_answer_of_a_format_without_room_is_refused(
    here: Callable[..., Ran], tmp_path: Path, before: Result
) -> None:
    file = str(dcplan.export(before, tmp_path / "a.json"))
    ran = here("export", file, "--to", "md", "--with", file, "-o", str(tmp_path / "a.md"))
    assert ran.code == 2
    assert "md has no room for further answers" in ran.err
    assert not (tmp_path / "a.md").exists()
