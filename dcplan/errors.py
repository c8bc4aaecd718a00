"""What dcplan says when something is wrong: a code, a place, the cause and the next step.

Only the standard library is used here, so that every other room may import it.
"""

from __future__ import annotations

import difflib
import re
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
    "DC053": "a table of runs that cannot be read",
    "DC054": "a length that no cable or transceiver reaches",
    "DC060": "weather that cannot be used",
    "DC061": "a cooling option that cannot hold what it is asked to",
    "DC062": "a flag of `dcplan facility`",
}

MEANINGS: dict[str, str] = {
    "DC001": "YAML 1.2 could not read the text at this place: often an indent, a tab, or a colon in unquoted text.",
    "DC002": "The name is not in the format. A misspelt field is refused: a dropped one would change the answer. "
    "`dcplan explain FIELD` and `dcplan schema scenario` name what there is.",
    "DC003": "A field without a default is not there, or a flag that another one needs.",
    "DC004": "The value is of another type, or outside its range. `dcplan explain FIELD` tells both.",
    "DC005": "A mapping has the same key twice; YAML readers differ in which one they keep, so neither is taken.",
    "DC006": "The file or folder does not exist, or may not be read or written. Packaged examples are found by name.",
    "DC007": "Scenario files come in pull requests: size, depth and aliases are bounded so that reading one is safe.",
    "DC008": "Paths in a scenario are relative to it and stay inside the project (the nearest folder with `.git` or "
    "`dcplan.toml`).",
    "DC010": "The id is in no catalog or list that is read here. `dcplan catalog list KIND` shows the rows; an overlay "
    "adds your own.",
    "DC011": "Two entries have one id, so a key that names it would mean both.",
    "DC012": "A value by quarter has one number, or one for each quarter of `horizon.quarters`.",
    "DC013": "The name is not in `scenarios:` or `overrides:` of the file.",
    "DC014": "Nothing in the scenario has this dotted key. Lists are addressed by id "
    "(`sites.ashburn.halls.liquid.it_mw`), catalog rows by kind and id (`systems.gb200-nvl72.price_usd`); ids with "
    "dots are quoted.",
    "DC015": "Each value is right alone, together they cannot be; or a field needs or excludes another.",
    "DC016": "A file extends one that extends it again.",
    "DC020": "A catalog row without a source does not load: `source:` is a text or {title, url, as_of}.",
    "DC021": "The value is far from all known ones of its unit: a slip of the decimal point, or of the unit.",
    "DC022": "Values of a row do not fit each other (rated and peak power, FP8 and BF16 peak, shares that do not "
    "add up), or an estimate has no bounds.",
    "DC030": "More is asked than all sites, systems and offers together could give in a quarter; found before solving.",
    "DC031": "No size of any system on any allowed fabric ends in time; found before solving.",
    "DC032": "The model does not fit the memory of any allowed system, in any layout.",
    "DC033": "What is given (fleet, assets, orders) needs more power, racks or heat than there are.",
    "DC040": "The metric is not one of this answer; the page of metrics lists them, `dcplan explain KEY` tells one.",
    "DC050": "The command line is wrong, or flags that do not go together.",
    "DC051": "A flag that takes key=value pairs has a key or value that it does not know.",
    "DC052": "The layout does not divide: heads, layers, experts or accelerators by the named degrees.",
    "DC053": "The table of measured runs lacks a column that `dcplan validate` needs. The message names the columns.",
    "DC054": "The link is longer than the reach of every cable and transceiver of its speed. The message names a "
    "speed, a part or a change that works.",
    "DC060": "The weather file cannot be read, the climate zone has no data, or the site has no weather.",
    "DC061": "The cooling option does not take this system, rack power or supply temperature; the message says why.",
    "DC062": "A flag of `dcplan facility` is missing, is out of range, or needs another flag.",
}
"""What a code means and what to do; ``dcplan explain CODE`` prints it."""


@dataclass(frozen=True, order=True)
class Place:
    """A position in a text file; line and column count from 1."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line:col``, without what is not known."""
        path = "".join(
            c if c.isprintable() else "?" for c in self.path
        )  # a name may hold a line end
        return ":".join((path, *(str(n) for n in (self.line, self.column) if self.line and n)))


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


MOST_HINTS = 3
PARTS = re.compile(r"[-_./]")
"""Between the parts of a name."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?`` for the nearest known word, or an empty string.

    A word that is a whole part of known ones, such as an accelerator's in the names of its systems,
    brings the shortest of those.

    Examples
    --------
    >>> did_you_mean("powr_kw", ["rated_kw", "power_kw"])
    'did you mean "power_kw"?'
    >>> did_you_mean("h100", ["hgx-h100-8", "dgx-h100", "dgx-h200"])
    'did you mean "dgx-h100" or "hgx-h100-8"?'
    >>> did_you_mean("zzz", ["rated_kw"])
    ''
    """
    known = list(known)
    near = [k for k in known if k.lower() == word.lower()][:1]
    if not near and len(word) >= 3:
        parts = [k for k in known if word.lower() in PARTS.split(k.lower())]
        near = sorted(parts, key=len)[:MOST_HINTS]
    near = near or difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if not near:
        near = [k for k in known if len(word) >= 3 and (word in k or k in word)][:1]
    words = [f'"{k}"' for k in near]
    return (
        f"did you mean {' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}?"
        if words
        else ""
    )
