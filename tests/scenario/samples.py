"""Helper of the scenario tests: a small good scenario and ways to load a changed one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dcplan.errors import InputError, Problem
from dcplan.provenance import Quantity
from dcplan.scenario.load import Question, load
from dcplan.scenario.series import expanded
from dcplan.scenario.tree import Tree

GOOD = """dcplan: 1
name: base
horizon: {start: 2027-Q1, quarters: 4}
finance: {discount_rate: 0.1}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 14
    halls:
      - {id: liquid, racks: 96, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-tower]}
      - {id: air, racks: 20, rack_kw_max: 40, it_mw: 1, cooling: [air-chiller]}
systems: [dgx-h200, gb200-nvl72]
fabrics: [ib-ndr-400]
workloads:
  training:
    - {id: job, model: llama-3.1-70b, tokens: 1e12, seq_len: 8192, global_batch_tokens: 8e6, precision: [bf16]}
"""


def written(folder: Path, text: str = GOOD, name: str = "s.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def asked(
    folder: Path, text: str = GOOD, *, sets: Sequence[str] = (), variant: str | None = None
) -> Question:
    return load(str(written(folder, text)), sets=sets, variant=variant)


def refused(
    folder: Path, text: str = GOOD, *, sets: Sequence[str] = (), variant: str | None = None
) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        asked(folder, text, sets=sets, variant=variant)
    return caught.value.problems


def spot(folder: Path, at: object) -> str:
    """A place without the temporary folder."""
    return str(at).removeprefix(f"{folder}/")


CHAT = """  inference:
    - id: chat
      tokens_per_s: {start: 2e5, growth_frac_per_quarter: 0.15}
      tokens_per_s_per_accelerator: {dgx-h200: 3000}
"""
TEXT = GOOD + CHAT
GROWTH = "{start: 2e5, growth_frac_per_quarter: 0.15}"
KEY = "workloads.inference.chat.tokens_per_s"


def chat(question: Question) -> list[Quantity]:
    return list(question.scenario.workloads.inference[0].tokens_per_s)


def values(question: Question) -> list[float]:
    return [q.value for q in chat(question)]


def utility(question: Question) -> list[float]:
    return [q.value for q in question.scenario.sites[0].utility_mw]


def with_series(text: str) -> str:
    return TEXT.replace(GROWTH, text)


def with_utility(text: str) -> str:
    return GOOD.replace("utility_mw: 14", f"utility_mw: {text}")


def grown(growth: dict[str, Any], quarters: int) -> list[float]:
    """The values of a growth over a horizon of some quarters."""
    horizon = {"start": "2027-Q1", "quarters": quarters}
    data = {"horizon": horizon, "sites": [{"utility_mw": growth}]}
    found, problems = expanded(data, Tree(data), lambda _: "")
    assert problems == []
    return [q.value for q in found["sites"][0]["utility_mw"]]
