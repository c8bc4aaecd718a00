"""Device types of the NetBox library in an export."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.devices.types import Model, port_names, slug, spread
from dcplan.answers.fabric.inventory import Inventory, inventory
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import DeviceType, Switch
from dcplan.report.netbox import write_netbox
from tests.report.test_netbox import CASES, GENERIC, _cable, _read, _result, _types


def test_ports_have_the_names_of_the_library(tmp_path: Path) -> None:
    """Q3400-RA.yaml: sw1p1, sw1p2 to sw72p2, eight C20 inlets of 875 W, uart, eth0 for management."""
    result = fabric(**CASES["nvl72"])
    write_netbox(result, inventory(result), tmp_path, "x")
    types = {row["slug"]: row for row in _types(tmp_path)}
    q3400 = types["nvidia-q3400-ra"]
    assert (q3400["manufacturer"], q3400["model"], q3400["u_height"]) == ("Nvidia", "Q3400-RA", 4)
    data = [x for x in q3400["interfaces"] if x["name"].startswith("sw")]
    assert [x["name"] for x in (data[0], data[1], data[143])] == ["sw1p1", "sw1p2", "sw72p2"]
    assert {x["type"] for x in data} == {"infiniband-xdr"}
    assert len(data) == 144
    assert q3400["power-ports"][7] == {"name": "PSU8", "type": "iec-60320-c20", "maximum_draw": 875}
    assert q3400["console-ports"] == [{"name": "uart", "type": "rj-45"}]
    assert {"name": "eth0", "type": "1000base-t", "mgmt_only": True} in q3400["interfaces"]
    files = _read(tmp_path)
    kinds = {row["name"]: row["device_type"] for row in files["6-devices.csv"]}
    lacking = {kinds[row["device"]] for row in files["7-interfaces.csv"]}
    assert lacking == {"QM9700"}, "the types of all other devices have every port"
    assert files["8-cables.csv"][0]["side_b_name"] == "sw1p1"
    roles = Counter(row["role"] for row in files["6-devices.csv"])
    # two NVL72 racks of 18 compute and 9 NVLink switch trays
    assert (roles["node"], roles["tray"]) == (36, 18)
    assert {"storage", "in-band", "out-of-band"} <= set(roles)
    assert types["nvidia-nvlink-5-switch"]["is_powered"] is False


def test_side_networks_of_the_superpod(tmp_path: Path) -> None:
    """31 nodes, one unit: 62 storage and 62 in-band links, a management port for each node and each of
    the compute, storage and in-band switches (RA-11333-001 V11, table 8, has two links a node)."""
    result = fabric(**CASES["superpod"])
    write_netbox(result, inventory(result), tmp_path, "x")
    files = _read(tmp_path)
    sides = [row for row in files["8-cables.csv"] if row["label"].startswith("S")]
    role = {row["name"]: row["role"] for row in files["6-devices.csv"]}
    ends = Counter((role[r["side_a_device"]], role[r["side_b_device"]]) for r in sides)
    assert ends["node", "storage"] == 62
    assert ends["node", "in-band"] == 62
    assert ends["node", "out-of-band"] == 31
    for kind in ("leaf", "spine", "storage", "in-band"):
        assert ends[kind, "out-of-band"] == sum(r == kind for r in role.values()), kind
    links: Any = result.frame("side_networks").set_index("network")["links_between"]
    assert ends["storage", "storage"] == links["storage"]
    assert ends["in-band", "in-band"] == links["in-band"]
    first = {r["side_a_name"]: r for r in sides if r["side_a_device"] == "node-00001"}
    assert set(first) == {"storage1", "storage2", "in-band1", "in-band2", "bmc1"}
    pair = {first[name]["side_b_device"] for name in ("in-band1", "in-band2")}
    assert len(pair) == 2, "the two links of a node end on different switches"
    assert (first["bmc1"]["side_b_name"], first["bmc1"]["type"]) == ("swp1", "cat6")
    node = next(t for t in _types(tmp_path) if t["model"] == "node")
    types = {x["name"]: x["type"] for x in node["interfaces"]}
    assert types["nic1"] == "infiniband-ndr"
    assert types["in-band1"] == "100gbase-x-qsfp28"
    assert types["bmc1"] == "1000base-t"


def test_ports_that_the_library_lacks_are_added() -> None:
    """QM9700.yaml has 62 of 64 ports: P22.1 and P23.0 are missing."""
    row = load_catalog().get("device_types", "qm9700", DeviceType)
    assert len(spread(row.ports or "")) == 64
    assert set(row.absent_ports) == {"P22.1", "P23.0"}
    split = Model("Nvidia", "SN5600", 2.0, None, "x", "x", 128, library=row)
    assert port_names(split)[:3] == ("P0.0:0", "P0.0:1", "P0.1:0")


def test_device_types_agree_with_the_switches_of_the_catalog() -> None:
    """The library's ports are those of our switch at one of its speeds; heights differ only where a note
    says it."""
    catalog = load_catalog()
    for row in catalog.table("device_types", DeviceType).values():
        model = catalog.find("switches", row.id, Switch)
        if model is None:
            assert row.systems, row.id
            continue
        assert len(spread(row.ports or "")) in model.ports.values(), row.id
        if model.rack_units and model.rack_units.value != row.rack_units.value:
            assert "U" in (row.note or ""), row.id
        assert row.commit in str(row.source)


def test_feeds_carry_the_rack_on_either_side(tmp_path: Path) -> None:
    """A rack of 40 kW at 415 V and 80 %: 40,000 / (1.732 x 415 x 0.8) = 69.6 A, so one feed of 125 A on
    each side; 120 kW: 208.7 A, two of 125 A."""
    for kw, names, amps in (
        (40.0, ["R001-C001-A1", "R001-C001-B1"], "125"),
        (10.0, ["R001-C001-A1", "R001-C001-B1"], "32"),
        (120.0, [f"R001-C001-{side}{i}" for side in "AB" for i in (1, 2)], "125"),
    ):
        models = GENERIC | {"node": replace(GENERIC["node"], kw=kw)}
        write_netbox(
            _result(), Inventory([_cable(1)], models, 42.0, {}, {}, 415.0, 0.8), tmp_path, "x"
        )
        feeds = _read(tmp_path)["10-power-feeds.csv"]
        assert [row["name"] for row in feeds] == names
        assert {row["amperage"] for row in feeds} == {amps}
        assert {row["max_utilization"] for row in feeds} == {"80"}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("NVIDIA Quantum-2 QM9700 (NDR)", "nvidia-quantum-2-qm9700-ndr"),
        ("  A__b ", "a-b"),
        ("Zürich", "z-rich"),
    ],
)
def test_slugs_have_letters_digits_and_dashes(text: str, short: str) -> None:
    assert slug(text) == short
