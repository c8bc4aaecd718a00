"""Notes on a run before it is estimated: parts that are not included, and unusual requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.answers.common.model_config import model_notes, read_config
from dcplan.answers.train.request import TrainRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, System
from dcplan.llm.architecture import Architecture
from dcplan.llm.configs.names import window_tokens
from dcplan.llm.vision.joined import assumed, uncounted_parts


def notes_of(
    request: TrainRequest, shortest: int, longest: int, shape: Architecture, catalog: Catalog
) -> tuple[str, ...]:
    """Return notes on parts of the model that are not included, and on assumptions.

    ``shortest`` and ``longest`` are lengths of sequences of the phases. [tokens]
    """
    config = read_config(catalog, request.model)[0]
    found = [f"{part} is not included: not supported yet" for part in uncounted_parts(config)]
    found += model_notes(catalog, request.model)
    found += _unusual(request, longest, config, catalog)
    if shape.tower is not None and not request.images:
        found.append("without --images, the vision encoder uses memory but no time")
    if shape.tower is not None and request.images:
        room = request.images * shape.tower_tokens / shortest
        found += assumed(config)
        found.append(
            f"images fill {room:.0%} of a sequence; the vision encoder and projector are trained "
            "too"
        )
    if not shape.causal:
        found.append(
            "a token is a latent patch or a text token; text encoders and VAE are not included"
        )
    return tuple(found)


def _unusual(
    request: TrainRequest, longest: int, config: Mapping[str, Any], catalog: Catalog
) -> list[str]:
    """Return notes on requests that are possible but are probably not meant."""
    found = []
    context = window_tokens(config)
    if 0 < context < longest:
        found.append(
            f"sequences of {longest:,} tokens are longer than the context of the model, "
            f"{context:,} tokens: set --seq-len, unless the run extends the context"
        )
    system = catalog.get("systems", request.system or "", System)
    first = catalog.get("accelerators", system.accelerator, Accelerator).available_from
    if request.start is not None and first is not None and request.start < first:
        found.append(f"{system.accelerator} is available from {first}, after --start")
    return found
