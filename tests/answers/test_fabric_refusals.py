"""Networks that ``dcplan fabric`` refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.fabric.request import FabricRequest
from dcplan.errors import InputError
from dcplan.specs.request import made
from tests.answers.test_answers_fabric import POD


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"nic_gbps": 800}, "no 800 Gb/s ports"),
        ({"switch": "qm9701"}, "no switches row 'qm9701'"),
        ({"switch": None}, "--switch, --radix or --fabric is required"),
        ({"nics_per_node": None}, "--nics-per-node is required"),
        ({"topology": "rail-optimised"}, "one of rail-optimized"),
        ({"nodes": 0}, "0: a whole number from 1"),
        ({"oversubscription": 0.0}, "0.0: a number from 0.1"),
        ({"nic_gbps": float("inf")}, "inf: a number from 1"),
        ({"planes": 10**9}, "a whole number from 1 to 256"),
        ({"nodes": 12.5}, "12.5: a whole number"),
        ({"cable_length_m": float("nan")}, "nan: a number"),
        ({"endpoints_per_leaf": 64, "leaf_uplinks": 64}, "need 128 ports, but a leaf has 64"),
        ({"spine_switch": "sn5600"}, "sn5600 uses ethernet, but qm9700 uses infiniband"),
        ({"radix": 128}, "qm9700 has at most 64"),
        ({"load_balancing": "scheduled"}, "cell scheduling needs scheduled switches"),
        ({"site_link_gbps": 100.0}, "--site-link-gbps needs --site-link-km"),
        ({"site_link_km": 0.0}, "0.0: a number from 0.001 to 20,000 km"),
        (
            {"compare": "all", "growth_nodes": [256]},
            "--growth-nodes and --site-link-km need one fabric",
        ),
        ({"for_job": "llama-3.1-8b"}, "a run needs the accelerators of a system"),
        (
            {"growth_nodes": [5], "topology": "linked-pair", "nodes": 4, "management_links": 0},
            "growth of a linked-pair network",
        ),
        ({"tiers": 1}, "do not form one network"),
        ({"switch": None, "radix": 63}, "radix 63 is odd"),
        ({"switch": None, "radix": 64, "port_gbps": 200.0}, "faster than a port of 200"),
        ({"topology": "torus"}, "127 chips are not a multiple of 64"),
        (
            {
                "switch": None,
                "radix": 64,
                "cable_length_m": 5000.0,
                "fabric": "eth-1600",
                "nic_gbps": 1600,
            },
            "reaches 2000 m",
        ),
        ({"nodes": 4000, "tiers": 2}, "use three tiers"),
        ({"nodes": 128}, "4 management links, but 32 leaves have 0 ports free: 127 nodes"),
        ({"min_spines": 64}, "64 spines are required, but a leaf has 32 uplinks"),
        ({"media": "copper"}, "one of family"),
        ({"load_balancing": "hash"}, "one of ecmp"),
        ({"swich": "qm9700"}, "unknown argument 'swich'"),
        ({"topology": "scheduled"}, "needs a family"),
        (
            {"fabric": "slingshot-200", "switch": None, "nic_gbps": 200, "links_per_pair": 600},
            "600 are required",
        ),
    ],
)
def test_bad_networks_name_the_rule(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        fabric(**(POD | changed))
    assert any(words in p.cause for p in caught.value.problems)


def test_a_result_keeps_its_request() -> None:
    """What a saved result holds makes the same request again, lists and all."""
    asked: dict[str, Any] = {"nodes": 127, "system": "dgx-h100", "fabric": "ib-ndr-400"}
    found = fabric(**asked, growth_nodes=[256])
    kept = json.loads(found.to_json())["scenario"]["fabric"]
    assert made(FabricRequest, kept, "fabric") == FabricRequest(**asked, growth_nodes=(256,))
    assert "nic_ports_per_cage" not in kept, "what was left out stays left out"


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        fabric(nodes=2, switch="nothing", spine_switch="none")
    assert len(caught.value.problems) >= 4
    with pytest.raises(InputError) as caught:
        fabric(nodes=0, planes=0, switch=5, topology="star")
    assert len(caught.value.problems) == 4
