"""dcplan/provenance.py: quantities, their bounds, their origin."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive, Series
from dcplan.provenance import AsOf, Quantity, Status, sealed


class Thing(BaseModel):
    price_usd: Quantity
    parts: tuple[Quantity, ...] = ()
    named: dict[str, Quantity] = {}
    label: str = ""


def test_a_bare_number_and_a_mapping_are_the_same_value() -> None:
    assert Quantity.model_validate(7).value == Quantity.model_validate({"value": 7}).value == 7.0
    assert Quantity.model_validate(7).bounds == (7.0, 7.0)
    assert Quantity.model_validate({"value": 7, "low": 6}).bounds == (6.0, 7.0)


@pytest.mark.parametrize(
    "bad",
    [
        True,
        "7",
        None,
        [1],
        {"value": 5, "low": 6},
        {"value": 5, "high": 4},
        {"value": float("nan")},
        float("inf"),
        {"value": 1, "lo": 0},
        {"low": 1},
        {"value": True},
        {"value": "7"},
    ],
)
def test_what_is_not_a_quantity_is_refused(bad: object) -> None:
    with pytest.raises(ValidationError):
        Quantity.model_validate(bad)


def test_the_refusal_shows_single_braces() -> None:
    with pytest.raises(ValidationError) as caught:
        Quantity.model_validate("7")
    message = caught.value.errors()[0]["msg"]
    assert message == "expected a number, or {value, low, high, source, as_of, note}"


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Positive, [1e-9, 5], [0, -1, {"value": 1, "low": 0}]),
        (NonNegative, [0, 5], [-1e-9, {"value": 1, "low": -1}]),
        (Fraction, [0, 0.5, 1], [1.01, -0.01, {"value": 0.9, "high": 1.1}]),
    ],
)
def test_ranges_hold_for_the_value_and_both_bounds(kind: object, good: list, bad: list) -> None:
    adapter: TypeAdapter = TypeAdapter(kind)
    for value in good:
        assert adapter.validate_python(value).value == pytest.approx(value)
    for value in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)


def test_a_series_is_one_number_or_a_list() -> None:
    adapter: TypeAdapter = TypeAdapter(Series)
    assert [q.value for q in adapter.validate_python(14)] == [14.0]
    assert [q.value for q in adapter.validate_python([4, {"value": 6}])] == [4.0, 6.0]


@pytest.mark.parametrize("good", ["2026", "2026-09", "2026-Q3", "2026-09-14", 2026])
def test_dates_may_be_coarse(good: object) -> None:
    assert TypeAdapter(AsOf).validate_python(good) == str(good)


@pytest.mark.parametrize(
    "bad",
    [
        "26",
        "2026-Q5",
        "2026-9",
        "14.09.2026",
        "",
        True,
        "2026-13",
        "2026-09-31",
        "2026-00-01",
        "2026\n",
    ],
)
def test_what_is_no_date_is_refused(bad: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(AsOf).validate_python(bad)


def test_times_scales_bounds_and_names_its_origin() -> None:
    chip = Quantity(
        value=10, low=8, high=15, source="list", as_of="2026", status=Status.CATALOG, at="c:1:1"
    )
    # x 2: 20 between 16 and 30
    system = chip.times(2, "two chips", derived_from=("accelerators.x",))
    assert (system.value, system.bounds) == (20, (16, 30))
    assert (system.status, system.derived_from, system.note) == (
        Status.DERIVED,
        ("accelerators.x",),
        "two chips",
    )
    assert (system.source, system.as_of, system.at) == ("list", "2026", "c:1:1")


def test_what_comes_from_an_estimate_stays_an_estimate() -> None:
    assert Quantity(value=1, status=Status.ESTIMATE).times(3, "x").status is Status.ESTIMATE


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.floats(-100, 100).filter(lambda x: abs(x) > 1e-6),
)
def test_scaling_and_scaling_back_is_the_same(
    value: float, down: float, up: float, factor: float
) -> None:
    before = Quantity(value=value, low=value - down, high=value + up)
    after = before.times(factor, "there").times(1 / factor, "and back")
    assert after.value == pytest.approx(before.value, rel=1e-9, abs=1e-6)
    assert after.bounds == pytest.approx(before.bounds, rel=1e-9, abs=1e-6)


def test_sealed_gives_status_source_date_and_place_everywhere() -> None:
    thing = Thing.model_validate({"price_usd": 5, "parts": [1, 2], "named": {"a": 3}, "label": "x"})
    done = sealed(
        thing,
        status=Status.CATALOG,
        source="S",
        as_of="2026",
        locate=lambda p: ".".join(map(str, p)),
    )
    assert [
        (q.status, q.source, q.as_of, q.at) for q in (done.price_usd, *done.parts, done.named["a"])
    ] == [
        (Status.CATALOG, "S", "2026", place)
        for place in ("price_usd", "parts.0", "parts.1", "named.a")
    ]
    assert done.label == "x"
    assert thing.price_usd.source is None  # the original is untouched


def test_what_a_quantity_says_of_itself_wins() -> None:
    own = {"value": 5, "source": "quote", "as_of": "2025", "status": "derived", "at": "mine:1:1"}
    done = sealed(
        Thing.model_validate({"price_usd": own}),
        status=Status.CATALOG,
        source="S",
        as_of="2026",
        locate=lambda _: "elsewhere",
    )
    q = done.price_usd
    assert (q.source, q.as_of, q.status, q.at) == ("quote", "2025", Status.DERIVED, "mine:1:1")


def test_a_source_that_begins_with_estimate_is_an_estimate() -> None:
    own = {"value": 5, "source": "Estimate: 8 x 1,000 W"}
    done = sealed(Thing.model_validate({"price_usd": own}), status=Status.INPUT)
    assert done.price_usd.status is Status.ESTIMATE


def test_the_json_schema_allows_the_bare_number_and_hides_the_place() -> None:
    schema = TypeAdapter(Quantity).json_schema()
    choices = schema["anyOf"]
    assert {"type": "number"} in choices
    [mapping] = [c for c in choices if c != {"type": "number"}]
    mapping = schema["$defs"][mapping["$ref"].rsplit("/", 1)[-1]] if "$ref" in mapping else mapping
    assert "value" in mapping["properties"]
    assert "at" not in mapping["properties"]
