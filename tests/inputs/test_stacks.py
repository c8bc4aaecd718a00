"""Software stacks run on the accelerator families that their rows list, and on no other."""

from __future__ import annotations

import csv

import pytest

import dcplan
from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.locate import data_dir
from dcplan.catalog.releases import find_stack
from dcplan.catalog.schema import Accelerator, Family, Stack
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.inputs.training.stacks import default_stack, stack_refusal, stack_terms


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def _why(catalog: Catalog, accelerator: str, stack: str) -> str | None:
    row = catalog.get("accelerators", accelerator, Accelerator)
    return stack_refusal(catalog, row, catalog.get("stacks", stack, Stack))


def test_every_stack_names_known_families_and_their_source(catalog: Catalog) -> None:
    families = set(catalog.table("families", Family))
    for stack in catalog.table("stacks", Stack).values():
        assert stack.runs_on, stack.id
        assert set(stack.runs_on) <= families, stack.id
        assert stack.runs_on_source is not None, stack.id


def test_every_default_stack_runs_on_its_accelerator(catalog: Catalog) -> None:
    for row in catalog.table("accelerators", Accelerator).values():
        assert _why(catalog, row.id, default_stack(row)) is None, row.id


def test_every_measured_pair_is_allowed(catalog: Catalog) -> None:
    """A published run is proof that the stack runs there."""
    text = (data_dir("catalogs") / "runs" / "training_runs.csv").read_text(encoding="utf-8")
    pairs = {(r["accelerator_id"], r["stack"]) for r in csv.DictReader(text.splitlines())}
    for accelerator, stack in sorted(pairs):
        if stack and catalog.find("accelerators", accelerator, Accelerator):
            assert _why(catalog, accelerator, stack) is None, (accelerator, stack)


@pytest.mark.parametrize(
    ("accelerator", "stack", "others"),
    [
        ("h100-sxm", "neuronx", "megatron-core, automodel-fsdp"),
        ("h100-sxm", "primus-megatron", "megatron-core, automodel-fsdp"),
        ("tpu-v5p", "torchtitan", "jax-xla"),
        ("wse-3", "jax-xla", "cerebras-pytorch"),
        ("trainium2", "megatron-core", "neuronx, jax-xla"),
        ("mi300x", "automodel-fsdp", "primus-megatron, composer-fsdp"),
    ],
)
def test_a_stack_elsewhere_is_refused_with_those_that_run(
    catalog: Catalog, accelerator: str, stack: str, others: str
) -> None:
    why = _why(catalog, accelerator, stack)
    assert why is not None
    assert why.startswith(f"{stack} does not run on {accelerator}; stacks that do: {others}")
    # a plan takes the same text as the reason why a system is left out
    assert hardware(accelerator, "bf16", 0.0, InputLog(catalog), moe=False, stack=stack) == why


def test_train_refuses_with_a_code() -> None:
    with pytest.raises(InputError, match="neuronx does not run on h100-sxm") as refused:
        dcplan.train(
            "llama-3.1-8b", system="dgx-h100", accelerators=64, tokens=1e12, stack="neuronx"
        )
    assert refused.value.problems[0].code == "DC015"


def test_a_wafer_runs_the_compiler_of_its_maker(catalog: Catalog) -> None:
    """Cerebras Model Zoo and cerebras_pytorch; weights stream, so no time depends on the stack."""
    assert default_stack(catalog.get("accelerators", "wse-3", Accelerator)) == "cerebras-pytorch"


def test_every_stack_with_layouts_says_how_it_runs_experts(catalog: Catalog) -> None:
    """Without a dispatcher a mixture of experts would have no host time and the full rate of the network."""
    log = InputLog(catalog)
    for stack in catalog.table("stacks", Stack).values():
        if stack.id == "cerebras-pytorch":  # weights stream: no layout, no dispatcher
            continue
        for family in stack.runs_on:
            assert stack_terms(stack, family, log).dispatcher, (stack.id, family)


@pytest.mark.parametrize("release", ["2025-13", "2025-00", "2025-02-32", "1999-01", "9.9", "now"])
def test_a_date_that_is_none_or_before_the_stack_names_no_release(
    catalog: Catalog, release: str
) -> None:
    assert find_stack(catalog, f"torchtitan@{release}") is None
    assert find_stack(catalog, "torchtitan@2026-10") is not None
