"""Tori of chips: flat ones, and cubes connected by optical circuit switches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from dcplan.answers.fabric.parts.unused import TORUS, Case, unused
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.answers.fabric.tables import notes_table
from dcplan.catalog.schema import Accelerator, Switch
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.fabric.topology.direct import CUBE_CHIPS, CUBE_FACE_LINKS, flat_torus, torus
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Result
from dcplan.specs.fabric import network as specs
from dcplan.units import BITS_PER_BYTE, GBPS_PER_TBPS

OCS = "palomar-ocs"


def torus_answer(resolved: ResolvedFabric, log: InputLog) -> Result:
    """Answer for a torus of chips: links, bisection, cubes, circuits and optical switches.

    Each optical switch connects the opposite ends of one face position of all cubes. There are as
    many switches as a cube has pairs of face links, if a switch has ports for all cubes.

    Raises
    ------
    InputError
        When the chips do not form complete cubes, or there are more cubes than an optical switch
        has ports for.
    """
    chips = resolved.accelerators or resolved.attached.nodes
    chip = (
        log.catalog.get("accelerators", resolved.system.accelerator, Accelerator)
        if resolved.system
        else None
    )
    if chip and chip.torus is None:
        cause = f"the catalog has no torus topology for {chip.id}"
        raise InputError(
            [Problem("DC050", cause, Place("--system"), help="dcplan catalog list systems")]
        )
    if chip and chip.scaleup_domain and chips > chip.scaleup_domain:
        cause = (
            f"a torus of {chip.id} has at most {chip.scaleup_domain:,} chips, but {chips:,} are "
            "requested"
        )
        help_text = "size one torus at a time; a network of the hosts connects pods"
        raise InputError([Problem("DC050", cause, Place("--nodes"), help=help_text)])
    flat = chip if chip and chip.torus == "2d" else None
    try:
        result = _flat(chips, flat, log) if flat else _cubes(chips, chip, log)
    except ValueError as error:
        raise InputError([Problem("DC050", str(error), Place("--nodes"))]) from error
    result.tables |= notes_table(unused(resolved.request, Case(TORUS)))
    return result


def _flat(chips: int, chip: Accelerator, log: InputLog) -> Result:
    """Answer for a flat torus: copper between neighbors, no switch."""
    x, y = flat_torus(chips)
    metrics = specs.SWITCHES(
        0, label="Number of switches: none, chips connect to their neighbors"
    ) | specs.LINKS(2 * chips)
    # a cut across the longer side crosses each ring twice
    metrics |= _bisection((x, y), 2 * x, 4, chip, log)
    rows = [specs.TorusRow("neighbors", "copper", 2 * chips)]
    headline = f"{chips:,} chips in a torus of {x} x {y}: {2 * chips:,} links, no switch"
    return _result(headline, metrics, rows, "", log)


def _cubes(chips: int, chip: Accelerator | None, log: InputLog) -> Result:
    """Answer for cubes of 64 chips and the optical circuit switches between them."""
    found = torus(chips)
    row = log.catalog.get("switches", OCS, Switch)
    layers = math.ceil(2 * found.cubes / max(row.ports.values()))
    ocs = CUBE_FACE_LINKS // 2 * layers
    sides = [4 * n for n in cube_shape(found.cubes)]
    metrics = {
        **specs.SWITCHES(ocs, label="Optical circuit switches"),
        **specs.CUBES(found.cubes),
        **specs.LINKS(found.links, label="Links between chips, copper and optical"),
        **specs.TRANSCEIVERS(found.optical_ends, label="Transceivers of cubes"),
        **specs.TRANSCEIVERS_PER_ACCELERATOR(found.optical_ends / chips),
        **specs.CIRCUITS(found.circuits),
    }
    x, y, z = sorted(sides)
    # a cut across the longest side crosses each ring twice
    metrics |= _bisection((x, y, z), 2 * x * y, 6, chip, log)
    if row.typical_kw:
        each_kw = log.take(f"switches.{row.id}.typical_kw", row.typical_kw)
        metrics |= specs.POWER_KW(ocs * each_kw, label="Power of the optical switches")
    copper = found.cubes * (3 * CUBE_CHIPS - CUBE_FACE_LINKS // 2)
    rows = [
        specs.TorusRow("cube", "copper", copper),
        specs.TorusRow("between cubes", row.id, found.circuits),
    ]
    shape = " x ".join(str(n) for n in sides)
    headline = (
        f"{chips:,} chips in a torus of {shape}: {found.cubes:,} cubes, "
        f"{ocs:,} optical circuit switches, {found.circuits:,} circuits"
    )
    return _result(headline, metrics, rows, f"{row.id} has no price: quantities only", log)


def _bisection(
    sides: tuple[int, ...], cut: int, links_each: int, chip: Accelerator | None, log: InputLog
) -> dict[str, Metric]:
    """Return the rate through the links of a cut, if the chip's rate is known.

    ``links_each`` is the number of links that share the chip's rate.
    """
    if chip is None or not chip.scaleup_gb_per_s:
        return {}
    each = log.take(f"accelerators.{chip.id}.scaleup_gb_per_s", chip.scaleup_gb_per_s)
    label = f"Bisection bandwidth, one way, of the torus {' x '.join(str(n) for n in sides)}"
    return specs.BISECTION(cut * (each / links_each) * BITS_PER_BYTE / GBPS_PER_TBPS, label=label)


def _result(
    headline: str,
    metrics: dict[str, Metric],
    rows: Sequence[specs.TorusRow],
    unpriced: str,
    log: InputLog,
) -> Result:
    return Result(
        "fabric",
        "ok",
        EXIT_OK,
        headline,
        metrics=metrics,
        tables={"tiers": specs.TORUS.table(rows)},
        inputs=[asdict(r) for _, r in sorted(log.rows.items())],
        warnings=[{"code": "price", "message": unpriced}] if unpriced else [],
    )


def cube_shape(cubes: int) -> tuple[int, int, int]:
    """Return the sides of the most even box of so many cubes.

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
