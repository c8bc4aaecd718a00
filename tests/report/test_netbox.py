"""NetBox export: columns and names that NetBox 4.6 knows, files that refer to one another, racks
without overlaps."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.devices.types import Model, slug
from dcplan.answers.fabric.inventory import ETHERNET, INFINIBAND, Cabled, Inventory, inventory
from dcplan.errors import InputError
from dcplan.fabric.floor.schedule import Cable
from dcplan.report.netbox import write_netbox
from dcplan.report.saved import read_result
from dcplan.result import Result
from tests.report.device_type_schema import SCHEMA

# fields of the import forms in netbox/dcim/forms/bulk_import.py, NetBox 4.6.8, as far as they are
# used
COLUMNS = {
    "1-manufacturers.csv": "name slug",
    "3-device-roles.csv": "name slug color",
    "4-sites.csv": "name slug status description",
    "5-racks.csv": "site name status width u_height",
    "6-devices.csv": "name role manufacturer device_type status site rack position face",
    "7-interfaces.csv": "device name type",
    "8-cables.csv": "side_a_device side_a_type side_a_name side_b_device side_b_type side_b_name type "
    "status label length length_unit",
    "9-power-panels.csv": "site name",
    "10-power-feeds.csv": "site power_panel name rack status type supply phase voltage amperage "
    "max_utilization",
}
# InterfaceTypeChoices and CableTypeChoices in netbox/dcim/choices.py, NetBox 4.6.8
INTERFACES = {
    "other",
    "infiniband-hdr",
    "infiniband-ndr",
    "infiniband-xdr",
    "100gbase-x-qsfp28",
    "200gbase-x-qsfp56",
    "400gbase-x-osfp",
    "800gbase-x-osfp",
    "1.6tbase-x-osfp1600",
    "1000base-t",
    "10gbase-x-sfpp",
    "25gbase-x-sfp28",
}
CABLES = {"", "dac-passive", "dac-active", "aoc", "smf-os2", "mmf-om3", "mmf-om4", "cat6"}
CASES: dict[str, dict[str, Any]] = {
    "superpod": {
        "nodes": 31,
        "nics_per_node": 8,
        "nic_gbps": 400,
        "switch": "qm9700",
        "nodes_per_su": 32,
        "management_links": 4,
    },
    "copper": {
        "nodes": 16,
        "system": "dgx-h100",
        "fabric": "ib-ndr-400",
        "media": "reach",
        "leaf_placement": "rack",
    },
    "nvl72": {"nodes": 2, "system": "gb300-nvl72", "fabric": "ib-xdr-800"},
    "planes": {
        "nodes": 32,
        "nics_per_node": 2,
        "nic_gbps": 800,
        "radix": 32,
        "port_gbps": 400,
        "planes": 2,
    },
    "rails": {
        "nodes": 40,
        "nics_per_node": 4,
        "nic_gbps": 400,
        "radix": 16,
        "port_gbps": 400,
        "topology": "rail-only",
    },
    "three-tiers": {"nodes": 30, "nics_per_node": 2, "nic_gbps": 200, "radix": 8, "port_gbps": 200},
}
GENERIC = {
    "node": Model("Maker", "node", 2.0, None, "400gbase-x-osfp", "400gbase-x-osfp"),
    "leaf": Model("Maker", "64 ports", 1.0, 14.8, "400gbase-x-osfp", "800gbase-x-osfp"),
}
Rows = list[dict[str, str]]
OLD_SLUGS = {"mellanox-sn2201", "sn4700", "sn4600c"}
"""Slugs that the library keeps without the manufacturer in front."""


def _read(folder: Path) -> dict[str, Rows]:
    """Rows of the CSV files in the order of their numbers."""
    found = {}
    for file in sorted(folder.glob("*.csv"), key=lambda f: int(f.name.split("-")[0])):
        with file.open(newline="", encoding="utf-8") as stream:
            found[file.name] = list(csv.DictReader(stream))
    return found


def _types(folder: Path) -> list[dict[str, Any]]:
    """Device types of the export."""
    return list(yaml.safe_load_all((folder / "2-device-types.yaml").read_text(encoding="utf-8")))


def _ports(types: list[dict[str, Any]], files: dict[str, Rows]) -> set[tuple[str, str]]:
    """Device and name of every interface after the import: of its type, or of the file."""
    own = {(t["manufacturer"], t["model"]): t.get("interfaces", []) for t in types}
    found = {(row["device"], row["name"]) for row in files.get("7-interfaces.csv", [])}
    for row in files["6-devices.csv"]:
        names = {(row["name"], x["name"]) for x in own[row["manufacturer"], row["device_type"]]}
        assert not names & found, "an interface of the type is in the file again"
        found |= names
    return found


@pytest.fixture(scope="module", params=list(CASES))
def export(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, dict[str, Rows], list[dict[str, Any]]]:
    """A fabric's answer, its exported files as read back, and the device types."""
    folder = tmp_path_factory.mktemp("netbox")
    result = fabric(**CASES[request.param])
    count = write_netbox(result, inventory(result), folder, "hall 1")
    files = _read(folder)
    assert count == len(files["6-devices.csv"])
    return result, files, _types(folder)


