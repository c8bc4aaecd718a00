"""Which layer of a model has which blocks: mixers (attention, recurrences) and feed-forward blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplan.llm.config_keys import Config, need, whole
from dcplan.llm.configs.families import (
    ATTENTION_FREE,
    MAMBA_HYBRIDS,
    OPTIONAL_WINDOW,
    PARALLEL,
    WINDOW_PERIOD,
    family,
)

MOST_LAYERS = 10_000
FULL, LOCAL, LINEAR, MAMBA, CONV, NONE = "full", "local", "linear", "mamba", "conv", ""
DENSE, MOE = "dense", "moe"
MIXER_NAMES: Mapping[str, str] = {
    "full_attention": FULL,
    "attention": FULL,
    "global_attention": FULL,
    "global": FULL,
    "sliding_attention": LOCAL,
    "chunked_attention": LOCAL,
    "local_attention": LOCAL,
    "local": LOCAL,
    "linear_attention": LINEAR,
    "mamba": MAMBA,
    "mamba2": MAMBA,
    "conv": CONV,
}
"""Names of layers in ``layer_types`` and ``layers_block_type``."""
FFN_NAMES: Mapping[str, str] = {"moe": MOE, "mlp": DENSE}
"""Names of layers that have only a feed-forward block."""
PATTERN: Mapping[str, tuple[str, str]] = {
    "M": (MAMBA, NONE),
    "*": (FULL, NONE),
    "-": (NONE, DENSE),
    "E": (NONE, MOE),
}
"""Blocks of a letter of ``hybrid_override_pattern`` (Nemotron-H)."""


@dataclass(frozen=True)
class Layers:
    """The mixer and the feed-forward block of each layer; the empty text means none."""

    mixers: tuple[str, ...]
    ffns: tuple[str, ...]

    def mixer_count(self, *kinds: str) -> int:
        """Return the number of layers with one of several mixers."""
        return sum(mixer in kinds for mixer in self.mixers)

    def ffn_count(self, kind: str) -> int:
        """Return the number of layers with a kind of feed-forward block."""
        return self.ffns.count(kind)


def layers_of(config: Config) -> Layers:
    """Return the blocks of every layer.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.

    Raises
    ------
    ValueError
        If a key names an unknown kind of layer, or the number of layers is missing or impossible.

    References
    ----------
    .. [1] Transformers 5.23, configuration classes of the families.

    Examples
    --------
    Qwen3-Next: every fourth layer has full attention, all have experts.

    >>> found = layers_of({"model_type": "qwen3_next", "num_hidden_layers": 48,
    ...     "linear_num_value_heads": 32, "n_routed_experts": 512})
    >>> found.mixer_count("full"), found.mixer_count("linear"), found.ffn_count("moe")
    (12, 36, 48)
    """
    pattern = config.get("hybrid_override_pattern")
    if pattern:
        return _by_pattern(str(pattern))
    kind = family(config)
    named = config.get("layers_block_type") or config.get("layer_types")
    if kind == "nemotron_h" and named:
        return _by_names(named)
    count = int(need(config, "num_hidden_layers"))
    if not 1 <= count <= MOST_LAYERS:
        msg = f"layers is {count}"
        raise ValueError(msg)
    mixers = _mixers(config, kind, count)
    if kind in ATTENTION_FREE:
        return Layers(mixers, (NONE,) * count)
    return Layers(mixers, _ffns(config, kind, count))


def _by_pattern(pattern: str) -> Layers:
    unknown = sorted(set(pattern) - set(PATTERN))
    if unknown:
        msg = f"hybrid_override_pattern: unknown block {unknown[0]!r}, known are M, *, - and E"
        raise ValueError(msg)
    blocks = [PATTERN[letter] for letter in pattern]
    return Layers(tuple(m for m, _ in blocks), tuple(f for _, f in blocks))


def _by_names(names: Sequence[str]) -> Layers:
    """Return layers of one block each, by their names."""
    mixers = tuple(NONE if n in FFN_NAMES else _mixer(n, "nemotron_h") for n in names)
    return Layers(mixers, tuple(FFN_NAMES.get(n, NONE) for n in names))


def _mixer(name: str, kind: str) -> str:
    if name in {"linear_attention", "hybrid"} and kind in MAMBA_HYBRIDS:
        return MAMBA
    if name not in MIXER_NAMES:
        known = ", ".join(MIXER_NAMES)
        msg = f"layer_types: unknown kind of layer {name!r}; known are {known}"
        raise ValueError(msg)
    return MIXER_NAMES[name]


def _mixers(config: Config, kind: str, count: int) -> tuple[str, ...]:
    if kind in ATTENTION_FREE:
        return (MAMBA,) * count
    if kind in PARALLEL:
        return (FULL,) * count
    names = config.get("layer_types") or config.get("layers_block_type")
    if names:
        given = tuple(_mixer(str(name), kind) for name in names)
        return _checked(given, count, "layer_types")
    listed = _listed(config, count)
    if listed is not None:
        return listed
    if config.get("linear_num_value_heads") is not None:
        interval = whole(config, "full_attention_interval", 4) or 4
        return tuple(FULL if (i + 1) % interval == 0 else LINEAR for i in range(count))
    if config.get("attn_layer_period"):
        period, offset = whole(config, "attn_layer_period"), whole(config, "attn_layer_offset")
        return tuple(FULL if i % period == offset else MAMBA for i in range(count))
    return _windows(config, kind, count)


def _listed(config: Config, count: int) -> tuple[str, ...] | None:
    """Return the mixers where the file lists layers by number or by a code of each."""
    codes = config.get("attn_type_list")
    if codes is not None:
        return _checked(tuple(FULL if c else LINEAR for c in codes), count, "attn_type_list")
    codes = config.get("hybrid_layer_pattern")
    if codes is not None:
        return _checked(tuple(LOCAL if c else FULL for c in codes), count, "hybrid_layer_pattern")
    linear = config.get("linear_attn_config")
    if isinstance(linear, Mapping):
        full = {int(i) for i in linear.get("full_attn_layers") or ()}
        return tuple(FULL if i + 1 in full else LINEAR for i in range(count))
    for key, other in (("attn_layer_indices", MAMBA), ("full_attn_idxs", CONV)):
        if config.get(key) is not None or (other == MAMBA and family(config) == "bamba"):
            full = {int(i) for i in config.get(key) or ()}
            return tuple(FULL if i in full else other for i in range(count))
    return None


def _checked(found: tuple[str, ...], count: int, key: str) -> tuple[str, ...]:
    if len(found) != count:
        msg = f"{len(found)} {key} for {count} layers"
        raise ValueError(msg)
    return found


def window_of(config: Config) -> int:
    """Return the tokens of a local window; 0 without one.

    Examples
    --------
    >>> window_of({"sliding_window": 4096}), window_of({"sliding_window": 4096, "use_sliding_window": False})
    (4096, 0)
    """
    window = (
        whole(config, "sliding_window")
        or whole(config, "attention_chunk_size")
        or whole(config, "local_attention")
    )
    used = config.get("use_sliding_window", family(config) not in OPTIONAL_WINDOW)
    return window if used else 0


def _windows(config: Config, kind: str, count: int) -> tuple[str, ...]:
    """Return full and local layers by the key or by the family's rule."""
    if not window_of(config):
        return (FULL,) * count
    pattern = config.get("sliding_window_pattern")
    if isinstance(pattern, str):
        letters = (pattern * count)[:count]
        return tuple(LOCAL if letter == "L" else FULL for letter in letters)
    if kind == "modernbert":
        every = whole(config, "global_attn_every_n_layers", 3)
        return tuple(FULL if i % every == 0 else LOCAL for i in range(count))
    if config.get("use_sliding_window") and kind in OPTIONAL_WINDOW:
        first = whole(config, "max_window_layers", count)
        return tuple(LOCAL if i >= first else FULL for i in range(count))
    period = int(pattern or 0) or WINDOW_PERIOD.get(kind, 0)
    if period:
        return tuple(FULL if (i + 1) % period == 0 else LOCAL for i in range(count))
    return (LOCAL,) * count


