"""Weights of a checkpoint by class of tensors: number, bytes and rate of their products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from dcplan.llm.architecture import Architecture

HALF_FORMAT = "bf16"
"""Format of embedding and output layer in checkpoints with narrower linear layers."""
WIDE_FORMATS = frozenset({"bf16", "fp16", "fp32"})
"""Formats in which all classes have the same width."""


@dataclass(frozen=True)
class TensorParams:
    """Number of parameters by class of tensors."""

    attention: int
    """Attention blocks with their norms, Mamba-2, linear attention and index blocks."""
    dense: int
    """Dense MLPs, and layers that run once per sequence."""
    experts: int
    """Routed experts."""
    shared: int
    """Shared experts, routers and projections to a latent space."""
    head: int
    """Output layer (the look-up table if they are tied) and the last norm."""
    embedding: int
    """Look-up table if it is a tensor of its own, and learned positions."""


@dataclass(frozen=True)
class TensorBytes:
    """Bytes of one weight by class of tensors."""

    attention: float
    dense: float
    experts: float
    shared: float
    head: float
    embedding: float


@dataclass(frozen=True)
class TensorMath:
    """Kind of peak rate of the products by class of tensors: ``fp32, half, fp8, int8, fp4``."""

    attention: str
    dense: str
    experts: str
    shared: str
    head: str
    embedding: str


CLASSES = tuple(f.name for f in fields(TensorParams))


def tensor_params(shape: Architecture) -> TensorParams:
    r"""Return the parameters of each class; the sum is that of the model without vision tower.

    .. math:: N = L_a N_a + L_m N_m + L_\ell N_\ell + L_i N_i + L_d N_d + L_e (E N_E + N_s) + N_{head} + N_{emb}

    Parameters
    ----------
    shape : Architecture
        The model.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> tiny = from_config({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    ...     "intermediate_size": 128, "vocab_size": 1000})
    >>> tensor_params(tiny)
    TensorParams(attention=33024, dense=49152, experts=0, shared=0, head=64064, embedding=64000)
    """
    table = shape.vocab * shape.hidden
    head = table if shape.head else 0
    return TensorParams(
        attention=shape.attention_layers * shape.attention_params
        + shape.mamba_layers * shape.mamba_params
        + shape.linear_layers * shape.linear_params
        + shape.index_layers * shape.index_params,
        dense=shape.dense_layers * shape.dense_mlp_params + shape.once_params,
        experts=shape.routed_params,
        shared=shape.moe_layers * shape.moe_fixed_params,
        head=head + shape.norm_params,
        embedding=shape.embedding_params - head,
    )


def class_formats(precision: str, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the number format of each class of tensors in a checkpoint.

    Quantized checkpoints usually have their linear layers in the format of their name, and the
    embedding and the output layer in 16 bit. What the model's row states has precedence.

    Parameters
    ----------
    precision : str
        Name of the checkpoint's format, such as ``fp8``.
    stated : Mapping
        Class of tensors -> format, as the checkpoint's own configuration gives it.

    Raises
    ------
    ValueError
        If a stated class does not exist.

    References
    ----------
    .. [1] NVIDIA Model Optimizer, hf_quant_config.json of nvidia/Qwen3-32B-NVFP4: all linear layers
       except lm_head.

    Examples
    --------
    >>> class_formats("fp8", {})["attention"], class_formats("fp8", {})["head"]
    ('fp8', 'bf16')
    >>> class_formats("mxfp4", {"attention": "bf16"})["attention"]
    'bf16'
    """
    unknown = sorted(set(stated) - set(CLASSES))
    if unknown:
        msg = f"{unknown[0]} is not a class of tensors: {', '.join(CLASSES)}"
        raise ValueError(msg)
    outside = precision if precision in WIDE_FORMATS else HALF_FORMAT
    usual = dict.fromkeys(CLASSES, precision) | {"head": outside, "embedding": outside}
    return usual | dict(stated)


def tensor_bytes(formats: Mapping[str, str], weight_bytes: Mapping[str, float]) -> TensorBytes:
    """Return the bytes of one weight of each class.

    Parameters
    ----------
    formats : Mapping
        Class of tensors -> format, from :func:`class_formats`.
    weight_bytes : Mapping
        Format -> bytes of one weight, above 0.

    Examples
    --------
    >>> tensor_bytes(class_formats("fp8", {}), {"fp8": 1.0, "bf16": 2.0}).dense
    1.0
    """
    return TensorBytes(**{name: weight_bytes[formats[name]] for name in CLASSES})


def tensor_math(formats: Mapping[str, str], math: Mapping[str, str]) -> TensorMath:
    """Return the kind of peak rate of each class.

    Parameters
    ----------
    formats : Mapping
        Class of tensors -> format, from :func:`class_formats`.
    math : Mapping
        Format -> kind of rate.

    Examples
    --------
    >>> tensor_math(class_formats("fp8", {}), {"fp8": "fp8", "bf16": "half"}).head
    'half'
    """
    return TensorMath(**{name: math[formats[name]] for name in CLASSES})


def checkpoint_bytes(shape: Architecture, each: TensorBytes) -> float:
    r"""Return the bytes of all weights, without vision tower and multi-token prediction [byte].

    .. math:: \sum_k N_k\,b_k

    Parameters
    ----------
    shape : Architecture
        The model.
    each : TensorBytes
        Bytes of one weight of each class.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> tiny = from_config({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    ...     "intermediate_size": 128, "vocab_size": 1000})
    >>> checkpoint_bytes(tiny, tensor_bytes(class_formats("bf16", {}), {"bf16": 2.0})) == 2 * tiny.params
    True
    """
    count = tensor_params(shape)
    return float(sum(getattr(count, name) * getattr(each, name) for name in CLASSES))
