"""``dcplan train`` on systems with missing figures, and models that do not fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dcplan
from tests.answers.test_answers_train import ASKED, BATCH


def test_a_layout_that_does_not_fit_says_by_how_much_and_names_one_that_does() -> None:
    asked = {**ASKED, "accelerators": 512, "global_batch_tokens": BATCH}
    bad = dcplan.train("llama-3.1-405b", **asked, layout="tp=8,pp=1")
    assert (bad.status, bad.exit_code) == ("does_not_fit", 1)
    need, limit, over = map(
        float,
        re.findall(r"needs ([\d.]+) GiB of ([\d.]+) GiB, ([\d.]+) GiB too much", bad.headline)[0],
    )
    assert need == pytest.approx(bad.value("train.memory_gib"), abs=0.06)
    assert limit == 80
    assert over == pytest.approx(need - limit, abs=0.11)
    near = bad.headline.split("nearest layout that fits: ")[1]
    good = dcplan.train("llama-3.1-405b", **asked, layout=near)
    assert good.exit_code == 0
    assert good.value("train.memory_gib") <= 80


def test_a_layout_that_no_other_of_its_count_can_save_names_a_count_that_holds_the_model() -> None:
    bad = dcplan.train(
        "llama-3.1-405b", system="dgx-h100", accelerators=8, tokens=1e9, layout="tp=8"
    )
    assert bad.exit_code == 1
    found = re.search(r"; it fits on ([\d,]+) accelerators: (\S+)$", bad.headline)
    assert found
    count = int(found.group(1).replace(",", ""))
    # 405e9 x 16 bytes of states over 80 GiB each
    assert count >= 405e9 * 16 / (80 * 2**30)
    good = dcplan.train(
        "llama-3.1-405b", system="dgx-h100", accelerators=count, tokens=1e9, layout=found.group(2)
    )
    assert good.exit_code == 0


def test_a_model_too_large_for_memory_exits_1() -> None:
    # 405e9 parameters x 16 bytes of state = 6.5 TB; 8 x 80 GB = 0.64 TB
    result = dcplan.train("llama-3.1-405b", system="dgx-h100", accelerators=8, tokens=1e9)
    assert (result.status, result.exit_code) == ("does_not_fit", 1)
    assert result.value("train.layouts_feasible") == 0
    need, over = map(
        float,
        re.findall(r"needs ([\d.]+) GiB of 80 GiB, ([\d.]+) GiB too much", result.headline)[0],
    )
    assert need > 6.5e12 / 8 / 2**30  # at least its share of the states
    assert over == pytest.approx(need - 0.95 * 80, abs=0.06)  # what may be planned with


def test_weights_that_stream_need_no_room_on_the_wafer() -> None:
    result = dcplan.train("llama-3.1-405b", system="cs-3", accelerators=4, tokens=1e9)
    assert result.exit_code == 0
    assert result.frame("layout").iloc[0]["tp"] == 1  # data parallel over wafers


BARE = """systems:
  - id: bare
    name: Server without power and ports
    source: {title: "made up", as_of: 2026-01}
    accelerator: h100-sxm
    accelerators: 8
    form: server
    cooling_modes: [air]
"""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, Any]:
    """A request for a system of which only the accelerators are known."""
    (tmp_path / "bare.yaml").write_text(BARE, encoding="utf-8")
    return {"system": "bare", "accelerators": 256, "tokens": 1e9, "catalogs": (str(tmp_path),)}


def test_a_system_without_ports_takes_its_family_s_link_or_a_given_one(
    bare: dict[str, Any],
) -> None:
    usual = dcplan.train("llama-3.1-8b", **bare)
    given = dcplan.train("llama-3.1-8b", **bare, nic_port_gbps=800)
    assert (usual.exit_code, given.exit_code) == (0, 0)
    fastest = "train.fastest_step_time_s"  # the layout of a common recipe may be slower
    assert given.value(fastest) <= usual.value(fastest)


def test_a_system_without_a_power_figure_still_has_a_step_time(bare: dict[str, Any]) -> None:
    result = dcplan.train("llama-3.1-8b", **bare)
    assert result.value("train.step_time_s") > 0
    assert "energy_mwh" not in result.metrics
