"""dcplan/scenario/tree.py: dotted keys, --set, merging."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.answers.plan.answer import plan
from dcplan.catalog.schema import Model, System
from dcplan.catalog.yaml12 import Document
from dcplan.errors import InputError
from dcplan.scenario.tree import Tree, changed, merged, set_document, split_key, without_effect
from tests.scenario.samples import GOOD, asked, refused, written


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("finance.discount_rate=0.08", lambda q: q.scenario.finance.discount_rate.value == 0.08),
        (
            "sites.ashburn.halls.liquid.it_mw=6",
            lambda q: q.scenario.sites[0].halls[0].it_mw.value == 6,
        ),
        ("sites.0.halls.1.racks=6", lambda q: q.scenario.sites[0].halls[1].racks == 6),
        (
            "sites.ashburn.utility_mw=[1, 2, 3, 4]",
            lambda q: len(q.scenario.sites[0].utility_mw) == 4,
        ),
        ("systems=[dgx-b200]", lambda q: q.scenario.systems == ("dgx-b200",)),
        ("systems=all", lambda q: q.scenario.systems == "all"),
        ("sites.ashburn.energy.usd_per_kwh=0.04", lambda q: q.scenario.sites[0].energy.usd_per_kwh),
        (
            "workloads.training.job.precision=[bf16, fp8]",
            lambda q: q.scenario.workloads.training[0].precision[1:],
        ),
        (" finance.discount_rate = 0.08", lambda q: q.scenario.finance.discount_rate.value == 0.08),
        ("description=a=b", lambda q: q.scenario.description == "a=b"),
        ("finance.discount_rate=", lambda q: q.scenario.finance.discount_rate is None),
    ],
)
def test_set_reaches_its_value(tmp_path: Path, text: str, read: object) -> None:
    assert read(asked(tmp_path, sets=[text]))  # type: ignore[operator]


def test_a_shift_and_a_part_keep_the_change_before_them(tmp_path: Path) -> None:
    """A shift moves the value before it; a part of a mapping changes the mapping before it."""
    sets = [
        *("horizon.start=2027-Q2", "horizon.start=shift(1)"),
        *("finance={discount_rate: 0.08, budget_usd: 1e9}", "finance.discount_rate=0.09"),
    ]
    scenario = asked(tmp_path, sets=sets).scenario
    assert scenario.horizon.start == "2027-Q3"
    assert scenario.finance.budget_usd is not None
    assert list(without_effect(sets)) == []


def test_set_takes_the_keys_of_elements_as_the_inputs_of_an_answer_print_them(
    tmp_path: Path,
) -> None:
    power = GOOD.replace("utility_mw: 14", "utility_mw: [14, 15, 16, 17]")
    file = str(written(tmp_path, power))
    printed = {str(row["key"]): row["value"] for row in plan(file, time_limit_s=1, gap=1).inputs}
    keys = {f"sites.ashburn.utility_mw[{i}]" for i in range(4)}
    assert keys <= printed.keys()
    for key in sorted(keys):
        question = asked(tmp_path, power, sets=[f"{key}={printed[key] + 3}"])
        values = [x.value for x in question.scenario.sites[0].utility_mw]
        assert sum(values) == 14 + 15 + 16 + 17 + 3
        assert values[int(key[-2])] == printed[key] + 3


def test_set_reaches_catalog_rows_and_says_so(tmp_path: Path) -> None:
    question = asked(tmp_path, sets=["systems.dgx-h200.price_usd=123456"])
    price = question.catalog.get("systems", "dgx-h200", System).price_usd
    assert price is not None
    assert price.value == 123456
    assert "--set systems.dgx-h200.price_usd" in str(price.at)
    assert question.scenario.systems == ("dgx-h200", "gb200-nvl72")


def test_set_reaches_a_row_whose_id_has_dots(tmp_path: Path) -> None:
    question = asked(tmp_path, sets=['models."llama-3.1-70b".note=mine'])
    assert question.catalog.get("models", "llama-3.1-70b", Model).note == "mine"


def test_the_last_set_wins(tmp_path: Path) -> None:
    question = asked(tmp_path, sets=["finance.discount_rate=0.2", "finance.discount_rate=0.3"])
    assert question.scenario.finance.discount_rate is not None
    assert question.scenario.finance.discount_rate.value == 0.3


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("finance.discount_rate", "DC014", ""),
        ("=5", "DC014", ""),
        ("sites.ashbrn.utility_mw=5", "DC014", 'did you mean "ashburn"?'),
        ("sites.ashburn.halls.liqid.it_mw=5", "DC014", 'did you mean "liquid"?'),
        ("sites.9.utility_mw=5", "DC014", ""),
        ("sites.².utility_mw=5", "DC014", ""),
        ("name.first=5", "DC014", ""),
        ("finance.discont_rate=0.1", "DC002", 'did you mean "discount_rate"?'),
        ("systems.dgx-h2000.price_usd=1", "DC010", 'did you mean "dgx-h200"?'),
        ("finance.discount_rate=high", "DC004", ""),
        ("finance.discount_rate=[1", "DC001", ""),
    ],
)
def test_a_wrong_set_is_refused_and_named(tmp_path: Path, text: str, code: str, hint: str) -> None:
    [problem] = refused(tmp_path, sets=[text])
    assert (problem.code, problem.hint) == (code, hint)
    assert "--set" in str(problem.place)


def test_changed_leaves_the_tree_it_was_given() -> None:
    tree = Tree.of(Document("a", {"x": [{"id": "p", "v": 1}]}))
    key, document = set_document("x.p.v=2")
    after = changed(tree, key, Tree.of(document))
    assert (tree.data, after.data) == ({"x": [{"id": "p", "v": 1}]}, {"x": [{"id": "p", "v": 2}]})
    assert after.place(("x", 0, "v")).path == "--set x.p.v"
    assert after.place(("x", 0, "id")).path == "a"


def test_set_without_equals_shows_an_example() -> None:
    with pytest.raises(InputError) as caught:
        set_document("a.b")
    assert "expected key=value" in caught.value.problems[0].cause
    assert "--set" in caught.value.problems[0].help


def test_a_value_replaced_whole_forgets_where_its_parts_came_from() -> None:
    tree = Tree.of(Document("a", {"x": {"v": 1}}))
    for text in ("x.v=2", "x={v: 3}"):
        key, document = set_document(text)
        tree = changed(tree, key, Tree.of(document))
    assert tree.data == {"x": {"v": 3}}
    assert tree.place(("x", "v")).path == "--set x"


def test_either_quote_keeps_dots_together() -> None:
    assert split_key("models.'a.b'.c") == split_key('models."a.b".c') == ["models", "a.b", "c"]


PARTS = st.lists(
    st.text(st.sampled_from("ab0-._ é'"), min_size=1, max_size=6), min_size=1, max_size=4
)


@settings(max_examples=80, deadline=None)
@given(PARTS)
def test_split_key_undoes_quoting(parts: list[str]) -> None:
    assert split_key(".".join(f'"{part}"' for part in parts)) == parts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab0-_"), min_size=1, max_size=4), min_size=1, max_size=4))
def test_split_key_undoes_joining_plain_parts(parts: list[str]) -> None:
    assert split_key(".".join(parts)) == parts


LEAVES = st.integers(-9, 9) | st.text("xyz", max_size=2)
ROWS = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from("pqr")}, optional={"v": LEAVES, "w": LEAVES}),
    max_size=3,
    unique_by=lambda row: row["id"],
)
MAPS = st.recursive(
    st.dictionaries(
        st.sampled_from("abcd"), LEAVES | ROWS | st.lists(st.integers(), max_size=3), max_size=4
    ),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)


def tree(data: object, name: str) -> Tree:
    return Tree.of(Document(name, data))


@settings(max_examples=60, deadline=None)
@given(MAPS)
def test_merging_nothing_or_itself_changes_nothing(data: dict) -> None:
    assert merged(tree(data, "a"), tree({}, "b")).data == data
    assert merged(tree(data, "a"), tree(data, "b")).data == data
    assert merged(tree({}, "a"), tree(data, "b")).data == data


@settings(max_examples=60, deadline=None)
@given(MAPS, MAPS)
def test_merging_twice_is_merging_once_and_keeps_the_base(base: dict, over: dict) -> None:
    before = repr(base)
    once = merged(tree(base, "a"), tree(over, "b"))
    assert merged(once, tree(over, "b")).data == once.data
    assert repr(base) == before
    for key in once.data:
        assert once.place((key,)).path == "b" if key not in base else key in base


def test_merge_rules_one_by_one() -> None:
    base = {
        "m": {"a": 1, "b": 2},
        "l": [1, 2],
        "r": [{"id": "p", "v": 1}],
        "q": {"value": 1, "low": 0},
        "s": [1],
    }
    over = {
        "m": {"b": 3},
        "l": [9],
        "r": [{"id": "q", "v": 2}, {"id": "p", "w": 3}],
        "q": {"value": 5},
        "s": {"replace": [7]},
    }
    assert merged(tree(base, "a"), tree(over, "b")).data == {
        "m": {"a": 1, "b": 3},
        "l": [9],
        "r": [{"id": "p", "v": 1, "w": 3}, {"id": "q", "v": 2}],
        "q": {"value": 5},
        "s": [7],
    }
