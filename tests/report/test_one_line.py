"""One-line diagram of a hall: every rating of the schedule, its sides, and what is not sized."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.errors import InputError
from dcplan.report.svg.one_line import one_line_svg
from tests.cli.conftest import spawn

HALL: dict[str, Any] = {
    "site": "us-phoenix",
    "cooling": "direct-liquid-dry-cooler",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}


def texts(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - own drawing
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_line_of_the_schedule_is_in_the_drawing() -> None:
    found = facility(**HALL)
    words = texts(one_line_svg(found))
    for row in found.frame("electrical_schedule").to_dict("records"):
        if row["count"] != row["count"]:
            assert any(row["not_sized"] in w and row["tag"] in w for w in words), row["tag"]
            continue
        rating = next(
            row[key]
            for key in ("rating_kva", "rating_amps", "rating_kw")
            if row[key] == row[key] and row[key] is not None
        )
        label = f"{row['tag']}: {row['count']:,.0f} x {rating:,.0f} "
        at = next(i for i, w in enumerate(words) if w.startswith(label))
        assert f"{row['load_frac'] * 100:.0f} % load" in words[at + 1]


@pytest.mark.parametrize(
    ("rule", "sides", "note"),
    [
        ("n", 0, "compute: one side."),
        (
            "n+1",
            1,
            "compute: sides A and B of a row come from two of the 19 blocks; any one may fail.",
        ),
        ("2n", 1, "compute: 18 blocks on side A and 18 on side B; each carries the load."),
    ],
)
def test_sides(rule: str, sides: int, note: str) -> None:
    words = texts(one_line_svg(facility(**HALL, redundancy=rule, other_redundancy="n")))
    assert (words.count("A"), words.count("B")) == (sides, sides)
    assert note in words


def test_sources_on_the_main_bus() -> None:
    """The battery by duty and the sources on site stand next to the utility."""
    asked = HALL | {"onsite": ["reciprocating-engine-gas=10"], "bridge_s": 60.0}
    words = texts(one_line_svg(facility(**asked)))
    assert any(w.startswith("reciprocating-engine-gas: ") for w in words)
    assert any(w.startswith("battery by duty: 61.0 MW") for w in words)
    assert any(w.startswith("utility: ") for w in words)


def test_no_utility_without_grid_power() -> None:
    asked = HALL | {"onsite": ["reciprocating-engine-gas=60"], "utility_mw": 0.0}
    words = texts(one_line_svg(facility(**asked)))
    assert not any(w.startswith("utility: ") for w in words)


def test_a_hall_without_racks_has_its_power() -> None:
    plain = {"site": "us-phoenix", "cooling": "air-chiller", "it_mw": 20.0}
    words = texts(one_line_svg(facility(**plain)))
    assert words.count("racks") == 2
    assert "racks are known with --system only" in words


def test_a_comparison_has_no_diagram() -> None:
    with pytest.raises(InputError) as error:
        one_line_svg(facility(site="us-phoenix", compare=True))
    assert "no electrical schedule" in error.value.problems[0].cause


def test_the_flag_writes_the_file(tmp_path: Path) -> None:
    flags = "facility --site us-phoenix --cooling air-chiller --one-line one.svg -q"
    ran = spawn(*flags.split(), cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "racks" in texts((tmp_path / "one.svg").read_text(encoding="utf-8"))
