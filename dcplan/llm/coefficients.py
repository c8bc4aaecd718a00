"""Coefficients of the training model for all accelerators, software and precisions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tiling:
    """Division of a matrix product into tiles, and of tiles into waves."""

    side: float
    """Rows and columns of an output tile. [-]"""
    wave_power: float
    """Power of wave quantization: 1 counts the full idle share of the last wave, 0 none. [-]"""


@dataclass(frozen=True)
class AttentionRamp:
    """Speed of fused attention with little work, and of its backward pass."""

    forward_work: float
    """Query positions times heads of a unit at which the forward pass has half its speed. [-]"""
    backward_work: float
    """The same for the backward pass. [-]"""
    backward_frac: float
    """Speed of the backward pass relative to the forward pass."""


@dataclass(frozen=True)
class Operators:
    """Number of operators that software launches for one micro-batch, forward and backward."""

    attention: float
    """Of an attention block."""
    latent: float
    """In addition with latent attention."""
    mlp: float
    """Of a dense MLP, or of the dense part of an expert block."""
    mamba: float
    """Of a Mamba-2 block."""
    ends: float
    """Of embedding, last norm, output layer and loss."""


@dataclass(frozen=True)
class Coefficients:
    """Rows of the catalog kind ``training`` as numbers of the model."""

    tiling: Tiling
    ramp: AttentionRamp
    operators: Operators
    score_bytes: float
    """Memory traffic of one 16-bit score of unfused attention. [byte]"""
    unfused_frac: float
    """Speed of the batched products of unfused attention relative to large products."""
    scan_frac: float
    """Speed of a state-space scan relative to large products."""
    backward_passes: float
    """Memory traffic of norms and activations, backward pass relative to forward pass. [-]"""
    cover_frac: float
    """Share of compute that can hide asynchronous copies and ring attention."""
    backward_over_forward: float
    """Host and device time of a backward pass relative to its forward pass. [-]"""
    reserve_bytes: float
    """Memory of context, communicators and workspaces of a process. [byte]"""
    layout_tolerance_frac: float
    """Largest share of a step time that the choice of a known recipe may cost."""
    search_memory_frac: float
    """Share of the memory that a layout may use."""
    measured_memory_factor: float
    """Maximum ratio of modeled memory to accelerator memory at which a measured run fits. [-]"""
    offload_bytes_per_s: float
    """Minimum host link rate for the offload of activations. [byte/s]"""
