"""No number of physics, economics or reliability stands in the code: catalogs hold it, with its
source.

A module of these rooms may name a number of its method: a tolerance, a setting of a search or a
fit, a limit of what is tried, a stand-in for infinity, a threshold of a remark, a penalty of a
linear program. Its name says which. What a definition fixes is listed here with the reason. Units
come from ``dcplan/units.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcplan.answers.train.answer import train
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Parameter

ROOMS = (
    "llm",
    "training",
    "serving",
    "reliability",
    "demand",
    "fabric",
    "facility",
    "energy",
    "economics",
    "inputs",
    "planning/problem",
)
KINDS = {
    "a tolerance": r"_(TOLERANCE|EPS)$",
    "a setting of a search or a fit": r"^(SEARCH|FIT)_|_GRID$",
    "a limit of what is tried": r"^(MOST|MAX)(_|$)",
    "a stand-in for infinity": r"^(NEVER|FAR|UNBOUND)(_|$)",
    "a threshold of a remark": r"^REMARK_",
    "a penalty of a linear program": r"^PENALTY_",
}
DEFINITIONS = {
    "demand/classes.py: JobClass.wait_quantile": "the quantile of most service levels",
    "economics/discounting.py: LOWEST_RATE": "above -100 %, where a rate has no meaning",
    "economics/discounting.py: HIGHEST_RATE": "where the search for a rate ends",
    "economics/run_cost.py: accelerator_hours(flops_per_param_token)": "2 FLOPs x 3 products",
    "economics/sampling.py: PERT_WEIGHT": "the PERT distribution's own weight of its mode",
    "economics/utilization.py: FLOP_PER_PFLOP_DAY": "a product of units",
    "fabric/floor/lengths.py: STOCK_M": "a list of preferred lengths",
    "facility/climate.py: DESIGN_FRAC": "the ASHRAE 0.4 % design condition",
    "serving/queue/percentiles.py: open_loop(quantile)": "the quantile of most service levels",
    "facility/electrical/power.py: RULES": "redundancy: arithmetic of the topology",
    "facility/electrical/ratings.py: PREFERRED_R10": "the R10 series of ISO 3",
    "facility/electrical/ratings.py: PREFERRED_MOTOR_KW": "the motor outputs of IEC 60072-1",
    "facility/pue.py: LARGE_MW": "border of a size class of the tabulated PUE",
    "facility/pue.py: BETWEEN_FRAC": "border of a size class of the tabulated PUE",
    "inputs/counters/names.py: MEANINGS": "the ends of percent and of a ratio",
    "inputs/leases.py: MAJOR_PART_FRAC": "the threshold of ASC 842-10-55-2",
    "inputs/leases.py: SUBSTANTIALLY_ALL_FRAC": "the threshold of ASC 842-10-55-2",
    "reliability/calendar.py: P90": "the 90th percentile of a normal distribution",
    "serving/forward.py: EXCHANGE_BYTES": "8 bit to an expert and 16 bit from it",
    "serving/search.py: BATCH_STEP": "ratio of neighbor batches of a search grid",
    "serving/steady.py: FULLEST": "stands for a full queue, at which the formula has a pole",
    "training/sharding.py: READ_WRITE": "a value is read once and written once",
}
NO_NUMBER = (0.0, 1.0)
"""Nothing, and the whole: they change no figure."""


def test_no_number_of_physics_stands_in_the_code(repo: Path) -> None:
    assert sorted(set(_constants(repo)) - set(DEFINITIONS)) == []


def test_every_listed_definition_is_still_there(repo: Path) -> None:
    assert sorted(set(DEFINITIONS) - set(_constants(repo))) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("FAN_EFFICIENCY = 0.7", ["FAN_EFFICIENCY"]),
        ("FAST, SLOW = 300.0, 1", ["FAST", "SLOW"]),
        ("LIFE: float = 2.5 * YEARS", ["LIFE"]),
        ("TABLE = {'a': 1.5}", ["TABLE"]),
        ("class A:\n    delay_s: float = 0.05", ["A.delay_s"]),
        ("def f(x, share=0.9): ...", ["f(share)"]),
        ("def f(x, *, share=0.9): ...", ["f(share)"]),
        ("ROUNDING_TOLERANCE = 1e-9", []),
        ("SEARCH_RATIO = 2.0", []),
        ("NO_EFFECT = {'share': 1.0}", []),
        ("COUNT = 8", []),
    ],
)
def test_what_the_scan_finds(source: str, found: list[str]) -> None:
    assert list(_of_module(ast.parse(source))) == found


def test_the_coefficients_of_training_are_inputs_that_an_overlay_changes(tmp_path: Path) -> None:
    asked = {"model": "llama-3.1-8b", "system": "dgx-h100", "accelerators": 8, "tokens": 1e12}
    plain = train(**asked, layout="tp=2,mbs=1")
    rows = {row["key"]: row for row in plain.inputs}
    catalog = load_catalog()
    used = [key for key in rows if key.startswith("training.")]
    assert "training.gemm-wave-power" in used
    assert "training.cover-frac" in used
    for key in used:
        assert rows[key]["source"], key
        quantity = catalog.get("training", key.removeprefix("training."), Parameter).value
        assert rows[key]["value"] == quantity.value, key
    # 0.7 GB of a process become 2.7 GB: 2e9 bytes more on every accelerator
    text = "training: [{id: process-reserve-gb, value: 2.7}]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    more = train(**asked, layout="tp=2,mbs=1", catalogs=[str(tmp_path)])
    gib = more.value("train.memory_gib") - plain.value("train.memory_gib")
    assert gib == pytest.approx(2e9 / 2**30, rel=1e-9)


def _constants(repo: Path) -> Iterator[str]:
    for room in ROOMS:
        for file in sorted((repo / "dcplan" / room).rglob("*.py")):
            place = file.relative_to(repo / "dcplan").as_posix()
            tree = ast.parse(file.read_text(encoding="utf-8"))
            yield from (f"{place}: {name}" for name in _of_module(tree))


def _of_module(tree: ast.Module) -> Iterator[str]:
    """Names of constants and defaults that hold a number which no kind explains."""
    for node in tree.body:
        for name in _assigned(node):
            if not any(re.search(pattern, name) for pattern in KINDS.values()):
                yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for part in node.body for name in _assigned(part))
        if isinstance(node, ast.FunctionDef):
            yield from (f"{node.name}({name})" for name in _defaults(node.args))


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Names that a statement sets to a value with a number in it."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not _has_number(node.value):
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for one in target.elts if isinstance(target, ast.Tuple) else [target]:
            yield ast.unparse(one)


def _defaults(arguments: ast.arguments) -> Iterator[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    known = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    known += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    yield from (argument.arg for argument, value in known if _has_number(value))


def _has_number(value: ast.expr | None) -> bool:
    return value is not None and any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, float)
        and part.value not in NO_NUMBER
        for part in ast.walk(value)
    )
