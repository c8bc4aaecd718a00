"""Answers state first which model they are for: its parameters, all and active, and what was assumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.serve.answer import serve
from dcplan.answers.train.answer import train
from dcplan.errors import InputError

ASKED = {"system": "dgx-h100", "accelerators": 64, "tokens": 1e10}
SERVED = {"system": ["dgx-h100"], "isl": 512.0, "osl": 64.0}
TINY = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "brand_new_block": 3,
}


def _file(folder: Path, config: dict[str, Any]) -> str:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return str(path)


def test_train_states_the_parameters_first() -> None:
    found = train(model="mixtral-8x7b", layout="tp=1,ep=8,mbs=1", **ASKED)
    assert list(found.metrics)[:2] == ["train.params_b", "train.active_params_b"]
    assert found.value("train.params_b") == pytest.approx(46.7028, rel=1e-5)
    assert found.value("train.active_params_b") == pytest.approx(12.8799, rel=1e-5)


def test_serve_states_the_parameters_first() -> None:
    found = serve(model="mixtral-8x7b", **SERVED)
    assert list(found.metrics)[:2] == ["serve.params_b", "serve.active_params_b"]
    assert found.value("serve.params_b") == pytest.approx(46.7028, rel=1e-5)


def test_both_name_what_a_file_leaves_open(tmp_path: Path) -> None:
    name = _file(tmp_path, TINY)
    for found in (train(model=name, layout="tp=1,mbs=1", **ASKED), serve(model=name, **SERVED)):
        text = " ".join(w["message"] for w in found.warnings)
        assert "no intermediate_size: 11008 is the default of the class" in text
        assert "brand_new_block is unknown and not read" in text


@pytest.mark.parametrize("key", ["compress_ratios", "num_hiden_layers"])
def test_both_refuse_a_file_that_they_would_misread(tmp_path: Path, key: str) -> None:
    name = _file(tmp_path, {**TINY, key: 4})
    for ask in (lambda: train(model=name, **ASKED), lambda: serve(model=name, **SERVED)):
        with pytest.raises(InputError, match=key):
            ask()
