"""Values of compound flags: a layout, and speculative decoding."""

from __future__ import annotations

import math
import re

from dcplan.answers.train.key_values import read_pairs
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.llm.architecture import Architecture
from dcplan.provenance import Quantity, Status
from dcplan.serving.search import Layout
from dcplan.serving.speculative import NONE, Speculation, expected_tokens

LAYOUT, SPECULATIVE = Place("--layout"), Place("--speculative")
DRAFTS = {"mtp": "draft-frac-mtp", "eagle": "draft-frac-eagle", "model": "draft-frac-model"}
"""Kind of draft -> catalog parameter of its cost."""
PRINTED = re.compile(r"([tdpe]p)(\d+)")
"""One kind of parallelism as tables print it."""
MOST_DRAFT_TOKENS = 16
LEAST_PIXELS, MOST_PIXELS = 64**2, 65_536**2
NEXT = "omit --layout to search every layout"


def read_layout(text: str, shape: Architecture, domain: int, most: int | None) -> Layout:
    """Read one layout from ``key=value`` pairs or as tables print it, and check it with the model.

    Raises
    ------
    InputError
        With every violation: unknown keys, sizes that do not divide heads, experts or layers, a
        replica larger than the accelerators.
    """
    typed, problems = read_pairs(_as_pairs(text), ("tp", "dp", "pp", "ep"), LAYOUT)
    counts = {}
    for key, value in typed.items():
        number = int(value) if value.isdecimal() else 0
        if number < 1:
            cause = f"'{key}={value}': expected an integer of at least 1"
            problems.append(Problem("DC051", cause, LAYOUT))
        counts[key] = number
    if problems:
        raise InputError(problems)
    found = Layout(
        counts.get("tp", 1), counts.get("dp", 1), counts.get("pp", 1), counts.get("ep", 1)
    )
    causes = [*_broken(found, shape, domain), *_too_many(found, most)]
    if causes:
        raise InputError([Problem("DC052", cause, LAYOUT, help=NEXT) for cause in causes])
    if shape.moe_layers and found.dp > 1 and "ep" not in counts:
        found = Layout(found.tp, found.dp, found.pp, found.tp * found.dp)
    return found


def _as_pairs(text: str) -> str:
    """Return a layout as tables print it in ``key=value`` pairs; another text stays as it is.

    Examples
    --------
    >>> _as_pairs("tp8 pp2"), _as_pairs("tp=8,pp=2"), _as_pairs("tp8 x")
    ('tp=8,pp=2', 'tp=8,pp=2', 'tp8 x')
    """
    parts = [PRINTED.fullmatch(x) for x in text.replace(",", " ").split()]
    found = [f"{x[1]}={x[2]}" for x in parts if x is not None]
    return ",".join(found) if found and len(found) == len(parts) else text


def _broken(layout: Layout, shape: Architecture, domain: int) -> list[str]:
    """Return every rule of the model that the layout violates."""
    found = []
    if shape.heads % layout.tp:
        near = [t for t in range(1, layout.tp) if shape.heads % t == 0]
        found.append(
            f"tp {layout.tp} does not divide the {shape.heads} attention heads; tp {near[-1]} does"
        )
    if layout.tp > domain:
        found.append(
            f"tp {layout.tp} is more than the {domain} accelerators of a scale-up domain or host"
        )
    if layout.pp > shape.layers:
        found.append(f"pp {layout.pp} is more than the {shape.layers} layers")
    ranks = layout.tp * layout.dp
    if not shape.moe_layers:
        if layout.dp > 1:
            found.append(
                f"dp {layout.dp}: copies of attention share experts, and the model has none; its "
                "copies are replicas, which -n or --rate count"
            )
        if layout.ep > 1:
            found.append(f"ep is {layout.ep}, but the model has no experts")
        return found
    if layout.ep > 1 and layout.ep != ranks:
        found.append(f"ep {layout.ep} is not tp x dp = {ranks}: experts are placed on all ranks")
    elif (layout.ep > 1 or layout.dp > 1) and shape.experts % ranks:
        most = max(e for e in range(1, ranks) if shape.experts % e == 0)
        found.append(
            f"tp x dp = {ranks} ranks do not divide the {shape.experts} experts; {most} do"
        )
    return found


