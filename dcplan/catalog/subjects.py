"""Subjects of published figures in ``dcplan validate``, without slow imports."""

from __future__ import annotations

from typing import Literal, get_args

Subject = Literal["fabric", "pue", "goodput", "tco", "claims", "cases", "runs", "demand"]
SUBJECTS: tuple[str, ...] = get_args(Subject)
