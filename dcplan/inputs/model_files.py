"""Configurations of models in files, with the values that the library of a model fills in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import LibraryDefaults
from dcplan.llm.config import config_notes
from dcplan.llm.configs.names import TEXT_PARTS, spellings

Config = Mapping[str, Any]


def with_library_defaults(catalog: Catalog, config: Config) -> dict[str, Any]:
    """Return a configuration with the values that the class of its ``model_type`` fills in.

    A key that the file has, in any spelling, keeps its value, null too. The object of a language
    model is filled in by its own ``model_type``; there, keys of the file around it count too.

    Parameters
    ----------
    catalog : Catalog
        The catalog; its rows ``library_defaults`` hold the values with their source.
    config : Mapping
        Keys of a Hugging Face ``config.json``.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> with_library_defaults(load(), {"model_type": "mixtral"})["num_local_experts"]
    8
    """
    full = dict(config)
    for path, row, keys in _missing(catalog, config):
        part = {**config[path], **{k: row.keys[k] for k in keys}} if path else None
        if part is None:
            full |= {k: row.keys[k] for k in keys}
        else:
            full[path] = part
    return full


def file_notes(catalog: Catalog, config: Config) -> tuple[str, ...]:
    """Return notes on a file: values that the library filled in, and keys that no reader knows.

    Parameters
    ----------
    catalog : Catalog
        The catalog.
    config : Mapping
        Keys of the file as it stands.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> tiny = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 10,
    ...     "num_attention_heads": 4, "hidden_act": "silu"}
    >>> file_notes(load(), tiny)
    ('config.json has no intermediate_size: 11008 is the default of the class (Transformers 5.23.0, LlamaConfig)',)
    """
    found = []
    for _, row, keys in _missing(catalog, config):
        values = ", ".join(str(row.keys[k]) for k in keys)
        verb = "is the default" if len(keys) == 1 else "are the defaults"
        found.append(
            f"config.json has no {', '.join(keys)}: {values} {verb} of the class ({row.source.title})"
        )
    return (*found, *config_notes(config))


def _missing(
    catalog: Catalog, config: Config
) -> Iterator[tuple[str, LibraryDefaults, tuple[str, ...]]]:
    """Yield the object (empty: the file itself), the row, and the keys left to the library."""
    rows = {r.model_type: r for r in catalog.table("library_defaults", LibraryDefaults).values()}
    inner = [n for n in TEXT_PARTS if isinstance(config.get(n), Mapping)]
    parts: list[tuple[str, Config, Config]] = [("", config, config)]
    if inner:
        parts = [(name, config[name], {**config, **config[name]}) for name in inner]
    for path, part, given in parts:
        row = rows.get(str(part.get("model_type")))
        if row is None:
            continue
        keys = tuple(k for k in row.keys if not any(name in given for name in spellings(k)))
        if keys:
            yield path, row, keys
