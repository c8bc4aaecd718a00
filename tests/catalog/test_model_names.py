"""Names of models in the spellings of repositories and benchmark tables."""

from __future__ import annotations

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.model_names import model_of, normal_name
from dcplan.catalog.schema import Model


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Llama 3.1 405B", "llama-3.1-405b"),
        ("llama3_1-405b", "llama-3.1-405b"),
        ("llama3_1-70b-fp8_dyn", "llama-3.1-70b"),
        ("llama3_1-70b-fp8_trtllm", "llama-3.1-70b"),
        ("Llama-3.x-70B-Instruct", "llama-3.1-70b"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b"),
        ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
        ("meta-llama/Llama-2-70b-hf", "llama-2-70b"),
        ("llama2-70b-99.9", "llama-2-70b"),
        ("LLaMA 70B", "llama-2-70b"),
        ("huggyllama/llama-7b", "llama-7b"),
        ("CodeLlama-13b-hf", "codellama-13b"),
        ("nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b"),
        ("nvidia/DeepSeek-R1-NVFP4", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"),
        ("nvidia/DeepSeek-V3.1-NVFP4", "deepseek-v3"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507-FP8", "qwen3-235b-a22b"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder-480b-a35b"),
        ("Qwen/Qwen1.5-7B", "qwen1.5-7b"),
        ("Mistral 7B", "mistral-7b"),
        ("Mistral-7B-Instruct-v0.2", "mistral-7b-v0.2"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"),
        ("MiniMaxAI/MiniMax-M2.5", "minimax-m2"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("google/gemma-3-27b-it", "gemma-3-27b"),
        ("GPT-J 6B", "gpt-j-6b"),
        ("EleutherAI/gpt-j-6b", "gpt-j-6b"),
        ("Falcon 180B", "falcon-180b"),
        ("facebook/opt-6.7b", "opt-6.7b"),
        ("bigscience/bloom-7b1", "bloom-7b1"),
        ("BAAI/Aquila-7B", "aquila-7b"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama-3.1-70b"),
    ],
)
def test_a_spelling_finds_its_row(name: str, id: str) -> None:
    found = model_of(load(), name)
    assert found is not None
    assert found.id == id


@pytest.mark.parametrize(
    "name",
    # a pruned model has another shape; a number format is no model
    ["llama3_1-405b_pruned", "FP8", "", "llama-3.1-71b", "DeepSeek-R1-Distill-Qwen-1.5B"],
)
def test_another_shape_finds_none(name: str) -> None:
    assert model_of(load(), name) is None


def test_ids_and_aliases_have_different_normal_names() -> None:
    owner: dict[str, str] = {}
    for row in load().table("models", Model).values():
        for name in (row.id, *row.aliases):
            assert owner.setdefault(normal_name(name), row.id) == row.id, name
            found = model_of(load(), name)
            assert found is not None
            assert found.id == row.id
