"""`dcplan train`: flags that rule out each other, and what a request is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.calibrate.own_runs import origin_of
from dcplan.answers.reference.names import documented
from dcplan.answers.train.answer import train
from dcplan.answers.train.key_values import read_pairs
from dcplan.answers.train.request import (
    SETTINGS_OF_FINE_TUNING,
    SETTINGS_OF_POST_TRAINING,
    SETTINGS_OF_RECOVERY,
    SETTINGS_OF_STORAGE,
    TrainRequest,
)
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.releases import unknown_stack
from dcplan.catalog.schema import Stack
from dcplan.errors import InputError, Place
from dcplan.scenario.load import load as load_question
from dcplan.scenario.schema.fine_tuning import FineTuning
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.scenario.schema.reliability import Reliability
from dcplan.scenario.schema.work import Storage
from dcplan.specs.request import made
from dcplan.specs.train.layouts import BREAKDOWN, LAYOUTS

SMALL: dict[str, Any] = {"system": "dgx-h100", "accelerators": 256, "tokens": 1e12}


def causes(**given: Any) -> list[str]:
    """What the refusal of a request for an 8B model says."""
    with pytest.raises(InputError) as refused:
        train("llama-3.1-8b", **given)
    return [p.cause for p in refused.value.problems]


@pytest.mark.parametrize(
    ("given", "precisions"),
    [
        ({}, ("bf16",)),
        ({"precision": None}, ("bf16",)),
        ({"precision": "bf16, fp8"}, ("bf16", "fp8")),
        ({"precision": ["bf16,fp8", "fp16"]}, ("bf16", "fp8", "fp16")),
        ({"precision": ()}, ()),
    ],
)
def test_precisions_are_a_list_or_one_text_with_commas(
    given: dict[str, Any], precisions: tuple[str, ...]
) -> None:
    assert made(TrainRequest, {"model": "m", **given}, "train").precision == precisions


def test_a_path_is_taken_as_its_text() -> None:
    assert made(TrainRequest, {"model": Path("a/b.yaml")}, "train").model == str(Path("a/b.yaml"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"local_steps": 5}, "need --wan-sites of at least 2"),
        ({"wan_overlap": True}, "need --wan-sites of at least 2"),
        ({"wan_sites": 2}, "--wan-gbps is needed"),
        ({"sync_bytes_per_param": 1.0}, "--sync-bytes-per-param needs --halls or --wan-sites"),
        ({"wan_sites": 3, "wan_gbps": 1.0}, "256 accelerators do not divide among 3 sites"),
        (
            {"wan_sites": 256, "wan_gbps": 1.0, "global_batch_tokens": 8192 * 255.0},
            "each site needs at least one sequence",
        ),
        ({"start": "2026"}, "expected a quarter"),
        ({"tokens": 10.0}, "less than one step of 4,000,000"),
        ({"global_batch_tokens": 100.0}, "less than one sequence of 8192"),
        ({"sync_bytes_per_param": 100.0}, "a number from 0.01 to 64 is needed"),
        ({"phases": ["tokens=1e12"]}, "missing seq-len"),
        ({"phases": ["tokens=1e12,seqlen=8192"]}, "expected key=value with tokens, seq-len"),
        ({"phases": ["tokens=x,seq-len=8192"]}, "'tokens=x': expected a number of at least 1"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(given: dict[str, Any], words: str) -> None:
    assert words in " | ".join(causes(**{**SMALL, **given}))


def test_flags_without_effect_on_a_scenario_are_refused_at_once() -> None:
    with pytest.raises(InputError) as refused:
        train("starter", system="dgx-h100", list_count=3, wan_overlap=True)
    found = [(p.code, str(p.place)) for p in refused.value.problems]
    assert found == [("DC015", "--list"), ("DC015", "--system"), ("DC015", "--wan-overlap")]


def test_a_search_for_the_cluster_refuses_what_it_decides_itself() -> None:
    given = {**SMALL, "max_it_mw": 3.0, "layout": "tp=1", "phases": ["tokens=1e12,seq-len=8192"]}
    found = causes(**given, wan_sites=2, wan_gbps=100.0)
    flags = [
        c.split()[0] for c in found if "cannot be combined with --deadline-days, --max-it-mw" in c
    ]
    assert flags == ["--accelerators", "--layout", "--phase", "--wan-sites"]


def test_more_local_steps_than_the_run_has_are_refused() -> None:
    """1e12 tokens in steps of 4e6 are 250,000 steps."""
    given = {**SMALL, "wan_sites": 2, "wan_gbps": 100.0}
    [found] = causes(**given, local_steps=250_001)
    assert "the run has 250,000 steps" in found


def test_two_sites_wait_for_their_exchange_once_in_fifty_steps() -> None:
    """8.03 G parameters of 4 bytes, a ring of two at 100 Gb/s, 0.05 s each way: 2 x (0.05 + 32.1
    GB / 2 / 12.5 GB/s) = 2.67 s, a fiftieth a step; at 1 byte 0.74 s."""
    given = {**SMALL, "wan_sites": 2, "wan_gbps": 100.0, "local_steps": 50}
    params = 8.030_261_248e9

    def waited_s(value_bytes: float, *, overlap: bool = False) -> float:
        found = train(
            "llama-3.1-8b",
            **given,
            sync_bytes_per_param=value_bytes,
            wan_overlap=overlap,
            list_count=1,
        )
        rows = LAYOUTS.rows(found.tables[LAYOUTS.name])
        own = next(row.step_time_s for row in rows if row.chosen)
        parts = {r.part: r.time_s for r in BREAKDOWN.rows(found.tables[BREAKDOWN.name])}
        assert found.value("train.step_time_s") == pytest.approx(own + parts.get("wide_area", 0.0))
        return parts.get("wide_area", 0.0)

    for value_bytes in (4.0, 1.0):
        exchange_s = 2.0 * (0.05 + params * value_bytes / 2.0 / 12.5e9)
        assert waited_s(value_bytes) == pytest.approx(exchange_s / 50.0, rel=1e-6)
    # fifty steps of 1.5 s hide an exchange of 2.7 s
    assert waited_s(4.0, overlap=True) == 0.0


@pytest.mark.parametrize(
    ("text", "model", "unused"),
    [
        (SETTINGS_OF_RECOVERY, Reliability, {"pool_spares"}),  # of several runs: only in a plan
        (SETTINGS_OF_STORAGE, Storage, {"tiers", "hot_frac"}),
        (SETTINGS_OF_POST_TRAINING, PostTraining, set()),
        (SETTINGS_OF_FINE_TUNING, FineTuning, set()),
    ],
)
def test_the_help_names_every_setting(text: str, model: Any, unused: set[str]) -> None:
    named = {pair.partition("=")[0].replace("-", "_") for pair in text.split(", ")}
    assert named == set(model.model_fields) - unused


def test_a_pair_is_named_twice_without_a_value_or_unknown() -> None:
    values, problems = read_pairs("tp=8,tp=4,pp=,zz=1", ("tp", "pp"), Place("--layout"))
    assert values == {"tp": "8"}
    assert [p.cause.split(":")[0] for p in problems] == ["'tp=4'", "'pp='", "'zz=1'"]


def test_all_missing_arguments_are_named_at_once() -> None:
    with pytest.raises(InputError) as error:
        train("qwen3-8b")
    assert [p.cause.split()[0] for p in error.value.problems] == ["--system", "--accelerators"]
    assert [p.help for p in error.value.problems] == ["dcplan catalog list systems", ""]


@pytest.mark.parametrize(
    ("part", "model", "root"),
    [("reliability", Reliability, 1), ("fine_tuning", FineTuning, 0), ("storage", Storage, 1)],
)
def test_explain_lists_the_keys_of_a_part(part: str, model: Any, root: int) -> None:
    rows = documented(part).frame("fields")
    names = [part] * root + [f"{part}.{name}" for name in model.model_fields]
    assert sorted(rows["field"]) == sorted(names)
    assert all(rows["meaning"])


def _with_stack(way: str, stack: str) -> None:
    """Name a stack in each of the places that take one."""
    if way == "train":
        train("llama-3.1-8b", **SMALL, stack=stack)
    elif way == "plan":
        load_question("train-405b-in-90-days", sets=[f"workloads.training.flagship.stack={stack}"])
    else:
        origin_of(load_catalog(), [{"stack": "our-fork"}], Path("runs.csv"), like=stack)


@pytest.mark.parametrize(
    ("stack", "cause", "hint"),
    [
        ("megatron-core@2021-01", "no release '2021-01' of megatron-core, which exists since", ""),
        ("megatron-core@26.80", "no release '26.80' of megatron-core", 'did you mean "26.08"?'),
        ("torchtitn", "unknown stack 'torchtitn'", 'did you mean "torchtitan"?'),
    ],
)
@pytest.mark.parametrize("way", ["train", "calibrate", "plan"])
def test_a_release_is_refused_with_those_that_exist(
    way: str, stack: str, cause: str, hint: str
) -> None:
    with pytest.raises(InputError) as refused:
        _with_stack(way, stack)
    [problem] = [p for p in refused.value.problems if p.code == "DC010"]
    assert problem.cause.startswith(cause)
    assert problem.hint == hint
    assert ("26.08" in problem.help) == stack.startswith("megatron")


def test_a_stack_without_releases_says_so() -> None:
    catalog = load_catalog()
    plain = next(s for s in catalog.table("stacks", Stack).values() if not s.releases)
    problem = unknown_stack(catalog, f"{plain.id}@9.9")
    assert problem.cause == f"{plain.id} has no releases"


def test_a_sequence_beyond_the_context_and_a_start_before_the_part_are_notes() -> None:
    asked = {"system": "dgx-h100", "accelerators": 8, "tokens": 1e10}
    said = [w["message"] for w in train("gpt-2-1.5b", **asked, start="2020-Q1").warnings]
    assert any("longer than the context of the model, 1,024 tokens" in text for text in said)
    assert any("h100-sxm is available from 2022-Q4" in text for text in said)
    phases = ["tokens=9e9,seq-len=1024", "tokens=1e9,seq-len=2048"]
    late = train("gpt-2-1.5b", **asked, start="2024-Q1", phases=tuple(phases)).warnings
    assert any("sequences of 2,048 tokens are longer" in w["message"] for w in late)
    quiet = train("gpt-2-1.5b", **asked, start="2024-Q1", seq_len=1024).warnings
    assert not [w for w in quiet if "available from" in w["message"] or "context" in w["message"]]
