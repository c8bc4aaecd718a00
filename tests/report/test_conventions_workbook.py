"""The workbook of a comparison with own conventions is live: mixes, tiers, quotes, lines left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest
import yaml

from dcplan.answers.imports.workbook import import_book
from dcplan.answers.tco.request import TcoRequest
from dcplan.api.tco import tco
from dcplan.report.book.tco.source import tco_source
from dcplan.report.book.tco.write import computed
from dcplan.report.book.write import workbook
from tests.report.books import editable, edited
from tests.report.compared_books import (
    Made,
    assert_each_edit_changes,
    assert_edits_change,
    assert_green,
    assert_libreoffice,
    assert_live,
)

TERMS = """
dcplan: 1
name: terms
horizon: {start: 2027-Q1, quarters: 10}
finance:
  discount_rate: 0.1
  hardware_life_years: 4
  residual: {value: 0.15, low: 0.1, high: 0.2, source: own}
  tax: {income_rate: 0.25, depreciation: straight-line-5, sales_tax_frac: 0.05, property_tax_frac_per_year: 0.015}
  debt: {share: 0.6, rate: 0.08, term_years: 2}
  inflation_frac_per_year: 0.03
sites:
  - id: own
    location: us-columbus
    utility_mw: 4
    energy:
      demand_usd_per_kw_month: 9
      tiers:
        - {up_to_mwh_per_month: 150, usd_per_kwh: 0.09}
        - {up_to_mwh_per_month: 250, usd_per_kwh: 0.07}
        - {usd_per_kwh: 0.05}
    halls: [{id: a, racks: 80, rack_kw_max: 45, it_mw: 2.4, cooling: [rear-door-tower]}]
fleet: {system: dgx-h200, accelerators: 504}
fabric: {id: ib-ndr-400}
storage: {usable_pb: 3}
cloud:
  offers: [aws-p5en-48xlarge, coreweave-h200]
  terms: [on-demand, reserved-1y, reserved-3y]
  price_change_frac_per_year: -0.1
comparison:
  hours_per_month: 730
  accelerator_hours: 6e6
  leave_out: [owned.network, rented.set-up]
  lines:
    - {id: insurance, usd_per_month: 9000}
    - {id: operation, usd_per_accelerator_hour: 0.05, share_frac: 0.5}
    - {id: permit, usd: 2000, units: 30}
  rents:
    - id: coreweave-h200
      storage_usd_per_month: 20000
      support_frac: 0.04
      goodput_loss_frac: 0.02
      debugging_usd_per_month: 5000
      commitments: [{term: reserved-1y, upfront_usd: 60000, usd_per_month: 9000}]
  mixes:
    - {id: mostly-reserved, shares: {reserved-1y: 0.6}}
    - {id: layered, shares: {reserved-1y: 0.3, reserved-3y: 0.5}}
"""
"""A horizon that cuts off commitments, one paid in part upfront, two mixes, a tariff in tiers with inflation."""
POWER = """
dcplan: 1
name: power
horizon: {start: 2027-Q1, quarters: 12}
finance: {discount_rate: 0.08, hardware_life_years: 5}
sites:
  - id: dc
    location: us-dallas
    utility_mw: 500
    energy: {usd_per_kwh: 0.08}
    halls:
      - {id: a, racks: 2000, rack_kw_max: 150, it_mw: 16, cooling: [direct-liquid-tower],
         existing: true, pue: 1.2, peak_pue: 1.4}
fleet: {system: dgx-h100, accelerators: 1024, utilization_frac: 0.7}
fabric: {id: ib-ndr-400}
cloud: {offers: [aws-p5-48xlarge, coreweave-h100], terms: [on-demand, reserved-1y, reserved-3y]}
comparison:
  average_accelerator_kw: 0.7
  only: [racks, energy, residual, accelerators, support, rented.storage, staffing]
  lines: [{id: staffing, usd_per_month: 50000}]
  rents:
    - {id: coreweave-h100, storage_usd_per_month: 0, support_frac: 0.05}
    - id: aws-p5-48xlarge
      commitments:
        - {term: reserved-1y, upfront_usd: 220000, usd_per_month: 18333.33}
        - {term: reserved-3y, upfront_usd: 900000}
  mixes: [{id: half, shares: {reserved-3y: 0.5}}]
