"""Links between sites in the answer: metro optics, long-haul line systems, and the command of a run."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.train.answer import train
from dcplan.errors import InputError

POD: dict[str, Any] = {"nodes": 16, "system": "gb300-nvl72", "fabric": "ib-xdr-800"}
FAR = {**POD, "site_link_km": 1000.0, "site_link_gbps": 100_000.0}


def test_long_haul_is_taken_where_metro_optics_end() -> None:
    """92 km in a straight line are 119.6 km of fiber, 93 km are 120.9: 400ZR reaches 120."""
    near = fabric(**POD, site_link_km=92.0, site_link_gbps=4000.0)
    assert near.frame("site_links").iloc[0]["port"] == "coherent-400zr"
    assert "site_link_parts" not in near.tables
    far = fabric(**POD, site_link_km=93.0, site_link_gbps=4000.0)
    assert far.frame("site_links").iloc[0]["port"] != "coherent-400zr"
    assert far.value("fabric.site_link_rtt_us") > near.value("fabric.site_link_rtt_us")


def test_parts_and_cost_of_a_link_by_hand() -> None:
    """100 Tb/s over 1,300 km of fiber with 800 Gb/s transponders: 125 wavelengths on 4 pairs, 17 spans.

    250 router ports of an end are 2 chassis of 144 ports with 7 line cards of 36. Capital: 250 x 40,000
    + 8 x 60,000 + 64 x 20,000 + 4 x 127,500 + 14 x 74,400 + 1,000 x 650. A year: 4 x 1,300 x 485 + 64 x
    6,000.
    """
    found = fabric(**FAR)
    parts = found.frame("site_link_parts").set_index("item")["count"].to_dict()
    assert parts == {
        "transponders": 250,
        "ROADM degrees": 8,
        "line amplifiers": 64,
        "routers": 4,
        "router line cards": 14,
        "short-reach transceivers": 1000,
    }
    capex = 250 * 40_000 + 8 * 60_000 + 64 * 20_000 + 4 * 127_500 + 14 * 74_400 + 1000 * 650
    assert found.value("fabric.site_link_capex_usd") == pytest.approx(capex)
    year = 4 * 1300 * 485 + 64 * 6000
    assert found.value("fabric.site_link_lease_usd_per_year") == pytest.approx(year)
    # 250 x 0.14 + 8 x 0.2 + 64 x 0.11 + 4 x 1.706 + 14 x 0.915 + 1,000 x 0.018
    kw = 250 * 0.14 + 8 * 0.2 + 64 * 0.11 + 4 * 1.706 + 14 * 0.915 + 1000 * 0.018
    assert found.value("fabric.site_link_kw") == pytest.approx(kw)
    assert found.value("fabric.site_link_rtt_us") == pytest.approx(12_782.8, abs=0.05)
    options = found.frame("site_link_options")
    served = options[options["why_not"].isna()]
    assert served["ten_years_usd"].is_monotonic_increasing
    assert served.iloc[0]["ten_years_usd"] == pytest.approx(capex + 10 * year)
    assert "it reaches 535 km of 1300 km of fiber" in set(options["why_not"].dropna())


def test_every_value_of_the_link_is_an_input_with_its_source() -> None:
    rows = {row["key"]: row for row in fabric(**FAR).inputs}
    for key in (
        "optics.transponder-800g.least_osnr_db",
        "optics.transponder-800g.price_usd",
        "switches.arista-7804r4.card_usd",
        "network.roadm-degree-usd",
        "network.line-loss-db-per-km",
        "network.long-haul-fibre-usd-per-pair-km-year",
        "network.coherent-port-us",
    ):
        assert rows[key]["source"], key


def test_the_printed_command_runs_over_both_sites() -> None:
    """Train takes half of the round trip as its latency one way."""
    found = fabric(**FAR)
    (note,) = [n for n in found.frame("notes")["note"] if "dcplan train" in n]
    words = shlex.split(note.partition("dcplan train ")[2])
    assert words[:5] == ["MODEL", "--system", "gb300-nvl72", "-n", str(2 * 16 * 72)]
    flags = dict(zip(words[5::2], words[6::2], strict=True))
    rtt_ms = found.value("fabric.site_link_rtt_us") / 1000
    assert flags == {"--wan-sites": "2", "--wan-gbps": "100000", "--wan-rtt-ms": f"{rtt_ms:.3f}"}
    asked = {
        "model": "llama-3.1-8b",
        "system": "dgx-h100",
        "accelerators": 16,
        "tokens": 1e12,
        "wan_sites": 2,
        "wan_gbps": float(flags["--wan-gbps"]),
    }
    rows = {r["key"]: r for r in train(**asked, wan_rtt_ms=float(flags["--wan-rtt-ms"])).inputs}
    one_way_s = rows["training.wide-area-latency-s"]["value"]
    assert one_way_s == pytest.approx(rtt_ms / 2000, abs=1e-6)
    plain = {r["key"]: r for r in train(**asked).inputs}
    assert plain["training.wide-area-latency-s"]["value"] == 0.05


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"site_link_optic": "coherent-400zr", "site_link_km": 500.0}, "more than the reach"),
        ({"site_link_optic": "coherent-400zr-plus", "site_link_km": 900.0}, "of 1170 km of fiber"),
        ({"site_link_span_km": 90.0, "site_link_km": 20.0}, "short enough for metro optics"),
        (
            {"site_link_router": "arista-7808r4", "site_link_km": 20.0},
            "short enough for metro optics",
        ),
        ({"site_link_router": "sn4600c", "site_link_km": 500.0}, "no ports of 800 Gb/s"),
        ({"site_link_router": "arista-7808r4"}, "--site-link-router needs --site-link-km"),
        ({"site_link_span_km": 90.0}, "--site-link-span-km needs --site-link-km"),
        ({"site_link_optic": "coherent-400zr"}, "--site-link-optic needs --site-link-km"),
    ],
)
def test_what_does_not_reach_or_has_no_use_is_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric(**POD, site_link_gbps=4000.0, **flags) if "site_link_km" in flags else fabric(
            **POD, **flags
        )
    assert words in caught.value.problems[0].cause


def test_longer_spans_need_fewer_amplifiers_and_reach_less() -> None:
    short, long = fabric(**FAR), fabric(**FAR, site_link_span_km=100.0)
    options = [x.frame("site_link_options").set_index("port") for x in (short, long)]
    assert (
        options[1].loc["transponder-800g", "reach_km"]
        < options[0].loc["transponder-800g", "reach_km"]
    )
    assert options[1].loc["transponder-800g", "spans"] == 13
