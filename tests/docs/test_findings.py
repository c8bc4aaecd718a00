"""Every test that the page of findings names is there, and every finding has one."""

from __future__ import annotations

import re
from pathlib import Path

from dcplan.catalog.loader import load

ROW = re.compile(r"^\| ([NF]\d+)?.* \| `(tests/[\w/]+\.py): (\w+)` \|$", re.MULTILINE)
WRONG_OR_BLOCKS = {f"N{i}" for i in range(1, 8)} | {f"F{i}" for i in (*range(1, 10), 11, 12)}
"""Findings that the notes of both engineers mark as wrong or as without an answer."""


def test_every_finding_has_a_test_that_exists(repo: Path) -> None:
    page = (repo / "docs" / "validation" / "engineers.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    assert {name for name, _, _ in rows} >= WRONG_OR_BLOCKS
    for _, file, test in rows:
        assert f"def {test}(" in (repo / file).read_text(encoding="utf-8"), (file, test)


def test_distribution_units_have_one_price() -> None:
    """F9: 49 and 425 USD/kW stood in two rows."""
    found = [
        (kind, key)
        for kind in ("facility", "power")
        for key in load().rows[kind]
        if "cdu" in key and "usd" in key
    ]
    assert found == [("power", "cooling-cdu-usd-per-kw")]
