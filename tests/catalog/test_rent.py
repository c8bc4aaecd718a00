"""Default rent: the latest index of contracts, or the median of what can be had now."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.rent import market_rent, rent_text
from dcplan.catalog.schema import Offer
from dcplan.provenance import Quantity, Status

SOURCE = {"title": "a price list"}


def _offer(name: str, prices: list[tuple[str, float, str]], **given: Any) -> Offer:
    rows = [
        {"region": "global", "term": t, "usd_per_h": usd, "as_of": day, "source": SOURCE}
        for t, usd, day in prices
    ]
    usual: dict[str, Any] = {"provider": "p", "accelerator": "x", "accelerators": 8}
    text = {"id": name, "name": name.upper(), "source": SOURCE, "prices": rows}
    return Offer.model_validate(usual | text | given)


def _index(name: str, prices: list[tuple[str, float, str]], **given: Any) -> Offer:
    return _offer(name, prices, kind="index", accelerators=1, **({"transacted": True} | given))


class _Rows:
    """The one table of a catalog that the rent reads."""

    def __init__(self, *offers: Offer) -> None:
        self.offers = {o.id: o for o in offers}

    def table(self, _kind: str, _row: type[Offer]) -> dict[str, Offer]:
        return self.offers


def _rent(*offers: Offer) -> Quantity:
    found = market_rent(_Rows(*offers), "x")  # type: ignore[arg-type]
    assert found is not None
    return found


LISTED = (
    # 4.00 an accelerator now; 2.00 is superseded; spot and three years are not for a default
    _offer("a", [("on-demand", 32, "2026-09"), ("on-demand", 16, "2025"), ("spot", 8, "2026-09")]),
    _offer("b", [("on-demand", 48, "2026-06"), ("reserved-1y", 40, "2026-06")]),
    _offer("old", [("on-demand", 80, "2024-09")]),
    _offer("part", [("on-demand", 8, "2026-09")], kind="partial"),
    _offer("list", [("on-demand", 72, "2026-09"), ("reserved-3y", 16, "2026-09")]),
)
"""Per accelerator now: a 4, b 6 and 5, list 9; ``old`` is more than a year older."""


def test_without_an_index_the_median_of_what_can_be_had() -> None:
    """4, 5, 6, 9: the median is 5.5, the spread 4 to 9."""
    rent = _rent(*LISTED)
    assert (rent.value, rent.low, rent.high) == (5.5, 4.0, 9.0)
    assert rent.status is Status.DEFAULT
    assert "median of 4 on-demand and one-year prices of 3 offers" in str(rent.source)
    assert "2026-06 to 2026-09" in rent_text(rent)


def test_the_latest_index_of_contracts_comes_first() -> None:
    """3.1 of July before 3.3 of May; spread 2.5 (spot index) to 5.5 (median of the offers)."""
    rent = _rent(
        *LISTED,
        _index("fresh", [("reserved-1y", 3.1, "2026-07"), ("reserved-1y", 9.9, "2026-01")]),
        _index("older", [("on-demand", 3.3, "2026-05")]),
        _index("traded", [("spot", 2.5, "2026-08")]),
        _index("quotes", [("on-demand", 7.0, "2026-09")], transacted=False),
    )
    assert (rent.value, rent.low, rent.high) == (3.1, 2.5, 5.5)
    assert rent.as_of == "2026-07"
    text = "Rent at 3.10 USD per accelerator-hour (2.50 to 5.50), FRESH, reserved-1y, 2026-07"
    assert rent_text(rent) == text


def test_of_one_date_on_demand_comes_first() -> None:
    year, hour = (
        _index("z-year", [("reserved-1y", 2.65, "2026-06")]),
        _index("hour", [("on-demand", 2.6, "2026-06")]),
    )
    assert _rent(year, hour).value == 2.6


def test_an_accelerator_that_nobody_rents_has_no_price() -> None:
    assert market_rent(_Rows(), "x") is None  # type: ignore[arg-type]
    spot = _offer("s", [("spot", 8, "2026-09")])
    assert market_rent(_Rows(spot), "x") is None  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def test_h100_rents_near_its_indices(catalog: Catalog) -> None:
    """Silicon Data 2.60 (2026-06), SemiAnalysis one year 2.65 (2026-06), spot 2.42 (2026-06-26)."""
    rent = market_rent(catalog, "h100-sxm")
    assert rent is not None
    assert rent.value == pytest.approx(2.62, rel=0.02)
    assert rent.low == 2.42
    assert "Silicon Data" in str(rent.source)


def test_packaged_indices_of_list_quotes_do_not_count(catalog: Catalog) -> None:
    rows = [o for o in catalog.table("cloud", Offer).values() if o.transacted]
    assert rows
    assert all(o.kind == "index" for o in rows)
    assert not {o.id for o in rows} & {"index-gpueconomy-h100", "index-compute-screener-h100"}
