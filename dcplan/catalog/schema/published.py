"""Published figures, and the dcplan calls that reproduce them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dcplan.catalog.schema.base import Row
from dcplan.catalog.subjects import Subject
from dcplan.provenance import Quantity

ARITHMETIC = "arithmetic"
"""Basis of a figure that comes from a function, not from a verb."""


LENGTHS = ("train.days_p50", "train.accelerator_hours")
"""Metrics that are the length of a whole run."""


class Published(Row):
    """Figures of one publication, compared with the answer of ``verb`` to ``ask``."""

    subject: Subject
    """Subject of `dcplan validate SUBJECT` that shows the row."""
    verb: Literal["plan", "train", "fabric", "facility", "tco", "demand", "catalog", "function"]
    """A verb of the command line, or ``function``: one public function of a physics room, named in
    ``of``, which checks arithmetic and validates no verb."""
    ask: dict[str, Any]
    """Arguments of the verb in Python; for ``function``: ``of`` and the function's arguments; for
    ``catalog``: ``kind`` and ``id``; for a packaged example: ``scenario``, or ``files`` of ``demand``."""
    course: dict[str, Any] = Field(default_factory=dict)
    """For subject `runs`: further arguments that say how the run went (rise of the batch, phases,
    setbacks), from the publication. `validate runs` answers with and without them."""
    cause: str = ""
    """For subject `runs`: why the published length is outside the interval, or what `course` holds."""
    figures: Annotated[dict[str, Quantity], Field(min_length=1)]
    """Published numbers by metric, by field of a catalog row, by ``TABLE[first cell].column`` or
    ``TABLE[first cell, second cell].column``, or, for a function, by field of its result (or
    ``result``); low and high give a published range or a rounding."""
    times: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """Figure -> factor on the answer before the comparison; the note gives the reason."""
    fitted: bool = False
    """Whether numbers or rules of dcplan come from this publication, or were chosen or corrected
    with it in view."""
    given: tuple[str, ...] = ()
    """Figures that follow from the arguments, or from a catalog value of the same publication, by one
    or two multiplications."""

    @model_validator(mode="after")
    def _course_of_runs(self) -> Published:
        if self.subject == "runs" and not self._asks_for_a_length:
            msg = (
                "a row of `runs` asks `train` with `accelerators` for one figure: "
                f"{' or '.join(LENGTHS)}"
            )
            raise ValueError(msg)
        if self.subject != "runs" and (self.course or self.cause):
            msg = "only rows of `runs` have `course` and `cause`"
            raise ValueError(msg)
        return self

    @property
    def _asks_for_a_length(self) -> bool:
        one_length = len(self.figures) == 1 and set(self.figures) <= set(LENGTHS)
        return self.verb == "train" and "accelerators" in self.ask and one_length

    @property
    def asked(self) -> dict[str, Any]:
        """Arguments of the verb with the course of the run; an empty one of the course is left out."""
        every = {**self.ask, **self.course}
        return {key: value for key, value in every.items() if value is not None}

    @model_validator(mode="after")
    def _figures_named(self) -> Published:
        unknown = [key for key in (*self.times, *self.given) if key not in self.figures]
        if unknown:
            names = ", ".join(map(repr, unknown))
            msg = f"`times` and `given` must name figures of the row; {names} is not one"
            raise ValueError(msg)
        return self

    def basis(self, figure: str) -> str:
        """Return the kind of evidence that agreement in a figure gives.

        ``arithmetic``: a function computes correctly, and no verb is validated. For figures of a
        verb: ``independent``, ``fitted`` or ``given``.
        """
        if self.verb == "function":
            return ARITHMETIC
        if figure in self.given:
            return "given"
        return "fitted" if self.fitted else "independent"
