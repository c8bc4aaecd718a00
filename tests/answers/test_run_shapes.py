"""Figures of measured runs: what is read as a number."""

from __future__ import annotations

import pytest

from dcplan.answers.validation.runs.shapes import number


@pytest.mark.parametrize(
    ("column", "value"), [("step_time_s", "1e-308"), ("vpp", "1e308"), ("seq_len", "1e300")]
)
def test_figures_outside_all_reason_are_unsupported(column: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{column} .* is out of range"):
        number({column: value}, column)
