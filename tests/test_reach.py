"""Every physics function serves a verb: what no verb reaches is deleted, or waits in `AWAITED`."""

from __future__ import annotations

import pytest

from tests.reach import faults, package, parsed

AWAITED = {
    "economics.rental.cover": "The finance verb covers a fleet with a mix of terms.",
    "economics.run_cost.accelerator_hours": (
        "The finance verb takes own accelerator-hours, or makes them from tokens at a known MFU."
    ),
    "llm.checkpoint.checkpoint_bytes": "The serve verb needs the memory of the weights.",
    "llm.checkpoint.tensor_params": "The serve verb counts the weights of each class.",
}
"""Public function of a physics room that no verb reaches yet -> what a coming verb needs it for.

The classes and private functions that it uses need no entry of their own.
"""


def test_a_verb_reaches_every_physics_function_that_is_not_awaited() -> None:
    assert faults(package(), AWAITED) == []


def test_a_reason_is_one_sentence() -> None:
    assert [name for name, why in AWAITED.items() if not why.endswith(".") or ". " in why] == []


ROOM = """
LIMIT = 1.0

class Cost:
    def total(self): return helper(self)
    def spare(self): return 0.0

def helper(cost): return LIMIT

def cost(usd): return Cost()

def lost(cost, helper): return cost + helper

def other(): return lost(1, 2)
"""
VERB = """
from dcplan.economics.room import cost

def verb(): return cost(1.0).total()
"""


@pytest.mark.parametrize(
    ("awaited", "said"),
    [
        (
            [],
            [
                "nothing that is used needs economics.room.Cost.spare: delete it",
                "no verb reaches the function economics.room.lost: delete it",
                "no verb reaches the function economics.room.other: delete it",
            ],
        ),
        (
            ["economics.room.lost", "economics.room.other"],
            ["nothing that is used needs economics.room.Cost.spare: delete it"],
        ),
        (
            ["economics.room.other", "economics.room.helper", "economics.room.gone"],
            [
                "economics.room.gone is awaited, but it does not exist",
                "economics.room.helper is awaited, but a verb reaches it",
                "nothing that is used needs economics.room.Cost.spare: delete it",
                "no verb reaches the function economics.room.lost: delete it",
            ],
        ),
    ],
)
def test_what_is_dead_and_what_is_awaited_in_vain_is_named(
    awaited: list[str], said: list[str]
) -> None:
    """A parameter that has the name of a function does not reach it."""
    modules = {
        name: parsed(name, text)
        for name, text in (("dcplan.economics.room", ROOM), ("dcplan.answers.verb", VERB))
    }
    assert faults(modules, dict.fromkeys(awaited, "")) == said
