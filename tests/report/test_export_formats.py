"""Every format of ``export`` for an answer of every cheap verb: a file, or a refusal with its cause."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result
from dcplan.specs.export import OF_A_PLAN as OF_PLANS
from dcplan.specs.export import Target
from tests.answers.one_hall import one_hall
from tests.plans import planned

MADE: dict[str, Callable[[], Result]] = {
    "plan": lambda: planned("fleet-renewal"),
    "facility": lambda: dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20),
    "fabric": lambda: dcplan.fabric(nodes=8, system="dgx-h100", fabric="ib-ndr-400"),
    "train": lambda: dcplan.train(
        "llama-3.1-70b", system="dgx-h100", accelerators=1024, global_batch_tokens=4e6
    ),
    "check": lambda: dcplan.check("fleet-renewal"),
    "catalog": lambda: dcplan.catalog("systems"),
    "diff": lambda: dcplan.diff(planned("fleet-renewal"), planned("fleet-renewal")),
}
OF_A_PLAN = {Target.FOCUS, Target.PURCHASES, Target.MEMO}


@pytest.fixture(scope="module", params=MADE)
def answer(request: pytest.FixtureRequest) -> Result:
    return MADE[request.param]()


@pytest.mark.parametrize("to", Target)
def test_a_format_is_written_or_refused(answer: Result, to: Target, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if (to in OF_A_PLAN and answer.verb != "plan") or (
        to is Target.NETBOX and answer.verb != "fabric"
    ):
        with pytest.raises(dcplan.InputError, match="DC050"):
            dcplan.export(answer, path, to=to)
        assert not path.exists()
        return
    dcplan.export(answer, path, to=to)
    files = list(path.iterdir()) if path.is_dir() else [path]
    assert files
    assert all(x.stat().st_size for x in files)


def test_an_id_longer_than_a_defined_name_may_be_has_a_workbook_without_a_warning(
    tmp_path: Path,
) -> None:
    """Spreadsheets accept 255 characters; the input keeps its cell and loses only its name."""
    file = tmp_path / "plan.json"
    file.write_text(planned("fleet-renewal").to_json().replace("frankfurt", "x" * 240), "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = dcplan.export(dcplan.read(file), tmp_path / "plan.xlsx")
    assert path.stat().st_size


@pytest.fixture(scope="module")
def infeasible(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """1e6 hours are 456 accelerators for a quarter, in a hall of 0.5 MW: 49 nodes of 10.2 kW, 392."""
    return dcplan.plan(one_hall(tmp_path_factory.mktemp("infeasible"), 1_000_000))


@pytest.mark.parametrize("to", sorted(OF_PLANS))
def test_an_infeasible_plan_is_refused_with_the_next_step(
    infeasible: Result, to: Target, tmp_path: Path
) -> None:
    answer = infeasible
    with pytest.raises(dcplan.InputError) as caught:
        dcplan.export(answer, tmp_path / "x", to=to)
    (problem,) = caught.value.problems
    assert " is infeasible, so there is nothing to write" in problem.cause
    assert problem.help is not None
    assert "dcplan explain " in problem.help
    remedies = answer.tables["remedies"].records()
    assert remedies
    assert str(remedies[0]["options"]) in problem.help
    assert not (tmp_path / "x").exists()
