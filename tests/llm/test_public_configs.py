"""61 public configurations, read as they stand, against counts that other people made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.catalog.yaml12 import parse
from dcplan.llm.config import config_notes, from_config

FILE = Path(__file__).parent / "public_configs.yaml"
ROWS: list[dict[str, Any]] = parse(FILE.read_text(encoding="utf-8"), FILE.name).data["configs"]
BILLION = 1e9
STATE_KEYS = ("linear_attn_config", "linear_num_value_heads", "attn_type_list", "conv_L_cache")
EXPERT_KEYS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
IDS = [row["id"] for row in ROWS]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {**row["config"], **row["config"].get("text_config", {})}


def test_the_list_has_many_models_of_all_kinds() -> None:
    states = [r for r in ROWS if any(k in _flat(r) for k in STATE_KEYS) or "mamba" in str(_flat(r))]
    experts = [r for r in ROWS if any(_flat(r).get(k) for k in EXPERT_KEYS)]
    assert len(ROWS) >= 40
    assert len(states) >= 12
    assert len(experts) >= 25
    assert all(r["address"].startswith("https://") and r["figures"] for r in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parameters_are_those_of_the_class(row: dict[str, Any]) -> None:
    # counted by making the class without memory: exact, but for the biases and sinks of gpt-oss
    rel = 5e-4 if row["id"].startswith("gpt-oss") else 2e-4
    assert from_config(row["config"]).params == pytest.approx(row["params"], rel=rel)


@pytest.mark.parametrize("row", [r for r in ROWS if "card_b" in r], ids=lambda r: r["id"])
def test_parameters_are_those_of_the_model_card(row: dict[str, Any]) -> None:
    params = from_config(row["config"]).params / BILLION
    assert params == pytest.approx(row["card_b"], rel=0.005)


@pytest.mark.parametrize("row", [r for r in ROWS if "card_active_b" in r], ids=lambda r: r["id"])
def test_active_parameters_are_those_of_the_model_card(row: dict[str, Any]) -> None:
    # a card counts the embedding, the output layer, both or none: card_leaves_out says how many not
    shape = from_config(row["config"])
    left_out = row.get("card_leaves_out", 0) * shape.vocab * shape.hidden
    active = (shape.active_params - left_out) / BILLION
    digits = len(str(row["card_active_b"]).partition(".")[2])
    assert round(active, digits) == row["card_active_b"]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_key_of_a_public_file_is_known(row: dict[str, Any]) -> None:
    assert config_notes(row["config"]) == ()
