"""Weather from the catalog's bin table and from EPW files."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

from dcplan.catalog.locate import data_dir
from dcplan.catalog.yaml12 import read_text
from dcplan.errors import InputError, Place, Problem
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, TYPICAL_YEAR_HOURS

HEADER_LINES = 8
LEAP_DAY = (["2", "29"], ["02", "29"])
"""Month and day that a year of 8,760 hours does not have."""
DRY_BULB, HUMIDITY, PRESSURE = 6, 8, 9
"""Fields of an EPW data line (EnergyPlus auxiliary programs, weather data format), from 0."""

PLACE = (6, 7, 8)
"""Fields of the first line: latitude, longitude, time zone, from 0."""
PLACE_LIMITS = ((-90.0, 90.0), (-180.0, 180.0), (-12.0, 14.0))
IRRADIANCE = (13, 14, 15)
"""Fields of an EPW data line: global horizontal, direct normal, diffuse horizontal, from 0."""
IRRADIANCE_LIMIT = (0.0, 1500.0)
"""More is a marker of a missing value (9999)."""


@dataclass(frozen=True)
class Bins:
    """Hours at each pair of dry and wet bulb in each quarter (0 to 3)."""

    quarter: tuple[int, ...]
    dry_c: tuple[float, ...]
    wet_c: tuple[float, ...]
    hours: tuple[float, ...]


@dataclass(frozen=True)
class Weather:
    """Hours of a year, read from a file."""

    place: str
    quarter: tuple[int, ...]
    dry_c: tuple[float, ...]
    humidity_frac: tuple[float, ...]
    pressure_pa: tuple[float, ...]


@functools.cache
def bins() -> dict[str, Bins]:
    """Read the packaged table of joint dry-bulb and wet-bulb hours, by place."""
    rows: dict[str, list[tuple[int, float, float, float]]] = {}
    file = data_dir("catalogs") / "sites" / "climate_bins.csv"
    with file.open(encoding="utf-8", newline="") as stream:
        for r in csv.DictReader(stream):
            row = (
                int(r["quarter"][1]) - 1,
                float(r["dry_bulb_c"]),
                float(r["wet_bulb_c"]),
                float(r["hours"]),
            )
            rows.setdefault(r["site_id"], []).append(row)
    return {place: Bins(*zip(*found, strict=True)) for place, found in rows.items()}


def read_epw(file: Path) -> Weather:
    """Read dry bulb, humidity and pressure of an EPW file.

    Raises
    ------
    InputError
        If the file or a line is invalid, or a value is no number or out of range; with the line.
    """
    text = read_text(file).removeprefix("\ufeff").splitlines()
    lines = [(number, line) for number, line in enumerate(text, 1) if line.strip()]
    head = lines[0][1].split(",") if lines else []
    if len(head) < 2 or head[0] != "LOCATION":
        cause = "not an EPW file: the first line must be LOCATION with the place"
        raise InputError([Problem("DC060", cause, Place(str(file), 1))])
    if len(lines) < HEADER_LINES + TYPICAL_YEAR_HOURS:
        cause = f"not an EPW file of a year: {len(lines)} lines, expected {HEADER_LINES} + {TYPICAL_YEAR_HOURS}"
        raise InputError([Problem("DC060", cause, Place(str(file)))])
    place = "".join(c for c in head[1] if c.isprintable()).strip() or file.name
    hours = [pair for pair in lines[HEADER_LINES:] if pair[1].split(",")[1:3] not in LEAP_DAY]
    found: list[tuple[int, float, float, float]] = []
    problems: list[Problem] = []
    for i, line in hours[:TYPICAL_YEAR_HOURS]:
        cells = line.split(",")
        try:
            month = int(cells[1])
            dry, humid, pressure = (float(cells[k]) for k in (DRY_BULB, HUMIDITY, PRESSURE))
            _check(month, dry, humid, pressure)
        except (ValueError, IndexError) as error:
            problems.append(Problem("DC060", str(error), Place(str(file), i)))
            continue
        found.append(((month - 1) // MONTHS_PER_QUARTER, dry, humid / 100.0, pressure))
    if problems:
        raise InputError(problems[:20])
    quarters = {row[0] for row in found}
    if len(quarters) < MONTHS_PER_YEAR // MONTHS_PER_QUARTER:
        cause = f"the file has hours of {len(quarters)} quarters only; a year has hours in all four"
        raise InputError([Problem("DC060", cause, Place(str(file)))])
    return Weather(place, *zip(*found, strict=True))


@dataclass(frozen=True)
class Irradiance:
    """Irradiance of the hours of a file, with its place and time zone."""

    lat: float
    lon: float
    zone_h: float
    global_w_m2: tuple[float, ...]
    direct_w_m2: tuple[float, ...]
    diffuse_w_m2: tuple[float, ...]


def read_irradiance(file: Path) -> Irradiance:
    """Read the irradiance of an EPW file that :func:`read_epw` reads.

    Raises
    ------
    InputError
        If the place of the file or an irradiance is no number or out of range; with the line.
    """
    text = read_text(file).removeprefix("\ufeff").splitlines()
    lines = [(number, line) for number, line in enumerate(text, 1) if line.strip()]
    problems: list[Problem] = []
    place = _numbers(lines[0], PLACE, PLACE_LIMITS, file, problems)
    hours = [pair for pair in lines[HEADER_LINES:] if pair[1].split(",")[1:3] not in LEAP_DAY]
    found = [
        _numbers(pair, IRRADIANCE, (IRRADIANCE_LIMIT,) * len(IRRADIANCE), file, problems)
        for pair in hours[:TYPICAL_YEAR_HOURS]
    ]
    if problems:
        raise InputError(problems[:20])
    whole, direct, diffuse = zip(*found, strict=True)
    if not max(whole) > 0:
        cause = "the file has no irradiance: global radiation is 0 in all hours"
        raise InputError([Problem("DC060", cause, Place(str(file)))])
    lat, lon, zone = place
    return Irradiance(lat, lon, zone, whole, direct, diffuse)


def _numbers(
    line: tuple[int, str],
    fields: tuple[int, ...],
    limits: tuple[tuple[float, float], ...],
    file: Path,
    problems: list[Problem],
) -> tuple[float, ...]:
    """Return the numbers of a line, and note those that are none or out of range."""
    number, text = line
    cells = text.split(",")
    found = []
    for at, (low, high) in zip(fields, limits, strict=True):
        cell = cells[at].strip() if at < len(cells) else ""
        try:
            value = float(cell)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            cause = f"field {at + 1} is {cell!r}, and {low:g} to {high:g} is needed for sunshine"
            problems.append(Problem("DC060", cause, Place(str(file), number)))
        found.append(value)
    return tuple(found)


def _check(month: int, dry: float, humid: float, pressure: float) -> None:
    limits = (
        ("month", month, 1, 12),
        ("dry bulb", dry, -60, 60),
        ("humidity", humid, 1, 110),
        ("pressure", pressure, 50_000, 110_000),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            msg = f"{name} {value:g} is outside {low} to {high}"
            raise ValueError(msg)
