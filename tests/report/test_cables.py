"""Cable schedule as CSV: as many rows as links, lengths that are enough, and a file that is whole
or not there."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.inventory import Cabled, cables
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.fabric.floor.schedule import Cable
from dcplan.report.cables import COLUMNS, write_cables

POD: dict[str, Any] = {
    "nodes": 31,
    "system": "dgx-h100",
    "fabric": "ib-ndr-400",
    "management_links": 4,
}
CASES: list[dict[str, Any]] = [
    POD,
    POD | {"media": "reach", "leaf_placement": "rack"},
    {"nodes": 32, "nics_per_node": 2, "nic_gbps": 800, "radix": 32, "port_gbps": 400, "planes": 2},
    {
        "nodes": 40,
        "nics_per_node": 4,
        "nic_gbps": 400,
        "radix": 16,
        "port_gbps": 400,
        "topology": "rail-only",
    },
    {"nodes": 30, "nics_per_node": 2, "nic_gbps": 200, "radix": 8, "port_gbps": 200},
    {"nodes": 4, "nics_per_node": 2, "nic_gbps": 200, "radix": 8, "port_gbps": 200},
]


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _one(i: int, meters: float = 2.2, stock: int = 4) -> Cabled:
    nic = Cable(
        "node-leaf",
        f"node-{i:05d}",
        "nic1",
        "R001-C001",
        "leaf-0001",
        str(i),
        "R001-C002",
        meters,
        stock,
    )
    return Cabled(nic, "dac-2m", "dac", None)


def test_columns_are_a_contract(tmp_path: Path) -> None:
    words = "cable tier from_device from_port from_rack to_device to_port to_rack type part path_m length_m"
    assert " ".join(COLUMNS) == words
    assert write_cables([_one(1)], tmp_path / "x.csv") == 1
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == (
        words.replace(" ", ",") + "\n"
        "1,node-leaf,node-00001,nic1,R001-C001,leaf-0001,1,R001-C002,dac,dac-2m,2.2,2.5\n"
    )


@pytest.mark.parametrize("flags", CASES)
def test_as_many_rows_as_links_and_lengths_as_in_the_answer(
    flags: dict[str, Any], tmp_path: Path
) -> None:
    result = fabric(**flags)
    count = write_cables(cables(**flags), tmp_path / "x.csv")
    rows = _rows((tmp_path / "x.csv").read_text(encoding="utf-8"))
    tiers = {
        "node-leaf": "fabric.node_leaf_links",
        "leaf-spine": "fabric.leaf_spine_links",
        "spine-core": "fabric.spine_core_links",
    }
    assert count == len(rows) == sum(result.value(links) for links in tiers.values())
    found = Counter(row["tier"] for row in rows)
    assert {tier: found[tier] for tier in tiers} == {
        tier: result.value(links) for tier, links in tiers.items()
    }
    assert [row["cable"] for row in rows] == [str(i + 1) for i in range(count)]
    bought = Counter((row["tier"], float(row["length_m"])) for row in rows)
    table: Any = result.frame("cable_lengths")
    assert bought == {(row.tier, float(row.stock_m)): row.links for row in table.itertuples()}


@pytest.mark.parametrize("flags", CASES)
def test_every_cable_is_long_enough_and_of_the_next_stock_length(flags: dict[str, Any]) -> None:
    for one in cables(**flags):
        meters = one.cable.length_m
        # the path is rounded to centimetres after its stock length is chosen
        assert STOCK_M[one.cable.stock] >= meters - 0.005
        if one.cable.stock:
            assert STOCK_M[one.cable.stock - 1] < meters + 0.005


def test_every_cable_of_a_priced_network_has_a_part() -> None:
    """Copper reaches 2 or 3 m in the rack; what is longer is active or fibre."""
    found = {(one.kind, bool(one.part)) for one in cables(**CASES[1])}
    assert all(part for _, part in found)
    assert {kind for kind, _ in found} > {"dac"}
    longest = max(one.cable.length_m for one in cables(**CASES[1]) if one.kind == "dac")
    assert longest <= 3.0


def test_a_cable_beyond_all_stock_is_made_to_measure(tmp_path: Path) -> None:
    write_cables([_one(1, 2345.67, STOCK_M.size)], tmp_path / "x.csv")
    row = _rows((tmp_path / "x.csv").read_text(encoding="utf-8"))[0]
    assert (row["path_m"], row["length_m"]) == ("2345.67", "2345.67")


def test_stdout_has_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        write_cables([_one(1), _one(2)], None)
        == write_cables([_one(1), _one(2)], tmp_path / "x.csv")
        == 2
    )
    assert capsys.readouterr().out == (tmp_path / "x.csv").read_text(encoding="utf-8")


def test_text_that_starts_a_formula_is_disarmed(tmp_path: Path) -> None:
    write_cables([replace(_one(1), part="=1+1")], tmp_path / "x.csv")
    assert _rows((tmp_path / "x.csv").read_text(encoding="utf-8"))[0]["part"] == "'=1+1"


@pytest.mark.parametrize("old", [None, "the old schedule\n"])
def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, old: str | None) -> None:
    target = tmp_path / "x.csv"
    if old:
        target.write_text(old, encoding="utf-8")

    def broken() -> Iterator[Cabled]:
        yield from (_one(i) for i in range(1, 20_000))  # more than a buffer holds
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_cables(broken(), target)
    assert [f.name for f in tmp_path.iterdir()] == (["x.csv"] if old else [])
    if old:
        assert target.read_text(encoding="utf-8") == old


def test_cables_stream_one_after_the_other() -> None:
    """A million nodes: the first cables come without the others."""
    stream = cables(
        nodes=1_000_000, nics_per_node=1, nic_gbps=400, radix=512, port_gbps=400, racks_per_row=64
    )
    assert [next(stream).cable.from_device for _ in range(3)] == [
        "node-00001",
        "node-00002",
        "node-00003",
    ]
