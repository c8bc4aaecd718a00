"""Models to train."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Positive


class Model(Row):
    """A model by its Hugging Face ``config.json`` keys, with the published counts to check against."""

    config: dict[str, Any]
    params_b: Positive
    active_params_b: Positive | None = None
    training_tokens: Positive | None = None
