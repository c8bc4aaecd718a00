"""Error reports: a code, a place, the cause and the next step.

It uses only the standard library, so that every other room may import it.
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
    "DC005": "duplicate key",
    "DC006": "the file cannot be read",
    "DC007": "the file is too large, too deep or has too many aliases",
    "DC008": "a path leaves the project",
    "DC010": "unknown reference",
    "DC011": "duplicate id",
    "DC012": "a list by quarter has the wrong length",
    "DC013": "a named scenario or override does not exist",
    "DC014": "a key in --set or overrides does not exist",
    "DC015": "values that contradict each other",
    "DC016": "a circular extends chain",
    "DC020": "a catalog row without a source",
    "DC021": "a catalog value outside its plausible range",
    "DC022": "catalog ratio or unit check",
    "DC030": "demand above the best possible supply",
    "DC031": "a deadline that no configuration reaches",
    "DC032": "a job that no system can hold",
    "DC033": "given hardware exceeds site power, heat or rack positions",
    "DC034": "a latency limit that no layout reaches",
    "DC035": "a class of jobs that cannot be packed",
    "DC040": "unknown metric",
    "DC050": "command line",
    "DC051": "a key or value of a compound flag",
    "DC052": "an impossible layout",
    "DC053": "a table of runs that cannot be read",
    "DC054": "a length that no cable or transceiver reaches",
    "DC055": "a trace of requests that cannot be read",
    "DC056": "two results that cannot be compared",
    "DC057": "a log of jobs that cannot be read",
    "DC058": "a list of cash flows that cannot be read",
    "DC060": "weather that cannot be used",
    "DC061": "a cooling option that does not support the request",
    "DC062": "a flag of `dcplan facility`",
}

MEANINGS: dict[str, str] = {
    "DC001": "dcplan cannot read the text at this place as YAML 1.2. Check the indentation, tabs, and colons in "
    "unquoted text.",
    "DC002": "The format has no field of this name. A misspelled field is an error because ignoring it would change "
    "the answer. `dcplan explain FIELD` and `dcplan schema scenario` list the fields.",
    "DC003": "A required field, or a flag that another flag requires, is missing.",
    "DC004": "The value has the wrong type, or is outside its range. `dcplan explain FIELD` shows type and range.",
    "DC005": "A mapping has the same key twice. YAML readers differ in the value they use, so dcplan uses neither.",
    "DC006": "The file or folder does not exist, or dcplan may not read or write it. Packaged examples are found by "
    "name.",
    "DC007": "Scenario files come in pull requests. Limits on size, depth and aliases make it safe to read them.",
    "DC008": "Paths in a scenario are relative to it and stay inside the project (the nearest folder with `.git` or "
    "`dcplan.toml`).",
    "DC010": "The id is in no catalog or list that dcplan reads here. `dcplan catalog list KIND` shows the rows; an "
    "overlay adds your own.",
    "DC011": "Two entries have the same id, so a key with this id is ambiguous.",
    "DC012": "A value by quarter has one number, one number for each quarter of `horizon.quarters`, or a start that "
    "grows: {start, growth_frac_per_quarter}.",
    "DC013": "The name is not in `scenarios:` or `overrides:` of the file.",
    "DC014": "The scenario has nothing at this dotted key. Lists are addressed by id "
    "(`sites.ashburn.halls.liquid.it_mw`), catalog rows by kind and id (`systems.gb200-nvl72.price_usd`); ids with "
    "dots are quoted.",
    "DC015": "Each value is valid alone, but the values contradict each other, or a field requires or excludes "
    "another.",
    "DC016": "A file extends another file that extends the first one again.",
    "DC020": "A catalog row without a source does not load. `source:` is a text or {title, url, as_of}.",
    "DC021": "The value is outside the plausible range of its unit. Check the decimal point and the unit.",
    "DC022": "Values of a row contradict each other (rated and peak power, FP8 and BF16 peak, shares that do not sum "
    "to 1), or an estimate has no bounds.",
    "DC030": "The demand of a quarter is more than all sites, systems and offers together can supply; found before "
    "solving.",
    "DC031": "No number of accelerators of any system on any allowed fabric ends in time; found before solving.",
    "DC032": "The model does not fit in the memory of any allowed system, in any layout.",
    "DC033": "The given hardware (fleet, assets, orders) needs more power, racks or heat rejection than the site has.",
    "DC034": "The time to first token or per output token of a single request is above the limit in every layout, or "
    "no request rate keeps the limits. The message names the lowest value and its layout.",
    "DC035": "A job is larger than its quota or than every place that may serve its pool, its share does not divide an "
    "accelerator, or its quota does not keep its wait. The message names the nearest value that works.",
    "DC040": "The answer does not have this metric. The page of metrics lists all; `dcplan explain KEY` describes one.",
    "DC050": "The command line is wrong, or its flags exclude each other.",
    "DC051": "A flag with key=value pairs has an unknown key or an invalid value.",
    "DC052": "Heads, layers, experts or accelerators are not divisible by the degrees of the layout.",
    "DC053": "The table of measured runs lacks a column that `dcplan validate` needs. The message names the columns.",
    "DC054": "The link is longer than the reach of every cable and transceiver of its speed. The message names a "
    "speed, a part or a change that works.",
    "DC055": "The trace lacks a column, or a value of a request is not a time or a number of tokens. The message has "
    "the line and the formats that dcplan reads.",
    "DC056": "The two results are answers of different verbs, or they have neither a figure nor a table in common. "
    "Make both with the same verb.",
    "DC057": "The log lacks a column, its times have no zone, or rows hold values that cannot be. The message has the "
    "file and the row of each.",
    "DC058": "The list lacks a column, or a row has a date, a period, an amount or a currency that cannot be. The "
    "message has the file and the row of each.",
    "DC060": "The weather file cannot be read, the climate zone has no data, or the site has no weather.",
    "DC061": "The cooling option does not support this system, rack power or supply temperature; the message states "
    "why.",
    "DC062": "A flag of `dcplan facility` is missing, is out of range, or requires another flag.",
}
"""Meaning of each code and the next step; ``dcplan explain CODE`` prints it."""


@dataclass(frozen=True, order=True)
class Place:
    """A position in a text file; line and column count from 1."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line:col``, without unknown parts."""
        path = "".join(
            c if c.isprintable() else "?" for c in self.path
        )  # a name may contain a line end
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
        Place of the finding.
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
    """The request or the input is wrong; the error holds every problem found."""

    exit_code = EXIT_INPUT

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems, key=_order))
        super().__init__(
            self.problems
        )  # an exception is copied to another process by its arguments

    def __str__(self) -> str:
        """Return every problem as text."""
        return "\n\n".join(problem.text() for problem in self.problems)


