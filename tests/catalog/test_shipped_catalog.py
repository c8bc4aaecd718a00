"""The shipped catalog: ids of measured systems and runs resolve, the climate table is whole,
examples are there."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Accelerator, Row, Site, System
from dcplan.catalog.yaml12 import parse, read_text

# every distinct accelerator that public tables of systems and of training runs name
ACCELERATOR_IDS = [
    "amd_mi250x",
    "amd_mi300x",
    "amd_mi325x",
    "amd_mi350x",
    "amd_mi355x",
    "amd_mi455x",
    "aws_trainium1",
    "aws_trainium2",
    "aws_trainium3",
    "cerebras_wse2",
    "cerebras_wse3",
    "cerebras_wse3_turbo",
    "google_tpu7x_ironwood",
    "google_tpu8i",
    "google_tpu8t",
    "google_tpu_v4",
    "google_tpu_v5e",
    "google_tpu_v5p",
    "google_tpu_v6e",
    "groq3_lpu_lp30",
    "huawei_ascend_910b",
    "huawei_ascend_910c",
    "huawei_ascend_950dt",
    "intel_gaudi3",
    "meta_mtia_400",
    "nvidia_a100_40_sxm",
    "nvidia_a100_80_sxm",
    "nvidia_b200_sxm",
    "nvidia_b300_sxm",
    "nvidia_gb200_gpu",
    "nvidia_gb300_gpu",
    "nvidia_h100_hbm2e_500w",
    "nvidia_h100_sxm",
    "nvidia_h200_sxm",
    "nvidia_h800_sxm",
    "nvidia_rubin_ultra",
    "nvidia_rubin_vr200",
    "nvidia_v100_sxm2",
    "sambanova_sn40l",
    "tenstorrent_blackhole",
]
# every distinct stack of training_runs.csv
STACKS = [
    "automodel-fsdp",
    "composer-fsdp",
    "deepspeed",
    "jax-xla",
    "megatron-2021",
    "megatron-core",
    "megatron-deepspeed",
    "neuronx",
    "primus-megatron",
    "torchtitan",
]


@pytest.mark.parametrize("name", ACCELERATOR_IDS)
def test_every_accelerator_of_public_tables_resolves(name: str) -> None:
    assert load().find("accelerators", name, Accelerator) is not None


@pytest.mark.parametrize("name", STACKS)
def test_every_stack_of_public_tables_resolves(name: str) -> None:
    assert load().find("stacks", name, Row) is not None


@pytest.mark.parametrize(
    ("name", "bf16_tflops", "hbm_gb", "tdp_kw"),
    [  # vendors' data sheets, dense
        ("nvidia_h100_sxm", 989.4, 80, 0.7),  # H100 data sheet: 1,979 TFLOP/s with sparsity / 2
        ("nvidia_h200_sxm", 989.4, 141, 0.7),  # H200 data sheet
        ("nvidia_a100_80_sxm", 312, 80, 0.4),  # A100 data sheet
        ("amd_mi300x", 1307.4, 192, 0.75),  # MI300X data sheet
    ],
)
def test_well_known_accelerators_have_their_dense_figures(
    name: str, bf16_tflops: float, hbm_gb: float, tdp_kw: float
) -> None:
    row = load().get("accelerators", name, Accelerator)
    assert row.bf16_tflops is not None
    assert row.hbm_gb is not None
    assert row.tdp_kw is not None
    assert row.bf16_tflops.value == pytest.approx(bf16_tflops, rel=0.002)
    assert row.hbm_gb.value == pytest.approx(hbm_gb, rel=0.01)
    assert row.tdp_kw.value == pytest.approx(tdp_kw, rel=0.01)


def test_gb300_nvl72_has_its_rated_and_peak_kw() -> None:
    # 135 kW sustained (rack fit, cooling, power blocks), 155 kW electrical peak (breakers, busway)
    row = load().get("systems", "gb300-nvl72", System)
    assert row.rated_kw is not None
    assert row.peak_kw is not None
    assert (row.rated_kw.value, row.peak_kw.value) == (135, 155)


@pytest.mark.parametrize("what", ["MI3", "TPU", "CS-3"])
def test_amd_tpu_and_cerebras_systems_are_in_the_catalog(what: str) -> None:
    # systems of other makers must not drop out of an answer
    assert any(what.lower() in row.name.lower() for row in load().rows["systems"].values())


NEVER_DELIVERED = {"vr-nvl144-cpx"}


@pytest.mark.parametrize(
    "row",
    [r for r in load().table("systems", System).values() if r.id not in NEVER_DELIVERED],
    ids=lambda r: r.id,
)
def test_every_system_has_what_a_plan_asks_of_an_order_or_a_fleet(row: System) -> None:
    needed = ("rated_kw", "price_usd", "release", "scaleout_ports", "scaleout_port_gbps")
    assert [x for x in (*needed, "protocols") if not getattr(row, x)] == []
    assert row.sold or row.not_sold_reason
    assert row.liquid_frac or "liquid" not in row.cooling_modes


@pytest.mark.parametrize(
    "row", [s for s in load().table("systems", System).values() if s.slice_accelerators]
)
def test_slices_divide_their_pod(row: System) -> None:
    assert row.slice_accelerators is not None
    assert row.accelerators % row.slice_accelerators == 0


@pytest.mark.parametrize(
    ("name", "gbps_per_chip"),
    [  # Google Cloud pages: data-center network of one chip
        ("tpu-v5e-pod", 25),  # 2 x 100 Gb/s a host of 8
        ("tpu-v5p-cube", 50),  # 200 Gb/s a host of 4
        ("tpu-v6e-pod", 100),  # 4 x 200 Gb/s a host of 8
        ("tpu7x-superpod", 100),  # 100 Gb/s a chip
    ],
)
def test_tpu_hosts_have_their_data_center_rate(name: str, gbps_per_chip: float) -> None:
    row = load().get("systems", name, System)
    assert row.scaleout_ports is not None
    assert row.scaleout_port_gbps is not None
    total = row.scaleout_ports * row.scaleout_port_gbps.value
    assert total / row.accelerators == pytest.approx(gbps_per_chip)


def test_optical_switches_of_a_tpu_pod_are_below_the_paper_s_shares() -> None:
    # arXiv 2304.01433: below 5 % of the cost and 3 % of the power of a TPU v4 system
    row = load().get("systems", "tpu-v4-pod", System)
    assert row.own_network is not None
    assert row.price_usd is not None
    assert row.rated_kw is not None
    usd, kw = row.own_network.usd.value, row.own_network.kw.value
    assert 0.025 < usd / (usd + row.price_usd.value) <= 0.0501
    assert 0.015 < kw / (kw + row.rated_kw.value) <= 0.0301


def test_a_newer_dgx_is_not_cheaper() -> None:
    old, new = (load().get("systems", x, System).price_usd for x in ("dgx-b200", "dgx-b300"))
    assert old is not None
    assert new is not None
    assert new.value > old.value


def climate() -> dict[str, dict[str, float]]:
    hours: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    with (data_dir("catalogs") / "sites" / "climate_bins.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file):
            assert float(row["wet_bulb_c"]) <= float(row["dry_bulb_c"])
            assert float(row["hours"]) > 0
            hours[row["site_id"]][row["quarter"]] += float(row["hours"])
    return hours


def test_climate_hours_of_every_station_make_a_common_year() -> None:
    # typical years have 365 days: 8,760 h; Q1 has 31 + 28 + 31 = 90 days, Q2 91, Q3 92, Q4 92
    table = climate()
    assert len(table) > 10
    for site, quarters in table.items():
        days = {q: h / 24 for q, h in quarters.items()}
        assert days == {"Q1": 90, "Q2": 91, "Q3": 92, "Q4": 92}, site
        assert sum(quarters.values()) == 8760


def test_every_climate_key_has_its_table() -> None:
    keys = {row.climate for row in load().table("sites", Site).values()} - {None}
    # more tables than sites: one station for each climate zone, and places that a scenario may name
    assert keys <= set(climate())
    assert len(keys) > 10


def test_a_site_without_climate_or_price_says_so() -> None:
    for row in load().table("sites", Site).values():
        if row.usd_per_kwh is None or (row.climate is None and row.climate_zone is None):
            assert row.note, row.id


def test_the_packaged_folders_are_found(repo: Path) -> None:
    assert data_dir("catalogs") == repo / "catalogs"
    with pytest.raises(FileNotFoundError, match="reinstall"):
        data_dir("no-such-kind")


@pytest.mark.parametrize("file", sorted(data_dir("catalogs").rglob("*.yaml")), ids=lambda f: f.name)
def test_packaged_files_have_no_tags_and_little_depth(file: Path) -> None:
    """What the loader skips for its own files."""
    assert parse(read_text(file), str(file)).data
