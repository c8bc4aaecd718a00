"""Tori of chips: flat ones, and cubes behind optical circuit switches."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from dcplan.answers.fabric.resolve import Asked
from dcplan.catalog.schema import Accelerator, Switch
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.fabric.topology.direct import CUBE_CHIPS, CUBE_FACE_LINKS, flat_torus, torus
from dcplan.inputs.log import Ledger
from dcplan.result import Metric, Result, Table

OCS = "palomar-ocs"


def torus_answer(asked: Asked, ledger: Ledger) -> Result:
    """A torus of the chips asked for: links, bisection; cubes, circuits and optical switches where
    it has them.

    Each optical switch joins the opposite ends of one face position of all cubes: as many switches
    as a cube has pairs of face links, while a switch has ports for all cubes.

    Raises
    ------
    InputError
        When the chips do not make whole cubes, or there are more cubes than an optical switch has
        ports for.
    """
    chips = asked.accelerators or asked.attached.nodes
    chip = (
        ledger.catalog.get("accelerators", asked.system.accelerator, Accelerator)
        if asked.system
        else None
    )
    if chip and chip.torus is None:
        cause = f"how the links of {chip.id} are joined is not in the catalog"
        raise InputError(
            [Problem("DC050", cause, Place("--system"), help="dcplan catalog list systems")]
        )
    if chip and chip.scaleup_domain and chips > chip.scaleup_domain:
        cause = (
            f"a torus of {chip.id} ends at {chip.scaleup_domain:,} chips, {chips:,} are asked for"
        )
        mend = "one torus at a time; pods are joined by a network of their hosts"
        raise InputError([Problem("DC050", cause, Place("--nodes"), help=mend)])
    try:
        return (
            _flat(chips, chip, ledger)
            if chip and chip.torus == "2d"
            else _cubes(chips, chip, ledger)
        )
    except ValueError as error:
        raise InputError([Problem("DC050", str(error), Place("--nodes"))]) from error


def _flat(chips: int, chip: Accelerator, ledger: Ledger) -> Result:
    """A flat torus: copper between neighbours, no switch."""
    x, y = flat_torus(chips)
    metrics = {
        "switches": Metric(0, "", "None: chips meet their neighbours"),
        "links": Metric(2 * chips, "", "Links between chips"),
    }
    if chip.scaleup_gb_per_s:
        # a cut across the longer side meets each ring of it twice
        per_link = (
            ledger.take(f"accelerators.{chip.id}.scaleup_gb_per_s", chip.scaleup_gb_per_s) / 4
        )
        metrics["bisection_tbps"] = Metric(
            2 * x * per_link * 8 / 1000.0, "Tb/s", f"One way, torus {x} x {y}"
        )
    table = Table(("links", "through", "count"), (("neighbours", "copper", 2 * chips),))
    return _result(
        f"{chips:,} chips in a torus of {x} x {y}: {2 * chips:,} links, no switch",
        metrics,
        table,
        ledger,
        [],
    )


def _cubes(chips: int, chip: Accelerator | None, ledger: Ledger) -> Result:
    """Cubes of 64 chips and the optical circuit switches between them."""
    found = torus(chips)
    row = ledger.catalog.get("switches", OCS, Switch)
    ports = max(row.ports.values())
    each = CUBE_FACE_LINKS // 2
    layers = math.ceil(2 * found.cubes / ports)
    ocs = each * layers
    shape = cube_shape(found.cubes)
    metrics = {
        "switches": Metric(ocs, "", "Optical circuit switches"),
        "cubes": Metric(found.cubes, "", f"Cubes of {CUBE_CHIPS} chips"),
        "links": Metric(found.links, "", "Links between chips, copper and optical"),
        "transceivers": Metric(found.optical_ends, "", "Optical ends of cubes"),
        "transceivers_per_accelerator": Metric(
            found.optical_ends / chips, "", "Optical ends of one chip"
        ),
        "circuits": Metric(found.circuits, "", "Circuits between cubes"),
    }
    if chip and chip.scaleup_gb_per_s:
        # a cut across the longest side meets each ring of it twice
        x, y, z = sorted(4 * n for n in shape)
        per_link = (
            ledger.take(f"accelerators.{chip.id}.scaleup_gb_per_s", chip.scaleup_gb_per_s) / 6
        )
        metrics["bisection_tbps"] = Metric(
            2 * x * y * per_link * 8 / 1000.0, "Tb/s", f"One way, torus {x} x {y} x {z}"
        )
    power = row.typical_kw
    if power:
        metrics["power_kw"] = Metric(
            ocs * ledger.take(f"switches.{row.id}.typical_kw", power), "kW", "Optical switches"
        )
    rows = (
        ("cube", "copper", found.cubes * (3 * CUBE_CHIPS - CUBE_FACE_LINKS // 2)),
        ("between cubes", row.id, found.circuits),
    )
    table = Table(("links", "through", "count"), rows)
    headline = (
        f"{chips:,} chips in a torus of {' x '.join(str(4 * n) for n in shape)}: {found.cubes:,} cubes, "
        f"{ocs:,} optical circuit switches, {found.circuits:,} circuits"
    )
    note = {"code": "price", "message": f"{row.id} has no price: counts only"}
    return _result(headline, metrics, table, ledger, [note])


def _result(
    headline: str,
    metrics: dict[str, Metric],
    table: Table,
    ledger: Ledger,
    warnings: list[dict[str, Any]],
) -> Result:
    inputs = [asdict(r) for _, r in sorted(ledger.rows.items())]
    return Result(
        "fabric",
        "ok",
        EXIT_OK,
        headline,
        metrics=metrics,
        tables={"tiers": table},
        inputs=inputs,
        warnings=warnings,
    )


def cube_shape(cubes: int) -> tuple[int, int, int]:
    """Sides, in cubes, of the most even box of so many.

    Examples
    --------
    >>> cube_shape(64), cube_shape(144), cube_shape(140)
    ((4, 4, 4), (4, 6, 6), (4, 5, 7))
    """
    best = (1, 1, cubes)
    for a in range(1, round(cubes ** (1 / 3)) + 1):
        if cubes % a:
            continue
        rest = cubes // a
        b = next(n for n in range(math.isqrt(rest), 0, -1) if rest % n == 0)
        if rest // b < max(best) or (rest // b == max(best) and a > best[0]):
            best = tuple(sorted((a, b, rest // b)))  # type: ignore[assignment]
    return best
