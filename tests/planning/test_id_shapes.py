"""Ids of any allowed form pass a whole plan: digits, dots, and ids that begin other ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dcplan
from dcplan.planning import decision_specs, limits
from dcplan.planning.check_ids import BOUGHT, CheckId
from dcplan.planning.decision_specs import DECISIONS, DecisionSpec
from dcplan.planning.decision_table import DECISIONS_IN_TABLE
from dcplan.planning.keys import Key, from_text, to_text
from dcplan.planning.limit_spec import LimitSpec, Span
from dcplan.planning.limits import LIMITS
from dcplan.planning.model.build import build_model
from dcplan.planning.solve.matrix import compile_model
from tests.planning.small import small_menu
from tests.planning.test_existing import existing_problem

ID = re.compile(r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$")
PART = st.text("09aZ", min_size=1, max_size=3)
IDS = st.builds(
    lambda head, tail: head + "".join(tail),
    PART,
    st.lists(st.builds(lambda sep, part: sep + part, st.sampled_from("._-"), PART), max_size=2),
)
TEXT = """
dcplan: 1
name: ids
horizon: {{start: 2027-Q1, quarters: 4}}
sites:
  - id: "{site}"
    location: us-ashburn
    utility_mw: 4
    halls:
      - {{id: "{old}", existing: true, racks: 30, rack_kw_max: 42, it_mw: 1, cooling: [air-chiller]}}
      - {{id: "{new}", racks: 30, rack_kw_max: 42, it_mw: 1, cooling: [air-chiller]}}
systems: [dgx-h200]
fabrics: [ib-ndr-400]
assets:
  - {{id: "{asset}", system: dgx-h200, hall: "{old}", accelerators: 64, in_service: 2025-Q1,
     fabric: ib-ndr-400, may_sell: true}}
workloads:
  capacity:
    - {{id: "{demand}", accelerator_hours: [60000, 400000, 400000, 400000], utilization_frac: 1}}
    - {{id: "{other}", accelerator_hours: 20000, utilization_frac: 0.5}}
"""


def planned(folder: Path, **ids: str) -> dcplan.Result:  # type: ignore[name-defined]
    file = folder / "ids.yaml"
    file.write_text(TEXT.format(**ids), encoding="utf-8")
    return dcplan.plan(file, gap=0.05, time_limit_s=30)


PLAIN = {"site": "fra", "old": "a", "new": "b", "asset": "c", "demand": "d", "other": "e"}


@pytest.mark.parametrize(
    "shape",
    [
        {"site": "1", "old": "1", "new": "2", "asset": "2024", "demand": "7", "other": "77"},
        {"site": "a.b", "old": "a", "new": "a.1", "asset": "x.1", "demand": "x", "other": "x.1.2"},
        {"site": "s", "old": "s-1", "new": "s-10", "asset": "s", "demand": "s-1", "other": "s-11"},
    ],
    ids=["digits", "dots", "prefixes"],
)
def test_a_plan_does_not_depend_on_the_shape_of_ids(tmp_path: Path, shape: dict[str, str]) -> None:
    assert all(ID.match(x) for x in shape.values())
    plain, shaped = planned(tmp_path, **PLAIN), planned(tmp_path, **shape)
    assert (plain.status, shaped.status) == ("ok", "ok")
    assert shaped.value("cost.npv_usd") == pytest.approx(plain.value("cost.npv_usd"), rel=1e-9)
    assert shaped.value("racks.total") == plain.value("racks.total")


@pytest.mark.slow
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(IDS, min_size=6, max_size=6, unique=True))
def test_any_allowed_ids_plan(tmp_path: Path, ids: list[str]) -> None:
    assert all(ID.match(x) for x in ids)
    plain, shaped = (
        planned(tmp_path, **PLAIN),
        planned(tmp_path, **dict(zip(PLAIN, ids, strict=True))),
    )
    assert shaped.status == "ok"
    assert shaped.value("cost.npv_usd") == pytest.approx(plain.value("cost.npv_usd"), rel=1e-9)


@given(st.lists(st.one_of(IDS, st.integers(0, 99)), max_size=4))
def test_keys_come_back_from_text(ids: list[str | int]) -> None:
    key = Key("buy", tuple(ids))
    assert from_text(to_text(key)) == key
    assert [type(x) for x in from_text(to_text(key)).ids] == [type(x) for x in ids]


def test_text_that_is_no_key_is_refused() -> None:
    for text in ("{}", "[]", "[1]", '"buy"'):
        with pytest.raises(ValueError, match="no key"):
            from_text(text)


def test_every_decision_and_limit_is_one_of_the_model() -> None:
    """Names of the registries are variables and constraints that some file of the model declares."""
    folder = Path(dcplan.__file__).parent / "planning" / "model"
    text = "".join(f.read_text(encoding="utf-8") for f in folder.rglob("*.py"))
    assert [n for n in DECISIONS if not re.search(rf"model\.{n} = pyo\.Var", text)] == []
    assert [n for n in LIMITS if not re.search(rf"model\.{n} = pyo\.Constraint", text)] == []
    assert all(spec.words for spec in LIMITS.values() if spec.penalty_musd or spec.step)
    assert all(spec.path or spec.penalty_musd is None for spec in LIMITS.values())
    assert LIMITS["utility_mw"].span is Span.QUARTER


def test_the_registries_hold_every_spec() -> None:
    """No list kept by hand misses a decision, a limit or a check."""
    declared = [x for x in vars(decision_specs).values() if isinstance(x, DecisionSpec)]
    assert list(DECISIONS.values()) == declared
    assert set(DECISIONS_IN_TABLE) == {x for x in declared if x.row}
    limit_specs = [x for x in vars(limits).values() if isinstance(x, LimitSpec)]
    assert set(map(id, limit_specs)) <= set(map(id, LIMITS.values()))
    assert len(LIMITS) == len(limits.DECLARED)
    text = "".join(
        f.read_text(encoding="utf-8")
        for f in (Path(dcplan.__file__).parent / "planning" / "audit").rglob("*.py")
    )
    bought = {x.name for x in BOUGHT.values()}
    assert [
        c.name for c in CheckId if f"CheckId.{c.name}" not in text and c.name not in bought
    ] == []


def test_every_integer_variable_is_a_decision() -> None:
    for problem in (small_menu(), existing_problem()):
        matrix = compile_model(build_model(problem)[0])
        integer = {
            key.name for key, whole in zip(matrix.columns, matrix.integer, strict=True) if whole
        }
        assert integer <= set(DECISIONS)
