"""Every format of ``export`` for an answer of every cheap verb: a file, or a refusal with its cause."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result
from dcplan.specs.export import Target
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
