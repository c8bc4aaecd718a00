"""What dcplan says when something is wrong: a code, a place, the cause and the next step.

Only the standard library is used here, so that every other room may import it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

EXIT_OK = 0
EXIT_NO = 1
EXIT_INPUT = 2
EXIT_INFEASIBLE = 3
EXIT_INCOMPLETE = 4
EXIT_BUG = 70
EXIT_INTERRUPTED = 130

CODES: dict[str, str] = {
    "DC001": "the file is not valid YAML",
    "DC002": "unknown field",
    "DC003": "missing field",
    "DC004": "wrong type or value",
    "DC005": "the same key twice",
    "DC006": "the file cannot be read",
    "DC007": "the file is too large, too deep or has too many aliases",
    "DC008": "a path leaves the project",
    "DC010": "unknown reference",
    "DC011": "the same id twice",
    "DC012": "a list by quarter has the wrong length",
    "DC013": "a named scenario or override does not exist",
    "DC014": "a key in --set or overrides does not exist",
    "DC015": "values that contradict each other",
    "DC016": "an extends chain that returns to itself",
    "DC020": "a catalog row without a source",
    "DC021": "a catalog value outside its plausible range",
    "DC022": "catalog ratio or unit check",
    "DC030": "demand above the best possible supply",
    "DC031": "a deadline that no configuration reaches",
    "DC032": "a job that no system can hold",
    "DC033": "site power or rack slots below the fixed decisions",
    "DC040": "unknown metric",
    "DC050": "command line",
    "DC051": "a key or value of a compound flag",
    "DC052": "an impossible layout",
    "DC053": "a table of runs, or a length no medium reaches",
    "DC060": "weather, or an amount of a facility",
    "DC061": "a cooling option that cannot hold what it is asked to",
}


@dataclass(frozen=True, order=True)
class Place:
    """A position in a text file; line and column count from 1."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line:col``, or only the file when no line is known."""
        path = "".join(c if c.isprintable() else "?" for c in self.path)  # a name may hold a line end
        return f"{path}:{self.line}:{self.column}" if self.line else path


@dataclass(frozen=True)
class Problem:
    """One finding about the input.

    Parameters
    ----------
    code : str
        A key of :data:`CODES`.
    cause : str
        What is wrong, in one sentence without a full stop.
    place : Place or None
        Where it stands.
    hint : str
        "did you mean …", may be empty.
    help : str
        The next step, usually a command; may be empty.
    excerpt : str
        The source line, without its line end.
    width : int
        Number of characters to underline with carets.
    severity : str
        ``error`` or ``warning``.
    """

    code: str
    cause: str
    place: Place | None = None
    hint: str = ""
    help: str = ""
    excerpt: str = ""
    width: int = 1
    severity: str = "error"

    def text(self) -> str:
        """Render as ``file:line:col: error[DCnnn]: cause`` with the source line and a caret."""
        where = f"{self.place}: " if self.place else ""
        lines = [f"{where}{self.severity}[{self.code}]: {self.cause}"]
        if self.excerpt and self.place and self.place.line:
            number = str(self.place.line)
            gutter = " " * len(number)
            pad = " " * max(self.place.column - 1, 0)
            shown = f"{pad}{'^' * max(self.width, 1)}" + (f" {self.hint}" if self.hint else "")
            lines += [f"  {number} | {self.excerpt}", f"  {gutter} | {shown}"]
        elif self.hint:
            lines.append(f"  {self.hint}")
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class InputError(Exception):
    """The request or the input is wrong; carries every problem found, not only the first."""

    exit_code = EXIT_INPUT

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems, key=_order))
        super().__init__("\n\n".join(problem.text() for problem in self.problems))


def _order(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.path, place.line, place.column) if place else ("", 0, 0)


class AuditError(Exception):
    """A plan failed its own audit: a bug in dcplan, never the user's fault."""

    exit_code = EXIT_BUG


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?`` for the nearest known word, or an empty string.

    Examples
    --------
    >>> did_you_mean("powr_kw", ["rated_kw", "power_kw"])
    'did you mean "power_kw"?'
    >>> did_you_mean("zzz", ["rated_kw"])
    ''
    """
    known = list(known)
    same = [k for k in known if k.lower() == word.lower()]
    near = same[:1] or difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if not near:
        near = [k for k in known if len(word) >= 3 and (word in k or k in word)][:1]
    return f'did you mean "{near[0]}"?' if near else ""