def test_columns_are_those_of_netbox_in_the_order_of_import(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    _, files, _ = export
    assert set(COLUMNS) - set(files) <= {"7-interfaces.csv"}
    assert list(files) == [name for name in COLUMNS if name in files]
    for name, rows in files.items():
        assert list(rows[0]) == COLUMNS[name].split(), name


def test_every_name_stands_in_an_earlier_file(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    _, files, types = export
    makers = {row["name"] for row in files["1-manufacturers.csv"]}
    known = {(row["manufacturer"], row["model"]) for row in types}
    roles = {row["name"] for row in files["3-device-roles.csv"]}
    sites = {row["name"] for row in files["4-sites.csv"]}
    racks = {(row["site"], row["name"]) for row in files["5-racks.csv"]}
    devices = files["6-devices.csv"]
    assert sites == {"hall 1"}
    assert {maker for maker, _ in known} == makers
    assert {(row["manufacturer"], row["device_type"]) for row in devices} == known
    assert {row["role"] for row in devices} == roles
    assert {(row["site"], row["rack"]) for row in devices} == racks
    assert {row["site"] for row in files["5-racks.csv"]} <= sites
    ends = [
        (row[f"side_{x}_device"], row[f"side_{x}_name"])
        for row in files["8-cables.csv"]
        for x in "ab"
    ]
    assert len(set(ends)) == len(ends), "an interface has one cable"
    assert set(ends) <= _ports(types, files)
    panels = {row["name"] for row in files["9-power-panels.csv"]}
    feeds = files["10-power-feeds.csv"]
    assert {row["power_panel"] for row in feeds} <= panels
    assert {(row["site"], row["rack"]) for row in feeds} <= racks


def test_names_are_unique_where_netbox_wants_it(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    _, files, types = export
    unique = {
        "1-manufacturers.csv": ("name", "slug"),
        "3-device-roles.csv": ("name", "slug"),
        "5-racks.csv": ("name",),
        "6-devices.csv": ("name",),
        "8-cables.csv": ("label",),
        "10-power-feeds.csv": ("name",),
    }
    for column in ("model", "slug"):
        cells = [row[column] for row in types]
        assert len(set(cells)) == len(cells), column
    for name, columns in unique.items():
        for column in columns:
            cells = [row[column] for row in files[name]]
            assert all(cells), (name, column)
            assert len(set(cells)) == len(cells), (name, column)


def test_cables_and_devices_are_those_of_the_answer(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    result, files, _ = export
    tiers = ("fabric.node_leaf_links", "fabric.leaf_spine_links", "fabric.spine_core_links")
    cables = [row for row in files["8-cables.csv"] if row["label"].startswith("C")]
    assert len(cables) == sum(result.value(t) for t in tiers)
    found = Counter(row["role"] for row in files["6-devices.csv"])
    assert {k: found[k] for k in ("leaf", "spine", "core")} == {
        k: result.value(f"fabric.{k}_switches") for k in ("leaf", "spine", "core")
    }
    assert found["manager"] == (1 if result.scenario["fabric"].get("management_links") else 0)
    assert f"{found['node']:,} nodes" in result.headline
    lengths: Counter[float] = Counter()
    table: Any = result.frame("cable_lengths")
    for row in table.itertuples():
        lengths[float(row.stock_m)] += row.links
    assert Counter(float(row["length"]) for row in cables) == lengths


def test_no_two_devices_of_a_rack_overlap(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    _, files, types = export
    heights = {row["model"]: float(row["u_height"]) for row in types}
    racks = {row["name"]: float(row["u_height"]) for row in files["5-racks.csv"]}
    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in files["6-devices.csv"]:
        assert bool(row["position"]) == (row["face"] == "front")
        if row["position"]:
            at = float(row["position"])
            assert at * 2 == int(at * 2), "NetBox places by half units"
            taken[row["rack"]].append((at, at + heights[row["device_type"]]))
    assert taken
    for rack, spans in taken.items():
        spans.sort()
        assert spans[0][0] >= 1
        assert spans[-1][1] <= racks[rack] + 1
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans)), rack


def test_words_are_choices_of_netbox(
    export: tuple[Result, dict[str, Rows], list[dict[str, Any]]],
) -> None:
    _, files, types = export
    assert {row["type"] for row in files.get("7-interfaces.csv", [])} <= INTERFACES
    for one in types:
        Draft202012Validator(SCHEMA).validate(one)
        assert one["slug"].startswith(slug(one["manufacturer"])) or one["slug"] in OLD_SLUGS
    assert {row["type"] for row in files["8-cables.csv"]} <= CABLES
    for name in ("4-sites.csv", "5-racks.csv", "6-devices.csv", "8-cables.csv"):
        assert {row["status"] for row in files[name]} == {"planned"}
    assert {row["side_a_type"] for row in files["8-cables.csv"]} == {"dcim.interface"}
    assert {(bool(r["length"]), r["length_unit"]) for r in files["8-cables.csv"]} == {
        (True, "m"),
        (False, ""),
    }
    assert all(
        len(row["description"]) <= 200 for row in files["4-sites.csv"]
    )  # max_length of a description
    for row in files["10-power-feeds.csv"]:
        assert (row["supply"], row["phase"], row["status"]) == ("ac", "three-phase", "planned")
        assert row["type"] in {"primary", "redundant"}


def test_interface_types_are_choices_of_netbox() -> None:
    assert {*INFINIBAND.values(), *ETHERNET.values()} <= INTERFACES


def test_copper_in_the_rack_and_fibre_beyond(tmp_path: Path) -> None:
    result = fabric(**CASES["copper"])
    write_netbox(result, inventory(result), tmp_path, "x")
    rows = _read(tmp_path)["8-cables.csv"]
    found = {(row["type"], float(row["length"])) for row in rows if row["length"]}
    assert min(length for kind, length in found if kind == "dac-passive") == 2.0
    assert {kind for kind, length in found if length > 7} <= {"aoc", "smf-os2", "mmf-om4"}


def _cable(i: int, rack: str = "R001-C001") -> Cabled:
    nic = Cable(
        "node-leaf", f"node-{i:05d}", "nic1", rack, "leaf-0001", str(i), "R001-C002", 2.2, 4
    )
    return Cabled(nic, "part", "fiber", "os2")


def _result(headline: str = "x: y") -> Result:
    return Result("fabric", "ok", 0, headline)


def test_devices_that_do_not_fit_have_no_position(tmp_path: Path) -> None:
    """42 / 8 = 5.25: five nodes of 8 units stand at 35, 27, 19, 11 and 3, the others anywhere in
    the rack."""
    models = GENERIC | {"node": replace(GENERIC["node"], rack_units=8.0)}
    found = Inventory([_cable(i) for i in range(1, 8)], models, 42.0)
    write_netbox(_result(), found, tmp_path, "x")
    nodes = [row for row in _read(tmp_path)["6-devices.csv"] if row["role"] == "node"]
    assert [row["position"] for row in nodes] == ["35.0", "27.0", "19.0", "11.0", "3.0", "", ""]
    assert [row["face"] for row in nodes] == ["front"] * 5 + [""] * 2
    assert {row["rack"] for row in nodes} == {"R001-C001"}


def test_lengths_are_bought_from_stock_or_made_to_measure(tmp_path: Path) -> None:
    far = replace(_cable(2).cable, length_m=2345.67, stock=23)
    cables = [_cable(1), replace(_cable(2), cable=far)]
    write_netbox(_result(), Inventory(cables, GENERIC, 42.0), tmp_path, "x")
    assert [row["length"] for row in _read(tmp_path)["8-cables.csv"]] == ["2.5", "2345.67"]


def test_text_that_a_spreadsheet_would_run_is_disarmed_alike_in_every_file(tmp_path: Path) -> None:
    models = {
        k: replace(m, manufacturer="=1+1", model=f'=HYPERLINK("{k}")') for k, m in GENERIC.items()
    }
    found = Inventory([_cable(1, "=rack")], models, 42.0)
    write_netbox(_result("=cmd|' /C calc'!A0: x"), found, tmp_path, "@site")
    files = _read(tmp_path)
    for rows in files.values():
        assert not [
            cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))
        ]
    kinds = _types(tmp_path)
    assert {row["manufacturer"] for row in kinds} == {"'=1+1"}
    assert files["1-manufacturers.csv"] == [{"name": "'=1+1", "slug": "1-1"}]
    assert {row["manufacturer"] for row in files["6-devices.csv"]} == {"'=1+1"}
    assert {row["device_type"] for row in files["6-devices.csv"]} == {r["model"] for r in kinds}
    racks = {(row["site"], row["name"]) for row in files["5-racks.csv"]}
    assert (
        {(row["site"], row["rack"]) for row in files["6-devices.csv"]}
        == racks
        == {("'@site", "'=rack"), ("'@site", "R001-C002")}
    )


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(
            Result("plan", "ok", 0, "x", scenario={"fabric": CASES["rails"]}), id="another-verb"
        ),
        pytest.param(Result("fabric", "ok", 0, "x"), id="without-flags"),
        pytest.param(Result("", "ok", 0, "x"), id="foreign"),
    ],
)
def test_results_of_other_verbs_are_refused(result: Result) -> None:
    with pytest.raises(InputError) as caught:
        inventory(result)
    assert "has no network with a cable list" in caught.value.problems[0].cause


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"nodes": 4096, "topology": "torus"}, "cable list"),
        (
            {"nodes": 288, "nics_per_node": 8, "nic_gbps": 400, "fabric": "eth-400-scheduled"},
            "scheduled network has",
        ),
        (
            {"nodes": 600, "nics_per_node": 4, "nic_gbps": 200, "fabric": "slingshot-200"},
            "dragonfly network has",
        ),
    ],
)
def test_networks_whose_cables_have_no_names_are_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        inventory(fabric(**flags))
    assert words in caught.value.problems[0].cause


def test_nothing_is_written_when_cables_end_in_an_error(tmp_path: Path) -> None:
    def broken() -> Iterator[Cabled]:
        yield _cable(1)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_netbox(_result(), Inventory(broken(), GENERIC, 42.0), tmp_path, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_result_read_back_from_json_exports_the_same(tmp_path: Path) -> None:
    result = fabric(**CASES["rails"])
    saved = tmp_path / "saved.json"
    saved.write_text(result.to_json(), encoding="utf-8")
    texts = []
    for i, one in enumerate((result, read_result(saved))):
        write_netbox(one, inventory(one), tmp_path / str(i), "x")
        texts.append({f.name: f.read_bytes() for f in sorted((tmp_path / str(i)).iterdir())})
    assert texts[0] == texts[1]
