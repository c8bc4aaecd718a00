"""`dcplan serve`: identities between its metrics, directions in which answers move, the costs by
hand, and what a bad request says. No figure of the physics stands here: it is fitted."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import dcplan
from dcplan.errors import EXIT_NO, EXIT_OK, InputError
from dcplan.report.svg.interactivity import interactivity_svg
from dcplan.result import Result
from dcplan.specs.registry import metrics, tables

MODEL = "llama-3.1-70b"
ASKED: dict[str, Any] = {"system": "dgx-h100", "isl": 2048.0, "osl": 256.0}
KEYS = [
    "tokens_per_s_per_accelerator",
    "tokens_per_s_per_user",
    "requests_per_s",
    "ttft_ms_p50",
    "ttft_ms_p90",
    "tpot_ms_p50",
    "tpot_ms_p90",
    "kv_tokens",
    "concurrency_max",
    "power_kw",
    "energy_j_per_token",
    "usd_per_million_tokens",
    "accelerators",
]


def served(model: str = MODEL, **more: Any) -> Result:
    """A service of the usual requests with other flags."""
    return dcplan.serve(model, **{**ASKED, **more})


def refused(model: str = MODEL, **more: Any) -> list[str]:
    """Code, cause and help of every problem of a request."""
    with pytest.raises(InputError) as caught:
        served(model, **more)
    return [f"{p.code} {p.cause} {p.hint} {p.help}" for p in caught.value.problems]


@pytest.fixture(scope="module")
def fleet() -> Result:
    """Llama 3.1 70B at 20 requests per second."""
    return served(rate=20.0)


def test_every_promised_metric_is_there_with_its_interval(fleet: Result) -> None:
    assert [k for k in KEYS if f"serve.{k}" not in fleet.metrics] == []
    assert set(fleet.metrics) <= {m.key for m in metrics("serve")}
    assert set(fleet.tables) <= set(tables("serve"))
    for key in ("ttft_ms_p50", "tpot_ms_p90", "usd_per_million_tokens"):
        metric = fleet.metrics[f"serve.{key}"]
        assert metric.low is not None
        assert metric.low < fleet.value(f"serve.{key}") < (metric.high or 0.0)


def test_rates_accelerators_and_tokens_agree(fleet: Result) -> None:
    serving = fleet.value("serve.accelerators") - fleet.value("serve.spare_accelerators")
    tokens = fleet.value("serve.requests_per_s") * 256.0
    assert fleet.value("serve.requests_per_s") == 20.0
    assert fleet.value("serve.tokens_per_s_per_accelerator") == pytest.approx(tokens / serving)
    user = 1000.0 / fleet.value("serve.tpot_ms_p50")
    assert fleet.value("serve.tokens_per_s_per_user") == pytest.approx(user)
    joule = fleet.value("serve.power_kw") * 1000.0 / tokens
    assert fleet.value("serve.energy_j_per_token") == pytest.approx(joule)
    pool = fleet.tables["pools"].records()[0]
    most = float(str(pool["requests_per_s_max"]))
    assert pool["replicas"] == math.ceil(20.0 / most)
    assert pool["spare_replicas"] == 1  # N + 1
    assert most <= float(str(pool["stable_requests_per_s"]))
    assert fleet.value("serve.utilization_frac") == pytest.approx(
        20.0 / most / float(str(pool["replicas"]))
    )


def test_the_percentiles_are_within_the_limits_at_the_quantile(fleet: Result) -> None:
    assert fleet.value("serve.ttft_ms_p90") <= 2000.0
    assert fleet.value("serve.tpot_ms_p90") <= 50.0
    full = served(tpot_ms=25.0)
    # at the highest rate one of the limits is reached
    reached = max(full.value("serve.ttft_ms_p90") / 2000.0, full.value("serve.tpot_ms_p90") / 25.0)
    assert reached == pytest.approx(1.0, abs=0.02)


def test_parts_of_the_time_to_first_token_add_up_in_the_mean(fleet: Result) -> None:
    rows = {str(r["what"]): r for r in fleet.tables["latency"].records()}
    total = float(str(rows.pop("time to first token (TTFT)")["mean_ms"]))
    rows.pop("time per output token (TPOT)")
    assert sum(float(str(r["mean_ms"])) for r in rows.values()) == pytest.approx(total, rel=0.02)


def test_owned_and_rented_cost_by_hand(fleet: Result) -> None:
    """P = 290,000 / 8 USD and the network, L = 5 years, r = 10 %, residual value of `residual-mid`."""
    x = fleet.input_value
    count = fleet.value("serve.accelerators")
    assert count > 8  # more than one server, so the network is its share of the capital
    price = x("systems.dgx-h100.price_usd") / 8.0 / (1.0 - x("finance.band-network-share-frac"))
    rate, life = x("finance.discount-rate"), x("finance.hardware-life-years")
    left = dcplan_residual(life) * price * (1.0 + rate) ** -life
    annuity = (price - left) * rate / (1.0 - (1.0 + rate) ** -life)
    care = price * x("finance.maintenance-hardware-frac-per-year")
    hall = x("finance.colo-usd-per-kw-month") * x("systems.dgx-h100.rated_kw") / 8.0 / 730.5
    kw = fleet.value("serve.power_kw") / count
    energy = kw * x("finance.energy-usd-per-kwh") * x("facility.cloud-pue")
    hour = (annuity + care) / 8766.0 + hall + energy
    million = hour * count / (20.0 * 256.0 * 3600.0) * 1e6
    assert fleet.value("serve.owned_usd_per_million_tokens") == pytest.approx(million, rel=1e-9)
    assert fleet.value("serve.usd_per_million_tokens") == pytest.approx(million, rel=1e-9)
    rent = x("usd_per_accelerator_hour") * count / (20.0 * 256.0 * 3600.0) * 1e6
    assert fleet.value("serve.rented_usd_per_million_tokens") == pytest.approx(rent, rel=1e-9)
    rows = fleet.tables["serving_cost"].records()
    total = next(r for r in rows if r["what"] == "total")
    assert total["usd_per_accelerator_hour"] == pytest.approx(hour, rel=1e-9)


def dcplan_residual(years: float) -> float:
    """Share of the price left after some years, by the catalog's curve."""
    from dcplan.catalog.loader import load
    from dcplan.catalog.schema import Curve

    values = load().get("residuals", "residual-mid", Curve).value_frac
    return float(values[min(int(years), len(values) - 1)])


