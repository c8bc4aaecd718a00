"""Requests of many searches, and the groups of those that differ only in device and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.llm.architecture import Architecture
from dcplan.training.estimate import Hardware, case_of
from dcplan.training.grid import Case, default_axes
from dcplan.training.many.build import group_of
from dcplan.training.many.group import Group


@dataclass(frozen=True)
class Request:
    """A training job on hardware, and the step times that matter."""

    shape: Architecture
    seq_len: int
    global_batch_tokens: float
    """Tokens of one optimizer step."""
    hardware: Hardware
    accelerators: tuple[float, ...]
    """Counts, ascending."""
    wanted_s: tuple[tuple[float, ...], ...] = ()
    """Wanted step times at each count of ``wanted_at``; without any, every count is searched. [s]"""
    wanted_at: tuple[float, ...] = ()
    """Counts, ascending; between them the wanted step times are interpolated."""
    images: float = 0.0

    @property
    def case(self) -> Case:
        """Return the model, batch, software and recipe on the device of the request."""
        return case_of(
            self.shape, self.seq_len, self.global_batch_tokens, self.hardware, self.images
        )


def members_of_groups(requests: Sequence[Request]) -> list[list[int]]:
    """Return the places of requests that differ only in the device and in their counts.

    Requests whose hardware streams weights have no layouts and are in no group.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, r in enumerate(requests):
        h = r.hardware
        if not h.streams_weights:
            job = (r.shape, r.seq_len, r.global_batch_tokens, r.images)
            key = (*job, h.stack, h.recipe, h.coefficients, default_axes(r.case))
            groups.setdefault(key, []).append(i)
    return list(groups.values())


def grouped(requests: Sequence[Request]) -> tuple[Group, list[int]]:
    """Return the group of requests, and the place of the device of each."""
    first = {r.hardware.device: r for r in reversed(requests)}
    distinct = list(dict.fromkeys(r.hardware.device for r in requests))
    places = {device: i for i, device in enumerate(distinct)}
    group = group_of([first[d].case for d in distinct])
    return group, [places[r.hardware.device] for r in requests]
