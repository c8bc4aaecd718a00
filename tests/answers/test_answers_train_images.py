"""``dcplan train`` of models with a vision encoder, and of diffusion transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.train.answer import train
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.train.layouts import BREAKDOWN, JOB_OPTIONS

LAYOUT = "tp=2,pp=2,vpp=1,dp=4,mbs=1"
GIVEN: dict[str, Any] = {
    "system": "dgx-h100",
    "accelerators": 16,
    "tokens": 1e9,
    "seq_len": 2048,
    "global_batch_tokens": 131072,
}


def _train(model: str = "llava-1.5-7b", **given: Any) -> Result:
    return train(model, **GIVEN | given)


def _notes(result: Result) -> str:
    return " | ".join(w["message"] for w in result.warnings)


def _parts(result: Result) -> dict[str, float]:
    return {row.part: row.time_s for row in BREAKDOWN.rows(result.tables["breakdown"])}


def test_images_take_time_and_count_in_the_utilization() -> None:
    blind, seen = _train(layout=LAYOUT), _train(layout=LAYOUT, images=2)
    assert "--images" in _notes(blind)
    assert "56%" in _notes(seen)  # 2 x 576 of 2,048 tokens
    assert "tower" not in _parts(blind)
    assert sum(_parts(seen).values()) == pytest.approx(
        seen.metrics["train.step_time_s"].value, rel=1e-9
    )
    assert _parts(seen)["tower"] > 0
    flops = [
        r.metrics["train.tflops_per_accelerator"].value * r.metrics["train.step_time_s"].value
        for r in (blind, seen)
    ]
    # 64 sequences of two images on 16 accelerators, 577 tokens of 6 x 0.303 B and attention, and
    # the projector
    layer = 12 * 1024**2 + 13 * 1024
    image = (
        577 * (6 * (24 * layer + 588 * 1024 + 4096) + 6 * 24 * 577 * 16 * 128)
        + 6 * 576 * 20_979_712
    )
    assert flops[1] - flops[0] == pytest.approx(64 * 2 * image / 16 / 1e12, rel=1e-9)
    assert "vision tower" in seen.metrics["train.mfu_frac"].label


@pytest.mark.parametrize(
    ("model", "images", "text"),
    [
        ("llama-2-7b", 1.0, "no vision encoder"),
        ("llava-1.5-7b", 4.0, "do not fit in a sequence of 2048"),
        ("llava-1.5-7b", -1.0, "a number from 0"),
        ("llava-1.5-7b", float("nan"), "a number from 0"),
    ],
)
def test_images_that_no_model_takes(model: str, images: float, text: str) -> None:
    with pytest.raises(InputError, match=text):
        _train(model, images=images)


def test_open_image_size_is_said() -> None:
    assert "448 x 448" in _notes(_train("qwen2.5-vl-7b", layout=LAYOUT, images=1))


def test_smallest_cluster_counts_the_tower() -> None:
    given = GIVEN | {"accelerators": None, "tokens": 2e10, "deadline_days": 4.0}
    blind, seen = (train("internvl2.5-78b", **given | {"images": n}) for n in (0, 8))
    assert seen.metrics["train.systems"].value > blind.metrics["train.systems"].value


def test_a_diffusion_transformer_is_planned() -> None:
    result = _train(
        "sd3-medium", seq_len=4096 + 154, global_batch_tokens=256 * 4250, layout="tp=1,dp=16,mbs=2"
    )
    assert result.status == "ok"
    assert "latent patch" in _notes(result)
    assert "without a mask" in result.metrics["train.mfu_frac"].label
    assert 0.1 < result.metrics["train.mfu_frac"].value < 0.7


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"_class_name": "PixArtTransformer2DModel", "num_layers": 28}))
    with pytest.raises(InputError, match="_class_name PixArtTransformer2DModel"):
        _train(str(file))


SCENARIO = """
dcplan: 1
name: images
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 1
    halls: [{id: h, racks: 8, rack_kw_max: 250, it_mw: 0.6, air_mw: 0.6, cooling: [direct-liquid-tower]}]
systems: [dgx-h100]
fabrics: [ib-ndr-400]
workloads:
  training:
    - {id: j, model: MODEL, tokens: 1.0e11, seq_len: 2048, global_batch_tokens: 1.0e6, precision: [bf16],
       accelerators: 32, deadline_days: 60, IMAGES}
objective: min_cost
"""


def _job(tmp_path: Path, model: str, images: str) -> Result:
    file = tmp_path / "s.yaml"
    file.write_text(SCENARIO.replace("MODEL", model).replace(", IMAGES", images))
    return train(file)


def test_images_of_a_scenario_s_job(tmp_path: Path) -> None:
    blind, seen = _job(tmp_path, "llava-1.5-7b", ""), _job(tmp_path, "llava-1.5-7b", ", images: 3")
    days = [JOB_OPTIONS.rows(r.tables["job_options"])[0].days_p50 or 0.0 for r in (blind, seen)]
    assert days[1] > days[0] > 0.0
    status = [
        next(row["status"] for row in r.inputs if row["key"] == "jobs.j.images")
        for r in (blind, seen)
    ]
    assert status == ["default", "input"]


@pytest.mark.parametrize(
    ("model", "text"),
    [("llama-2-7b", "no vision encoder"), ("llava-1.5-7b", "do not fit in a sequence of 2048")],
)
def test_images_that_no_job_takes(tmp_path: Path, model: str, text: str) -> None:
    result = _job(tmp_path, model, ", images: 4")
    assert not result.tables["job_options"].rows
    assert any(text in str(row) for row in result.tables["excluded"].rows)
