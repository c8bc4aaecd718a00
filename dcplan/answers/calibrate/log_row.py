"""One training log as a row of a table of runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.answers.calibrate.log_formats import FORMATS, LogFormat
from dcplan.answers.validation.runs.measured import REQUIRED
from dcplan.answers.validation.runs.rows import NEEDED
from dcplan.errors import InputError, Place, Problem
from dcplan.llm.tables import Array

SHAPE = ("params_b", "layers", "hidden", "ffn_hidden", "heads", "experts")
"""Columns of a log that another model does not share."""
SAME_MODEL = 0.02
"""Largest difference of a number of the same model; software counts parameters in several ways."""
WARM_UP_FRAC, WARM_UP_STEPS = 0.1, 3
"""Share and least number of first steps that do not count."""
SLOW = 1.5
"""Ratio to the median above which a step holds an evaluation, a checkpoint or an interruption."""
MOST_BYTES = 200_000_000
COLOR = re.compile(r"\x1b\[[\d;]*m|\[\d\dm")


@dataclass(frozen=True)
class Log:
    """One log: its row, and what its steps say."""

    file: Path
    kind: LogFormat
    row: Mapping[str, str]
    steps: int
    skipped: int
    outliers: int
    spread: float

    @property
    def blank(self) -> tuple[str, ...]:
        """Needed columns without a value."""
        return tuple(c for c in dict.fromkeys((*REQUIRED, *NEEDED)) if not self.row.get(c))


def read(file: Path, defaults: Mapping[str, str], fixed: Mapping[str, str]) -> Log:
    """Read one log.

    Parameters
    ----------
    defaults : mapping
        Columns for what the log does not say.
    fixed : mapping
        Columns that count more than the log; empty texts do not count.

    Raises
    ------
    InputError
        When the file cannot be read, or no line is a step line of a known format.
    """
    text = _text(file)
    for kind in FORMATS:
        found = (kind.step.search(line) for line in text.splitlines())
        lines = [m for m in found if m is not None and kind.value(m) > 0.0]
        if lines:
            return _log(file, kind, lines, _facts(kind, text), defaults, fixed)
    known = ", ".join(f.title for f in FORMATS)
    cause = f"no line is a step line of {known}"
    help_ = "write the row by hand: dcplan validate --runs reads it"
    raise InputError([Problem("DC053", cause, Place(str(file)), help=help_)])


def _text(file: Path) -> str:
    """Return a log without colors; logs of many ranks are large, and may hold odd bytes."""
    try:
        if file.stat().st_size > MOST_BYTES:
            cause = f"the log is larger than {MOST_BYTES / 1e6:.0f} MB"
            help_ = "keep the log of one rank, or its first steps"
            raise InputError([Problem("DC007", cause, Place(str(file)), help=help_)])
        return COLOR.sub("", file.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise InputError([Problem("DC006", str(error.strerror), Place(str(file)))]) from error


def _facts(kind: LogFormat, text: str) -> dict[str, str]:
    """Return what a log states; of repeated names, the last value."""
    found: dict[str, str] = {}
    for pattern in reversed(kind.facts):  # earlier patterns are more exact
        for match in pattern.finditer(text):
            groups = {k: v for k, v in match.groupdict().items() if v is not None}
            if "name" in groups:
                found[groups["name"]] = groups.get("value", "")
            else:
                found |= groups
    names = re.findall(r"\w+", found.get("mesh_names", ""))
    sizes = re.findall(r"\d+", found.get("mesh_sizes", ""))
    found |= {f"mesh_{name}": size for name, size in zip(names, sizes, strict=False)}
    if sizes:
        found["mesh_size"] = str(math.prod(map(int, sizes)))
    return found


def _log(
    file: Path,
    kind: LogFormat,
    lines: Sequence[re.Match[str]],
    facts: Mapping[str, str],
    defaults: Mapping[str, str],
    fixed: Mapping[str, str],
) -> Log:
    batch = lines[-1].groupdict().get("batch")
    # a ramp of the batch size has other step times: only the last size counts
    same = [m for m in lines if m.groupdict().get("batch") == batch]
    values = np.array([kind.value(m) for m in same])
    kept, skipped, outliers = steady(values, timed=kind.timed)
    if batch:
        facts = {**facts, "batch": batch}
    row = {c.name: c.text(facts) for c in kind.columns}
    gib = [float(g) for m in lines if (g := m.groupdict().get("gib"))]
    row |= {
        "id": file.stem,
        "stack": kind.stack,
        "software": kind.title,
        "source_title": f"log {file.name}",
        "peak_memory_gib": f"{max(gib):g}" if gib else "",
        "step_time_s" if kind.timed else "tokens_per_s_per_accel": f"{np.median(kept):.6g}",
    }
    _refuse_another_model(file, row, defaults)
    row |= {k: v for k, v in defaults.items() if not row.get(k)}
    row |= {k: v for k, v in fixed.items() if v}
    low, high = (float(x) for x in np.quantile(kept, (0.1, 0.9)))
    return Log(
        file, kind, row, len(lines), skipped + len(lines) - len(same), outliers, high / low - 1.0
    )


def _refuse_another_model(file: Path, row: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    """Refuse a model whose shape is not that of the log."""
    causes = [
        f"the log has {name} {row[name]}, but {defaults['model']} has {defaults[name]}"
        for name in SHAPE
        if row.get(name)
        and defaults.get(name)
        and not math.isclose(float(row[name]), float(defaults[name]), rel_tol=SAME_MODEL)
    ]
    if causes:
        help_ = "give the --model of the log, or none if the log has the complete shape"
        raise InputError([Problem("DC053", c, Place(str(file)), help=help_) for c in causes])


def steady(values: Array, *, timed: bool) -> tuple[Array, int, int]:
    """Return the steps that count, and the numbers of warm-up steps and of slow steps left out.

    Parameters
    ----------
    values : array
        Times of the steps, or throughputs; at least one.
    timed : bool
        Whether the values are times, which slow steps raise.

    Examples
    --------
    >>> kept, warm, slow = steady(np.array([9.0, 2.0, 2.0, 2.0, 7.0, 2.1]), timed=True)
    >>> [float(x) for x in kept], warm, slow
    ([2.0, 2.1], 3, 1)
    """
    warm = min(max(math.ceil(WARM_UP_FRAC * values.size), WARM_UP_STEPS), values.size - 1)
    rest = values[warm:]
    middle = np.median(rest)
    slow = rest > SLOW * middle if timed else rest < middle / SLOW
    return rest[~slow], warm, int(slow.sum())
