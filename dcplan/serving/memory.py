"""Memory of a replica: weights, workspace, and the requests whose cache fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.attention import sequence_bytes
from dcplan.serving.tables import Array, ServedDevice, ServedLayout, ServedModel
from dcplan.units import HALF_BYTES


@dataclass(frozen=True)
class MemoryTerms:
    """Memory that an engine leaves for the cache."""

    usable_frac: Array
    """Share of the memory that the engine takes."""
    reserve_bytes: Array
    """Context, communicators and graphs of a process. [byte]"""
    activation_tokens: Array
    """Tokens of the largest step, whose activations need memory."""


def largest_stage_frac(model: ServedModel, layout: ServedLayout) -> Array:
    r"""Return the share of the layers of the largest pipeline stage.

    .. math:: f = \lceil L / p \rceil / L

    Examples
    --------
    Eight stages of 80 layers have 10 each; 32 stages have at most 3.

    >>> from dataclasses import fields
    >>> one = {f.name: np.array(1.0) for f in fields(ServedModel)} | {"layers": np.array(80.0)}
    >>> stages = [ServedLayout(*(np.array(float(n)) for n in (1, 1, p, 1))) for p in (8, 32)]
    >>> [float(largest_stage_frac(ServedModel(**one), x)) for x in stages]
    [0.125, 0.0375]
    """
    layers = np.maximum(model.layers, 1.0)
    return np.asarray(np.ceil(layers / layout.pp) / layers)


def weight_bytes(model: ServedModel, layout: ServedLayout) -> Array:
    """Return the bytes of the weights on one accelerator of the largest pipeline stage.

    Attention copies of a replica hold the same weights; experts are divided over all ranks.
    """
    attention = (
        model.attention_layers * model.attention_params
        + model.recurrent_layers * model.recurrent_params
    )
    shared = (
        attention * model.attention_bytes
        + model.dense_layers * model.dense_params * model.dense_bytes
        + model.moe_layers * model.shared_params * model.shared_bytes
        + (model.head_params + model.lookup_params) * model.head_bytes
    )
    experts = model.moe_layers * model.experts * model.expert_params * model.expert_bytes
    stage = largest_stage_frac(model, layout)
    return (shared / layout.tp + experts / layout.ranks) * stage


def cache_space_bytes(
    model: ServedModel, device: ServedDevice, layout: ServedLayout, memory: MemoryTerms
) -> Array:
    r"""Return the bytes of one accelerator that remain for the cache; below 0 if weights do not fit.

    .. math:: M_{kv} = u M - M_{weights} - M_{reserve} - M_{activations}
    """
    widest = np.maximum(
        model.hidden,
        np.where(model.dense_layers > 0, model.dense_params / (3.0 * model.hidden), 0.0),
    )
    activations = (
        memory.activation_tokens * HALF_BYTES * (4.0 * model.hidden + 2.0 * widest / layout.tp)
    )
    left = memory.usable_frac * device.memory_bytes - weight_bytes(model, layout)
    return left - memory.reserve_bytes - activations


def most_requests(
    model: ServedModel,
    device: ServedDevice,
    layout: ServedLayout,
    memory: MemoryTerms,
    context: Array,
) -> Array:
    """Return the requests of a replica whose cache fits; 0 if the weights do not fit.

    Parameters
    ----------
    context : array
        Tokens that a request holds, in the mean over its life. [-]
    """
    space = np.maximum(cache_space_bytes(model, device, layout, memory), 0.0)
    each = sequence_bytes(model, layout, context) * largest_stage_frac(model, layout)
    return space / np.maximum(each, 1.0) * layout.dp
