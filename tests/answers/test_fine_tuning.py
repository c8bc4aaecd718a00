"""`dcplan train --post-training` with fine-tuning: SFT, adapters, DPO, distillation, reward models."""

from __future__ import annotations

from typing import Any

import pytest

from dcplan.answers.train.answer import train
from dcplan.answers.train.request import TrainRequest
from dcplan.errors import InputError
from dcplan.result import Result

RUN: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "system": "dgx-h100",
    "accelerators": 8,
    "tokens": 1e9,
    "seq_len": 4096,
    "global_batch_tokens": 131072.0,
}


def tuned(text: str, **change: Any) -> Result:
    return train(TrainRequest(**(RUN | change), post_training=text))


def value(found: Result, key: str) -> float:
    number = found.metrics[f"train.{key}"].value
    assert isinstance(number, int | float)
    return float(number)


def parts(found: Result) -> dict[str, float]:
    return {row["part"]: row["time_s"] for row in found.tables["breakdown"].records()}


LAYOUT = "tp=1,mbs=2,zero=1,recompute=none"
LAYOUT3 = "tp=1,mbs=2,zero=3,recompute=none"


def test_sft_is_the_step_of_training_at_the_same_tokens() -> None:
    plain = train(TrainRequest(**RUN, layout=LAYOUT3))
    found = tuned("algorithm=sft", layout=LAYOUT3)
    assert value(found, "step_time_s") == pytest.approx(value(plain, "step_time_s"))
    assert value(found, "memory_gib") == pytest.approx(value(plain, "memory_gib"))
    assert value(found, "trained_params") == 8_030_261_248
    # 1e9 / 131,072 tokens, rounded up
    assert value(found, "fine_tuning_steps") == 7630


def test_lora_trains_the_published_number_without_optimizer_of_the_base() -> None:
    found = tuned("algorithm=lora,rank=16", layout=LAYOUT)
    assert value(found, "trained_params") == 41_943_040
    memory = {r["part"]: r["memory_gib"] for r in found.tables["memory"].records()}
    gib = 2.0**30
    # 2 bytes of base and adapters; 4-byte gradients and 12-byte state of the adapters over 8 ranks
    assert memory["weights"] == pytest.approx(2 * (8.030e9 + 41.9e6) / gib, rel=1e-3)
    assert memory["gradients"] == pytest.approx(4 * 41.94e6 / gib, rel=1e-2)
    assert memory["optimizer"] == pytest.approx(12 * 41.94e6 / 8 / gib, rel=1e-2)


def test_lora_has_no_weight_gradients_of_the_base() -> None:
    """Two of three products remain; the adapters add passes and kernels."""
    full = parts(tuned("algorithm=sft", layout=LAYOUT3))
    lora = parts(tuned("algorithm=lora", layout=LAYOUT))
    assert lora["gemm"] == pytest.approx(2 / 3 * full["gemm"], rel=0.05)
    assert lora["attention"] == pytest.approx(full["attention"])
    assert 0 < lora["adapters"] < 0.25 * sum(lora.values())


def test_qlora_of_70b_fits_one_accelerator_of_80_gb_and_lora_does_not() -> None:
    """0.516 bytes x 68.5 G + 2 bytes x 2.1 G of embedding and output layer: 37 GiB of weights."""
    change = {"model": "llama-3.1-70b", "accelerators": 1, "tokens": 1e7, "seq_len": 2048}
    change |= {"global_batch_tokens": 16384.0}
    found = tuned("algorithm=qlora", **change)
    assert found.status == "ok"
    memory = {r["part"]: r["memory_gib"] for r in found.tables["memory"].records()}
    adapters = 2 * 207e6
    weights = 0.5159 * (70.55e9 - 2.101e9) + 2 * 2.101e9 + adapters
    assert memory["weights"] == pytest.approx(weights / 2**30, rel=0.01)
    assert value(found, "memory_gib") < 80
    assert parts(found)["dequantize"] > 0
    plain = tuned("algorithm=lora", **change)
    assert plain.status == "does_not_fit"
    assert "140" in plain.headline


def test_base_bits_of_16_is_lora() -> None:
    same = [tuned(f"algorithm={text}", layout=LAYOUT) for text in ("qlora,base-bits=16", "lora")]
    assert value(same[0], "step_time_s") == value(same[1], "step_time_s")


