"""Numbers of the training model that hold for every accelerator, software and precision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tiling:
    """How a matrix product is cut into tiles, and tiles into waves."""

    side: float
    """Rows and columns of an output tile. [-]"""
    wave_power: float
    """Power of wave quantization: 1 loses the whole idle share of the last wave, 0 none. [-]"""


@dataclass(frozen=True)
class AttentionRamp:
    """Speed of fused attention on little work, and of its backward pass."""

    forward_work: float
    """Query positions times heads of a unit at which the forward pass has half its speed. [-]"""
    backward_work: float
    """The same of the backward pass. [-]"""
    backward_frac: float
    """Speed of the backward pass over that of the forward pass."""


@dataclass(frozen=True)
class Coefficients:
    """Rows of the catalog kind ``training`` as the plain numbers that the model computes with."""

    tiling: Tiling
    ramp: AttentionRamp
    score_bytes: float
    """Memory traffic of one 16-bit score of unfused attention. [byte]"""
    unfused_frac: float
    """Speed of the batched products of unfused attention over that of large products."""
    scan_frac: float
    """Speed of a state-space scan over that of large products."""
    backward_passes: float
    """Memory traffic of norms and activations, backward pass over forward pass. [-]"""
    cover_frac: float
    """Share of compute under which asynchronous copies and ring attention hide."""
    backward_over_forward: float
    """Host and device time of a backward pass over that of its forward pass. [-]"""
    reserve_bytes: float
    """Context, communicators and workspaces of a process. [byte]"""
    search_memory_frac: float
    """Share of the memory that a layout may plan with."""
    measured_memory_factor: float
    """Modeled memory over that of the accelerator up to which a measured run fits. [-]"""
    offload_bytes_per_s: float
    """Host link from which the offload of activations pays. [byte/s]"""
