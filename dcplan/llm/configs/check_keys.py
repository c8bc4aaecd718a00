"""Every key of a text model's file is read, known to be without effect, refused, or named in a note."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.llm.config_keys import Config
from dcplan.llm.configs.encoder_decoder import TWO_STACKS
from dcplan.llm.configs.families import READ_TYPES, REFUSED_TYPES, family
from dcplan.llm.configs.known_keys import NO_EFFECT_ENDS, NO_EFFECT_KEYS, READ, REFUSED
from dcplan.llm.configs.names import ALIASES, PARTS, TEXT_PARTS

READABLE = READ | frozenset(ALIASES) | {name for names in ALIASES.values() for name in names}
"""All keys that a reader uses."""
KNOWN = READABLE | NO_EFFECT_KEYS | frozenset(PARTS) | frozenset(TEXT_PARTS)
LONG_NAME = 12
SAME_WIDTH = ("word_embed_proj_dim", "embedding_size")
"""Widths that must be the width of the model."""


def refuse_unread(config: Config) -> None:
    """Raise for a key, or a kind of model, that changes the cost and has no reader.

    A key whose value is null, false, 0 or empty has no effect. A key that no list holds and that
    is nearly the name of a read key is a misspelling; other unknown keys are :func:`unknown_keys`.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.text_part`.

    Raises
    ------
    ValueError
        With the key, what it means, and what to do.

    Examples
    --------
    >>> refuse_unread({"model_type": "llama", "num_hiden_layers": 32})
    Traceback (most recent call last):
    ValueError: num_hiden_layers is not a key of a config.json; did you mean num_hidden_layers? Correct or delete it
    """
    kind = family(config)
    if kind in REFUSED_TYPES:
        msg = f"model_type {kind!r} has {REFUSED_TYPES[kind]}, which dcplan does not count; no reader supports it"
        raise ValueError(msg)
    if config.get("is_encoder_decoder") and kind not in TWO_STACKS:
        known = ", ".join(sorted(TWO_STACKS))
        msg = f"is_encoder_decoder: of models with two stacks, only {known} are supported"
        raise ValueError(msg)
    for key, what in REFUSED.items():
        if config.get(key):
            msg = f"{key}: {what}; dcplan does not count this, so the answer would be wrong. Use a model without it"
            raise ValueError(msg)
    for key in SAME_WIDTH:
        width = config.get("hidden_size", config.get("d_model"))
        if config.get(key) and config[key] != width:
            msg = f"{key} {config[key]}: an embedding of another width than the model ({width}) is not supported"
            raise ValueError(msg)
    for key in _unknown(config):
        meant = next((name for name in sorted(READABLE) if _misspelled(key, name)), None)
        if meant is not None:
            msg = f"{key} is not a key of a config.json; did you mean {meant}? Correct or delete it"
            raise ValueError(msg)


def unknown_keys(config: Config) -> tuple[str, ...]:
    """Return the keys with a value that no list holds: they have no effect on the answer.

    Examples
    --------
    >>> unknown_keys({"hidden_size": 64, "rope_theta": 1e6, "brand_new_block": 4})
    ('brand_new_block',)
    """
    return tuple(_unknown(config))


def key_notes(config: Config) -> tuple[str, ...]:
    """Return notes on what a reader assumed or did not read in a text model's file.

    Examples
    --------
    >>> key_notes({"model_type": "llama", "brand_new_block": 4})
    ('config.json: brand_new_block is unknown and not read; compare the parameter count with the model card',)
    """
    found = []
    unknown = unknown_keys(config)
    names = ", ".join(unknown)
    if unknown:
        verb = "is unknown and not read" if len(unknown) == 1 else "are unknown and not read"
        found.append(
            f"config.json: {names} {verb}; compare the parameter count with the model card"
        )
    kind = family(config)
    if kind and kind not in READ_TYPES | TWO_STACKS:
        found.append(
            f"model_type {kind!r} is unknown: its blocks are taken as those of Llama; compare the "
            "parameter count with the model card"
        )
    return tuple(found)


def _unknown(config: Config) -> Iterator[str]:
    for key in sorted(config):
        if key in KNOWN or key in REFUSED or key.endswith(NO_EFFECT_ENDS):
            continue
        if config[key]:
            yield key


def _misspelled(word: str, name: str) -> bool:
    """Return whether a word differs from a name by one letter, or by two in a long name."""
    most = 1 if len(name) < LONG_NAME else 2
    return abs(len(word) - len(name)) <= most and _changes(word, name) <= most


def _changes(a: str, b: str) -> int:
    """Return the letters to add, delete or replace that turn one text into another (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]
