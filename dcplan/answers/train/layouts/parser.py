"""A layout as text (``tp=8,pp=16,recompute=selective``), checked against model and count."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.train.key_values import read_pairs
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.llm.tables import RECOMPUTE, SCHEDULES, Array
from dcplan.training.estimate import layout_of
from dcplan.training.grid import KEYS, Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found

WHERE = Place("--layout")
COUNTS = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp", "mbs")
WORDS = {"recompute": RECOMPUTE, "schedule": SCHEDULES}
OTHER = ("zero", "sp", "offload", "shard")
OFFLOAD_WORDS = {"all": 1.0, "none": 0.0}
NEXT = "omit --layout to search every valid layout"


@dataclass(frozen=True)
class TypedLayout:
    """Columns of one layout, and the case with the given sequence parallelism."""

    case: Case
    columns: dict[str, Array]
    recompute_typed: bool
    """Whether the text names recompute."""


def read_layout(text: str, case: Case, ranks: int) -> TypedLayout:
    """Read one layout from ``key=value`` pairs.

    The default of each size is 1 or the stack's default; recompute defaults to the lightest mode.

    Raises
    ------
    InputError
        With every violation: unknown keys and words, sizes that do not divide, a product that is
        not the count, a batch that is too small.
    """
    values, problems = _values(text)
    if problems:
        raise InputError(problems)
    count = {k: int(values.get(k, 1)) for k in COUNTS}
    replica = count["tp"] * count["pp"] * count["cp"]
    if "dp" not in values:
        count["dp"] = max(ranks // replica, 1)
    fullest = min(ranks // replica, int(case.global_batch // count["mbs"]))
    usual = RECOMPUTE.index(case.stack.recompute[0])
    columns = {
        **{k: count[k] for k in ("tp", "pp", "vpp", "dp", "cp", "ep", "etp")},
        "micro_batch": count["mbs"],
        "recompute": RECOMPUTE.index(str(values["recompute"])) if "recompute" in values else usual,
        "zero": int(values.get("zero", case.stack.zero)),
        "schedule": SCHEDULES.index(str(values.get("schedule", SCHEDULES[0]))),
        "offload": float(values.get("offload", 0.0)),
    }
    # a searched layout may leave ranks idle; it states this by its dp
    idle = "dp" in values and count["dp"] == fullest
    causes = _broken(case, count, columns, ranks, idle=idle)
    if "shard" in values and (count["dp"] * count["cp"]) % int(values["shard"]):
        causes.append(
            f"shard {int(values['shard'])} does not divide dp x cp = {count['dp'] * count['cp']}"
        )
    problems = [Problem("DC052", cause, WHERE, help=NEXT) for cause in causes]
    if problems:
        raise InputError(problems)
    stack = (
        replace(case.stack, sequence_parallel=bool(int(values["sp"])))
        if "sp" in values
        else case.stack
    )
    found = {k: np.array([float(columns[k])]) for k in KEYS}
    if "shard" in values:
        found["shard"] = np.array([float(values["shard"])])
    return TypedLayout(replace(case, stack=stack), found, "recompute" in values)


def lightest(typed: TypedLayout, limit: float) -> TypedLayout:
    """Choose the lightest recompute mode that fits if none is given, as in tables of runs."""
    if typed.recompute_typed:
        return typed
    for name in typed.case.stack.recompute:
        mode = np.array([float(RECOMPUTE.index(name))])
        lighter = replace(typed, columns=typed.columns | {"recompute": mode})
        setup = case_setup(lighter.case, layout_table(lighter.case, lighter.columns))
        if memory(setup).total[0] <= limit:
            return lighter
    return typed


def _values(text: str) -> tuple[dict[str, str | float], list[Problem]]:
    """Return the value of each key, and the problems of invalid ones."""
    typed, problems = read_pairs(text, (*COUNTS, *WORDS, *OTHER), WHERE)
    values: dict[str, str | float] = {}
    for key, value in typed.items():
        pair = f"{key}={value}"
        if key in WORDS:
            if value not in WORDS[key]:
                cause = f"{pair!r}: expected one of {', '.join(WORDS[key])}"
                problems.append(Problem("DC051", cause, WHERE, did_you_mean(value, WORDS[key])))
            values[key] = value
            continue
        number = _number(key, value)
        if number is None:
            problems.append(Problem("DC051", f"{pair!r}: expected {_expected(key)}", WHERE))
        values[key] = number or 0.0
    return values, problems


def _number(key: str, value: str) -> float | None:
    if key == "offload" and value in OFFLOAD_WORDS:
        return OFFLOAD_WORDS[value]
    try:
        number = float(value)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    if key == "offload":
        return number if 0.0 <= number <= 1.0 else None
    whole = number == int(number)
    if key in COUNTS or key == "shard":
        return number if whole and number >= 1 else None
    return number if whole and 0 <= number <= (3 if key == "zero" else 1) else None


def _expected(key: str) -> str:
    if key == "offload":
        return "a share of the activations from 0 to 1"
    if key in COUNTS or key == "shard":
        return "an integer of at least 1"
    return "0 to 3" if key == "zero" else "0 or 1"


def _broken(
    case: Case, n: dict[str, int], columns: dict[str, float], ranks: int, *, idle: bool
) -> list[str]:
    """Return every rule that the layout violates."""
    shape, found = case.shape, []
    product = n["tp"] * n["pp"] * n["cp"] * n["dp"]
    if product != ranks and not idle:
        found.append(f"tp x pp x cp x dp = {product:,} does not equal the {ranks:,} ranks")
    if shape.heads % n["tp"]:
        found.append(f"tp {n['tp']} does not divide the {shape.heads} attention heads")
    elif shape.kv_heads % n["tp"] and n["tp"] % shape.kv_heads:
        found.append(
            f"tp {n['tp']} and the {shape.kv_heads} key-value heads do not divide each other"
        )
    if n["pp"] > shape.layers:
        found.append(f"pp {n['pp']} is more than the {shape.layers} layers")
    if n["vpp"] > 1 and n["pp"] == 1:
        found.append(f"vpp {n['vpp']} needs a pipeline, but pp is 1")
    # embedding and output layer may count as layers: 126 layers give 128 chunks
    if n["pp"] * n["vpp"] > shape.layers + 2:
        found.append(f"pp x vpp = {n['pp'] * n['vpp']} is more than the {shape.layers} layers")
    if case.seq_len % n["cp"]:
        found.append(f"cp {n['cp']} does not divide the sequence of {case.seq_len} tokens")
    if not shape.moe_layers:
        found += [f"{k} is {n[k]}, but the model has no experts" for k in ("ep", "etp") if n[k] > 1]
    elif shape.experts % n["ep"]:
        found.append(f"ep {n['ep']} does not divide the {shape.experts} experts")
    if (n["dp"] * n["cp"] * n["tp"]) % (n["ep"] * n["etp"]):
        stage = n["dp"] * n["cp"] * n["tp"]
        found.append(
            f"ep x etp = {n['ep'] * n['etp']} does not divide the {stage} ranks of a stage"
        )
    if n["dp"] * n["mbs"] > case.global_batch:
        least = f"{n['dp'] * n['mbs']} sequences"
        found.append(
            f"the global batch of {case.global_batch:g} sequences is below dp x mbs = {least}"
        )
    if columns["schedule"] and (n["pp"] == 1 or n["vpp"] > 1):
        found.append(f"schedule {SCHEDULES[int(columns['schedule'])]} needs pp above 1 and vpp 1")
    return found


def layout_line(layout: dict[str, float]) -> str:
    """Return a layout in the form of ``--layout``."""
    columns = {k: np.array([v]) for k, v in layout.items()}
    named = layout_of(Found(columns, np.empty(0), np.empty(0), 0, 0), 0)
    return ",".join(f"{k}={v}" for k, v in named.items())


def first_layout(found: Found) -> dict[str, float] | None:
    """Return the first layout found, or None."""
    return {k: float(v[0]) for k, v in found.layouts.items()} if found.step_time_s.size else None
