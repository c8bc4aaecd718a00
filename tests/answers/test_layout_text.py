"""A layout as typed: every rule with its words, all problems at once, and a found layout reads
back as itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.answers.train.layouts.parser import NEXT, TypedLayout, read_layout
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.llm.config import from_config
from dcplan.llm.tables import RECOMPUTE, SCHEDULES
from dcplan.training.estimate import case_of, layout_of
from dcplan.training.grid import KEYS, Axes, Case
from dcplan.training.search import Found, search

RANKS = 1024
SEQUENCES = 1024


@cache
def case(
    model: str = "llama-3.1-70b", stack: str = "megatron-core", sequences: int = SEQUENCES
) -> Case:
    """Llama 3.1 70B has 80 layers and 64 heads; a sequence here is 8,192 tokens."""
    catalog = load()
    shape = from_config(catalog.get("models", model, Model).config)
    spec = hardware(
        "h100-sxm", "bf16", 50.0, InputLog(catalog), moe=shape.moe_layers > 0, stack=stack
    )
    assert not isinstance(spec, str)
    return case_of(shape, 8192, sequences * 8192, spec)


def causes(text: str, of: Case | None = None, ranks: int = RANKS) -> list[str]:
    """What the refusal of a text says."""
    with pytest.raises(InputError) as refused:
        read_layout(text, of or case(), ranks)
    assert {str(p.place) for p in refused.value.problems} == {"--layout"}
    return [p.cause for p in refused.value.problems]


def value(typed: TypedLayout, key: str) -> float:
    """One column of the one layout."""
    assert typed.columns[key].shape == (1,)
    return float(typed.columns[key][0])


def test_every_key_is_read() -> None:
    text = (
        "tp=4, pp=4, vpp=5, dp=32, cp=2, ep=1, etp=1, mbs=2, recompute=selective, zero=2, "
        "offload=0.5, sp=0"
    )
    typed = read_layout(text, case(), RANKS)
    found = {k: value(typed, k) for k in KEYS}
    assert found == {
        "tp": 4,
        "pp": 4,
        "vpp": 5,
        "dp": 32,
        "cp": 2,
        "ep": 1,
        "etp": 1,
        "micro_batch": 2,
        "recompute": RECOMPUTE.index("selective"),
        "zero": 2,
        "schedule": SCHEDULES.index("1f1b"),
        "offload": 0.5,
    }
    assert not typed.case.stack.sequence_parallel
    assert case().stack.sequence_parallel  # the catalog's own stack is left alone


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("", "tp", 1),
        ("", "micro_batch", 1),
        ("", "vpp", 1),
        ("", "dp", RANKS),  # what is left of the count
        ("tp=4,pp=2,cp=2", "dp", RANKS / 16),
        ("pp=4,schedule=zero-bubble", "schedule", SCHEDULES.index("zero-bubble")),
        ("recompute=full", "recompute", RECOMPUTE.index("full")),
        ("zero=0", "zero", 0),
        ("offload=0", "offload", 0),
        ("tp=8.0", "tp", 8),
        (" tp = 8 , , ", "tp", 8),
    ],
)
def test_what_is_left_out_is_one_or_what_the_count_leaves(
    text: str, key: str, expected: float
) -> None:
    assert value(read_layout(text, case(), RANKS), key) == expected


@pytest.mark.parametrize(
    ("stack", "zero", "mode"), [("composer-fsdp", 3, "none"), ("jax-xla", 3, "selective")]
)
def test_what_is_left_out_is_the_usual_of_the_stack(stack: str, zero: int, mode: str) -> None:
    typed = read_layout("", case(stack=stack), RANKS)
    assert (value(typed, "zero"), RECOMPUTE[int(value(typed, "recompute"))]) == (zero, mode)
    assert typed.case.stack.sequence_parallel == case(stack=stack).stack.sequence_parallel


def test_the_group_that_shares_a_copy_may_be_given() -> None:
    assert value(read_layout("tp=4,zero=3,shard=32", case(), RANKS), "shard") == 32


def test_sequence_parallel_may_be_switched_on() -> None:
    assert not case(stack="megatron-2021").stack.sequence_parallel
    assert read_layout("sp=1", case(stack="megatron-2021"), RANKS).case.stack.sequence_parallel


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tp", "'tp': expected key=value with tp, pp, vpp, dp"),
        ("tpp=8", "'tpp=8': expected key=value"),
        ("recompute=ful", "'recompute=ful': expected one of none, selective, full"),
        ("schedule=gpipe", "'schedule=gpipe': expected one of 1f1b, zero-bubble, dualpipe"),
        ("tp=two", "'tp=two': expected an integer of at least 1"),
        ("pp=0", "'pp=0': expected an integer of at least 1"),
        ("dp=-8", "'dp=-8': expected an integer of at least 1"),
        ("mbs=1.5", "'mbs=1.5': expected an integer of at least 1"),
        ("vpp=", "'vpp=': the value is missing"),
        ("zero=4", "'zero=4': expected 0 to 3"),
        ("zero=0.5", "'zero=0.5': expected 0 to 3"),
        ("sp=2", "'sp=2': expected 0 or 1"),
        ("sp=yes", "'sp=yes': expected 0 or 1"),
        ("shard=0", "'shard=0': expected an integer of at least 1"),
        ("offload=1.5", "'offload=1.5': expected a share of the activations from 0 to 1"),
        ("offload=nan", "'offload=nan': expected a share of the activations from 0 to 1"),
    ],
)
def test_a_pair_that_cannot_be_read_is_named_with_what_is_expected(text: str, words: str) -> None:
    (cause,) = causes(text)
    assert cause.startswith(words)


def test_a_number_without_end_is_no_count() -> None:
    for number in ("inf", "-inf", "nan", "1e400"):
        assert causes(f"tp={number}") == [f"'tp={number}': expected an integer of at least 1"]


@pytest.mark.parametrize(
    ("text", "near"),
    [("recompute=ful", "full"), ("recompue=full", "recompute"), ("schedule=dualpip", "dualpipe")],
)
def test_a_slip_of_the_pen_is_answered_with_the_word_that_was_meant(text: str, near: str) -> None:
    with pytest.raises(InputError, match=f'did you mean "{near}"'):
        read_layout(text, case(), RANKS)


def test_all_unreadable_pairs_are_said_at_once() -> None:
    assert len(causes("foo,pp=x,recompute=ful,zero=4,offload=2,sp=2,mbs=0,tp=8")) == 7


@pytest.mark.parametrize(
    ("text", "ranks", "cause"),
    [
        ("tp=4,pp=4,dp=3", RANKS, "tp x pp x cp x dp = 48 does not equal the 1,024 ranks"),
        (
            "tp=8,pp=80",
            RANKS,
            "tp x pp x cp x dp = 640 does not equal the 1,024 ranks",
        ),  # dp left out: 1, still no fit
        ("tp=128", RANKS, "tp 128 does not divide the 64 attention heads"),
        ("tp=3", 768, "tp 3 does not divide the 64 attention heads"),
        ("pp=1,vpp=2", RANKS, "vpp 2 needs a pipeline, but pp is 1"),
        ("pp=16,vpp=8", RANKS, "pp x vpp = 128 is more than the 80 layers"),
        ("cp=3", 768, "cp 3 does not divide the sequence of 8192 tokens"),
        ("ep=2", RANKS, "ep is 2, but the model has no experts"),
        ("mbs=2", RANKS, "the global batch of 1024 sequences is below dp x mbs = 2048 sequences"),
        ("tp=4,shard=100", RANKS, "shard 100 does not divide dp x cp = 256"),
        ("schedule=dualpipe", RANKS, "schedule dualpipe needs pp above 1 and vpp 1"),
        (
            "pp=4,vpp=2,schedule=zero-bubble",
            RANKS,
            "schedule zero-bubble needs pp above 1 and vpp 1",
        ),
    ],
)
def test_each_broken_rule_is_said_alone(text: str, ranks: int, cause: str) -> None:
    assert causes(text, ranks=ranks) == [cause]


def test_more_stages_than_layers_is_said() -> None:
    assert "pp 128 is more than the 80 layers" in causes("pp=128")


@pytest.mark.parametrize(
    ("text", "ranks", "cause"),
    [
        ("ep=16", RANKS, "ep 16 does not divide the 8 experts"),  # Mixtral 8x22B
        ("pp=4,ep=8", 32 // 2, "ep x etp = 8 does not divide the 4 ranks of a stage"),
        ("tp=4,pp=4,ep=8,etp=4", 64, "ep x etp = 32 does not divide the 16 ranks of a stage"),
    ],
)
def test_experts_are_cut_evenly_within_a_stage(text: str, ranks: int, cause: str) -> None:
    assert causes(text, case("mixtral-8x22b"), ranks) == [cause]


def test_all_broken_rules_are_said_at_once_with_the_next_step() -> None:
    text = "tp=7,pp=99,vpp=2,cp=3,ep=2,dp=2,mbs=4000,schedule=dualpipe"
    with pytest.raises(InputError) as refused:
        read_layout(text, case(), RANKS)
    problems = refused.value.problems
    assert {(p.code, p.help) for p in problems} == {("DC052", NEXT)}
    said = "\n".join(p.cause for p in problems)
    for words in (
        "does not equal the 1,024 ranks",
        "tp 7 does not divide",
        "pp 99 is more",
        "pp x vpp = 198",
        "cp 3 does not divide",
        "ep is 2, but the model has no experts",
        "below dp x mbs = 8000",
        "schedule dualpipe needs",
    ):
        assert words in said


@cache
def searched(model: str, ranks: int) -> Found:
    """Many fitting layouts of a count: the fastest 400 and the frontier of time and memory."""
    axes = Axes(recompute=(0, 1, 2), zero=(1, 3), schedule=(0, 1, 2))
    return search(case(model, sequences=512), ranks, axes=axes, keep=400)


def as_text(found: Found, i: int) -> str:
    """A found layout as `--layout` takes it."""
    return ",".join(f"{k}={v}" for k, v in layout_of(found, i).items())


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_layout_the_search_found_reads_back_as_itself(data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(["llama-3.1-70b", "llama-3.1-8b", "mixtral-8x22b"]))
    ranks = data.draw(st.sampled_from([64, 96, 320]))
    found = searched(model, ranks)
    full = np.flatnonzero(
        found.layouts["tp"] * found.layouts["pp"] * found.layouts["cp"] * found.layouts["dp"]
        == ranks
    )
    i = int(data.draw(st.sampled_from(full.tolist())))
    typed = read_layout(as_text(found, i), case(model, sequences=512), ranks)
    assert {k: value(typed, k) for k in KEYS} == {k: float(found.layouts[k][i]) for k in KEYS}


@given(
    keep=st.sets(st.sampled_from(["tp", "pp", "vpp", "cp", "mbs", "recompute"])), order=st.randoms()
)
@settings(max_examples=50, deadline=None)
def test_the_order_of_the_pairs_does_not_matter(keep: set[str], order: object) -> None:
    full = {"tp": "4", "pp": "4", "vpp": "5", "cp": "2", "mbs": "1", "recompute": "full"}
    pairs = [f"{k}={full[k]}" for k in sorted(keep - ({"vpp"} if "pp" not in keep else set()))]
    plain = read_layout(",".join(pairs), case(), RANKS)
    order.shuffle(pairs)  # type: ignore[attr-defined]
    mixed = read_layout(",".join(pairs), case(), RANKS)
    assert plain.columns == mixed.columns


def test_an_offloaded_layout_reads_back_as_itself() -> None:
    gb200 = hardware("gb200", "bf16", 50.0, InputLog(load()), moe=False)
    assert not isinstance(gb200, str)
    shape = from_config(load().get("models", "llama-3.1-405b", Model).config)
    of = case_of(shape, 8192, 512 * 8192, gb200)
    found = search(of, 64, keep=50)
    off = np.flatnonzero(found.layouts["offload"] > 0)
    assert off.size
    i = int(off[0])
    typed = read_layout(as_text(found, i), of, 64)
    assert {k: value(typed, k) for k in KEYS} == {k: float(found.layouts[k][i]) for k in KEYS}


def test_a_found_layout_that_leaves_ranks_idle_reads_back_as_itself() -> None:
    # 1,000 ranks: 488 sequences of 8,192 tokens cannot keep 500 replicas busy, so some ranks stay
    # idle
    found = search(case(sequences=488), 1000, keep=200)
    used = found.layouts["tp"] * found.layouts["pp"] * found.layouts["cp"] * found.layouts["dp"]
    assert (used <= 1000).all()
    idle = np.flatnonzero(used < 1000)
    assert idle.size
    i = int(idle[0])
    typed = read_layout(as_text(found, i), case(sequences=488), 1000)
    assert value(typed, "dp") == found.layouts["dp"][i]
