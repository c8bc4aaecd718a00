"""Storage: the SuperPOD levels, what sizes a tier, ingestion."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Parameter, StorageTier
from dcplan.reliability.storage import Block, Demand, build, demand, ingest_step_s, level_gb_per_s

QUICK = settings(max_examples=60, deadline=None)
NODE = {"good": (4.0, 2.0), "better": (8.0, 4.0), "best": (40.0, 20.0)}
"""One node, read and write: NVIDIA's DGX SuperPOD H100 storage guidance. [GB/s]"""
SUPERPOD = {
    # 256 and 1,024 accelerators, read and write
    "good": ((15, 7), (60, 30)),
    "better": ((40, 20), (160, 80)),
    "best": ((125, 62), (500, 250)),
}


@pytest.mark.parametrize("level", SUPERPOD)
def test_superpod_levels_come_back(level: str) -> None:
    """The table prints 7 and 62 GB/s of writes at 256 where a quarter of 1,024's is 7.5 and 62.5:
    cut, not rounded."""
    for count, printed in zip((256, 1024), SUPERPOD[level], strict=True):
        for what, wanted, node in zip(("read", "write"), printed, NODE[level], strict=True):
            each = (
                load()
                .get("storage", f"storage-{what}-gb-per-s-per-gpu-{level}", Parameter)
                .value.value
            )
            assert int(level_gb_per_s(each, count, node)) == wanted
            assert level_gb_per_s(each, 8, node) == node


def test_demand_by_hand() -> None:
    # 15 T tokens x 4 bytes = 60 TB; 20 x 5.7 TB = 114 TB; restart 5.7 TB in 120 s = 47.5 GB/s above
    # the level's 15
    found = demand(
        (15.0, 7.0),
        dataset_bytes=15e12 * 4,
        ingest_gb_per_s=0.05,
        checkpoint_size_bytes=5.7e12,
        kept_checkpoints=20,
        flush_s=300,
        load_s=120,
    )
    assert (found.usable_tb, found.read_gb_per_s, found.write_gb_per_s) == pytest.approx(
        (174, 47.5, 19)
    )
    assert found.binds == "restart"


def test_capacity_for_all_else_is_added_to_data_and_checkpoints() -> None:
    # 60 TB of data, 20 x 5.7 TB = 114 TB of checkpoints and 26 TB of home folders: 200 TB
    found = demand(
        (15.0, 7.0),
        dataset_bytes=60e12,
        ingest_gb_per_s=0.05,
        checkpoint_size_bytes=5.7e12,
        kept_checkpoints=20,
        flush_s=300,
        load_s=120,
        other_tb=26.0,
    )
    assert found.usable_tb == pytest.approx(200.0, rel=1e-12)


@given(st.floats(0.1, 5e4), st.floats(0.1, 5e3), st.floats(0.1, 5e3))
@QUICK
def test_what_is_built_meets_the_demand_and_one_block_less_does_not(
    tb: float, read: float, write: float
) -> None:
    block = Block(590.0, 120.0, 60.0, 1.8, 3.1, 590e3, 42.0, 1)
    found = build(Demand(read, write, tb, "level"), block)
    assert found.usable_tb >= tb * (1 - 1e-9)
    assert found.read_gb_per_s >= read * (1 - 1e-9)
    assert found.write_gb_per_s >= write * (1 - 1e-9)
    less = found.units - 1
    assert less == 0 or less * 590.0 < tb or less * 120.0 < read or less * 60.0 < write
    assert found.usd == pytest.approx(found.units * 590e3)


def test_smallest_cluster_of_a_tier_is_kept() -> None:
    block = Block(100.0, 10.0, 10.0, 1.0, 1.0, 1e5, 42.0, 8)
    assert build(Demand(1.0, 1.0, 1.0, "level"), block).units == 8
    assert build(Demand(1.0, 1.0, 1.0, "level"), block).binds == "smallest"


def test_data_that_come_too_slowly_set_the_step() -> None:
    # 300 GB a step at 100 GB/s take 3 s
    assert ingest_step_s(2.0, 300e9, 100.0) == 3.0
    assert ingest_step_s(2.0, 100e9, 100.0) == 2.0


def test_every_tier_of_the_catalog_can_be_built() -> None:
    rows = load().table("storage_tiers", StorageTier)
    assert {"file", "object", "local"} <= {r.kind for r in rows.values()}
    for row in rows.values():
        assert row.read_gb_per_s.value >= row.write_gb_per_s.value, row.id
