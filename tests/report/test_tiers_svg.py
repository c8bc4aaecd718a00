"""Picture of tiers: well-formed XML that says in words what it shows."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.errors import InputError
from dcplan.report.svg.tiers import SHOWN, WIDTH, tiers_svg
from dcplan.result import Cell, Result, Table

SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = ("tier", "switch", "switches", "ports_down", "ports_up", "links_below")
POD: dict[str, Any] = {
    "nodes": 127,
    "nics_per_node": 8,
    "nic_gbps": 400,
    "switch": "qm9700",
    "nodes_per_su": 32,
    "management_links": 4,
}


def _drawn(result: Result) -> ElementTree.Element:
    return ElementTree.fromstring(tiers_svg(result))  # noqa: S314 - our own text


def _result(*tiers: tuple[Cell, ...], headline: str = "4 nodes: a network") -> Result:
    return Result("fabric", "ok", 0, headline, tables={"tiers": Table(COLUMNS, tiers)})


def _texts(root: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in root.iter(f"{SVG}text")]


def test_title_and_description_are_named_for_screen_readers() -> None:
    result = fabric(**POD)
    root = _drawn(result)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = {node.get("id"): node.text for node in root if node.get("id")}
    assert list(named) == (root.get("aria-labelledby") or "").split() == ["title", "desc"]
    assert named == {"title": "Network tiers", "desc": result.headline}


def test_all_counts_stand_in_words() -> None:
    """RA-11333-001 V11, table 4: 32 leaves of 32 + 32 ports, 16 spines of 64; 1,020 and 1,024
    links."""
    texts = _texts(_drawn(fabric(**POD)))
    assert "127 nodes with 8 NICs of 400 Gb/s (rail-optimized, 2 tiers)" in texts
    assert {"32 leaf x qm9700, 32 down, 32 up", "16 spine x qm9700, 64 down, 0 up"} <= set(texts)
    assert [t for t in texts if t.endswith("links")] == ["1,024 links", "1,020 links"]
    assert {"leaf 1", "leaf 32", "spine 1", "spine 16", "node 1", "last node"} <= set(texts)


@pytest.mark.parametrize(
    ("flags", "tiers"),
    [
        pytest.param(
            {"nodes": 2, "nics_per_node": 8, "nic_gbps": 400, "switch": "qm9700"}, 1, id="one"
        ),
        pytest.param(POD, 2, id="two"),
        pytest.param(POD | {"nodes": 512, "management_links": 0}, 3, id="three"),
        pytest.param(
            {"nodes": 600, "nics_per_node": 4, "nic_gbps": 200, "fabric": "slingshot-200"},
            1,
            id="dragonfly",
        ),
        pytest.param(
            {"nodes": 288, "nics_per_node": 8, "nic_gbps": 400, "fabric": "eth-400-scheduled"},
            2,
            id="cells",
        ),
    ],
)
def test_every_tier_has_a_row_with_its_counts(flags: dict[str, Any], tiers: int) -> None:
    result = fabric(**flags)
    root = _drawn(result)
    rows = {float(box.get("y") or 0) for box in root.iter(f"{SVG}rect")}
    assert len(rows) == tiers + 1, "and one for nodes"
    texts = _texts(root)
    for tier in result.frame("tiers").itertuples():
        assert (
            f"{tier.switches:,} {tier.tier} x {tier.switch}, {tier.ports_down} down, "
            f"{tier.ports_up} up" in texts
        )
        assert f"{tier.links_below:,} links" in texts


def test_top_tier_is_drawn_above_and_lines_join_neighbours() -> None:
    root = _drawn(fabric(**(POD | {"nodes": 512, "management_links": 0})))
    at = {node.text: float(node.get("y") or 0) for node in root.iter(f"{SVG}text")}
    assert at["core 1"] < at["spine 1"] < at["leaf 1"] < at["node 1"]
    boxes = {float(box.get("y") or 0) for box in root.iter(f"{SVG}rect")}
    height = {float(box.get("height") or 0) for box in root.iter(f"{SVG}rect")}.pop()
    for line in root.iter(f"{SVG}line"):
        assert float(line.get("y1") or 0) - height in boxes
        assert float(line.get("y2") or 0) in boxes


@pytest.mark.parametrize("switches", [1, 2, SHOWN, SHOWN + 1, 1234])
def test_a_row_shows_few_boxes_and_names_the_last(switches: int) -> None:
    root = _drawn(_result(("leaf", "x", switches, 32, 32, 4), ("spine", "x", 1, 64, 0, 4)))
    labels = [t for t in _texts(root) if t.startswith("leaf ")]
    assert len(labels) == (switches if switches <= SHOWN else SHOWN - 1)
    assert labels[-1] == f"leaf {switches:,}"
    assert ("…" in _texts(root)[: -SHOWN - 1]) == (switches > SHOWN)
    boxes = [(float(b.get("x") or 0), float(b.get("width") or 0)) for b in root.iter(f"{SVG}rect")]
    assert all(x >= 0 and x + w <= WIDTH for x, w in boxes)
    height = float((root.get("viewBox") or "").split()[3])
    assert all(
        float(b.get("y") or 0) + float(b.get("height") or 0) <= height
        for b in root.iter(f"{SVG}rect")
    )


def test_text_is_escaped() -> None:
    words = '<script>alert("&")</script>'
    result = _result(("a<b", words, 1, 4, 0, 4), headline=f"{words}: rest")
    assert "<script" not in tiers_svg(result)
    root = _drawn(result)
    assert {f"1 a<b x {words}, 4 down, 0 up", "a<b 1"} <= set(_texts(root))
    assert words in _texts(root)
    assert (root.findtext(f"{SVG}desc") or "") == f"{words}: rest"


def test_a_tier_without_links_still_draws() -> None:
    assert "0 links" in _texts(_drawn(_result(("leaf", "x", 1, 4, 0, 0))))


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(lambda: fabric(nodes=4096, topology="torus"), id="torus"),
        pytest.param(_result, id="empty"),
    ],
)
def test_a_network_without_tiers_is_refused(result: Any) -> None:
    with pytest.raises(InputError, match="this network has no tiers to draw"):
        tiers_svg(result())