"""
"""An own average power, and only the lines that are named."""
SCENARIOS = {"terms": TERMS, "power": POWER}
EDITS = {
    "terms": {
        "comparison.accelerator_hours": 7.1e6,
        "comparison.hours_per_month": 720.0,
        "comparison.mixes.layered.shares.reserved-1y": 0.35,
        "comparison.mixes.mostly-reserved.shares.reserved-1y": 0.45,
        "comparison.rents.coreweave-h200.commitments.0.upfront_usd": 71000.0,
        "comparison.rents.coreweave-h200.commitments.0.usd_per_month": 8500.0,
        "comparison.rents.coreweave-h200.support_frac": 0.06,
        "comparison.lines.operation.usd_per_accelerator_hour": 0.07,
        "comparison.lines.permit.units": 41.0,
        "sites.own.energy.tiers.0.up_to_mwh_per_month": 170.0,
        "sites.own.energy.tiers.1.usd_per_kwh": 0.066,
        "sites.own.energy.tiers.2.usd_per_kwh": 0.058,
        "cloud.prices.aws-p5en-48xlarge.reserved_3y_usd_per_h": 31.0,
        "finance.discount_rate": 0.085,
        "finance.residual": 0.2,
        "finance.hardware_life_years": 4.25,
    },
    "power": {
        "comparison.average_accelerator_kw": 0.82,
        "comparison.lines.staffing.usd_per_month": 61000.0,
        "comparison.rents.aws-p5-48xlarge.commitments.1.upfront_usd": 800000.0,
        "comparison.mixes.half.shares.reserved-3y": 0.4,
        "fleet.utilization_frac": 0.43,
        "sites.dc.energy.usd_per_kwh": 0.07,
        "systems.dgx-h100.price_usd": 301000.0,
    },
}
LEAST_FIGURES = 40


@pytest.fixture(scope="module", params=list(SCENARIOS))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A comparison with conventions and its workbook."""
    folder = tmp_path_factory.mktemp(request.param)
    scenario = folder / f"{request.param}.yaml"
    scenario.write_text(SCENARIOS[request.param], encoding="utf-8")
    result = tco(str(scenario))
    file = folder / "book.xlsx"
    file.write_bytes(workbook(result))
    return Made(str(scenario), result, file)


def edits_of(made: Made) -> dict[str, float]:
    return EDITS[Path(made.scenario).stem]


def test_with_zeroed_caches_another_engine_finds_the_answers_figures(made: Made) -> None:
    assert_live(made, least_figures=LEAST_FIGURES)


def test_edited_inputs_give_the_figures_of_a_new_run(made: Made) -> None:
    assert_edits_change(made, edits_of(made))


@pytest.mark.slow
def test_each_edited_input_gives_the_figures_of_a_new_run(made: Made) -> None:
    assert_each_edit_changes(made, edits_of(made))


@pytest.mark.office
@pytest.mark.slow
def test_libreoffice_finds_the_figures_of_the_answer_and_of_a_new_run(
    made: Made, tmp_path: Path
) -> None:
    assert_libreoffice(made, edits_of(made), tmp_path)


def test_checks_are_green_and_no_cell_is_an_error(made: Made) -> None:
    assert_green(made.file, least_checks=60)


def test_edits_come_back_as_overrides(made: Made) -> None:
    edits = edits_of(made)
    answer, text = import_book(edited(made.file, edits))
    assert answer.metrics["rows.imported"].value == len(edits)
    block = yaml.safe_load(text)["overrides"]["workbook"]
    assert {key: entry["value"] for key, entry in block.items()} == edits


