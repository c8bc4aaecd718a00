"""Configurations of no model are refused at once, by the field."""

from __future__ import annotations

import pytest

from dcplan.llm.config import from_config


@pytest.mark.parametrize(
    "broken",
    [
        {"num_hidden_layers": 1e308, "num_local_experts": 8},
        {"num_hidden_layers": 10**400},
        {"intermediate_size": 1e300},
        {"hidden_size": 1e200},
    ],
)
def test_sizes_of_no_model_are_refused_at_once(broken: dict[str, float]) -> None:
    tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    with pytest.raises(ValueError, match=r"is|no number"):
        from_config(tiny | broken)


def test_a_diffusion_size_of_no_model_is_refused() -> None:
    flux = {
        "_class_name": "FluxTransformer2DModel",
        "num_layers": 19,
        "num_single_layers": 38,
        "num_attention_heads": 24,
        "attention_head_dim": 128,
        "patch_size": 1,
        "in_channels": 64,
        "joint_attention_dim": 1e308,
        "pooled_projection_dim": 768,
        "guidance_embeds": True,
    }
    with pytest.raises(ValueError, match="params"):
        from_config(flux)
