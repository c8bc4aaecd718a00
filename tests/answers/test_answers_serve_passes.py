"""`dcplan serve` of models without decode, and images in prompts: times and costs by hand from the
functions of `serving/passes.py`, identities, directions, refusals, systems side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dcplan
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator, Engine, Model, WeightFormat
from dcplan.errors import EXIT_NO, InputError
from dcplan.inputs.checkpoint import format_rows
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import release_of
from dcplan.inputs.serving.images import image_numbers, image_work
from dcplan.inputs.serving.models import shape_of
from dcplan.inputs.serving.setups import Checkpoint, served_of, service
from dcplan.result import Result
from dcplan.serving.forward import Served
from dcplan.serving.passes import ImageTokens, ImageWork, diffusion_pass, encoder_pass, prefill_only
from dcplan.serving.search import Layout
from dcplan.serving.tables import table
from dcplan.specs.registry import metrics, tables

FLUX, EMBEDDER, RERANKER = "flux.1-dev", "bge-m3", "qwen3-reranker-4b"
ENCODER, TALKER = "dinov2-large", "qwen2.5-vl-7b"


def served(model: str, **more: Any) -> Result:
    """A service on one kind of system with other flags."""
    return dcplan.serve(model, **{"system": "dgx-h100", **more})


def embedded(**more: Any) -> Result:
    """An embedding service of 512 tokens."""
    return served(EMBEDDER, **{"isl": 512.0, **more})


def refused(model: str, **more: Any) -> list[str]:
    """Place, code, cause and help of every problem of a request."""
    with pytest.raises(InputError) as caught:
        served(model, **more)
    return [f"{p.place} {p.code} {p.cause} {p.help}" for p in caught.value.problems]


def value(result: Result, key: str) -> float:
    return result.value(f"serve.{key}")


def rows_of(result: Result, name: str) -> list[dict[str, Any]]:
    return list(result.tables[name].records())


def column(result: Result, name: str, key: str) -> list[Any]:
    return [row[key] for row in rows_of(result, name)]


def bare(model: str, engine: str, tp: int = 1) -> Served:
    """A model at 16 bit on H100 with the newest release of an engine."""
    catalog = load()
    row, found = catalog.get("models", model, Model), catalog.get("engines", engine, Engine)
    chip = catalog.get("accelerators", "h100-sxm", Accelerator)
    point = Checkpoint(shape_of(row), row, catalog.get("formats", "bf16", WeightFormat), "half")
    made = service(InputLog(catalog), point, chip, found, release_of(found))
    assert not isinstance(made, str)
    return served_of([made], [Layout(tp)])


def test_an_image_takes_the_time_of_the_pass() -> None:
    """28 steps on one H100; the batch and its parts are those of `diffusion_pass`."""
    catalog = load()
    row = catalog.get("models", FLUX, Model)
    formats = format_rows(catalog, row, "bf16")
    work = image_work(InputLog(catalog), row.config, shape_of(row), formats, steps=28)
    by_hand = diffusion_pass(bare(FLUX, "compiled"), table(ImageWork, [work]), np.ones(1))
    found = served(FLUX, steps=28, latency_ms=5000.0)
    assert value(found, "latency_ms") == pytest.approx(float(by_hand.batch_s[0]) * 1e3)
    rate = float(by_hand.images_per_s[0])
    assert value(found, "items_per_s_per_accelerator") == pytest.approx(rate)
    parts = column(found, "pass_times", "ms")[:4]
    assert parts[0] == pytest.approx(float(by_hand.text_s[0]) * 1e3)
    assert parts[1] == pytest.approx(28 * float(by_hand.step_s[0]) * 1e3)
    assert parts[2] == pytest.approx(float(by_hand.decode_s[0]) * 1e3)
    assert parts[3] == pytest.approx(sum(parts[:3]))


@pytest.mark.parametrize(("tp", "weights"), [(1, 23.803), (2, 11.901)])
def test_memory_of_an_image_model_by_hand(tp: int, weights: float) -> None:
    """FLUX.1 dev: 11.901e9 parameters, 4.762e9 and 0.123e9 of text encoders, 2 bytes each; VAE 0.168 GB.

    With two accelerators the transformer is divided, text encoders and decoder are not.
    """
    found = served(FLUX, layout=f"tp={tp}", latency_ms=10_000.0)
    uses = {row["what"]: row["gb"] for row in rows_of(found, "serving_memory")}
    assert uses["weights"] == pytest.approx(weights, abs=0.002)
    assert uses["text encoders"] == pytest.approx(9.77, abs=0.001)
    assert uses["image decoder"] == pytest.approx(0.168)
    shares = column(found, "serving_memory", "share_frac")
    assert sum(shares) == pytest.approx(1.0)


def test_memory_of_an_embedding_model_has_its_look_up_table() -> None:
    """bge-m3: 568e6 parameters (BAAI), 45 % of them in the table of 250,002 tokens; 2 bytes each."""
    uses = {row["what"]: row["gb"] for row in rows_of(embedded(), "serving_memory")}
    assert uses["weights"] == pytest.approx(2 * 0.568, rel=0.01)


def test_a_sequence_takes_the_time_of_the_pass() -> None:
    """16 sequences of 512 tokens fill the 8,192 tokens of a step of vLLM."""
    by_hand = prefill_only(bare(EMBEDDER, "vllm"), np.array([16.0]), np.array([512.0]))
    found = embedded(latency_ms=50.0)
    assert value(found, "batch") == 16
    assert value(found, "latency_ms") == pytest.approx(float(by_hand.batch_s[0]) * 1e3)
    tokens = float(by_hand.tokens_per_s[0])
    assert value(found, "input_tokens_per_s_per_accelerator") == pytest.approx(tokens)


def test_an_encoder_takes_the_time_of_the_pass() -> None:
    image = table(ImageTokens, [image_numbers(shape_of(load().get("models", ENCODER, Model)))])
    found = served(ENCODER, latency_ms=20.0)
    batch = value(found, "batch")
    one, more = (
        encoder_pass(bare(ENCODER, "compiled"), image, np.array([n])) for n in (batch, batch + 1)
    )
    assert value(found, "latency_ms") == pytest.approx(float(one.batch_s[0]) * 1e3)
    assert value(found, "items_per_s") == pytest.approx(float(one.items_per_s[0]))
    # the largest batch within the limit is taken
    assert float(one.batch_s[0]) <= 0.02 < float(more.batch_s[0])


def test_fleet_energy_and_cost_agree() -> None:
    found = served(FLUX, rate=2.0, images_per_request=2, latency_ms=10_000.0)
    assert value(found, "items_per_s") == 4.0  # two images of each of two requests a second
    (row,) = rows_of(found, "pass_replicas")
    assert row["batch"] % 2 == 0
    # two images of a request are denoised together: the fewest whole replicas, and a spare one
    assert row["replicas"] == np.ceil(4.0 / row["items_per_s_max"])
    assert row["spare_replicas"] == 1
    count = (row["replicas"] + 1) * row["accelerators_per_replica"]
    assert value(found, "accelerators") == count
    joule = value(found, "power_kw") * 1000.0 / 4.0
    assert value(found, "energy_j_per_item") == pytest.approx(joule)
    (hour,) = (
        r["usd_per_accelerator_hour"]
        for r in rows_of(found, "pass_cost")
        if str(r["what"]).startswith("rent")
    )
    million = hour * count / (4.0 * 3600.0) * 1e6
    assert value(found, "rented_usd_per_million_items") == pytest.approx(million)
    assert value(found, "rented_usd_per_thousand_images") == pytest.approx(million / 1000.0)


def test_cost_and_energy_of_a_token_are_those_of_a_sequence_over_its_tokens() -> None:
    found = embedded(latency_ms=50.0)
    for basis in ("", "owned_", "rented_"):
        item = value(found, f"{basis}usd_per_million_items")
        assert value(found, f"{basis}usd_per_million_input_tokens") == pytest.approx(item / 512.0)
    joule = value(found, "energy_j_per_item") * 1e6 / 512.0
    assert value(found, "energy_j_per_million_input_tokens") == pytest.approx(joule)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (FLUX, {}),
        (ENCODER, {}),
        (EMBEDDER, {"isl": 512.0}),
        (RERANKER, {"isl": 512.0, "prefill_only": True}),
    ],
)
def test_every_metric_and_table_is_declared_and_has_its_interval(
    model: str, given: dict[str, Any]
) -> None:
    found = served(model, **given)
    assert set(found.metrics) <= {m.key for m in metrics("serve")}
    assert set(found.tables) <= set(tables("serve"))
    for key in ("latency_ms", "items_per_s_per_accelerator", "usd_per_million_items"):
        metric = found.metrics[f"serve.{key}"]
        assert metric.low is not None
        assert metric.low < value(found, key) < (metric.high or 0.0)


def test_a_looser_limit_never_lowers_the_rate() -> None:
    limits = (1500.0, 2500.0, 5000.0, 20_000.0, 60_000.0)
    found = [served(FLUX, latency_ms=x) for x in limits]
    rates = [value(x, "items_per_s_per_accelerator") for x in found]
    assert rates == sorted(rates)
    assert all(value(x, "latency_ms") <= n for x, n in zip(found, limits, strict=True))


def test_more_steps_passes_pixels_and_tokens_cost_more() -> None:
    base = value(served(FLUX), "usd_per_million_items")
    given: tuple[dict[str, Any], ...] = (
        {"steps": 50},
        {"guidance_passes": 2},
        {"pixels": "2048x1024"},
    )
    assert all(value(served(FLUX, **x), "usd_per_million_items") > base for x in given)
    assert value(served(FLUX, pixels="1048576"), "usd_per_million_items") == pytest.approx(base)
    costs = [value(embedded(isl=n), "usd_per_million_items") for n in (128.0, 512.0, 2048.0)]
    assert costs == sorted(costs)


@pytest.mark.parametrize(
    ("model", "steps", "passes"), [(FLUX, 28, 1), ("flux.1-schnell", 4, 1), ("sd3-medium", 28, 2)]
)
def test_defaults_are_those_of_the_makers(model: str, steps: int, passes: int) -> None:
    """FLUX.1 dev takes 28 steps of one pass, schnell 4; Stable Diffusion 3 guides with two passes."""
    found = served(model)
    assert found.input_value("steps") == steps
    assert found.input_value("guidance_passes") == passes
    assert "precision bf16, by default" in str(found.warnings)


def test_batches_grow_in_rate_and_memory() -> None:
    found = served(FLUX, latency_ms=9000.0)
    rates = column(found, "batches", "items_per_s_per_accelerator")
    assert rates == sorted(rates)
    sizes = column(found, "batches", "memory_gb")
    assert sizes == sorted(sizes)
    assert value(found, "batch") in column(found, "batches", "batch")
    within = column(found, "batches", "within_limits")
    assert within == sorted(within, reverse=True)
    assert column(found, "pass_layouts", "why_not")[0] == "chosen"


def test_systems_side_by_side_the_cheapest_first() -> None:
    found = served(FLUX, system=("l40s", "dgx-h100", "dgx-b200"), latency_ms=3000.0)
    rows = rows_of(found, "pass_systems")
    able = [r for r in rows if r["why_not"] is None]
    costs = [r["owned_usd_per_million_items"] or r["rented_usd_per_million_items"] for r in able]
    assert len(able) > 1
    assert costs == sorted(costs)
    assert {r["system"] for r in rows} == {"l40s", "dgx-h100", "dgx-b200"}
    alone = served(FLUX, system=able[0]["system"], latency_ms=3000.0)
    assert value(alone, "usd_per_million_items") == value(found, "usd_per_million_items")


def test_a_system_without_price_and_rent_is_last_and_has_no_ratio() -> None:
    found = embedded(system=("l4", "dgx-h100"))
    assert column(found, "pass_systems", "system") == ["dgx-h100", "l4"]
    assert "times as much" not in found.headline


def test_too_few_accelerators_for_the_rate() -> None:
    found = served(FLUX, accelerators=2, rate=100.0)
    assert found.exit_code == EXIT_NO
    assert found.status == "too_slow"
    assert "only" in found.headline


def test_a_language_model_as_a_reranker_has_no_decode() -> None:
    decoded = served("llama-3.1-8b", isl=512.0, osl=2.0)
    scored = served("llama-3.1-8b", isl=512.0, prefill_only=True)
    assert "serve.tpot_ms_p50" in decoded.metrics
    assert "serve.tpot_ms_p50" not in scored.metrics
    assert value(scored, "items_per_s") > 0.0


def test_images_lengthen_prompts_and_the_first_token() -> None:
    """Qwen2.5-VL at 448 x 448 pixels: (448/14)^2 patches, merged by four: 256 tokens an image."""
    asked: dict[str, Any] = {"isl": 200.0, "osl": 200.0, "rate": 0.01, "layout": "tp=1"}
    seen = served(TALKER, images=4, **asked)
    assert value(seen, "image_tokens") == 4 * 256
    long = served(TALKER, **{**asked, "isl": 200.0 + 4 * 256})
    # at a low rate, the first token waits for the encoder, and for nothing else in addition
    waits = value(seen, "ttft_ms_p50") - value(long, "ttft_ms_p50")
    assert waits == pytest.approx(value(seen, "encode_ms"), rel=0.02)
    assert value(seen, "requests_per_s_max") < value(long, "requests_per_s_max")
    assert value(seen, "kv_tokens") < value(long, "kv_tokens")


def test_memory_of_a_vision_encoder_by_hand() -> None:
    """8.292e9 released parameters (model card) less 7.616e9 of the language model: 0.677e9, 2 bytes each."""
    seen = served(TALKER, isl=200.0, osl=200.0, images=4, layout="tp=2")
    uses = {row["what"]: row["gb"] for row in rows_of(seen, "serving_memory")}
    assert uses["vision encoder"] == pytest.approx(2 * 0.677, rel=0.01)
    assert sum(column(seen, "serving_memory", "share_frac")) == pytest.approx(1.0)


WRONG: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    (FLUX, {"isl": 5.0, "tpot_ms": 3.0}, ("--isl DC050", "--tpot-ms DC050", "denoising steps")),
    (FLUX, {"pixels": "12x"}, ("--pixels DC050", "1024x1024")),
    (FLUX, {"pixels": "200x200x200"}, ("--pixels DC050",)),
    (FLUX, {"prefill_only": True, "images": 2}, ("--prefill-only DC050", "--images DC050")),
    (FLUX, {"latency_ms": 500.0}, ("--latency-ms DC034", "below the floor", "--latency-ms 1")),
    (FLUX, {"layout": "pp=2"}, ("--layout DC052", "tensor parallelism alone")),
    (FLUX, {"system": "l4", "accelerators": 1}, ("DC032", "does not fit", "a larger -n")),
    (FLUX, {"system": "dgx-h10", "precision": "fp9"}, ("DC010", "--precision DC050")),
    (FLUX, {"system": ()}, ("--system is needed",)),
    (EMBEDDER, {}, ("--isl is needed",)),
    (EMBEDDER, {"isl": 512.0, "osl": 8.0, "steps": 4}, ("--osl DC050", "--steps DC050")),
    (ENCODER, {"isl": 512.0, "pixels": "64x64"}, ("--isl DC050", "--pixels DC050", "encodes")),
    ("llama-3.1-8b", {"isl": 9.0, "osl": 9.0, "steps": 4}, ("--steps DC050", "generates text")),
    ("llama-3.1-8b", {"isl": 9.0, "osl": 9.0, "images": 4}, ("--images DC050", "vision encoder")),
    (TALKER, {"trace": "x.csv", "images": 4}, ("--images DC050", "cannot be combined")),
)


@pytest.mark.parametrize(("model", "given", "said"), WRONG, ids=lambda x: str(x)[:50])
def test_a_flag_that_does_not_apply_is_refused_with_the_reason(
    model: str, given: dict[str, Any], said: tuple[str, ...]
) -> None:
    text = "\n".join(refused(model, **given))
    assert [x for x in said if x not in text] == []


def test_the_floor_that_a_refusal_names_works() -> None:
    (text,) = refused(FLUX, latency_ms=500.0)
    assert value(served(FLUX, latency_ms=float(text.split()[-1])), "items_per_s") > 0.0
