"""A list of cash flows, from a CSV or from the command line, as checked numbers."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dcplan.answers.imports.currencies import fx_of
from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean

FLAG = "--cash-flows"
DATE, PERIOD, AMOUNT, LINE, CURRENCY = "date", "period", "amount", "line", "currency"
COLUMNS = (DATE, PERIOD, AMOUNT, LINE, CURRENCY)
ALIASES = {"amount_usd": AMOUNT, "usd": AMOUNT, "cash_flow": AMOUNT, "cash flow": AMOUNT}
USD = "USD"
MOST_BYTES = 20_000_000
MOST_NAMED = 20
"""Wrong rows that an error lists one by one."""
MOST_TIMES = 500
"""Different times of a list; a search for all rates of return takes a step for each."""
ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class CashFlow:
    """One payment; money in is positive."""

    row: int
    """Line of the file, or number in the list, from 1."""
    day: date | None
    period: int | None
    usd: float
    line: str = ""


@dataclass(frozen=True)
class CashFlows:
    """Payments in their order in time."""

    name: str
    path: str
    digest: str
    flows: tuple[CashFlow, ...]
    notes: tuple[str, ...] = ()

    @property
    def dated(self) -> bool:
        """Whether the payments have dates."""
        return self.flows[0].day is not None


def read_flows(given: Sequence[str], fx: Sequence[str]) -> CashFlows:
    """Read the value of ``--cash-flows``: the path of a CSV, or ``DATE=USD`` and ``PERIOD=USD`` texts.

    Raises
    ------
    InputError
        When the file cannot be read, or rows hold values that cannot be, with every such row (DC058,
        up to 20 one by one).
    """
    if all("=" in text for text in given):
        rows, source = _texts(given), FLAG
        digest, notes = _digest(",".join(given).encode()), []
        if fx:
            cause = "has no effect on amounts of the command line, which are in USD"
            raise InputError([Problem("DC050", cause, Place("--fx"))])
    elif len(given) == 1:
        source = given[0]
        raw = _bytes(Path(source))
        digest, notes = _digest(raw), list[str]()
        rows = list(_rows(_decoded(raw, source), source, notes))
    else:
        cause = "give one CSV, or all payments as DATE=USD or PERIOD=USD"
        raise InputError([Problem("DC050", cause, Place(FLAG))])
    flows = _checked(rows, source, fx_of(tuple(fx)))
    first = flows[0]
    ordered = tuple(sorted(flows, key=lambda x: (x.day or date.min, x.period or 0)))
    if ordered[0].day != first.day:
        notes.append(f"time 0 is the earliest date, {ordered[0].day}, not that of the first row")
    name = Path(source).stem if source != FLAG else "cash flows"
    return CashFlows(name, source, digest, ordered, tuple(notes))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        near = [p.name for p in path.parent.glob("*.csv")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near)
        raise InputError([Problem("DC006", "there is no such file", Place(str(path)), hint)])
    if path.stat().st_size > MOST_BYTES:
        cause = f"the file has more than {MOST_BYTES // 1_000_000} MB"
        raise InputError([Problem("DC007", cause, Place(str(path)))])
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError([Problem("DC006", str(error), Place(str(path)))]) from error


def _decoded(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cause = f"the file is not UTF-8: {error.reason} at byte {error.start}"
        raise InputError([Problem("DC006", cause, Place(source))]) from error


def _texts(given: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the texts of the command line as rows."""
    found = []
    for i, text in enumerate(given, start=1):
        key, _, amount = text.partition("=")
        kind = PERIOD if key.strip().isdigit() else DATE
        found.append((i, {kind: key.strip(), AMOUNT: amount.strip()}))
    return found


