"""Flags of ``dcplan train`` that a kind of post-training does not read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields

from dcplan.answers.train.request import TrainRequest
from dcplan.errors import Place, Problem

FLAG = "--post-training"


def unread(request: TrainRequest, used: Collection[str]) -> Iterator[Problem]:
    """Find flags of the request that are set and not among the used fields."""
    for field in fields(request):
        if field.name not in used and getattr(request, field.name) != field.default:
            flag = f"--{field.name.replace('_', '-')}"
            cause = f"{flag} cannot be combined with {FLAG}"
            yield Problem("DC050", cause, Place(FLAG), help=f"omit {flag}")
