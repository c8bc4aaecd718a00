"""Figures that others published, and the question to dcplan that should give them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dcplan.catalog.schema.base import Row
from dcplan.catalog.subjects import Subject
from dcplan.provenance import Quantity

ARITHMETIC = "arithmetic"
"""Basis of a figure that a function gives and no verb."""


class Published(Row):
    """One publication's figures, compared with what ``verb`` answers to ``ask``."""

    subject: Subject
    """Which `dcplan validate SUBJECT` shows it."""
    verb: Literal["plan", "train", "fabric", "facility", "tco", "catalog", "function"]
    """A verb of the command line; ``function``: one public function of a physics room, named by
    ``of``, which checks arithmetic and validates no verb."""
    ask: dict[str, Any]
    """Arguments of the verb in Python; ``of`` with the function's own for ``function``, ``kind``
    and ``id`` for ``catalog``, ``scenario`` for a packaged example."""
    figures: Annotated[dict[str, Quantity], Field(min_length=1)]
    """Metric, field of a catalog row, ``TABLE[first cell].column`` or, of a function, a field of
    what it returns (or ``result``) -> the published number; low and high where a range or a
    rounding is published."""
    times: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """Figure -> what the answer is multiplied with before it is compared; the note says why."""
    fitted: bool = False
    """Numbers or rules of dcplan were taken from this publication, or chosen or mended with it in
    view."""
    given: tuple[str, ...] = ()
    """Figures that follow from what is asked, or from a catalog value of the same publication, by
    a product or two."""

    @model_validator(mode="after")
    def _figures_named(self) -> Published:
        unknown = [key for key in (*self.times, *self.given) if key not in self.figures]
        if unknown:
            names = ", ".join(map(repr, unknown))
            msg = f"`times` and `given` name figures of the row, which {names} is not"
            raise ValueError(msg)
        return self

    def basis(self, figure: str) -> str:
        """Say what agreement in a figure proves.

        ``arithmetic``: that a function computes right; no verb gave it. Of a verb's figures,
        ``independent``, ``fitted`` or ``given``.
        """
        if self.verb == "function":
            return ARITHMETIC
        if figure in self.given:
            return "given"
        return "fitted" if self.fitted else "independent"
