"""The export against the rules of FOCUS 1.2, by own checks and by the official validator.

The rules are those of the columns in version 1.2 of the specification,
https://github.com/FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec/tree/v1.2/specification/columns.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dcplan.report.csvs import csv_text
from dcplan.report.focus.charges import charges_of
from dcplan.report.focus.export import focus_csv
from dcplan.report.focus.rows import COLUMNS, row_of
from tests.report.test_focus import COMMITTED, PLANS, REFUND, plan_of

MANDATORY = (
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ServiceCategory",
    "ServiceName",
)
"""Columns that each dataset has."""
NEVER_NULL = (
    *(set(MANDATORY) - {"BillingAccountName", "ChargeClass", "PricingQuantity", "PricingUnit"}),
    "ChargeFrequency",
    "ServiceSubcategory",
)
PRICED = ("ContractedUnitPrice", "ListUnitPrice", "PricingCategory", "PricingQuantity")
PRICED_TOO = (*PRICED, "PricingUnit", "SkuId", "SkuPriceId", "SkuMeter")
"""Columns that usage and purchases have."""
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"},
    "ChargeClass": {"", "Correction"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "CommitmentDiscountCategory": {"", "Spend", "Usage"},
    "CommitmentDiscountStatus": {"", "Used", "Unused"},
    "PricingCategory": {"", "Standard", "Dynamic", "Committed", "Other"},
    "BillingCurrency": {"USD"},
}
SERVICES = {
    ("Compute", "Other (Compute)"),
    ("Compute", "Virtual Machines"),
    ("Networking", "Network Infrastructure"),
    ("Storage", "Other (Storage)"),
    ("Storage", "Object Storage"),
    ("Other", "Other (Other)"),
}
"""Allowed pairs of category and subcategory that a plan may have."""
DECIMAL = re.compile(r"-?\d+(\.\d+)?([eE]-?\d+)?")
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
UNIT = re.compile(
    r"(Racks|Halls|Blocks|Plants|Lots|Accelerators|Months|kWh|[A-Za-z]+-(Months|Hours))"
)
DEFECTS = {
    "CommitmentDiscountStatus-C-000-C",
    "CommitmentDiscountStatus-C-002-C",
    "CommitmentDiscountStatus-C-004-C",
    "InvoiceId-C-005-C",
}
"""Rules of the validator's model 1.2.0.1 that no dataset can meet. C-004-C asks for a status where
the commitment has no id, the opposite of its own text and of C-003-C; the two others contain it.
InvoiceId-C-005-C asks for an invoice in every row, also where there is none; the rule that contains
it, InvoiceId-C-003-C, passes."""
CRITERIA = (
    "ACCOUNT_NAMING_SUPPORTED,COMMITMENT_DISCOUNT_SUPPORTED,MULTIPLE_PRICING_CATEGORIES_SUPPORTED,"
    "NEGOTIATED_PRICING_SUPPORTED,PUBLIC_PRICE_LIST_SUPPORTED,USAGE_MEASUREMENT_SUPPORTED,"
    "UNIT_PRICING_SUPPORTED,BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED,"
    "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,REGION_SUPPORTED"
)


def text_of(name: str) -> str:
    """Return the export of a plan, and of a commitment and a refund, which no packaged plan has."""
    paid = (COMMITTED, REFUND)
    more = (row_of(charge, "s", end=12 * 2030) for each in paid for charge in charges_of(each))
    table = csv_text(COLUMNS, ([row.get(c) for c in COLUMNS] for row in more))
    return focus_csv(plan_of(name)) + table.partition("\n")[2]


@pytest.fixture(params=PLANS)
def rows(request: pytest.FixtureRequest) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(request.param))))


def test_mandatory_columns_are_there_and_filled(rows: list[dict[str, str]]) -> None:
    assert set(MANDATORY) <= set(rows[0])
    for row in rows:
        assert [c for c in NEVER_NULL if not row[c]] == []
        if row["ChargeCategory"] in ("Usage", "Purchase"):
            assert [c for c in PRICED_TOO if not row[c]] == []


def test_values_are_allowed_and_formatted(rows: list[dict[str, str]]) -> None:
    decimals = [c for c in COLUMNS if re.search(r"Cost$|UnitPrice$|Quantity$", c)]
    for row in rows:
        assert {c: row[c] for c, allowed in ALLOWED.items() if row[c] not in allowed} == {}
        assert (row["ServiceCategory"], row["ServiceSubcategory"]) in SERVICES
        assert [row[c] for c in decimals if row[c] and not DECIMAL.fullmatch(row[c])] == []
        moments = [c for c in COLUMNS if re.search(r"Period(Start|End)$", c)]
        assert [row[c] for c in moments if not MOMENT.fullmatch(row[c])] == []
        assert UNIT.fullmatch(row["PricingUnit"])
        assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]


def test_a_quantity_times_its_price_is_its_cost(rows: list[dict[str, str]]) -> None:
    for row in rows:
        quantity = float(row["PricingQuantity"])
        for kind in ("List", "Contracted"):
            price, cost = float(row[f"{kind}UnitPrice"]), float(row[f"{kind}Cost"])
            assert price >= 0
            assert price * quantity == pytest.approx(cost, rel=1e-9)
        assert float(row["EffectiveCost"]) in (0.0, float(row["ContractedCost"]))


def test_what_depends_on_the_category(rows: list[dict[str, str]]) -> None:
    for row in rows:
        usage = row["ChargeCategory"] == "Usage"
        used = usage and row["CommitmentDiscountStatus"] != "Unused"
        assert bool(row["ConsumedQuantity"]) == used
        assert bool(row["ConsumedUnit"]) == used
        ended = "cancel" in row["x_Line"] or row["PricingUnit"] == "Accelerators"  # set-up of rent
        covers_later = row["ChargeCategory"] == "Purchase" and not ended
        assert not covers_later or float(row["EffectiveCost"]) == 0.0
        if row["ChargeCategory"] == "Credit":
            assert row["EffectiveCost"] == row["BilledCost"] == row["ListCost"]


def test_commitment_columns_are_filled_together(rows: list[dict[str, str]]) -> None:
    kinds = ("Category", "Type", "Name", "Quantity", "Unit")
    committed = [r for r in rows if r["CommitmentDiscountId"]]
    assert len(committed) == 9
    for row in rows:
        there = bool(row["CommitmentDiscountId"])
        assert {bool(row[f"CommitmentDiscount{k}"]) for k in kinds} == {there}
        assert bool(row["CommitmentDiscountStatus"]) == (there and row["ChargeCategory"] == "Usage")
        assert (row["PricingCategory"] == "Committed") == bool(row["CommitmentDiscountStatus"])
    bought = sum(float(r["BilledCost"]) for r in committed if r["ChargeCategory"] == "Purchase")
    used = sum(float(r["EffectiveCost"]) for r in committed if r["ChargeCategory"] == "Usage")
    assert used == pytest.approx(bought)


def test_ids_have_one_parent_and_names_follow_them(rows: list[dict[str, str]]) -> None:
    parents: dict[str, set[str]] = {}
    services: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        parents.setdefault(row["SkuPriceId"], set()).add(row["SkuId"])
        pair = row["ServiceCategory"], row["ServiceSubcategory"]
        services.setdefault(row["ServiceName"], set()).add(pair)
        assert bool(row["ResourceName"]) == bool(row["ResourceId"])
        assert not row["ResourceId"] or row["ResourceName"] != row["ResourceId"]
    assert {len(ids) for ids in parents.values()} == {1}
    assert {len(pairs) for pairs in services.values()} == {1}


@pytest.mark.slow
@pytest.mark.validator
@pytest.mark.parametrize("name", PLANS)
def test_the_official_validator_finds_no_failure(name: str, tmp_path: Path) -> None:
    """Validator 2.2.1, rule model 1.2.0.1, with every criterion that applies to a plan."""
    program = shutil.which("focus-validator")
    if program is None:
        pytest.skip("the program focus-validator is not on the path: pip install focus-validator")
    where = "import focus_validator as f, pathlib; print(pathlib.Path(f.__file__).parent.parent)"
    python = Path(program).with_name("python")
    asked = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    packages = Path(asked.stdout.strip())
    if not (packages / "focus_validator/rules/model-1.2.0.1.json").is_file():
        pytest.skip("the installed focus-validator has no rule model 1.2.0.1: install 2.2.1")
    # it reads its currency codes relative to the current folder, and writes a log there
    (tmp_path / "focus_validator").symlink_to(packages / "focus_validator")
    file = tmp_path / "plan.csv"
    file.write_text(text_of(name), encoding="utf-8")
    found = subprocess.run(
        [
            program,
            f"--data-file={file}",
            "--validate-version=1.2.0.1",
            "--block-download",
            f"--applicability-criteria={CRITERIA}",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    total = re.search(r"Total: (\d+) \| Pass: (\d+) \| Fail: (\d+)", found.stdout)
    assert total, found.stdout + found.stderr
    assert int(total[2]) > 300
    assert set(re.findall(r"^❌ (\S+): FAIL", found.stdout, re.MULTILINE)) == DEFECTS