def test_power_is_that_of_accelerators_and_of_the_rest_of_the_systems(fleet: Result) -> None:
    count = fleet.value("serve.accelerators")
    x = fleet.input_value
    rest = x("systems.dgx-h100.rated_kw") / 8.0 - x("accelerators.h100-sxm.tdp_kw")
    kw = fleet.value("serve.power_kw")
    assert rest * count < kw < x("systems.dgx-h100.rated_kw") / 8.0 * count


def test_a_looser_limit_never_needs_more_accelerators() -> None:
    counts = [
        served(rate=30.0, tpot_ms=tpot).value("serve.accelerators") for tpot in (20, 30, 50, 100)
    ]
    assert counts == sorted(counts, reverse=True)
    counts = [
        served(rate=30.0, ttft_ms=ttft).value("serve.accelerators") for ttft in (400, 1000, 4000)
    ]
    assert counts == sorted(counts, reverse=True)


def test_more_accelerators_never_lower_the_rate() -> None:
    rates = [served(accelerators=n).value("serve.requests_per_s") for n in (8, 12, 16, 31, 32)]
    assert rates == sorted(rates)
    assert rates[-1] > rates[0]


def test_cached_prompts_and_speculation_serve_more() -> None:
    plain = served().value("serve.tokens_per_s_per_accelerator")
    cached = served(prefix_hit_frac=0.5).value("serve.tokens_per_s_per_accelerator")
    drafts = served(speculative="tokens=3,accept-frac=0.8", tpot_ms=20.0)
    slow = served(tpot_ms=20.0)
    assert cached > plain
    key = "serve.tokens_per_s_per_accelerator"
    assert drafts.value(key) > slow.value(key)
    # (1 - 0.8^4) / (1 - 0.8) = 2.952 tokens
    assert drafts.input_value("speculative.accepted") == pytest.approx(2.952)


def test_a_closed_loop_keeps_its_limits_and_littles_law() -> None:
    found = served(concurrency=150, tpot_ms=40.0)
    assert found.value("serve.ttft_ms_p90") <= 2000.0
    assert found.value("serve.tpot_ms_p90") <= 40.0
    rows = {str(r["what"]): r for r in found.tables["latency"].records()}
    ttft = float(str(rows["time to first token (TTFT)"]["mean_ms"]))
    tpot = float(str(rows["time per output token (TPOT)"]["mean_ms"]))
    # 255 times between the 256 tokens
    there = found.value("serve.requests_per_s") * (ttft + 255.0 * tpot) / 1000.0
    assert there == pytest.approx(150.0, rel=0.01)


def test_a_disaggregated_service_has_two_pools_that_serve_the_rate() -> None:
    found = served(rate=20.0, disaggregated=True)
    pools = found.tables["pools"].records()
    assert [p["pool"] for p in pools] == ["prefill", "decode"]
    for pool in pools:
        able = float(str(pool["requests_per_s_max"])) * float(str(pool["replicas"]))
        assert able >= 20.0 * (1.0 - 1e-9)
    assert found.value("serve.ttft_ms_p90") <= 2000.0 * 1.02


