"""Requests that ``dcplan serve`` refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.answers.test_answers_serve import refused

WRONG: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({"model": "llama-3.1-70bb"}, ("DC010", 'did you mean "llama-3.1-70b"')),
    ({"system": "dgx-h10"}, ("DC010", 'did you mean "dgx-h100"')),
    ({"system": ()}, ("DC050", "--system is needed")),
    ({"engine": "vlm"}, ("DC010", 'did you mean "vllm"')),
    ({"engine": "vllm@new"}, ("DC010", "unknown release 'new' of vllm")),
    ({"engine": "trt-llm", "system": "mi300x-8"}, ("DC015", "does not run on mi300x", "vllm")),
    ({"precision": "fp9"}, ("DC050", 'did you mean "fp8"')),
    ({"layout": "tp=7"}, ("DC052", "does not divide the 64 attention heads")),
    ({"layout": "tp=64"}, ("DC052", "more than the 8 accelerators")),
    ({"layout": "tp=4,dp=2"}, ("DC052", "the model has none")),
    ({"layout": "tp=x"}, ("DC051", "'tp=x'")),
    ({"layout": ("tp=4", "tp=8")}, ("DC050", "--layout is given 2 times: give it once")),
    ({"layout": "tp=8", "accelerators": 4}, ("DC052", "-n is 4")),
    (
        {"model": "deepseek-v3", "layout": "tp=8,dp=3,ep=24"},
        ("DC052", "24 ranks do not divide the 256 experts"),
    ),
    ({"speculative": "tokens=3"}, ("DC051", "one of accept-frac and accepted")),
    ({"speculative": "tokens=3,accepted=5"}, ("DC051", "from 1 to 4")),
    ({"speculative": "tokens=0,accept-frac=2"}, ("DC051", "from 1 to 16", "from 0 to 1")),
    ({"isl": None}, ("DC050", "--isl is needed")),
    ({"rate": 1.0, "concurrency": 5}, ("DC050", "cannot be combined")),
    ({"rate": -1.0}, ("DC050", "-1.0")),
    ({"quantile": 1.0}, ("DC050", "from 0.5 to 0.99")),
    ({"prefix_hit_frac": 1.0}, ("DC050", "leaves no token to compute")),
    ({"disaggregated": True, "concurrency": 5}, ("DC050", "give --rate")),
    ({"model": "flux.1-dev"}, ("DC050", "--osl does not apply", "denoising steps")),
)


@pytest.mark.parametrize(("given", "said"), WRONG, ids=lambda x: str(x)[:60])
def test_a_wrong_request_is_refused_with_the_nearest_that_works(
    given: dict[str, Any], said: tuple[str, ...]
) -> None:
    text = "\n".join(refused(**given))
    assert [x for x in said if x not in text] == []


def test_all_problems_come_at_once() -> None:
    found = refused(engine="vlm", precision="fp9", system=("dgx-h10", "dgx-h100"), isl=None)
    assert len(found) == 4
