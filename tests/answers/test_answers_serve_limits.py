"""`dcplan serve` keeps its limits: every wait counts, every accelerator counts, every request fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan.answers.serve import power
from dcplan.answers.serve.service.closed import fewest
from dcplan.errors import InputError
from dcplan.inputs.serving.sizing import power as sized_power
from dcplan.result import Result
from dcplan.serving.power import PLAIN

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


@pytest.mark.slow
def test_drafts_lower_the_floor_of_split_pools_too() -> None:
    """A step that makes 1.85 tokens may take 1.85 times the limit of the time per output token."""
    plain = served(disaggregated=True, accelerators=16, tpot_ms=1000.0)
    floor = min(r["tpot_floor_ms"] for r in plain.tables["serving_layouts"].records())
    found = served(
        disaggregated=True,
        accelerators=16,
        tpot_ms=0.95 * floor,
        speculative="tokens=1,accept-frac=0.85,draft=mtp",
    )
    assert found.value("serve.tpot_ms_p50") <= 0.95 * floor


def refused(model: str = MODEL, **more: Any) -> str:
    """Every cause of a refused request."""
    with pytest.raises(InputError) as caught:
        served(model, **more)
    return "\n".join(p.cause for p in caught.value.problems)


def cache_tokens() -> float:
    """Tokens that one accelerator with the whole model holds."""
    short = served(layout="tp=1")
    return short.value("serve.kv_tokens")


def test_a_replica_holds_the_longest_request_at_its_end() -> None:
    """The mean context of isl + osl / 2 would fit, and the end of the request does not."""
    held = cache_tokens()
    osl = 0.8 * held
    isl = 0.4 * held  # isl + osl / 2 = 0.8 of the cache, isl + osl = 1.2 of it
    said = refused(layout="tp=1", isl=isl, osl=osl, ttft_ms=1e6, tpot_ms=1e5)
    assert f"a request needs {isl + osl:,.0f}" in said
    assert "the cache holds" in said
    whole = served(isl=isl, osl=osl, ttft_ms=1e6, tpot_ms=1e5, accelerators=8)
    rows = {str(r["layout"]): str(r["why_not"]) for r in whole.tables["serving_layouts"].records()}
    assert "a request needs" in rows["tp1"]


def test_long_requests_of_a_trace_are_rejected_with_a_warning_or_refused(tmp_path: Path) -> None:
    held = cache_tokens()

    def trace(long: int) -> str:
        """100 requests, of which a number are longer than the cache."""
        file = tmp_path / f"{long}.csv"
        sizes = [2.0 * held if i < long else 1000.0 for i in range(100)]
        rows = [f"{i * 5.0},{int(n)},50" for i, n in enumerate(sizes)]
        file.write_text("\n".join(["arrival_s,input_tokens,output_tokens", *rows]) + "\n")
        return str(file)

    work: dict[str, Any] = {"isl": None, "osl": None, "layout": "tp=1", "ttft_ms": 30_000.0}
    found = served(trace=trace(2), **work)
    assert "2.00% of the requests are longer than the cache" in notes(found)
    assert found.tables["trace"].records()[0]["rejected"] == 2
    # 20 % of the requests are above the 10 % that may miss the limits
    assert "a request needs" in refused(trace=trace(20), **work)


RENTED, OWNED = "rented_usd_per_million_tokens", "owned_usd_per_million_tokens"


@pytest.mark.parametrize(
    ("systems", "rent", "column"),
    [
        (("dgx-h100", "gb200-nvl72"), None, OWNED),
        # an offer of a cloud has no owned cost
        (("dgx-h100", "aws-p5-48xlarge", "gb200-nvl72"), None, RENTED),
        (("dgx-h100", "dgx-b200"), 2.0, RENTED),
    ],
)
def test_systems_are_compared_on_one_basis(
    systems: tuple[str, ...], rent: float | None, column: str
) -> None:
    found = served(system=systems, usd_per_accelerator_hour=rent)
    rows = found.tables["serving_systems"].records()
    costs = [float(str(r[column])) for r in rows]
    assert costs == sorted(costs)
    assert found.value("serve.usd_per_million_tokens") == pytest.approx(costs[0])
    basis = column.split("_", maxsplit=1)[0]
    assert f"{costs[1] / costs[0]:.2f} times as much" in found.headline
    assert f"(both {basis})" in found.headline


@pytest.mark.parametrize("more", [{"concurrency": 20}, {"concurrency": 64, "accelerators": 8}])
def test_rate_and_latency_of_a_closed_loop_obey_littles_law(more: dict[str, Any]) -> None:
    """C clients that always wait for a request: C = X (TTFT + (o - 1) TPOT)."""
    found = served(**more)
    rows = latency(found)
    life_s = (rows[TTFT] + (500.0 - 1.0) * rows[TPOT]) / 1000.0
    clients = found.value("serve.requests_per_s") * life_s
    assert clients == pytest.approx(more["concurrency"], rel=0.01)


def test_a_closed_loop_has_the_fewest_replicas_within_its_limits() -> None:
    work: dict[str, Any] = {"concurrency": 900, "layout": "tp=2", "tpot_ms": 30.0, "spares": 0}
    found = served(**work)
    count = int(found.value("serve.accelerators"))
    assert count > 40  # steps of 15 % would be several replicas
    assert served(**work, accelerators=count).value("serve.tpot_ms_p90") <= 30.0
    assert "no layout keeps both limits" in refused(**work, accelerators=count - 2)


def test_the_fewest_that_meet_a_rule_from_every_start() -> None:
    for start in range(1, 61):
        asked: list[int] = []

        def meets(n: int, asked: list[int] = asked) -> bool:
            asked.append(n)
            return n >= 37

        assert fewest(meets, start, 60) == 37
        assert len(asked) < 30
    assert fewest(lambda _: True, 5, 60) == 1


def test_concurrency_on_given_accelerators_has_the_layout_with_the_highest_rate() -> None:
    """No layout alone beats the chosen one."""
    work: dict[str, Any] = {"concurrency": 32, "accelerators": 8}
    found = served(**work)
    for layout in ("tp=1", "tp=2", "tp=4", "tp=8"):
        try:
            alone = served(**work, layout=layout).value("serve.requests_per_s")
        except InputError:
            continue
        assert alone <= found.value("serve.requests_per_s") * (1.0 + 1e-9)


def test_accelerators_that_no_replica_has_are_counted_and_paid() -> None:
    """Replicas of 4 use 4 of 7: the other 3 cost as much and draw idle power."""
    full, part = (served(accelerators=n, layout="tp=4") for n in (4, 7))
    assert "3 of 7 accelerators are idle: replicas have 4" in notes(part)
    assert "idle" not in notes(full)
    assert part.value("serve.accelerators") == 7
    assert part.metrics["serve.accelerators"].high == 7
    assert part.value("serve.requests_per_s") == full.value("serve.requests_per_s")
    rent = "serve.rented_usd_per_million_tokens"
    assert part.value(rent) == pytest.approx(full.value(rent) * 7.0 / 4.0)
    x = part.input_value
    chip = x("accelerators.h100-sxm.tdp_kw")
    rest = x("systems.dgx-h100.rated_kw") / 8.0 - chip
    more = part.value("serve.power_kw") - full.value("serve.power_kw")
    assert 3.0 * rest < more < 3.0 * (rest + 0.5 * chip)


def test_power_of_a_prefill_pool_is_that_of_its_utilization(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With cached tokens its replicas work in the share rate / stable rate of the time."""
    seen: list[tuple[str, float, float, float, float]] = []
    plain = power.pool_power_frac

    def noted(served: Any, one: Any, layout: Any, load: Any, pool: str) -> float:
        frac, own = plain(served, one, layout, load, pool), served.service.power
        work = load.rate / load.stable_rate
        least, idle = own["busy_frac"], own["idle_frac"]
        low, high = (work * x + (1.0 - work) * idle for x in (least, 1.0))
        seen.append((pool, work, low, frac, high))
        return frac

    monkeypatch.setattr(power, "pool_power_frac", noted)
    for hits in (0.0, 0.9):
        served(disaggregated=True, rate=2.0, prefix_hit_frac=hits, spares=0)
        name, work, low, frac, high = seen[0]
        assert name == "prefill"
        assert 0.0 < work < 1.0
        # a working accelerator draws its power without reads and products, at most its TDP
        assert low <= frac <= high
        seen.clear()


def test_tokens_that_a_step_verifies_cost_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same service draws more than if each step had one token of a request."""
    work: dict[str, Any] = {"rate": 10.0, "accelerators": 8, "layout": "tp=2"}
    work["speculative"] = "tokens=6,accepted=1.2,draft=mtp"
    key = "serve.energy_j_per_token"
    found = served(**work).value(key)
    monkeypatch.setattr(sized_power, "Step", lambda *_: PLAIN)
    assert found > served(**work).value(key) * 1.005