def test_systems_are_listed_from_the_cheapest_and_one_that_cannot_says_why() -> None:
    found = served("llama-3.1-405b", system=("dgx-h100", "l40s-8", "dgx-b200"), accelerators=8)
    rows = found.tables["serving_systems"].records()
    assert {str(r["system"]) for r in rows} == {"dgx-h100", "l40s-8", "dgx-b200"}
    costs = [float(str(r["owned_usd_per_million_tokens"])) for r in rows if not r["why_not"]]
    assert costs == sorted(costs)
    assert rows[-1]["system"] == "l40s-8"
    assert "does not fit" in str(rows[-1]["why_not"])


def test_the_frontier_falls_and_the_short_form_is_a_part_of_it(fleet: Result) -> None:
    whole = fleet.tables["interactivity_points"].records()
    speed = [float(str(r["tokens_per_s_per_user"])) for r in whole]
    value = [float(str(r["tokens_per_s_per_accelerator"])) for r in whole]
    assert speed == sorted(speed, reverse=True)
    assert value == sorted(value)
    short = fleet.tables["interactivity"].records()
    assert len(short) <= 12
    assert all(row in whole for row in short)
    assert (short[0], short[-1]) == (whole[0], whole[-1])
    drawn = interactivity_svg(fleet)
    assert drawn.count("<circle") == len(whole)
    assert f"{len(whole)} points" in drawn


def test_every_layout_has_a_reason(fleet: Result) -> None:
    rows = fleet.tables["serving_layouts"].records()
    assert [r["why_not"] for r in rows].count("chosen") == 1
    assert all(r["why_not"] for r in rows)
    wide = served(precision="bf16").tables["serving_layouts"].records()
    assert "does not fit" in next(str(r["why_not"]) for r in wide if r["layout"] == "tp1")


def test_memory_adds_up(fleet: Result) -> None:
    rows = fleet.tables["serving_memory"].records()
    assert sum(float(str(r["share_frac"])) for r in rows) == pytest.approx(1.0)


def test_too_few_accelerators_for_a_rate_answer_no() -> None:
    found = served(accelerators=8, rate=1000.0)
    assert found.exit_code == EXIT_NO
    assert "accelerators would do" in found.headline
    assert served(accelerators=8, rate=1.0).exit_code == EXIT_OK


def test_what_does_not_fit_names_the_memory_and_what_fits() -> None:
    (text,) = refused("llama-3.1-405b", accelerators=2, precision="bf16")
    assert text.startswith("DC032 llama-3.1-405b in bf16 on dgx-h100 does not fit: tp2 needs ")
    assert "GB on each of the 2" in text
    assert "it fits with -n " in text
    (text,) = refused(accelerators=1, precision="bf16", system="h200-sxm")
    assert "--precision fp8" in text


def test_limits_below_the_floor_name_the_floor_and_a_limit_that_works() -> None:
    first, second = refused(tpot_ms=0.5, ttft_ms=5.0)
    assert "--tpot-ms 0.5 is below the floor of the time per output token" in first
    assert "--ttft-ms 5 is below the floor of the time to first token" in second
    limit = float(first.split("--tpot-ms ")[-1].split()[0])
    assert served(tpot_ms=limit).value("serve.tpot_ms_p50") <= limit


def test_formats_that_the_chip_lacks_are_widened_with_a_note() -> None:
    found = served(system="dgx-a100", precision="fp8")
    notes = " ".join(w["message"] for w in found.warnings)
    assert "a100-80g-sxm does not multiply fp8" in notes
    assert "widened to 16 bit" in notes


def test_defaults_are_stated() -> None:
    notes = " ".join(w["message"] for w in served().warnings)
    assert "engine vllm" in notes
    assert "precision fp8, by default" in notes


@pytest.mark.parametrize("system", ["dgx-h100", "gb200-nvl72", "h200-sxm", "aws-p5-48xlarge"])
def test_systems_offers_and_accelerators_serve(system: str) -> None:
    found = served("llama-3.1-8b", system=system)
    assert found.value("serve.requests_per_s") > 0.0


def test_equal_requests_have_equal_answers() -> None:
    first, second = (served(rate=7.0) for _ in range(2))
    for a, b in itertools.zip_longest(first.metrics.items(), second.metrics.items()):
        assert a == b


TRACE = "tests/serving/traces/mooncake_conversation_first_300.jsonl"


def traced(**more: Any) -> Result:
    """Llama 3.1 70B with the requests of a trace."""
    return served(isl=None, osl=None, trace=TRACE, **more)


def capital(found: Result) -> str:
    """What the capital of the owned cost is for."""
    rows = found.tables["serving_cost"].records()
    return next(str(r["what"]) for r in rows if str(r["what"]).startswith("capital"))


