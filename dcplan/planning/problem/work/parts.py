"""Parts of a run that trains over several halls."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.training.wide_area import Span

SPAN_MARK = " + "
"""Separates the halls in the place of a run over several halls."""


@dataclass(frozen=True)
class RunPart:
    """The part of a run over several halls that one hall has; all parts are equal."""

    run: str
    """Id of the complete run, equal in its parts and in no other run of the problem."""
    place: str
    """Hall of the part."""
    places: tuple[str, ...]
    """Halls of the complete run; the first one has the part that leads."""
    links: tuple[str, ...]
    """Links whose end in this hall the part uses; one run at a time has an end."""
    exchange: Span
    """Exchanges of the complete run between halls and sites."""

    @property
    def leads(self) -> bool:
        """Return whether the complete run is counted at this part."""
        return self.place == self.places[0]
