"""Names of accelerators in public tables of serving results, and the memory that programs see."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.catalog.accelerator_names import accelerator_of, plain_name
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator

# every distinct accelerator that public tables of serving results name, except a mixed fleet
SERVED = {
    "A100 PCIe 80GB": "a100-80g-pcie",
    "A100 SXM 40GB": "a100-40g-sxm",
    "A100 SXM 80GB": "a100-80g-sxm",
    "A100 SXM 80GB (330 W cap)": "a100-80g-sxm-330w",
    "B200 SXM": "b200-sxm",
    "B300 SXM": "b300-sxm",
    "DGX Spark GB10": "gb10",
    "GB200": "gb200",
    "GH200": "gh200",
    "GH200 144GB": "gh200-hbm3e",
    "Gaudi2": "gaudi2",
    "H100 NVL": "h100-nvl",
    "H100 PCIe": "h100-pcie",
    "H100 SXM": "h100-sxm",
    "H100 SXM (power capped)": "h100-sxm-power-capped",
    "H200 NVL": "h200-nvl",
    "H200 SXM": "h200-sxm",
    "Inferentia2": "inferentia2",
    "Intel Arc Pro B60": "arc-pro-b60",
    "Intel Arc Pro B60 Dual": "arc-pro-b60-dual",
    "Intel Max 1550": "pvc-1550",
    "MI250": "mi250",
    "MI250X (one GCD)": "mi250x-gcd",
    "MI300X": "mi300x",
    "MI355X": "mi355x",
    "NVIDIA Jetson AGX Orin 64G": "jetson-agx-orin-64g",
    "SN40L": "sn40l",
    "TPU v6e (chip)": "tpu-v6e",
    "Trainium1": "trainium1",
}
MORE = (
    *("L40S", "L40", "L4", "A10G", "A40", "A30", "T4", "V100", "H20", "H800", "A800"),
    *("RTX PRO 6000 Blackwell Server", "RTX 6000 Ada", "RTX 4090", "RTX 5090", "RTX 3090"),
    *("MI210", "MI308X", "MI325X", "TPU v5e", "TPU v5p", "TPU 7x", "Gaudi3", "Groq"),
    *("Cerebras CS-3", "Cerebras WSE-3", "SambaNova SN40L", "GB300", "Ascend 910B"),
    *("Ascend 910C", "Trainium2", "Radeon Pro W7900", "Ryzen AI Max"),
)


@pytest.mark.parametrize(("name", "key"), SERVED.items())
def test_a_name_of_a_served_table_is_a_row(name: str, key: str) -> None:
    row = accelerator_of(load(), name)
    assert row is not None
    assert row.id == key


@pytest.mark.parametrize("name", MORE)
def test_a_name_of_another_table_is_a_row(name: str) -> None:
    assert accelerator_of(load(), name) is not None


@pytest.mark.parametrize("name", ["", "NVIDIA", "H100", "A100", "mixed AMD fleet", "H100 SXM 90GB"])
def test_a_name_of_no_row_or_of_several_is_none(name: str) -> None:
    assert accelerator_of(load(), name) is None


def test_no_plain_name_belongs_to_two_rows() -> None:
    rows = load().table("accelerators", Accelerator).values()
    count = Counter(name for r in rows for name in {*map(plain_name, (r.id, *r.aliases))})
    assert [name for name, n in count.items() if n > 1] == []


@given(st.text())
def test_a_plain_name_stays_as_it_is(text: str) -> None:
    name = plain_name(text)
    assert plain_name(name) == name == plain_name(f"NVIDIA {text}")


@pytest.mark.parametrize(
    ("key", "usable_gb"),
    [  # totals that the runtime prints, times 1.073741824 GB per GiB or 0.001048576 per MiB
        ("h200-sxm", 139.80 * 1.073741824),  # 150.11
        ("b200-sxm", 178.35 * 1.073741824),  # 191.50
        ("gb200", 184.31 * 1.073741824),  # 197.90
        ("l40s", 45589 * 0.001048576),  # 47.80
        ("mi355x", 287.98 * 1.073741824),  # 309.22
        ("mi250x", 2 * 65520 * 0.001048576),  # 137.41: two dies
        ("tpu-v6e", 31.25 * 1.073741824),  # 33.55
    ],
)
def test_usable_memory_is_the_total_that_the_runtime_prints(key: str, usable_gb: float) -> None:
    row = load().get("accelerators", key, Accelerator)
    assert row.usable_hbm_gb is not None
    assert row.usable_hbm_gb.value == pytest.approx(usable_gb, rel=2e-4)


def test_usable_memory_is_near_the_nominal_size() -> None:
    # GiB sold as GB is 7.4 % more (TPU v5p: 95.74 GiB sold as 95); ECC and firmware take 2 %
    rows = [r for r in load().table("accelerators", Accelerator).values() if r.usable_hbm_gb]
    assert len(rows) > 50
    for r in rows:
        assert r.hbm_gb is not None
        assert r.usable_hbm_gb is not None
        assert 0.98 <= r.usable_hbm_gb.value / r.hbm_gb.value <= 1.085, r.id
