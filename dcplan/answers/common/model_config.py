"""Configuration of a model that a flag names: of a catalog row, or of a ``config.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import Model
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.model_files import file_notes, with_library_defaults
from dcplan.llm.architecture import Architecture
from dcplan.training.shapes import trained_shape


def read_model(catalog: Catalog, name: str) -> tuple[Architecture, float | None]:
    """Return architecture and published training tokens of a catalog model or ``config.json``.

    Raises
    ------
    InputError
        When the file cannot be read as a model; the message names the field.
    """
    config, published = read_config(catalog, name)
    try:
        return trained_shape(config), published
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError([Problem("DC010", f"not a model config: {error}", Place(name))]) from error


def read_config(catalog: Catalog, name: str) -> tuple[Mapping[str, Any], float | None]:
    """Return the configuration of a catalog model, or of a file, and its published tokens.

    Raises
    ------
    InputError
        When the file is missing or is not a JSON object.
    """
    row = catalog.find("models", name, Model)
    if row is not None:
        return row.config, row.training_tokens.value if row.training_tokens else None
    return with_library_defaults(catalog, _file_config(name)), None


def model_notes(catalog: Catalog, name: str) -> tuple[str, ...]:
    """Return notes on a model's file: what the library fills in, and keys that no reader knows."""
    if model_of(catalog, name) is not None:
        return ()
    return file_notes(catalog, _file_config(name))


def _file_config(name: str) -> Mapping[str, Any]:
    try:
        config = json.loads(Path(name).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Problem("DC010", f"not a model config: {error}", Place(name))]) from error
    if not isinstance(config, dict):
        raise InputError(
            [Problem("DC010", "not a model config: expected a JSON object", Place(name))]
        )
    return config
