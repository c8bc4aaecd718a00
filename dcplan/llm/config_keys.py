"""Look-up of configuration keys, and counts that all readers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT_DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "llama": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 11008,
        "vocab_size": 32000,
    },
    "mistral": {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 32000,
    },
}
"""Default sizes of a ``text_config``, from its class (Transformers, LlamaConfig and MistralConfig);
LLaVA's files use them."""


def need(config: Mapping[str, Any], *names: str) -> Any:
    """Return the value of the first of several names in the configuration.

    Raises
    ------
    ValueError
        If it has none of them.

    Examples
    --------
    >>> need({"n_embd": 768}, "hidden_size", "n_embd")
    768
    """
    for name in names:
        if config.get(name) is not None:
            return config[name]
    msg = f"config.json has no {' / '.join(names)}"
    raise ValueError(msg)


def linear_params(inputs: int, outputs: int, *, bias: bool = True) -> int:
    """Return the weights of a linear layer.

    >>> linear_params(4, 3)
    15
    """
    return inputs * outputs + (outputs if bias else 0)


def mlp_params(hidden: int, inner: int, *, gated: bool, bias: bool = False) -> int:
    """Return the weights of an MLP: up, gate if gated, and down.

    >>> mlp_params(4, 16, gated=True)
    192
    """
    up = linear_params(hidden, inner, bias=bias)
    return (2 if gated else 1) * up + linear_params(inner, hidden, bias=bias)
