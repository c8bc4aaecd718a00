"""Flags of ``dcplan fabric`` that the sized network has no place for are named with the reason."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dcplan import fabric
from dcplan.answers.fabric.parts.unused import ALWAYS, REFUSED, RULES
from dcplan.answers.fabric.request import FabricRequest
from dcplan.cli.fabric import Files, refuse_files
from dcplan.errors import InputError

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


CLUSTER: dict[str, Any] = {"nodes": 6, "system": "dgx-h100"}
NDR: dict[str, Any] = CLUSTER | {"fabric": "ib-ndr-400"}
KINDS: dict[str, dict[str, Any]] = {
    "one tier": NDR,
    "collapsed pair": NDR | {"topology": "collapsed-pair"},
    "linked pair": NDR | {"topology": "linked-pair"},
    "scheduled": NDR | {"fabric": "eth-400-scheduled"},
    "dragonfly": {"nodes": 300, "system": "cray-ex235a", "fabric": "slingshot-200"},
    "torus": {"nodes": 1, "system": "tpu-v5p-pod"},
    "no parts": SMALL,
    "comparison": CLUSTER | {"compare": "ib-ndr-400,eth-400"},
}
OTHER: dict[str, Any] = {
    "management_links": 3,
    "spine_switch": "q3400-ra",
    "core_switch": "q3400-ra",
    "port_gbps": 400.0,
    "spine_radix": 32,
    "core_radix": 32,
    "media": "lpo",
    "nic_ports_per_cage": 4,
    "nodes_per_su": 2,
    "oversubscription": 3.0,
    "core_oversubscription": 3.0,
    "endpoints_per_leaf": 20,
    "leaf_uplinks": 12,
    "leaves_per_pod": 4,
    "min_spines": 4,
    "tiers": 2,
    "storage_oversubscription": 4.0,
    "in_band_oversubscription": 4.0,
    "out_of_band_ports": 20,
    "out_of_band_oversubscription": 0.5,
    "links_per_pair": 2,
    "load_balancing": "spray",
    "nodes_per_rack": 1,
    "racks_per_row": 1,
    "leaf_placement": "center",
    "cable_length_m": 60.0,
}
"""A value of each flag that differs from what is taken without it."""
ALIKE = {("no parts", "racks_per_row")}
"""Flags of which this value makes no difference: cables have the same stock lengths."""


def figures(flags: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return all figures of an answer, and its notes."""
    found = fabric(**flags)
    tables = {name: table.records() for name, table in found.tables.items() if name != "notes"}
    values = {name: metric.value for name, metric in found.metrics.items()}
    listed = found.tables["notes"].records() if "notes" in found.tables else []
    return (values, tables), [str(row["note"]) for row in listed]


@pytest.mark.parametrize("kind", KINDS)
def test_a_flag_changes_a_figure_or_is_named(kind: str) -> None:
    """For each flag: the figures with and without it differ, or a note or an error names it."""
    base = KINDS[kind]
    plain, _ = figures(base)
    silent = []
    for name, value in OTHER.items():
        flag = f"--{name.replace('_', '-')}"
        if name in base or (kind, name) in ALIKE:
            continue
        try:
            given, told = figures(base | {name: value})
        except InputError:
            continue
        named = any(flag in note and "no effect" in note for note in told)
        if named == (given != plain):
            silent.append(f"{flag} {'named, but changes a figure' if named else 'without a word'}")
    assert not silent


def test_every_flag_has_a_rule_or_an_effect() -> None:
    ruled = {name for rule in RULES for name in rule.flags}
    names = {f.name for f in fields(FabricRequest)}
    assert names == ruled | set(ALWAYS) | set(REFUSED)
    assert not set(REFUSED) & ruled


@pytest.mark.parametrize(
    ("flags", "place", "help_text"),
    [
        ({"compare": "eth-400", "fabric": "ib-ndr-400"}, "--fabric", "leave --fabric out"),
        ({"for_job": "llama-3.1-8b", "fabric": "eth-400"}, "--fabric", "--compare eth-400"),
        ({"compare": "eth-400", "switch": "qm9700"}, "--switch", "leave --switch out"),
        ({"compare": "eth-400", "topology": "torus"}, "--topology", "leave --compare out"),
        ({"fabric": "eth-400", "tokens": 1e12}, "--tokens", "--for-job MODEL"),
    ],
)
def test_flags_that_contradict_a_comparison(
    flags: dict[str, Any], place: str, help_text: str
) -> None:
    with pytest.raises(InputError) as found:
        fabric(**CLUSTER, **flags)
    (problem,) = found.value.problems
    assert (str(problem.place), problem.help) == (place, help_text)


def test_files_of_one_network_are_refused_for_a_comparison() -> None:
    request = FabricRequest(6, system="dgx-h100", compare="eth-400")
    with pytest.raises(InputError) as found:
        refuse_files(request, Files(Path("cables.csv"), Path("tiers.svg")))
    assert [str(p.place) for p in found.value.problems] == ["--cables", "--picture"]
    refuse_files(request, Files())


def test_links_of_a_family_are_not_slower_than_the_nics() -> None:
    with pytest.raises(InputError) as found:
        fabric(nodes=16, system="dgx-b300", fabric="eth-400")
    (problem,) = found.value.problems
    assert problem.cause == "the 400 Gb/s links of eth-400 are slower than the 800 Gb/s NICs"
    assert problem.help == "--fabric eth-800"
    split = fabric(nodes=16, system="dgx-b300", fabric="ib-ndr-400", planes=2)
    assert split.value("fabric.node_leaf_links") == 256


def test_a_linked_pair_with_faster_links_between_its_switches() -> None:
    """6 x 8 = 48 links of 400 Gb/s, 24 a switch: 24 links between them, or 12 of 800 Gb/s."""
    pair: dict[str, Any] = {"nodes": 6, "system": "dgx-h100", "fabric": "eth-400"}
    pair |= {"topology": "linked-pair"}
    assert fabric(**pair).value("fabric.leaf_spine_links") == 24
    assert fabric(**pair, uplink_gbps=800.0).value("fabric.leaf_spine_links") == 12
