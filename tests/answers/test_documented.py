"""`dcplan explain NAME`: every field, metric and code has a meaning; a value of a scenario tells
where it is from."""

from __future__ import annotations

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.facility.answer import facility
from dcplan.answers.reference.fields import STANDS_IN, catalog_fields, scenario_fields
from dcplan.answers.reference.metrics import fits, metrics
from dcplan.answers.reference.names import documented, value_of
from dcplan.answers.train.answer import train
from dcplan.catalog.loader import load
from dcplan.catalog.schema import KINDS
from dcplan.errors import CODES, MEANINGS, InputError
from dcplan.result import Result
from dcplan.scenario.ref import ScenarioRef
from tests.plans import planned


def test_every_field_of_scenarios_and_catalogs_has_a_meaning() -> None:
    fields = [*scenario_fields(), *(f for kind in KINDS for f in catalog_fields(kind))]
    assert len(fields) > 400
    assert [f.key for f in fields if len(f.meaning) < 5] == []
    assert [
        f.key
        for f in fields
        if f.type == "any" and f.key.split(".")[-1] not in {"prices", "config"}
    ] == []


def test_defaults_that_stand_in_are_rows_of_the_catalog() -> None:
    catalog = load()
    named = {pair for f in scenario_fields() for pair in STANDS_IN.findall(f.meaning)}
    assert len(named) > 8
    assert [pair for pair in named if pair[1] not in catalog.rows[pair[0]]] == []


def test_a_default_shows_the_value_that_stands_in_and_its_source() -> None:
    found = next(f for f in scenario_fields(load()) if f.key == "sites.power.block_mw")
    row = load().rows["power"]["block-mw-default"]
    assert found.default.startswith(f"{row.value.value:g} ")  # type: ignore[attr-defined]
    assert row.source.title in found.default


def test_every_code_has_a_meaning_and_answers() -> None:
    assert set(MEANINGS) == set(CODES)
    for code in CODES:
        assert documented(code.lower()).headline.startswith(f"{code}: {CODES[code]}")


def _undocumented(result: Result) -> list[str]:
    known = [key for m in metrics() for key in m.key.split(", ")]
    return [word for word in result.metrics if not any(fits(key, word) for key in known)]


def test_every_metric_of_an_answer_is_documented() -> None:
    asked = [
        fabric(nodes=64, system="dgx-h100", fabric="ib-ndr-400"),
        fabric(
            nodes=4096,
            nics_per_node=1,
            nic_gbps=200,
            topology="dragonfly",
            switch="slingshot-rosetta",
        ),
        facility(site="us-ashburn", cooling="direct-liquid-tower", system="gb300-nvl72", it_mw=20),
        train("llama-3.1-70b", system="dgx-h100", accelerators=512, tokens=1e12, deadline_days=90),
        planned("train-405b-in-90-days"),
    ]
    assert {r.verb: _undocumented(r) for r in asked if _undocumented(r)} == {}


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("it_mw", "sites.halls.it_mw"),
        ("sites.ashburn.halls.liquid.it_mw", "sites.halls.it_mw"),
        ('models."llama-3.1-405b".params_b', "models.params_b"),
        ("systems.dgx-h200.price_usd", "systems.price_usd"),
        ("systems", "systems"),
    ],
)
def test_a_field_is_found_with_and_without_ids(typed: str, key: str) -> None:
    rows = documented(typed).tables["fields"].records()
    assert rows[0]["field"] == key


def test_what_is_no_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match='did you mean "it_mw"'):
        documented("it_mv")
    with pytest.raises(InputError, match="DC002"):
        documented("sites.halls.it_mv.racks_max")


def test_a_metric_is_no_value_of_a_plan_and_names_its_command() -> None:
    with pytest.raises(InputError) as caught:
        value_of(ScenarioRef("starter"), "cost.npv_usd")
    assert caught.value.problems[0].help == "dcplan explain cost.npv_usd"


def test_a_value_tells_its_status_and_place() -> None:
    given = value_of(ScenarioRef("retrofit-air-hall"), "finance.discount_rate")
    assert given.headline == "finance.discount_rate = 0.09 (input)"
    assert "retrofit-air-hall.yaml:8:" in str(given.tables["values"].records()[0]["at"])
    left_out = value_of(ScenarioRef("train-405b-in-90-days"), "finance.discount_rate")
    told = "finance.discount_rate = 0.1 (estimate, default finance.discount-rate)"
    assert left_out.headline == told
    ref = ScenarioRef("retrofit-air-hall", sets=("finance.discount_rate=0.2",))
    changed = value_of(ref, "finance.discount_rate")
    assert changed.headline == "finance.discount_rate = 0.2 (input)"
    with pytest.raises(InputError, match="DC014"):
        value_of(ScenarioRef("train-405b-in-90-days"), "finance.discount")


def test_the_headline_is_of_the_first_and_has_the_unit() -> None:
    found = documented("price_usd")
    first = found.tables["fields"].records()[0]
    assert found.headline.startswith(f"{first['field']}: {first['meaning']}")
    assert len(found.tables["fields"].rows) > 1
    ref = ScenarioRef("retrofit-air-hall")
    energy = value_of(ref, "sites.frankfurt.energy.usd_per_kwh")
    assert energy.headline == "sites.frankfurt.energy.usd_per_kwh = 0.14 USD/kWh (input)"


def test_a_key_is_found_as_the_reference_prints_it() -> None:
    assert (
        documented("train.<job>.days").tables["metrics"].records()[0]["metric"]
        == "train.<job>.days"
    )
