"""Tags of messages for people; programs read the code of a message."""

from __future__ import annotations

TAGS = {
    "band": "benchmark",
    "floor": "floor plan",
    "gap": "solver gap",
    "given": "given decision",
    "gone": "missing",
    "host_memory": "host memory",
    "ingest": "storage read rate",
    "lead": "lead time",
    "onsite": "on-site power",
    "pue": "PUE",
    "slow_storage": "slow storage",
    "tiers": "storage tiers",
    "unmeasured": "no measured run",
}
"""Code of a message -> the tag that people see, where the code alone is unclear."""


def tag(code: object) -> str:
    """Return the tag of a message.

    Examples
    --------
    >>> tag("lead"), tag("note")
    ('lead time', 'note')
    """
    return TAGS.get(str(code), str(code))
