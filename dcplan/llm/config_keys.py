"""Look-up of configuration keys, and counts that all readers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Config = Mapping[str, Any]


def need(config: Config, *names: str) -> Any:
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


def whole(config: Config, name: str, default: int = 0) -> int:
    """Return a size as a whole number; the default where the key is missing or null.

    A list of equal numbers, one for each layer, is their number.

    Raises
    ------
    ValueError
        If the list has different numbers: sizes that differ by layer are not supported there.

    Examples
    --------
    >>> whole({"moe_topk": [8, 8]}, "moe_topk"), whole({}, "moe_topk", 2)
    (8, 2)
    """
    value = config.get(name)
    if isinstance(value, list | tuple):
        if len(set(value)) > 1:
            msg = f"{name} differs by layer: not supported"
            raise ValueError(msg)
        value = value[0] if value else None
    return default if value is None else int(value)


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
