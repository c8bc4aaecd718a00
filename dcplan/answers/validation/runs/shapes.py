"""Architecture of a measured run: the matching catalog model, or the columns of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model
from dcplan.llm.architecture import Architecture
from dcplan.llm.config import from_config
from dcplan.training.shapes import refusal_of_training

Row = Mapping[str, str]
POSITIVE = frozenset(
    {
        *(
            "layers",
            "hidden",
            "heads",
            "kv_heads",
            "head_dim",
            "vocab",
            "ffn_hidden",
            "seq_len",
            "params_b",
        ),
        *(
            "n_accelerators",
            "accelerators_per_node",
            "global_batch_seqs",
            "micro_batch",
            "step_time_s",
        ),
        *("tokens_per_s_per_accel", "tp", "pp", "dp", "cp", "ep"),
    }
)
"""Columns in which 0 is an error."""

SMALLEST, LARGEST = 1e-9, 1e15
"""Allowed range of the figures of a run."""


def number(row: Row, name: str, default: float = 0.0) -> float:
    """Return a cell as a number, or the default if it is blank."""
    text = row.get(name, "")
    if text in ("", None):
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (value == 0 and name in POSITIVE):
        msg = f"{name} {text!r} is not a {'positive ' if name in POSITIVE else ''}number"
        raise ValueError(msg)
    if value and not SMALLEST <= value <= LARGEST:
        msg = f"{name} {text!r} is out of range"
        raise ValueError(msg)
    return value


class Shapes:
    """Finder of architectures; reads the catalog models once."""

    def __init__(self, catalog: Catalog) -> None:
        every = {
            key: (from_config(row.config), row.config)
            for key, row in catalog.table("models", Model).items()
        }
        # all runs train language models: no match with a vision tower or a diffusion model
        self._models = {
            key: found
            for key, found in every.items()
            if found[0].causal and found[0].tower is None and refusal_of_training(found[0]) is None
        }
        self._cache: dict[tuple[object, ...], Architecture] = {}

    def of(self, row: Row) -> Architecture:
        """Return the architecture of a run.

        The catalog model with the same width, heads and experts gives the data that the columns
        lack (gated MLP, latent attention, windows, hybrid blocks); layers and vocabulary come from
        the run. If no model matches, the choice of a gated MLP and tied embeddings is the one
        closest to the stated parameter count.

        Raises
        ------
        ValueError
            When a column is missing.
        """
        columns = (
            "layers",
            "hidden",
            "heads",
            "kv_heads",
            "head_dim",
            "vocab",
            "ffn_hidden",
            "params_b",
        )
        moe = ("experts", "experts_per_token", "expert_ffn", "shared_experts")
        key = (*(number(row, c) for c in columns + moe), _mtp(row))
        if key not in self._cache:
            named = self._named(row)
            shape = named if named is not None else _from_columns(row)
            self._cache[key] = replace(shape, mtp_layers=_mtp(row))
        return self._cache[key]

    def _named(self, row: Row) -> Architecture | None:
        layers, vocab = int(number(row, "layers")), int(number(row, "vocab"))
        heads, experts = number(row, "heads"), number(row, "experts")
        kv_heads, ffn = number(row, "kv_heads", heads), number(row, "ffn_hidden")
        best: tuple[int, str] | None = None
        for key, (shape, _) in self._models.items():
            same = (shape.hidden, shape.heads, shape.kv_heads) == (
                number(row, "hidden"),
                heads,
                kv_heads,
            )
            if not same or shape.experts != experts or (not experts and ffn and shape.ffn != ffn):
                continue
            if shape.mamba_layers and shape.layers != layers:
                continue
            own = number(row, "expert_ffn")
            if experts and own and own != shape.expert_ffn:
                continue
            score = (shape.layers == layers) + (shape.vocab == vocab)
            score -= bool(experts) and shape.experts_per_token != number(row, "experts_per_token")
            if best is None or score > best[0]:
                best = score, key
        if best is None:
            return None
        shape, config = self._models[best[1]]
        changed = {**config, "vocab_size": vocab or shape.vocab}
        if shape.layers != layers:
            changed |= {"num_hidden_layers": layers, "n_layer": layers}
            changed.pop("layer_types", None)
        return from_config(changed)


def _mtp(row: Row) -> int:
    """Return the number of trained multi-token-prediction layers, from the texts of the row."""
    return int("1 MTP" in row.get("flops_definition", "") or "(w/ MTP)" in row.get("model", ""))


def _from_columns(row: Row) -> Architecture:
    hidden, heads = int(number(row, "hidden")), int(number(row, "heads"))
    experts = int(number(row, "experts"))
    ffn = int(number(row, "ffn_hidden", number(row, "expert_ffn", 4.0 * hidden)))
    config = {
        "hidden_size": hidden,
        "num_hidden_layers": int(number(row, "layers")),
        "intermediate_size": ffn,
        "num_attention_heads": heads,
        "num_key_value_heads": int(number(row, "kv_heads", heads)),
        "head_dim": int(number(row, "head_dim", hidden // max(heads, 1))),
        "vocab_size": int(number(row, "vocab")),
        "hidden_act": "silu",
    }
    if experts > 1:
        config |= {
            "num_local_experts": experts,
            "num_experts_per_tok": int(number(row, "experts_per_token", 1.0)),
            "moe_intermediate_size": int(number(row, "expert_ffn", ffn)),
            "n_shared_experts": int(number(row, "shared_experts")),
        }
    options = [
        from_config({**config, "gated_mlp": gated, "tie_word_embeddings": tied})
        for gated in (False, True)
        for tied in (True, False)
    ]
    stated = number(row, "params_b")
    if stated:
        return min(options, key=lambda s: abs(s.params / 1e9 - stated))
    # four times the width is the classic MLP of two matrices; gated MLPs are narrower
    return options[1] if ffn >= 3.9 * hidden and experts <= 1 else options[3]
