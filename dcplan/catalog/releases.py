"""Software stacks at one of their releases."""

from __future__ import annotations

import re

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Stack
from dcplan.errors import Place, Problem, did_you_mean

AT = "@"
"""Between a stack and its release, as in ``torchtitan@2026-10``."""
YEAR = 4
"""Characters of a year at the start of a date."""
DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


def find_stack(catalog: Catalog, name: str) -> Stack | None:
    """Return a stack at a release: ``id``, ``id@version`` or ``id@date``; without one, the newest.

    A date takes the newest release up to it. The result is None if the stack or the version is
    unknown, or if the date is before the stack existed.
    """
    row_name, _, release = name.partition(AT)
    row = catalog.find("stacks", row_name, Stack)
    if row is None:
        return None
    if not release:
        return row.released(row.releases)
    if DATE.fullmatch(release):
        if row.since is not None and release[:YEAR] < row.since[:YEAR]:
            return None
        return row.released([r for r in row.releases if r.date[: len(release)] <= release])
    place = [r.version for r in row.releases].index(release) if _known(row, release) else None
    return None if place is None else row.released(row.releases[: place + 1])


def _known(row: Stack, version: str) -> bool:
    return version in {r.version for r in row.releases}


def stack_names(catalog: Catalog) -> list[str]:
    """Return the names of all stacks, and of each with each of its releases."""
    rows = catalog.table("stacks", Stack).values()
    return [name for s in rows for name in (s.id, *(f"{s.id}{AT}{r.version}" for r in s.releases))]


def unknown_stack(catalog: Catalog, name: str, place: Place | None = None) -> Problem:
    """Return the problem of a name that :func:`find_stack` does not know."""
    row_name, _, release = name.partition(AT)
    row = catalog.find("stacks", row_name, Stack)
    if row is None or not row.releases:
        cause = f"unknown stack {name!r}" if row is None else f"{row.id} has no releases"
        known = stack_names(catalog)
        return Problem(
            "DC010", cause, place, did_you_mean(name, known), "dcplan catalog list stacks"
        )
    since = f", which exists since {row.since}" if row.since else ""
    versions = [r.version for r in row.releases]
    hint = "" if DATE.fullmatch(release) else did_you_mean(release, versions)
    next_step = (
        f"give one of {', '.join(versions)}, or a later date such as {row.releases[-1].date}"
    )
    return Problem("DC010", f"no release {release!r} of {row.id}{since}", place, hint, next_step)


def stack_of_software(row: Stack, software: str) -> Stack:
    """Return a stack at the release that a text about a run names, such as "NeMo 25.11 container".

    It takes the newest release up to the version of the text; a text without a version takes the
    row without releases.
    """
    version = software_version(row, software)
    if version is None:
        return row.released([])
    number = version_number(version)
    return row.released([r for r in row.releases if version_number(r.version) <= number])


def software_version(row: Stack, software: str) -> str | None:
    """Return the version that a text about a run names: the number after ``version_after``."""
    if row.version_after is None:
        return None
    found = re.search(rf"{re.escape(row.version_after)}\s*v?(\d+(?:\.\d+)*)", software)
    return found.group(1) if found else None


def version_number(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare in order.

    >>> version_number("26.02.01") > version_number("26.02")
    True
    """
    return tuple(int(part) for part in version.split("."))


def known_stack(catalog: Catalog, name: str) -> Stack:
    """Return a stack at a release, as :func:`find_stack`.

    Raises
    ------
    KeyError
        When there is none; names are checked before.
    """
    found = find_stack(catalog, name)
    if found is None:
        raise KeyError(name)
    return found
