"""Reader of bills: rows of FOCUS that are use of accelerators, and what else the files have."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dcplan.answers.imports.csv_rows import Line, read_lines
from dcplan.answers.imports.refused import Refusal
from dcplan.answers.imports.spend import NEEDED, USUAL
from dcplan.answers.imports.spend_rows import (
    OTHER_CHARGE,
    Use,
    cell,
    commitment_years,
    is_unused,
    names_chips,
    offers_by_name,
    use_of,
)
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Offer
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.records.findings import Finding, Findings
from dcplan.units import SECONDS_PER_DAY

KIND = "focus"
CURRENCY = "USD"
MARKS = ("ChargePeriodStart", "ChargeCategory")
"""Columns by which a bill is recognized."""
MOST_PROBLEMS = 50
"""Bad rows that are reported one by one; a last line counts the others."""
HEAD_CHARACTERS = 65_536


class Oddity(StrEnum):
    """Properties of a bill that make a plain reading wrong."""

    NOT_COMPUTE = "not-compute"
    NO_ACCELERATOR = "no-accelerator"
    IDLE_UNNAMED = "idle-without-instance"
    LONG_PERIOD = "long-charge-period"
    CORRECTION = "correction"
    REPEATED = "repeated-row"
    TWO_EXPORTS = "row-of-two-exports"


MEANINGS: dict[Oddity, tuple[str, str]] = {
    Oddity.NOT_COMPUTE: (
        "purchases, taxes, credits and charges of other services",
        "left out: the effective cost of the hours covers a purchase",
    ),
    Oddity.NO_ACCELERATOR: ("charges for compute without an accelerator", "left out"),
    Oddity.IDLE_UNNAMED: (
        "unused commitments that name no instance",
        "left out of the idle hours and their cost: a commitment to spend has no hours",
    ),
    Oddity.LONG_PERIOD: (
        "charges for more than a day",
        "their hours are spread evenly over the period, so peaks in it do not show",
    ),
    Oddity.CORRECTION: ("corrections of earlier charges", "added with their sign"),
    Oddity.REPEATED: (
        "rows equal to an earlier row of the file in every column",
        "all count: FOCUS has no id of a row",
    ),
    Oddity.TWO_EXPORTS: ("rows that an earlier file has, too", "counted once"),
}
"""What each oddity counts, and what follows."""


@dataclass(frozen=True)
class Charge:
    """Use of accelerators with its article and its region."""

    use: Use
    sku: str
    region: str


@dataclass(frozen=True)
class BillFile:
    """One file of a bill."""

    path: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Bill:
    """Charges of all files."""

    charges: tuple[Charge, ...]
    findings: tuple[Finding[Oddity], ...]
    files: tuple[BillFile, ...]


def is_bill(file: Path) -> bool:
    """Return whether a file has the columns of FOCUS."""
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
            head = stream.readline(HEAD_CHARACTERS)
    except OSError:
        return False  # the reader of jobs reports the file
    header = [name.strip() for name in next(csv.reader([head]), [])]
    return all(name in header for name in MARKS)


def read_bills(files: Sequence[Path]) -> Bill:
    """Read rows of FOCUS 1.0 to 1.2.

    Raises
    ------
    InputError
        When a file cannot be read, or a charge for accelerators cannot be used, with each such row
        (DC057); when no row is one.
    """
    offers = offers_by_name(load_catalog(()))
    notes: Findings[Oddity] = Findings(MEANINGS)
    problems: list[Problem] = []
    charges: list[Charge] = []
    read: list[BillFile] = []
    before: set[tuple[str, ...]] = set()
    for file in files:
        lines = read_lines(file, NEEDED, (*NEEDED, *USUAL))
        years, own = commitment_years(lines), set[tuple[str, ...]]()
        for line in lines:
            found = _charge(line, offers, years, str(file), notes)
            if isinstance(found, Problem):
                problems.append(found)
            if not isinstance(found, Charge):
                continue
            place, cells = Place(str(file), line.number), tuple(line.cells.values())
            if cells in before:
                notes.add(Oddity.TWO_EXPORTS, 1, place)
                continue
            notes.add(Oddity.REPEATED, int(cells in own), place)
            own.add(cells)
            _note(found.use, line, notes, place)
            charges.append(found)
        before |= own
        read.append(BillFile(str(file), len(lines), hashlib.sha256(file.read_bytes()).hexdigest()))
    if not charges and not problems:
        cause = "no row is a charge for the use of accelerators of the catalog"
        text = "dcplan catalog list cloud has the instances that are known"
        problems.append(Problem("DC057", cause, Place(str(files[0])), help=text))
    if problems:
        raise InputError(_listed(problems))
    return Bill(tuple(charges), notes.findings(), tuple(read))


def _charge(
    line: Line, offers: dict[str, Offer], years: dict[str, int], path: str, notes: Findings[Oddity]
) -> Charge | Problem | None:
    """Return a row as a charge, why it cannot be used, or None for a row of something else."""
    found, place = use_of(line, offers, {}, years), Place(path, line.number)
    if isinstance(found, Use):
        if found.hours < 0 and not cell(line, "ChargeClass"):
            negative = Refusal("a negative quantity, and ChargeClass does not say Correction")
            return _problem(negative, line, place)
        return Charge(found, cell(line, "SkuId"), cell(line, "RegionId"))
    if found.instead == OTHER_CHARGE:
        notes.add(Oddity.NOT_COMPUTE, 1, place)
    elif found.instead and is_unused(line):
        cost = f"the first has an EffectiveCost of {cell(line, 'EffectiveCost') or 'unknown'}"
        notes.add(Oddity.IDLE_UNNAMED, 1, place, cost)
    elif found.instead and not names_chips(line):
        notes.add(Oddity.NO_ACCELERATOR, 1, place)
    else:
        return _problem(found, line, place)
    return None


def _problem(why: Refusal, line: Line, place: Place) -> Problem:
    currency = cell(line, "BillingCurrency").upper()
    foreign = f"BillingCurrency is {currency or 'empty'}, and costs are read in USD"
    cause = foreign if not why.instead and currency != CURRENCY else why.reason
    text = "correct the row or leave it out; dcplan catalog list cloud has the known instances"
    return Problem("DC057", f"a charge for accelerators: {cause}", place, help=text)


def _note(use: Use, line: Line, notes: Findings[Oddity], place: Place) -> None:
    """Count what is odd in a charge that is used."""
    long = (use.end - use.start).total_seconds() > SECONDS_PER_DAY
    notes.add(Oddity.LONG_PERIOD, int(long), place)
    notes.add(Oddity.CORRECTION, int(bool(cell(line, "ChargeClass"))), place)


def _listed(problems: list[Problem]) -> list[Problem]:
    """Return the first problems; a last one counts the others."""
    left = len(problems) - MOST_PROBLEMS
    if left <= 0:
        return problems
    cause = f"{left:,} more rows cannot be used, {len(problems):,} in total"
    return [*problems[:MOST_PROBLEMS], Problem("DC057", cause, problems[MOST_PROBLEMS].place)]
