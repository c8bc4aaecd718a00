"""What the ledger says of each input's origin: the reader of ``dcplan check -v`` trusts it."""

from __future__ import annotations

from dcplan.inputs.log import Input
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load

RESTART = "reliability.restart-h"
LEAD = "systems.gb200-nvl72.lead_quarters"
CONFIDENCE = "jobs.flagship.deadline_confidence"


def rows(*sets: str) -> dict[str, Input]:
    return build(load("train-405b-in-90-days", sets=sets)).log.rows


def test_the_users_own_parameter_is_an_input_and_not_a_default() -> None:
    own = rows("prices.restart-h.value=0.2")[RESTART]
    assert (own.value, own.status) == (0.2, "input")
    assert rows()[RESTART].status == "estimate"


def test_defaults_of_the_format_are_listed_as_defaults() -> None:
    # the format: lead_quarters 1 and deadline_confidence 0.8 where nothing is given
    found = rows()
    assert (found[LEAD].value, found[LEAD].status) == (1, "default")
    assert (found[CONFIDENCE].value, found[CONFIDENCE].status) == (0.8, "default")
