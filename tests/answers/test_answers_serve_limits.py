"""`dcplan serve` keeps its limits: every wait counts, every accelerator counts, every request fits."""

from __future__ import annotations

from typing import Any

import pytest

import dcplan
from dcplan.result import Result

MODEL = "llama-3.1-70b"
ASKED: dict[str, Any] = {"system": "dgx-h100", "isl": 2000.0, "osl": 500.0}
TTFT, TPOT = "time to first token (TTFT)", "time per output token (TPOT)"


def served(model: str = MODEL, **more: Any) -> Result:
    """A service of the usual requests with other flags."""
    return dcplan.serve(model, **{**ASKED, **more})


def latency(found: Result, column: str = "mean_ms") -> dict[str, float]:
    """One column of the latency table by row."""
    return {str(r["what"]): float(str(r[column])) for r in found.tables["latency"].records()}


def notes(found: Result) -> str:
    return "\n".join(w["message"] for w in found.warnings)


def test_the_wait_for_decode_is_a_part_of_the_time_to_first_token() -> None:
    """Two accelerators: the decode replica has few slots, so requests wait for them."""
    found = served(disaggregated=True, accelerators=2)
    assert found.value("serve.ttft_ms_p90") <= 2000.0
    rows = latency(found)
    total = rows.pop(TTFT)
    rows.pop(TPOT)
    assert rows["queue of decode: slot, KV cache"] > 0.0
    # the mean of a sum is the sum of the means, exactly
    assert sum(rows.values()) == pytest.approx(total, rel=1e-9)
    pool = found.tables["pools"].records()[-1]
    # a queue whose mean is finite in practice: below its stable rate
    assert float(str(pool["requests_per_s"])) < 0.95 * float(str(pool["stable_requests_per_s"]))


def test_a_looser_limit_of_the_output_token_never_needs_more_accelerators_in_two_pools() -> None:
    counts = [
        served(disaggregated=True, rate=20.0, tpot_ms=float(limit)).value("serve.accelerators")
        for limit in (50, 500, 1000, 1900)
    ]
    assert counts == sorted(counts, reverse=True)
