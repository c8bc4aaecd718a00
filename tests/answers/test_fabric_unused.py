"""Flags of ``dcplan fabric`` that the sized network has no place for are named with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan import fabric

SMALL: dict[str, Any] = {
    "nodes": 8,
    "nics_per_node": 8,
    "nic_gbps": 400.0,
    "radix": 64,
    "port_gbps": 400.0,
}
LARGE: dict[str, Any] = SMALL | {"nodes": 256}


def notes(**flags: Any) -> list[str]:
    found = fabric(**flags)
    rows = found.frame("notes")["note"] if "notes" in found.tables else []
    return [note for note in rows if note.startswith("no effect")]


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (SMALL | {"min_spines": 4, "leaf_uplinks": 4}, ["--min-spines, --leaf-uplinks: one tier"]),
        (SMALL | {"leaves_per_pod": 4}, ["--leaves-per-pod: one tier"]),
        (SMALL | {"oversubscription": 2.0}, ["--oversubscription: one tier"]),
        (LARGE | {"core_oversubscription": 2.0}, ["--core-oversubscription: two tiers"]),
        (LARGE | {"core_radix": 64}, ["--core-radix: two tiers"]),
        (LARGE | {"links_per_pair": 2}, ["--links-per-pair: only a dragonfly"]),
        (LARGE | {"nodes_per_su": 16, "topology": "rail-only"}, ["--nodes-per-su: a rail-only"]),
        (LARGE | {"min_spines": 4}, []),
        (LARGE | {"nodes_per_su": 32, "topology": "rail-optimized"}, []),
        (SMALL | {"min_spines": 4, "growth_nodes": (256,)}, []),
        (LARGE | {"tiers": 3, "core_oversubscription": 2.0}, []),
    ],
)
def test_flags_without_effect(flags: dict[str, Any], named: list[str]) -> None:
    found = notes(**flags)
    assert len(found) == len(named)
    for note, words in zip(found, named, strict=True):
        assert words in note


@pytest.mark.parametrize("flag", ["core_oversubscription", "links_per_pair", "leaves_per_pod"])
def test_what_is_named_changes_no_count(flag: str) -> None:
    plain, given = fabric(**LARGE), fabric(**LARGE, **{flag: 4})
    counts = ("fabric.switches", "fabric.node_leaf_links", "fabric.leaf_spine_links")
    assert [given.value(key) for key in counts] == [plain.value(key) for key in counts]
