"""`dcplan explain NAME` and `explain FILE KEY` as commands; an error names the page of its code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Ran


def test_a_field_and_a_code(here: Callable[..., Ran], golden: Callable[[str, str], None]) -> None:
    names = ("sites.halls.it_mw", "DC014", "train.flagship.days")
    golden(
        "cli/explain-names.txt",
        "".join(f"$ dcplan explain {n}\n{here('explain', n).out}\n" for n in names),
    )


def test_a_value_of_a_scenario(
    here: Callable[..., Ran], golden: Callable[[str, str], None]
) -> None:
    ran = here("explain", "retrofit-air-hall", "sites.frankfurt.energy.usd_per_kwh", "-f", "csv")
    assert ran.code == 0
    assert ran.out.splitlines()[1].startswith(
        "sites.frankfurt.energy.usd_per_kwh,0.14,0.11,0.19,USD/kWh,input,"
    )


def test_an_unknown_name_is_wrong_input(here: Callable[..., Ran]) -> None:
    ran = here("explain", "finance.discunt_rate")
    assert ran.code == 2
    assert 'did you mean "finance.discount_rate"' in ran.err
    assert ran.err.endswith("1 error; more: dcplan explain DC002\n")


def test_a_saved_result_is_no_scenario(here: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text('{"verb": "plan", "metrics": {}}', "utf-8")
    ran = here("explain", str(file))
    assert ran.code == 2
    assert f"help: dcplan show {file}" in ran.err