def _too_many(layout: Layout, most: int | None) -> list[str]:
    if most is None or layout.accelerators <= most:
        return []
    return [f"a replica has tp x dp x pp = {layout.accelerators} accelerators, and -n is {most:,}"]


def read_pixels(text: str) -> float:
    """Read the pixels of an image: a product of two sides, or a number.

    Raises
    ------
    InputError
        When the text is neither, or the image is smaller than 64 x 64 or larger than 65,536 pixels
        a side.

    Examples
    --------
    >>> read_pixels("1024x512"), read_pixels("1048576")
    (524288.0, 1048576.0)
    """
    sides = text.casefold().split("x")
    numbers = [int(s) if s.strip().isdecimal() else 0 for s in sides]
    pixels = math.prod(numbers)
    if len(sides) > 2 or not LEAST_PIXELS <= pixels <= MOST_PIXELS:
        cause = (
            f"{text!r}: expected sides such as 1024x1024, or pixels from {LEAST_PIXELS:,} to "
            f"{MOST_PIXELS:,}"
        )
        raise InputError([Problem("DC050", cause, Place("--pixels"), help="--pixels 1024x1024")])
    return float(pixels)


def read_speculation(text: str | None, log: InputLog) -> Speculation:
    """Read draft tokens and their acceptance; without a text, a step gives one token.

    Raises
    ------
    InputError
        With every problem: an unknown key, a value out of its range, both or none of
        ``accept-frac`` and ``accepted``.
    """
    if text is None:
        return NONE
    keys = ("tokens", "accept-frac", "accepted", "draft")
    typed, problems = read_pairs(text, keys, SPECULATIVE)
    values = {k: _number(v) for k, v in typed.items() if k != "draft"}
    tokens = values.get("tokens")
    if not problems and tokens is None:
        problems.append(Problem("DC051", f"{text!r}: missing tokens", SPECULATIVE))
    if tokens is not None and not (tokens == int(tokens) and 1 <= tokens <= MOST_DRAFT_TOKENS):
        cause = f"'tokens={typed['tokens']}': expected an integer from 1 to {MOST_DRAFT_TOKENS}"
        problems.append(Problem("DC051", cause, SPECULATIVE))
    problems += _of_acceptance(text, values, typed)
    kind = typed.get("draft", "eagle")
    if kind not in DRAFTS:
        cause = f"'draft={kind}': expected one of {', '.join(DRAFTS)}"
        problems.append(Problem("DC051", cause, SPECULATIVE))
    if problems or tokens is None:
        raise InputError(problems)
    frac = log.parameter("serving", DRAFTS[kind])
    accepted = values.get("accepted")
    per_step = accepted if accepted is not None else expected_tokens(values["accept-frac"], tokens)
    log.take("speculative.tokens", Quantity(value=tokens, status=Status.INPUT))
    own = Status.INPUT if accepted is not None else Status.DERIVED
    log.take("speculative.accepted", Quantity(value=per_step, status=own))
    return Speculation(tokens, per_step, frac)


def _of_acceptance(text: str, values: dict[str, float], typed: dict[str, str]) -> list[Problem]:
    both = [k for k in ("accept-frac", "accepted") if k in values]
    if len(both) != 1:
        cause = f"{text!r}: expected one of accept-frac and accepted"
        return [Problem("DC051", cause, SPECULATIVE)]
    key = both[0]
    low, high = (0.0, 1.0) if key == "accept-frac" else (1.0, values.get("tokens", 0.0) + 1.0)
    if low <= values[key] <= high:
        return []
    what = "" if key == "accept-frac" else ": a step gives 1 token to all draft tokens and 1 more"
    cause = f"'{key}={typed[key]}': expected a number from {low:g} to {high:g}{what}"
    return [Problem("DC051", cause, SPECULATIVE)]


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return -1.0
    return number if math.isfinite(number) else -1.0
