"""Models to train."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Positive


class Model(Row):
    """A model by its Hugging Face ``config.json`` keys, with the published counts to check
    against.
    """

    config: dict[str, Any]
    """Keys of its config.json."""
    params_b: Positive
    """Parameters, in 1e9, as published."""
    active_params_b: Positive | None = None
    """Parameters that one token uses, in 1e9, as published."""
    training_tokens: Positive | None = None
    """Tokens it was trained on, as published."""
