"""dcplan/catalog/loader.py: rows from folders, overlays, everything wrong at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load, merge
from dcplan.catalog.schema import Accelerator, PueRow, System
from dcplan.catalog.yaml12 import parse
from dcplan.errors import InputError, Problem
from dcplan.provenance import Status
from tests.catalog.overlays import ACCELERATOR, loaded, overlay


def problems(folder: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        loaded(folder, text)
    return caught.value.problems


def test_the_packaged_catalog_loads_with_a_stable_digest() -> None:
    first, second = load(), load()
    assert first.digest == second.digest
    assert len(first.digest) == 64
    assert all(
        first.rows[kind]
        for kind in ("accelerators", "systems", "switches", "pue", "cloud", "models")
    )


def test_every_value_of_the_catalog_has_status_source_and_place() -> None:
    row = load().get("systems", "dgx-h200", System)
    assert row.rated_kw is not None
    assert row.rated_kw.status in {Status.CATALOG, Status.ESTIMATE}
    assert row.rated_kw.source
    file, line, _ = str(row.rated_kw.at).rsplit(":", 2)
    assert "rated_kw" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_unknown_kind_and_field_get_a_suggestion(tmp_path: Path) -> None:
    found = problems(tmp_path, "sistems: []\n" + ACCELERATOR + "    bf16_tflop: 100\n")
    assert [(p.code, p.hint) for p in found] == [
        ("DC002", 'did you mean "systems"?'),
        ("DC002", 'did you mean "bf16_tflops"?'),
    ]
    assert [str(p.place).rsplit("/", 1)[1] for p in found] == ["x.yaml:1:1", "x.yaml:6:5"]


def test_a_row_without_source_does_not_load(tmp_path: Path) -> None:
    [found] = problems(tmp_path, "accelerators:\n  - {id: test-chip, name: T}\n")
    # "DC020": a catalog row without a source (errors.CODES)
    assert found.code == "DC020"
    assert "source" in found.cause


def test_a_row_without_id_and_a_file_that_is_a_list_are_named(tmp_path: Path) -> None:
    assert [p.code for p in problems(tmp_path / "a", "accelerators:\n  - {name: T}\n  - 5\n")] == [
        "DC003"
    ] * 2
    assert [p.code for p in problems(tmp_path / "b", "- 1\n")] == ["DC004"]


def test_a_double_id_names_the_first_place(tmp_path: Path) -> None:
    [found] = problems(tmp_path, ACCELERATOR + ACCELERATOR.split("\n", 1)[1])
    assert found.code == "DC011"
    assert "x.yaml:2:5" in found.cause
    assert str(found.place).endswith("x.yaml:5:9")


@pytest.mark.parametrize("alias", ["h100-sxm", "nvidia_h100_sxm"])
def test_an_alias_that_names_another_row_is_refused(tmp_path: Path, alias: str) -> None:
    [found] = problems(tmp_path, ACCELERATOR + f"    aliases: [{alias}]\n")
    assert found.code == "DC011"
    assert "test-chip" in found.cause


def test_all_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    overlay(tmp_path, "a.yaml", ACCELERATOR + "    tdp_kw: -1\n    hbm_gb: many\n")
    overlay(tmp_path / "sub", "b.yaml", "systms: []\n")
    overlay(tmp_path, "c.csv", "id,name\nx,y\n")
    with pytest.raises(InputError) as caught:
        load((tmp_path,))
    assert sorted(p.code for p in caught.value.problems) == ["DC002", "DC002", "DC004", "DC004"]


def test_syntax_errors_of_two_files_come_at_once(tmp_path: Path) -> None:
    overlay(tmp_path, "a.yaml", "a: [1\n")
    overlay(tmp_path, "b.yaml", "b: {1\n")
    with pytest.raises(InputError) as caught:
        load((tmp_path,))
    assert len(caught.value.problems) == 2


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load((tmp_path / "none",))
    assert caught.value.problems[0].code == "DC006"


def test_overlays_merge_field_by_field_and_the_last_wins(tmp_path: Path) -> None:
    base = load().get("systems", "dgx-h200", System)
    one = overlay(
        tmp_path / "one", text="systems: [{id: dgx-h200, price_usd: 100000, rack_units: 9}]\n"
    )
    two = overlay(tmp_path / "two", text="systems: [{id: dgx-h200, price_usd: 200000}]\n")
    row = load((one, two)).get("systems", "dgx-h200", System)
    assert row.price_usd is not None
    assert row.rack_units is not None
    assert base.rated_kw is not None
    assert row.rated_kw is not None
    assert (row.price_usd.value, row.rack_units.value) == (200_000, 9)
    assert row.rated_kw.value == base.rated_kw.value
    turned = load((two, one)).get("systems", "dgx-h200", System).price_usd
    assert turned is not None
    assert turned.value == 100_000
    assert load((one,)).digest != load().digest
    assert load().get("systems", "dgx-h200", System) == base


def test_what_an_overlay_leaves_alone_keeps_its_place(tmp_path: Path) -> None:
    base = load().get("systems", "dgx-h200", System)
    row = loaded(tmp_path, "systems: [{id: dgx-h200, price_usd: 100000}]\n").get(
        "systems", "dgx-h200", System
    )
    assert row.price_usd is not None
    assert str(row.price_usd.at).endswith("x.yaml:1:37")  # the column counted in the text above
    assert base.rated_kw is not None
    assert row.rated_kw is not None
    assert row.rated_kw.at == base.rated_kw.at


def test_csv_rows_are_read_by_their_file_name(tmp_path: Path) -> None:
    text = "id,name,source,cooling,size,zone,pue,peak_pue\nt-1,T,made up,air-chiller,small,9Z,1.5,1.8\n"
    overlay(tmp_path, "pue.csv", text)
    row = load((tmp_path,)).get("pue", "t-1", PueRow)
    assert (row.pue.value, row.peak_pue.value, row.zone) == (1.5, 1.8, "9Z")
    assert row.wue_l_per_kwh is None
    assert str(row.pue.at).endswith("pue.csv:2:1")


def test_a_wrong_csv_cell_names_its_line(tmp_path: Path) -> None:
    text = "id,name,source,cooling,size,zone,pue,peak_pue\nt-1,T,made up,c,small,9Z,1.5,1.8\n"
    overlay(tmp_path, "pue.csv", text + "t-2,T,made up,c,tiny,9Z,one,1.8\n")
    with pytest.raises(InputError) as caught:
        load((tmp_path,))
    assert {p.code for p in caught.value.problems} == {"DC004"}
    assert [str(p.place).rsplit("/", 1)[1] for p in caught.value.problems] == ["pue.csv:3:1"] * 2


def test_find_get_and_kinds_resolve_ids_and_aliases() -> None:
    catalog = load()
    assert catalog.kinds_of("dgx-h200") == ["systems"]
    assert catalog.kinds_of("no-such-thing") == []
    assert catalog.find("systems", "no-such-thing", System) is None
    with pytest.raises(KeyError, match="no-such-thing"):
        catalog.get("systems", "no-such-thing", System)
    assert (
        catalog.get("accelerators", "nvidia_h200_sxm", Accelerator).id
        in catalog.rows["accelerators"]
    )


def test_overlaid_prices_carry_the_place_of_the_scenario_and_keep_the_rest() -> None:
    base = load()
    text = "prices:\n  dgx-h200: {price_usd: {value: 3e5, low: 2e5, high: 4e5, source: quote}}\n"
    document = parse(text, "s.yaml")
    changes = {"systems": document.data["prices"]}
    after = base.overlaid(changes, document, ("prices",))
    row, old = after.get("systems", "dgx-h200", System), base.get("systems", "dgx-h200", System)
    assert row.price_usd is not None
    assert (row.price_usd.value, row.price_usd.bounds) == (3e5, (2e5, 4e5))
    assert (row.price_usd.status, row.price_usd.source) == (Status.INPUT, "quote")
    assert row.price_usd.at == "s.yaml:2:25"
    assert row.rated_kw == old.rated_kw
    assert base.get("systems", "dgx-h200", System) == old


def test_overlaid_refuses_unknown_fields_of_every_row() -> None:
    document = parse("prices:\n  dgx-h200: {price: 1}\n  dgx-b200: {rated_kw: -1}\n", "s.yaml")
    with pytest.raises(InputError) as caught:
        load().overlaid({"systems": document.data["prices"]}, document, ("prices",))
    assert [(p.code, str(p.place)) for p in caught.value.problems] == [
        ("DC002", "s.yaml:2:14"),
        ("DC004", "s.yaml:3:24"),
    ]


VALUES = st.integers() | st.fixed_dictionaries({"value": st.integers()})
DEEP = st.dictionaries(st.text("xy", min_size=1), VALUES)
NESTED = st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES | DEEP, max_size=4)


@settings(max_examples=60, deadline=None)
@given(NESTED, NESTED)
def test_merge_keeps_what_is_not_named_and_takes_what_is(old: dict, new: dict) -> None:
    before = repr(old)
    result = merge(old, new)
    assert merge(old, {}) == old
    assert merge(result, new) == result
    assert set(result) == set(old) | set(new)
    assert all(result[k] == old[k] for k in old if k not in new)
    assert repr(old) == before


def test_a_dated_price_keeps_its_own_source() -> None:
    """Prices of one offer come from several lists; each names its own, not the row's."""
    offer = load().rows["cloud"]["aws-p5en-48xlarge"]
    told = {str(price.source) for price in offer.prices}  # type: ignore[attr-defined]
    assert len(told) > 1
    assert {price.usd_per_h.source for price in offer.prices} == told  # type: ignore[attr-defined]
    assert all(price.usd_per_h.as_of == price.as_of for price in offer.prices)  # type: ignore[attr-defined]
