"""Models to train."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Positive


class Model(Row):
    """A model, given by its Hugging Face ``config.json`` keys, with published counts as a check."""

    config: dict[str, Any]
    """Keys of the config.json."""
    params_b: Positive
    """Published number of parameters, in 1e9."""
    active_params_b: Positive | None = None
    """Published number of parameters that one token uses, in 1e9."""
    training_tokens: Positive | None = None
    """Published number of training tokens."""