def test_the_network_is_charged_alike_for_one_pool_and_for_two() -> None:
    together, apart = (capital(served(rate=20.0, disaggregated=x)) for x in (False, True))
    assert "systems and network" in together
    assert together == apart
    rack = {"system": "gb200-nvl72", "rate": 5.0}
    together, apart = (capital(served(**rack, disaggregated=x)) for x in (False, True))
    assert "network" not in together
    assert together == apart
    assert "network" not in capital(served(accelerators=8))


def test_split_pools_have_their_own_frontier() -> None:
    found = served(rate=20.0, disaggregated=True)
    rows = found.tables["interactivity_points"].records()
    assert len(rows) > 5
    assert all("prefill + " in str(r["layout"]) for r in rows)
    speed = [float(str(r["tokens_per_s_per_user"])) for r in rows]
    value = [float(str(r["tokens_per_s_per_accelerator"])) for r in rows]
    assert speed == sorted(speed, reverse=True)
    assert value == sorted(value)
    assert [r["means_within_limits"] for r in rows] == [
        float(str(r["mean_tpot_ms"])) <= 50.0 for r in rows
    ]


def notes(found: Result) -> str:
    """The notes of an answer."""
    return "\n".join(w["message"] for w in found.warnings)


def test_notes_state_defaults_and_differences_of_systems() -> None:
    names = ("dgx-h100", "dgx-b200", "mi300x-8", "aws-p5-48xlarge")
    said = notes(served(system=names))
    assert "KV cache in fp8, by default; set --kv-precision" in said
    assert "no --rate: cost and power are those of the highest rate" in said
    assert "formats of the weights differ: nvfp4 on dgx-b200" in said
    assert "rents have different bases" in said
    assert "the list price of the offer on aws-p5-48xlarge" in said
    alike = notes(served(system=("dgx-h100", "dgx-h200"), precision="fp8", rate=20.0))
    assert "one spare replica (N + 1), by default with a load" in alike
    assert "formats of" not in alike
    assert "no --rate" not in alike
    assert "spare" not in notes(served(rate=20.0, spares=1))


def test_a_share_of_a_system_is_named() -> None:
    said = notes(served("llama-3.1-8b", accelerators=1))
    assert "the owned cost is the share of 1 accelerator; a dgx-h100 has 8" in said


def test_rents_name_their_prices() -> None:
    found = served(system=("dgx-h100", "mi300x-8"))
    basis = {
        str(r["system"]): str(r["rent_basis"]) for r in found.tables["serving_systems"].records()
    }
    assert basis["mi300x-8"].startswith("median of ")
    assert "on-demand" in basis["dgx-h100"]


def test_the_most_requests_say_what_ends() -> None:
    """A replica of 8 H100 holds more requests of 2,176 tokens than an engine runs."""
    small = served("llama-3.1-8b", layout="tp=8").metrics["serve.concurrency_max"]
    assert "slots of a replica end, 2,176 tokens each" in small.label
    large = served(layout="tp=2", isl=32768.0, osl=1024.0, ttft_ms=60000.0)
    assert (
        "KV cache of a replica ends, 33,280 tokens" in large.metrics["serve.concurrency_max"].label
    )


def test_a_layout_is_read_as_tables_print_it() -> None:
    found = served(layout="tp4 pp2")
    assert found.tables["pools"].records()[0]["layout"] == "tp4 pp2"
    assert found.metrics == served(layout="tp=4,pp=2").metrics


@pytest.mark.parametrize("more", [{}, {"rate": 20.0, "disaggregated": True}, {"concurrency": 60}])
def test_the_asked_quantile_has_its_metrics(more: dict[str, Any]) -> None:
    found = served(quantile=0.99, **more)
    rows = {str(r["what"]): r for r in found.tables["latency"].records()}
    ttft, tpot = (rows[f"time {x}"] for x in ("to first token (TTFT)", "per output token (TPOT)"))
    assert found.value("serve.ttft_ms_quantile") == pytest.approx(float(str(ttft["p99_ms"])))
    assert found.value("serve.tpot_ms_quantile") == pytest.approx(float(str(tpot["p99_ms"])))
    assert found.value("serve.tpot_ms_quantile") <= 50.0
    assert "0.99" in found.metrics["serve.ttft_ms_quantile"].label


def test_a_system_whose_replay_is_above_the_limits_is_not_the_best() -> None:
    """16 H100 are too few for the trace and cost less per token than 16 B200, which are enough."""
    names = ("dgx-h100", "dgx-b200")
    alone = {n: traced(system=n, accelerators=16) for n in names}
    assert [alone[n].exit_code for n in names] == [EXIT_NO, EXIT_OK]
    found = traced(system=names, accelerators=16)
    assert found.exit_code == EXIT_OK
    assert found.tables["serving_systems"].records()[0]["system"] == "dgx-b200"