def _order(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.path, place.line, place.column) if place else ("", 0, 0)


class AuditError(Exception):
    """A plan failed its audit: a bug in dcplan, not an error of the user."""

    exit_code = EXIT_BUG


MOST_HINTS = 3
PARTS = re.compile(r"[-_./]")
"""Separators between the parts of a name."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?`` for the nearest known word, or an empty string.

    A word that is a complete part of known words, such as an accelerator in the names of its
    systems, gives the shortest of those words; so does a word that they begin with.

    Examples
    --------
    >>> did_you_mean("powr_kw", ["rated_kw", "power_kw"])
    'did you mean "power_kw"?'
    >>> did_you_mean("h100", ["hgx-h100-8", "dgx-h100", "dgx-h200"])
    'did you mean "dgx-h100" or "hgx-h100-8"?'
    >>> did_you_mean("rented.network", ["owned.network", "rented.network-and-egress"])
    'did you mean "rented.network-and-egress"?'
    >>> did_you_mean("zzz", ["rated_kw"])
    ''
    """
    known = list(known)
    near = [k for k in known if k.lower() == word.lower()][:1]
    if not near and len(word) >= 3:
        parts = [k for k in known if word.lower() in PARTS.split(k.lower())]
        near = sorted(parts, key=len)[:MOST_HINTS]
    if not near and len(word) >= 3:
        near = sorted((k for k in known if k.startswith(word)), key=len)[:1]
    near = near or difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if not near:
        near = [k for k in known if len(word) >= 3 and (word in k or k in word)][:1]
    words = [f'"{k}"' for k in near]
    return (
        f"did you mean {' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}?"
        if words
        else ""
    )
