"""Rented nodes of the shipped catalog: every node states its network rate, and where it was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Offer
from dcplan.catalog.yaml12 import parse, read_text

PROTOCOLS = {"infiniband", "ethernet", "efa", "ici"}


def node_rows(file: Path) -> list[dict[str, Any]]:
    """Rows as written: the loader would fill a missing source from the row's own source."""
    rows = parse(read_text(file), str(file)).data.get("cloud", [])
    return [row for row in rows if row.get("kind", "node") == "node"]


@pytest.mark.parametrize(
    "file", sorted((data_dir("catalogs") / "cloud").glob("*.yaml")), ids=lambda f: f.name
)
def test_every_rented_node_states_its_network_and_where_it_was_read(file: Path) -> None:
    for row in node_rows(file):
        rate = row.get("scaleout_gbps")
        assert isinstance(rate, dict), row["id"]
        assert rate.keys() >= {"value", "low", "high", "source", "as_of", "status"}, row["id"]
        assert 0 < rate["low"] <= rate["value"] <= rate["high"], row["id"]
        assert row.get("protocol") in PROTOCOLS, row["id"]
        assert rate["status"] in {"catalog", "estimate"}, row["id"]
        if rate["status"] == "estimate":
            assert rate.get("note") or rate.get("derived_from"), row["id"]


@pytest.mark.parametrize(
    ("offer", "gbps"),
    [
        ("aws-trn2-ultraserver", 4 * 16 * 200),  # AWS: 4 servers of 16 x 200 Gb/s, 12.8 Tb/s
        ("aws-p6e-gb200-72", 18 * 1600),  # AWS: 18 trays, 28,800 Gb/s of EFA
        ("azure-nd-gb300-v6", 4 * 800),  # Azure size table: 4x800
        ("oci-bm-gpu-h100-8", 8 * 2 * 200),  # Oracle shapes: 8 x 2 x 200 Gb/s RDMA
        ("oci-bm-gpu-a100-v2-8", 16 * 100),  # Oracle shapes: 16 x 100 Gb/s RDMA
        ("coreweave-gb200", 4 * 400),  # MLPerf v5.0: 4x ConnectX-7 NDR 400 Gb/s a tray
        ("gcp-tpu-7x", 4 * 100),  # Google: 100 Gb/s of data-center network a chip, 4 chips
    ],
)
def test_network_rates_are_the_printed_ports_times_their_rate(offer: str, gbps: int) -> None:
    row = load().get("cloud", offer, Offer)
    assert row.scaleout_gbps is not None
    assert row.scaleout_gbps.value == gbps