def _rows(text: str, source: str, notes: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV by their columns; blank lines are left out."""
    reader = csv.reader(text.splitlines())
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InputError([Problem("DC006", str(error), Place(source, 1))]) from error
    check_delimiter(header, (*COLUMNS, *ALIASES), source)
    plain = [cell.strip().casefold() for cell in header]
    names = [ALIASES.get(cell, cell) for cell in plain]
    problems = _header_problems(names, source)
    if problems:
        raise InputError(problems)
    other = [cell for cell, name in zip(header, names, strict=True) if name not in COLUMNS]
    if other:
        notes.append(f"columns that are not used: {', '.join(other)}")
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                padded = [*cells, *([""] * (len(names) - len(cells)))]
                yield (
                    reader.line_num,
                    {
                        name: cell.strip()
                        for name, cell in zip(names, padded, strict=False)
                        if name in COLUMNS
                    },
                )
    except csv.Error as error:
        raise InputError([Problem("DC006", str(error), Place(source, reader.line_num))]) from error


def _header_problems(names: Sequence[str], source: str) -> list[Problem]:
    """Return what is wrong with the columns."""
    at = Place(source, 1)
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        return [Problem("DC058", f"more than one column is {', '.join(twice)}", at)]
    if AMOUNT not in names:
        hint = next((h for name in names if (h := did_you_mean(name, [AMOUNT, *ALIASES]))), "")
        next_step = "columns: date (or period), amount, and line and currency if you have them"
        return [Problem("DC058", "no column amount", at, hint, help=next_step)]
    if DATE in names and PERIOD in names:
        return [Problem("DC058", "columns date and period: keep one of them", at)]
    return []


def _checked(
    rows: Sequence[tuple[int, Mapping[str, str]]], source: str, fx: Mapping[str, float]
) -> list[CashFlow]:
    """Return the payments; raise every row that cannot be."""
    problems: list[Problem] = []
    found: list[CashFlow] = []
    for number, (row, cells) in enumerate(rows):
        at = Place(source, row)
        try:
            found.append(_flow(number, row, cells, fx))
        except ValueError as error:
            problems.append(Problem("DC058", str(error), at))
    if problems:
        more = len(problems) - MOST_NAMED
        if more > 0:
            problems = problems[:MOST_NAMED]
            problems.append(Problem("DC058", f"{more} more rows are wrong", Place(source)))
        raise InputError(problems)
    kinds = {flow.day is None for flow in found}
    if not found or len(kinds) > 1:
        cause = "dates and periods are mixed" if found else "there is no payment"
        raise InputError([Problem("DC058", cause, Place(source))])
    times = {flow.day or flow.period for flow in found}
    if len(times) > MOST_TIMES:
        cause = f"{len(times):,} different times are more than {MOST_TIMES}"
        help_text = "add up the payments of each month"
        raise InputError([Problem("DC058", cause, Place(source), help=help_text)])
    return found


def _flow(number: int, row: int, cells: Mapping[str, str], fx: Mapping[str, float]) -> CashFlow:
    """Return one payment.

    Raises
    ------
    ValueError
        When a cell cannot be.
    """
    day = _day(cells[DATE]) if DATE in cells else None
    period = _period(cells.get(PERIOD), number) if day is None else None
    usd = _amount(cells[AMOUNT]) * _usd_of(cells.get(CURRENCY) or USD, fx)
    return CashFlow(row, day, period, usd, cells.get(LINE, ""))


def _day(text: str) -> date:
    """Return a date.

    Raises
    ------
    ValueError
        When the text is no date in the form of ISO 8601.
    """
    if not ISO.fullmatch(text):
        msg = f"date {text!r}: write year-month-day, such as 2027-03-31"
        raise ValueError(msg)
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        msg = f"date {text!r}: {error}"
        raise ValueError(msg) from error


def _period(text: str | None, number: int) -> int:
    """Return the number of a period; without a column, that of the row.

    Raises
    ------
    ValueError
        When the text is no whole number of 0 or more.
    """
    if text is None:
        return number
    if not text.isdecimal() or len(text) > len(str(MOST_BYTES)):
        msg = f"period {text!r}: write a whole number; 0 is today"
        raise ValueError(msg)
    return int(text)


def _amount(text: str) -> float:
    """Return an amount.

    Raises
    ------
    ValueError
        When the text is no finite number.
    """
    try:
        value = float(text.replace("_", "x"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"amount {text!r}: write a number such as -12500.50, without separators of thousands"
        raise ValueError(msg)
    return value


def _usd_of(currency: str, fx: Mapping[str, float]) -> float:
    """Return USD for one unit of a currency.

    Raises
    ------
    ValueError
        When it has no exchange rate.
    """
    if currency.upper() == USD:
        return 1.0
    if currency.upper() not in fx:
        msg = f"no exchange rate for {currency}: use --fx {currency.upper()}=RATE"
        raise ValueError(msg)
    return fx[currency.upper()]