def _ffns(config: Config, kind: str, count: int) -> tuple[str, ...]:
    if whole(config, "n_routed_experts") <= 1:
        return (DENSE,) * count
    names = config.get("mlp_layer_types")
    if names:
        given = tuple(MOE if str(name) == "sparse" else DENSE for name in names)
        return _checked(given, count, "mlp_layer_types")
    freq = config.get("moe_layer_freq")
    if isinstance(freq, list | tuple):
        return _checked(tuple(MOE if f else DENSE for f in freq), count, "moe_layer_freq")
    enumerated = config.get("moe_layers_enum") or config.get("moe_layers")
    if enumerated:
        numbers = str(enumerated).split(",") if isinstance(enumerated, str) else enumerated
        sparse = {int(n) for n in numbers}
        return tuple(MOE if i in sparse else DENSE for i in range(count))
    if config.get("expert_layer_period"):
        period, offset = whole(config, "expert_layer_period"), whole(config, "expert_layer_offset")
        return tuple(MOE if i % period == offset else DENSE for i in range(count))
    return _by_rule(config, count, freq)


def _by_rule(config: Config, count: int, freq: Any) -> tuple[str, ...]:
    """Return dense first layers, and then experts in every layer of a step."""
    first = whole(config, "first_k_dense_replace")
    last = whole(config, "moe_layer_end_index", -1)
    step = (
        whole(config, "decoder_sparse_step")
        or whole(config, "interleave_moe_layer_step")
        or whole(config, "moe_layer_interval")
        or int(freq or 0)
        or 1
    )
    dense = set(config.get("mlp_only_layers") or ())
    return tuple(
        MOE
        if i >= first and (last < 0 or i <= last) and (i + 1) % step == 0 and i not in dense
        else DENSE
        for i in range(count)
    )
