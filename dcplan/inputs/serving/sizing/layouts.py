"""Layouts that the search of a service tries on a kind of hardware."""

from __future__ import annotations

from dcplan.inputs.serving.machines import Machine
from dcplan.inputs.serving.setups import Service
from dcplan.llm.architecture import Architecture
from dcplan.serving.search import Limits

LARGEST_REPLICA = 64
"""Accelerators of a replica that the search tries at most."""


def limits_of(shape: Architecture, domain: int, most: int) -> Limits:
    """Return what the model and the hardware allow of a layout."""
    experts = shape.experts if shape.moe_layers else 0
    return Limits(shape.heads, experts, shape.layers, domain, most)


def reach(machine: Machine, found: Service) -> int:
    """Return over how many accelerators tensor parallelism reaches: a scale-up domain or a host."""
    return max(int(found.device["domain"]), machine.host_accelerators)
