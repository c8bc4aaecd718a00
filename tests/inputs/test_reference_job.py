"""Speed on a reference job: the same as a run's, or refused with the cause."""

from __future__ import annotations

import pytest

from dcplan.answers.train.answer import train
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.reference_job import reference_tflops
from dcplan.inputs.training.speed import architecture
from dcplan.scenario.load import Question, load
from dcplan.scenario.schema import Reference

JOB = Reference(model="llama-3.1-70b", seq_len=8192)


@pytest.fixture(scope="module")
def question() -> Question:
    return load("starter")


def rate(question: Question, job: Reference, accelerator: str, unit: int = 8) -> float | str:
    shape = architecture(job.model, question)
    return reference_tflops(job, shape, accelerator, unit, 50.0, InputLog(question.catalog))


def test_it_is_the_speed_of_a_run_on_512_accelerators(question: Question) -> None:
    """8 sequences of 8,192 tokens for each of 512 H100 with 400 Gb/s = 50 GB/s each."""
    run = train(
        JOB.model,
        system="dgx-h100",
        accelerators=512,
        seq_len=8192,
        global_batch_tokens=8.0 * 8192 * 512,
    )
    found = run.metrics["train.tflops_per_accelerator"].value
    assert rate(question, JOB, "h100-sxm") == pytest.approx(float(found or 0.0), rel=0.01)


def test_a_model_larger_than_all_memories_is_refused_with_the_count(question: Question) -> None:
    """671e9 weights at 16 bytes with gradients and optimizer are 10.7 TB; 512 x 16 GB are 8.2 TB.

    A unit of 600 accelerators is taken whole, and 600 x 16 GB = 9.6 TB are still too few.
    """
    job = Reference(model="deepseek-v3", seq_len=8192)
    words = "deepseek-v3 does not fit the memory of {} tpu-v5e"
    assert rate(question, job, "tpu-v5e") == words.format(512)
    assert rate(question, job, "tpu-v5e", unit=600) == words.format(600)


def test_an_unknown_precision_is_refused(question: Question) -> None:
    job = JOB.model_copy(update={"precision": "fp1"})
    assert rate(question, job, "h100-sxm") == "precision 'fp1' is not in the catalog"
