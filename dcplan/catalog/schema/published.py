"""Figures that others published, beside the question to dcplan that should give them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dcplan.catalog.schema.base import Row
from dcplan.provenance import Quantity

SUBJECTS = ("fabric", "pue", "goodput", "tco", "claims", "cases")


class Published(Row):
    """One publication's figures: ``ask`` is put to ``verb``, each of ``figures`` is compared with what it answers."""

    subject: Literal["fabric", "pue", "goodput", "tco", "claims", "cases"]
    """Which `dcplan validate SUBJECT` shows it."""
    verb: Literal["plan", "train", "fabric", "facility", "tco", "catalog", "function"]
    """A verb of the command line; ``function``: one public function of a physics room, named by ``of``."""
    ask: dict[str, Any]
    """Arguments of the verb in Python; ``of`` with the function's own for ``function``, ``kind`` and ``id`` for
    ``catalog``, ``scenario`` for a packaged example."""
    figures: Annotated[dict[str, Quantity], Field(min_length=1)]
    """Metric, field of a catalog row, ``TABLE[first cell].column`` or, of a function, a field of what it returns (or
    ``result``) -> the published number; low and high where a range or a rounding is published."""
    times: dict[str, float] = Field(default_factory=dict)
    """Figure -> what the answer is multiplied with before it is compared; the note says why."""
    fitted: bool = False
    """dcplan's own numbers rest on this publication: agreement proves the arithmetic alone."""