def test_dpo_is_a_step_of_the_policy_and_a_forward_pass_of_the_reference() -> None:
    layout = "tp=1,mbs=1,zero=3,recompute=none"
    step = parts(tuned("algorithm=sft", layout=layout))
    dpo = parts(tuned("algorithm=dpo", layout=layout))
    # a third of the products, less of attention and of what only the backward pass has
    assert 0.27 < dpo.pop("reference") / sum(step.values()) < 1 / 3
    # the optimizer passes over the weights, and counts the reference among them
    assert dpo == pytest.approx(step, rel=0.07)
    assert {k: v for k, v in dpo.items() if k != "optimizer"} == pytest.approx(
        {k: v for k, v in step.items() if k != "optimizer"}
    )
    before = parts(tuned("algorithm=dpo,reference=precomputed", layout=layout))
    assert before == pytest.approx(step)


def test_the_reference_of_dpo_is_a_second_copy_unless_adapters_are_trained() -> None:
    layout = "tp=1,mbs=1,zero=1,recompute=full"

    def weights(text: str) -> float:
        rows = tuned(text, layout=layout).tables["memory"].records()
        return float({r["part"]: r["memory_gib"] for r in rows}["weights"])

    gib = 2.0**30
    assert weights("algorithm=dpo,rank=16") == pytest.approx(weights("algorithm=lora,rank=16"))
    assert weights("algorithm=dpo,reference=precomputed") == pytest.approx(
        2 * 8.03e9 / gib, rel=1e-3
    )
    assert weights("algorithm=dpo") == pytest.approx(4 * 8.03e9 / gib, rel=1e-3)


def test_padding_costs_time_and_packing_saves_it() -> None:
    """Samples of 1,024 in sequences of 4,096: three quarters are padding, four times the steps."""
    packed = tuned("algorithm=sft,mean-len=1024,length-cv=0", layout=LAYOUT3)
    padded = tuned("algorithm=sft,mean-len=1024,packed=false", layout=LAYOUT3)
    # 1e9 / 131,072 and 1e9 / 32,768, rounded up
    assert [value(x, "fine_tuning_steps") for x in (packed, padded)] == [7630, 30518]
    # attention of a packed sample meets a quarter of the keys
    assert parts(packed)["attention"] < 0.5 * parts(padded)["attention"]
    given = tuned("algorithm=sft,packed=false,padding-frac=0.75", layout=LAYOUT3)
    assert value(given, "fine_tuning_days") == pytest.approx(value(padded, "fine_tuning_days"))


def test_a_teacher_in_turn_adds_its_forward_pass() -> None:
    found = tuned("algorithm=distill,teacher=llama-3.1-70b", accelerators=16)
    wait = parts(found)["teacher"]
    student = value(found, "step_time_s") - wait
    # 70.6 G against 8.03 G parameters, one of three passes
    assert 0.5 * 70.6 / 8.03 / 3 < wait / student < 1.5 * 70.6 / 8.03 / 3


def test_a_pool_of_the_teacher_works_at_the_same_time() -> None:
    text = "algorithm=distill,teacher=llama-3.1-70b,teacher-accelerators=8"
    found = tuned(text, accelerators=16)
    few = tuned(f"{text},top-k=64", accelerators=16)
    assert value(found, "step_time_s") > value(few, "step_time_s")
    # all 128,256 logits of 131,072 tokens at 2 bytes, against 64 at 6
    sent = value(found, "step_time_s") - value(few, "step_time_s")
    rate = 131072 * (128_256 * 2 - 64 * 6) / sent
    assert 0.5 < rate / (8 * 50e9) < 1.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"post_training": "algorithm=sft,rank=8"}, "rank applies to lora"),
        ({"post_training": "algorithm=dpo,targets=q"}, "needs rank"),
        ({"post_training": "algorithm=lora,targets=q+z"}, "z is not a linear layer"),
        ({"post_training": "algorithm=lora,targets=mixer"}, "no linear layer of this model"),
        ({"post_training": "algorithm=lora,reference=precomputed"}, "reference applies to dpo"),
        ({"post_training": "algorithm=distill"}, "needs teacher"),
        ({"post_training": "algorithm=distill,teacher=gpt3-175b"}, "vocabulary"),
        ({"post_training": "algorithm=sft,packed=false"}, "needs mean-len"),
        ({"post_training": "algorithm=sft,mean-len=9000"}, "more than the sequence"),
        ({"post_training": "algorithm=sft,prompts=8"}, "prompts=8"),
        ({"post_training": "algorithm=lorra,rank=8"}, "expected one of grpo"),
        ({"post_training": "algorithm=dpo", "global_batch_tokens": 4096.0}, "needs pairs"),
        ({"tokens": None}, "--tokens is required"),
        ({"storage": "level=best"}, "--storage cannot be combined"),
    ],
)
def test_what_does_not_apply_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        train(TrainRequest(**(RUN | {"post_training": "algorithm=lora"} | change)))
    assert any(said in p.cause for p in error.value.problems)
