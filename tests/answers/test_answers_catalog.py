"""The catalog as a user sees it: every value with unit, status, source and date; the lint finds
nothing."""

from __future__ import annotations

import pytest

from dcplan.answers.reference.catalog import catalog_check, catalog_list, catalog_show
from dcplan.errors import InputError


def test_catalog_check_is_clean() -> None:
    result = catalog_check()
    assert [row[:5] for row in result.tables["findings"].rows] == []
    assert result.exit_code == 0
    assert result.headline.endswith(": no findings")


def test_catalog_check_finds_values_older_than_asked() -> None:
    result = catalog_check(stale_after_days=1)  # every row's source is older than a day
    assert result.exit_code == 1
    assert result.tables["findings"].rows


def test_catalog_list_counts_the_rows_it_lists() -> None:
    kinds = dict(catalog_list(None).tables["rows"].rows)
    assert {"accelerators", "systems", "switches", "sites", "cloud", "models"} <= set(kinds)
    for kind in ("accelerators", "models"):
        assert len(catalog_list(kind).tables["rows"].rows) == kinds[kind]


def test_catalog_show_gives_each_value_its_unit_status_source_and_date() -> None:
    table = catalog_show("systems", "dgx-h100").tables["values"]
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    # NVIDIA DGX H100/H200 User Guide: 10.2 kW maximum, 8 H100, 130.45 kg
    assert rows["rated_kw"]["value"] == 10.2
    assert rows["rated_kw"]["unit"] == "kW"
    assert rows["rated_kw"]["status"] == "catalog"
    assert "User Guide" in str(rows["rated_kw"]["source"])
    assert rows["accelerators"]["value"] == 8
    assert rows["weight_kg"]["value"] == pytest.approx(130.45, abs=0.1)
    assert rows["price_usd"]["status"] == "estimate"  # NVIDIA publishes no price
    low, value, high = (float(str(rows["price_usd"][k])) for k in ("low", "value", "high"))
    assert low < value < high
    assert [name for name, row in rows.items() if not row["source"] or not row["as_of"]] == []


def test_catalog_show_resolves_an_alias_and_an_id_alone() -> None:
    by_alias = catalog_show("systems", "dgx_h100")
    assert by_alias == catalog_show("dgx-h100", None) == catalog_show("systems", "dgx-h100")


@pytest.mark.parametrize(
    ("kind", "key", "hint"),
    [
        ("system", "dgx-h100", "systems"),
        ("systems", "dgx-h10", "dgx-h100"),
        ("dgx-h10", None, "dgx-h100"),
    ],
)
def test_unknown_rows_are_refused_with_the_nearest(kind: str, key: str | None, hint: str) -> None:
    with pytest.raises(InputError, match=f'did you mean "{hint}"'):
        catalog_show(kind, key)