def test_inputs_that_follow_from_others_are_formulas_and_the_rest_have_a_reason(made: Made) -> None:
    opened = openpyxl.load_workbook(made.file)["Inputs"]
    rows = {str(row[0]): row for row in opened.iter_rows(min_row=6, values_only=True) if row[0]}
    wanted = {
        "terms": {
            "fleet.utilization_frac",
            "sites.own.energy.usd_per_kwh",
            "cloud.coreweave-h200.reserved_1y_usd_per_h",
        },
        "power": {
            "cloud.aws-p5-48xlarge.reserved_1y_usd_per_h",
            "cloud.aws-p5-48xlarge.reserved_3y_usd_per_h",
        },
    }[Path(made.scenario).stem]
    assert {key for key, row in rows.items() if str(row[2]).startswith("=")} == wanted
    assert all(rows[key][12] == "it is derived from other inputs" for key in wanted)
    assert all(bool(row[7]) != bool(row[12]) for row in rows.values())
    assert set(editable(made.file)) == {str(row[7]) for row in rows.values() if row[7]}


def test_lines_left_out_have_no_row_and_those_named_are_there(made: Made) -> None:
    book = computed(tco_source(made.result))
    owned = {row.label for row in book.lines}
    if Path(made.scenario).stem == "power":
        assert owned == {"racks dgx-h100", "energy", "staffing"}
        assert set(book.ends) == {"racks dgx-h100"}
        lines = {row.label for rows in book.rents.values() for row in rows}
        assert lines == {"accelerators", "storage", "support"}
    else:
        assert not owned & {"network", "set-up"}
        assert {"insurance", "operation", "permit", "racks dgx-h200", "storage"} <= owned
        assert not any(row.label == "set-up" for rows in book.rents.values() for row in rows)


def test_tiers_price_the_energy_of_a_month_by_hand(made: Made) -> None:
    """150 MWh at 0.09, 100 at 0.07 and the rest at 0.05 USD/kWh, times 1.03 a year."""
    if Path(made.scenario).stem == "power":
        return
    book = computed(tco_source(made.result))
    kwh, usd = (
        next(row.values for row in book.calc.power.rows if row.label == label)[:10]
        for label in ("energy of a month", "cost of a month")
    )
    assert kwh.min() > 250_000
    rises = 1.03 ** (np.arange(10) / 4)
    assert usd == pytest.approx((13_500 + 7_000 + 0.05 * (kwh - 250_000)) * rises, rel=1e-12)
    line = next(row.values for row in book.lines if row.label == "energy")
    assert line[:30] == pytest.approx(np.repeat(usd, 3), rel=1e-12)


def test_a_commitment_paid_in_part_upfront_by_hand(made: Made) -> None:
    """63 instances pay 60,000 USD at the start of a year and 9,000 USD a month, falling 10 % a year."""
    if Path(made.scenario).stem == "power":
        return
    book = computed(tco_source(made.result))
    paid = book.rows["coreweave-h200.reserved-1y accelerators"].values
    first = 63 * (60_000 + 9_000.0)
    assert paid[0] == pytest.approx(first, rel=1e-12)
    assert paid[1:12] == pytest.approx([63 * 9_000.0] * 11, rel=1e-12)
    assert paid[12] == pytest.approx(0.9 * first, rel=1e-12)


def test_a_packaged_example_with_quotes_is_live() -> None:
    """ClusterMAX: 4,096 accelerators on three offers, with quotes of all that accompanies them."""
    result = tco(TcoRequest("scenarios/cost/textbook.yaml", variant="cluster-rents"))
    book = computed(tco_source(result))
    for name in book.rents:
        assert book.rows[f"{name} npv"].value == pytest.approx(
            result.metrics[f"rented.{name}.npv_usd"].value, rel=1e-9
        )
