"""What the ledger says of each input's origin: the reader of ``dcplan check -v`` trusts it."""

from __future__ import annotations

from dcplan.inputs.log import Input
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load

RESTART = "reliability.restart-h"
LEAD = "systems.gb200-nvl72.lead_quarters"
WAITS = "workloads.training.flagship.may_wait"
CONFIDENCE = "jobs.flagship.deadline_confidence"


def rows(*sets: str) -> dict[str, Input]:
    return build(load("train-405b-in-90-days", sets=sets)).log.rows


def test_the_users_own_parameter_is_an_input_and_not_a_default() -> None:
    own = rows("prices.restart-h.value=0.2")[RESTART]
    assert (own.value, own.status) == (0.2, "input")
    assert rows()[RESTART].status == "estimate"


def test_whether_a_run_may_wait_is_an_input() -> None:
    """`diff` of two saved answers compares these rows; a run with a deadline may always wait."""
    given, default = rows("workloads.training.flagship.may_wait=true")[WAITS], rows()[WAITS]
    assert (given.value, given.status) == ("true", "input")
    assert (default.value, default.status) == ("false", "default")
    assert WAITS not in rows("workloads.training.flagship.deadline=2027-Q4")


def test_defaults_of_the_format_are_listed_as_defaults() -> None:
    # the format: lead_quarters 1 and deadline_confidence 0.8 where nothing is given
    found = rows()
    assert (found[LEAD].value, found[LEAD].status) == (1, "default")
    assert (found[CONFIDENCE].value, found[CONFIDENCE].status) == (0.8, "default")
