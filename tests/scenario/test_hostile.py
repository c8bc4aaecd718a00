"""Scenario files come from strangers: whatever stands in one is loaded or refused with its place,
never a traceback."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcplan.answers.check.answer import check
from dcplan.catalog.locate import data_dir
from dcplan.errors import CODES, InputError
from dcplan.report.csvs import csv_files
from dcplan.report.html.page import page
from dcplan.report.text.markdown import markdown
from dcplan.report.text.terminal import write_text
from dcplan.scenario.load import load
from tests.cli.conftest import TINY

SEEDS = [
    TINY,
    *(f.read_text(encoding="utf-8") for f in sorted(data_dir("scenarios").glob("*.yaml"))),
]
PARSED = [yaml.load(text, Loader=yaml.CSafeLoader) for text in SEEDS]
STRANGE: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    1e308,
    -1e308,
    1e-320,
    float("nan"),
    float("inf"),
    10**40,
    -(10**40),
    2**63,
    0.5,
    "",
    " ",
    "x" * 300,
    "=1+1",
    "+cmd|' /C calc'!A0",
    "@x",
    "-1",
    "<script>alert(1)</script>",
    "a|b`c`",
    "\x1b[31mred",
    "::error::x",
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    "http://a.b/c",
    "${HOME}",
    "{{x}}",
    "!!python/object:os.system x",
    "2027-Q1",
    "2027-Q9",
    "9999-Q4",
    "llama-3.1-70b",
    "all",
    [],
    {},
    [[]],
    [{}],
    {"value": None},
    {"value": {}},
    {"value": 1, "low": 2, "high": 0},
    {"value": 1, "currency": "EUR"},
    {"replace": 1},
    {"replace": []},
    [None],
    [1, 2, 3],
    {"id": 1},
    [{"id": "a"}, {"id": "a"}],
    {"": 1},
    {"a.b": 1},
    {"range": [0, 1]},
    {"model": "x.json", "seq_len": 1},
]
"""Values that a careless or ill-meaning hand may put anywhere."""


BYTES = (
    b"\t",
    b"\x00",
    b"\xff\xfe",
    b"&a ",
    b"*a",
    b"{",
    b"[",
    b"]",
    b"? ",
    b"- ",
    b": ",
    b"!!x ",
    b"'",
    b'"',
    b"|\n",
    b"\n",
    b"\r",
    b"%YAML 9\n",
    b"---\n",
    b"\xe2\x80\xae",
)
"""What may slip into a file."""


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    found = [path] if path else []
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, child in items:
        found += places(child, (*path, key))
    return found


def mutated(rng: random.Random) -> str:
    """A shipped scenario with a few of its parts replaced, dropped, doubled, renamed or moved."""
    data = copy.deepcopy(rng.choice(PARSED))
    for _ in range(rng.randint(1, 4)):
        all_places = places(data)
        if not all_places:
            break
        *head, last = rng.choice(all_places)
        node = data
        for key in head:
            node = node[key]
        what = rng.randrange(6)
        if what == 0 and isinstance(node, dict):
            del node[last]
        elif what == 1 and isinstance(node, dict):
            node[rng.choice(["", "id", "value", "x y", "sites", str(last) + "s"])] = node.pop(last)
        elif what == 2 and isinstance(node, list):
            node.append(node[last])
        elif what == 3:
            other = data
            for key in rng.choice(all_places):
                other = other[key] if isinstance(other, dict | list) else other
            node[last] = json.loads(json.dumps(other, default=str))
        else:
            node[last] = copy.deepcopy(rng.choice(STRANGE))
    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))


def torn(rng: random.Random) -> bytes:
    """The bytes of a shipped scenario, some of them others."""
    data = bytearray(rng.choice(SEEDS).encode())
    for _ in range(rng.randint(1, 12)):
        at = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            del data[at : at + rng.randint(1, 30)]
        elif what == 1:
            data[at:at] = rng.choice(BYTES)
        elif what == 2:
            data[at] = rng.randrange(256)
        else:
            data[at:at] = data[at : at + rng.randint(1, 80)]
        if not data:
            data = bytearray(b"a")
    return bytes(data)


SOON_S = 120
"""Processor time of one file. The shipped scenario with services and a queue takes 40 s on a slow core: the
sizes of its queue come from simulations."""


def told(ask: Callable[[], object]) -> None:
    """Answered, or refused with codes that exist and places that are shown; nothing else, and
    soon."""
    began_s = time.process_time()  # of this process: a busy or paused machine is no failure
    try:
        ask()
    except InputError as error:
        found = error.problems
    else:
        found = ()
    assert all(problem.code in CODES and problem.text() for problem in found)
    assert time.process_time() - began_s < SOON_S


def loaded(folder: Path, seed: int) -> None:
    """Load what a seed makes of a shipped scenario."""
    rng = random.Random(seed)  # noqa: S311 - a fixed choice
    file = folder / "s.yaml"
    (folder / "dcplan.toml").write_text("")
    file.write_bytes(torn(rng) if seed % 3 == 0 else mutated(rng).encode("utf-8", "surrogatepass"))
    variant = rng.choice([None, None, None, "worst", "late-grid"])
    told(lambda: load(str(file), variant=variant))


SURVIVES = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(max_examples=300, **SURVIVES)
@given(seed=st.integers(0, 2**40))
def test_the_loader_survives_whatever_stands_in_a_file(tmp_path: Path, seed: int) -> None:
    loaded(tmp_path, seed)


@pytest.mark.slow
@settings(max_examples=10_000, **SURVIVES)
@given(seed=st.integers(0, 2**40))
def test_the_loader_survives_ten_thousand_files(tmp_path: Path, seed: int) -> None:
    loaded(tmp_path, seed)


@pytest.mark.parametrize("count", [40, pytest.param(600, marks=pytest.mark.slow)])
def test_the_checks_survive_whatever_loads(tmp_path: Path, count: int) -> None:
    file = tmp_path / "s.yaml"
    (tmp_path / "dcplan.toml").write_text("")
    for seed in range(count):
        rng = random.Random(f"check {seed}")  # noqa: S311 - a fixed choice
        file.write_text(mutated(rng), encoding="utf-8")
        try:
            told(lambda: check(str(file)))
        except Exception as error:
            msg = f"seed {seed}: {type(error).__name__}: {error}"
            raise AssertionError(msg) from error


values = st.recursive(
    st.sampled_from(STRANGE) | st.text(max_size=20) | st.floats() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=150, **SURVIVES)
@given(where=st.integers(0, 10_000), value=values)
def test_any_value_anywhere_is_loaded_or_refused(tmp_path: Path, where: int, value: Any) -> None:
    data = yaml.safe_load(TINY)
    all_places = places(data)
    *head, last = all_places[where % len(all_places)]
    node = data
    for key in head:
        node = node[key]
    node[last] = value
    file = tmp_path / "s.yaml"
    try:
        file.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    except (UnicodeEncodeError, yaml.YAMLError):
        return  # no file can hold it
    told(lambda: load(str(file)))


@settings(max_examples=200, deadline=None)
@given(key=st.text(max_size=30), value=st.text(max_size=30))
def test_any_set_is_taken_or_refused(key: str, value: str) -> None:
    told(lambda: load("train-405b-in-90-days", sets=[f"{key}={value}"]))


OUTSIDE = {"extends": "extends: {0}\n", "catalogs": "catalogs: [{0}]\n"}


@pytest.mark.parametrize("field", OUTSIDE)
@pytest.mark.parametrize(
    "target", ["../outside.yaml", "../../../../etc/passwd", "/etc/passwd", "link.yaml"]
)
def test_paths_stay_inside_the_project(tmp_path: Path, field: str, target: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "dcplan.toml").write_text("")
    (tmp_path / "outside.yaml").write_text(TINY)
    (project / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    file = project / "s.yaml"
    file.write_text(TINY.replace("name: tiny\n", "name: tiny\n" + OUTSIDE[field].format(target)))
    with pytest.raises(InputError) as error:
        load(str(file))
    assert [p.code for p in error.value.problems] == ["DC008"]
    assert "s.yaml:3:" in str(error.value)


def test_a_model_file_stays_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    project = tmp_path / "project"
    project.mkdir()
    (project / "dcplan.toml").write_text("")
    file = project / "s.yaml"
    file.write_text(TINY.replace("model: llama-3.1-70b", "model: ../config.json"))
    with pytest.raises(InputError) as error:
        check(str(file))
    assert "DC008" in {p.code for p in error.value.problems}


def test_a_hundred_megabytes_are_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(100_000_000)
    began = time.monotonic()
    with pytest.raises(InputError) as error:
        load(str(file))
    assert [p.code for p in error.value.problems] == ["DC007"]
    assert time.monotonic() - began < 1.0


def test_a_pipe_or_a_folder_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in (tmp_path / "pipe.yaml", tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError) as error:
            load(str(name))
        assert error.value.problems[0].code == "DC006"


NAMES = [
    "=HYPERLINK(1)",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:1)",
    "a\x1b]0;t\x07b",
    "@everyone",
    "x|y|z",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_do_no_harm_in_any_document(tmp_path: Path, name: str) -> None:
    import io

    file = tmp_path / "s.yaml"
    text = TINY + "expect:\n  - {id: e, metric: cost.npv_usd, max: 1, note: NAME, owner: NAME}\n"
    file.write_text(text.replace("NAME", json.dumps(name)), encoding="utf-8")
    from dcplan.answers.plan.answer import plan

    result = plan(str(file))
    html, md, stream = page(result), markdown(result), io.StringIO()
    write_text(result, stream, color=True)
    assert name not in html or not name.startswith("<")
    assert "onerror=alert" not in html.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    assert "<img" not in md
    assert re.search(r"(?<!\\)\]\(javascript", md) is None
    assert "@everyone" not in md
    assert "\x1b" not in html + md + stream.getvalue()
    for _, lines in csv_files(result):
        for line in lines:
            assert not line.startswith("=")
            assert ",=" not in line
