"""Models as served: sizes, bytes by tensor class and cache, from catalog rows."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model, WeightFormat
from dcplan.llm.architecture import Architecture
from dcplan.llm.cache import INDEX_BYTES, layer_bytes_per_token, state_bytes
from dcplan.llm.config import timed_config
from dcplan.units import HALF_BYTES

CACHE_BYTES = {"half": HALF_BYTES, "fp8": 1.0}
"""Bytes of a cached value by the kind of its products."""


def format_of(catalog: Catalog, name: str) -> WeightFormat | None:
    """Return the weight format of a name as tables write it, or None.

    ``fp8+moe:fp8_block`` names the format of the experts too; the first part counts.
    """
    plain = name.casefold().split("+")[0].strip().replace("_", "-")
    found = catalog.find("formats", plain, WeightFormat)
    return found or catalog.find("formats", plain.split("-")[0], WeightFormat)


def served_numbers(
    shape: Architecture, formats: dict[str, WeightFormat], cache_kind: str
) -> dict[str, float]:
    """Return the fields of a :class:`dcplan.serving.tables.ServedModel` as numbers.

    Parameters
    ----------
    shape : Architecture
        The model.
    formats : dict
        Format of each tensor class, from :func:`dcplan.inputs.checkpoint.format_rows`.
    cache_kind : str
        ``half`` or ``fp8``.
    """
    size = {k: f.weight_bytes.value for k, f in formats.items()}
    cache = CACHE_BYTES[cache_kind]
    local = shape.local_layers if shape.window else 0
    recurrent = shape.mamba_layers + shape.linear_layers
    blocks = shape.mamba_layers * shape.mamba_params + shape.linear_layers * shape.linear_params
    # layers may share an indexer: a layer has its share of the indexers
    index_layers = shape.index_layers / max(shape.attention_layers, 1)
    index = index_layers * shape.index_params
    latent = 2 * shape.kv_rank + shape.rope_dim if shape.kv_rank else 0
    table = shape.vocab * shape.hidden
    return {
        "layers": shape.layers,
        "hidden": shape.hidden,
        "heads": shape.heads,
        "full_layers": shape.attention_layers - local,
        "local_layers": local,
        "window": shape.window,
        "recurrent_layers": recurrent,
        "recurrent_params": blocks / max(recurrent, 1),
        "state_bytes": state_bytes(shape) / max(recurrent, 1),
        "cache_width": layer_bytes_per_token(shape, 1.0),
        "cache_shards": 1 if shape.kv_rank else shape.kv_heads,
        "cache_bytes": cache,
        "pair_dims": shape.head_dim + shape.value_dim,
        "latent_dims": latent,
        "sparse_topk": shape.sparse_topk,
        "index_bytes": index_layers * shape.index_dim * INDEX_BYTES,
        "attention_layers": shape.attention_layers,
        "attention_params": shape.attention_params + index,
        "dense_layers": shape.dense_layers,
        "dense_params": shape.dense_mlp_params,
        "moe_layers": shape.moe_layers,
        "shared_layers": shape.moe_layers if shape.shared_ffn else 0,
        "experts": shape.experts,
        "experts_per_token": shape.experts_per_token,
        "expert_params": shape.expert_params,
        "shared_params": shape.moe_fixed_params,
        "head_params": table if shape.head else 0,
        "lookup_params": 0 if shape.tied else table,
        "attention_bytes": size["attention"],
        "dense_bytes": size["dense"],
        "expert_bytes": size["experts"],
        "shared_bytes": size["shared"],
        "head_bytes": size["head"],
        "causal": float(shape.causal),
    }


def shape_of(row: Model) -> Architecture:
    """Return the architecture of a catalog row."""
    return timed_config(row.config)
