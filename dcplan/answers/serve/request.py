"""Request of ``dcplan serve``: every flag with its range, and flags that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag
from dcplan.units import MOST_USD_PER_ACCELERATOR_HOUR

LONGEST = 1e8
MOST = 10_000_000
WORK, LIMITS, ENGINE, MONEY = "Requests", "Latency limits", "Engine", "Cost and files"
IMAGES = "Images, embedding and reranking"


@dataclass(frozen=True)
class ServeRequest:
    """One model on one or more systems, with its requests and latency limits."""

    model: Annotated[
        str,
        Flag(
            "catalog model or config.json", metavar="MODEL|FILE", complete="models", argument=True
        ),
    ]
    system: Annotated[
        tuple[str, ...],
        Flag(
            "catalog systems, cloud offers or accelerators to compare, such as dgx-h100,gb200-nvl72",
            complete="systems",
            comma=True,
        ),
    ] = ()
    accelerators: Annotated[
        int | None,
        Flag(
            "number of accelerators that serve (default: as few as needed)",
            low=1,
            high=MOST,
            names=("--accelerators", "-n"),
        ),
    ] = None
    isl: Annotated[
        float | None, Flag("input tokens of a request", low=1, high=LONGEST, panel=WORK)
    ] = None
    osl: Annotated[
        float | None, Flag("output tokens of a request", low=2, high=LONGEST, panel=WORK)
    ] = None
    lengths: Annotated[
        str | None,
        Flag("CSV with input_tokens,output_tokens of requests", metavar="FILE", panel=WORK),
    ] = None
    rate: Annotated[
        float | None, Flag("request rate to serve", unit="1/s", low=1e-6, high=1e9, panel=WORK)
    ] = None
    concurrency: Annotated[
        int | None,
        Flag("concurrent requests to serve, in a closed loop", low=1, high=MOST, panel=WORK),
    ] = None
    prefix_hit_frac: Annotated[
        float,
        Flag("share of the prompt tokens that the prefix cache holds", low=0, high=1, panel=WORK),
    ] = 0.0
    trace: Annotated[
        str | None,
        Flag("requests with arrival times, replayed by the event loop", metavar="FILE", panel=WORK),
    ] = None
    ttft_ms: Annotated[
        float, Flag("limit of the time to first token", unit="ms", low=1e-3, high=1e9, panel=LIMITS)
    ] = 2000.0
    tpot_ms: Annotated[
        float,
        Flag("limit of the time per output token", unit="ms", low=1e-3, high=1e9, panel=LIMITS),
    ] = 50.0
    quantile: Annotated[
        float, Flag("share of the requests that meet each limit", low=0.5, high=0.99, panel=LIMITS)
    ] = 0.9
    latency_ms: Annotated[
        float | None,
        Flag(
            "limit of the time of a batch, of a model without decode",
            unit="ms",
            low=1e-3,
            high=1e9,
            panel=LIMITS,
        ),
    ] = None
    prefill_only: Annotated[
        bool, Flag("a language model that embeds or scores prompts: no decode", panel=IMAGES)
    ] = False
    images: Annotated[
        int | None,
        Flag("images of a prompt, of a vision-language model", low=1, high=10_000, panel=IMAGES),
    ] = None
    images_per_request: Annotated[
        int | None, Flag("images of a request (default: 1)", low=1, high=10_000, panel=IMAGES)
    ] = None
    steps: Annotated[
        int | None,
        Flag(
            "denoising steps of an image (default: of the model)", low=1, high=10_000, panel=IMAGES
        ),
    ] = None
    pixels: Annotated[
        str | None,
        Flag(
            "pixels of a generated image, such as 1024x1024 or 1048576",
            metavar="NUMBER",
            panel=IMAGES,
        ),
    ] = None
    guidance_passes: Annotated[
        int | None,
        Flag(
            "passes of a denoising step: 2 with classifier-free guidance (default: of the model)",
            low=1,
            high=2,
            panel=IMAGES,
        ),
    ] = None
    engine: Annotated[
        str | None,
        Flag(
            "engine, with a release if not the newest, such as vllm@0.19 (default: vllm where it runs)",
            complete="engines",
            panel=ENGINE,
        ),
    ] = None
    precision: Annotated[
        str | None,
        Flag(
            "format of the weights, such as fp8, nvfp4, bf16 (default: the narrowest that the "
            "accelerator multiplies; bf16 for a model without decode)",
            complete="formats",
            panel=ENGINE,
        ),
    ] = None
    kv_precision: Annotated[
        str | None,
        Flag(
            "format of the KV cache (default: that of the engine)",
            choices=("fp8", "bf16"),
            panel=ENGINE,
        ),
    ] = None
    layout: Annotated[
        tuple[str, ...],
        Flag(
            "one layout, such as tp=8,pp=2 or tp=1,dp=8,ep=8 (default: search)",
            metavar="LAYOUT",
            panel=ENGINE,
            once=True,
        ),
    ] = ()
    disaggregated: Annotated[
        bool, Flag("separate replicas for prefill and decode", panel=ENGINE)
    ] = False
    speculative: Annotated[
        str | None,
        Flag(
            "speculative decoding: tokens=3,accept-frac=0.6 or tokens=3,accepted=2.4; "
            "draft=mtp|eagle|model",
            panel=ENGINE,
        ),
    ] = None
    spares: Annotated[
        int | None,
        Flag("spare replicas (default: 1 with --rate or --concurrency, else 0)", low=0, high=MOST),
    ] = None
    usd_per_accelerator_hour: Annotated[
        float | None,
        Flag(
            "rental rate (default: an index of contracts, or the median of the catalog's offers)",
            unit="USD",
            low=0,
            high=MOST_USD_PER_ACCELERATOR_HOUR,
            panel=MONEY,
        ),
    ] = None
    catalogs: Annotated[
        tuple[str, ...],
        Flag("catalog overlay folder; repeatable, the last one takes precedence", panel=MONEY),
    ] = ()


def conflicts(request: ServeRequest) -> list[Problem]:
    """Return the problems of the combination of flags."""
    return list(_conflicts(request))


def _conflicts(request: ServeRequest) -> Iterator[Problem]:
    yield from without_system(request)
    if request.lengths is None and request.trace is None:
        for flag, value in (("--isl", request.isl), ("--osl", request.osl)):
            if value is None:
                yield _wrong(f"{flag} is needed, or --lengths FILE", flag, "--isl 8192 --osl 1024")
    elif request.isl is not None or request.osl is not None:
        given = "--lengths" if request.lengths else "--trace"
        yield _wrong(f"--isl and --osl cannot be combined with {given}", "--isl")
    if request.lengths and request.trace:
        yield _wrong("--lengths and --trace both give the lengths: omit one", "--lengths")
    if request.rate is not None and request.concurrency is not None:
        yield _wrong("--rate and --concurrency cannot be combined: give one load", "--rate")
    if request.trace is not None and (request.concurrency is not None or request.disaggregated):
        flag = "--concurrency" if request.concurrency is not None else "--disaggregated"
        yield _wrong(f"--trace cannot be combined with {flag}", "--trace")
    if request.disaggregated:
        if request.concurrency is not None:
            yield _wrong(
                "--concurrency cannot be combined with --disaggregated: give --rate",
                "--concurrency",
            )
        if request.layout:
            yield _wrong(
                "--layout is one kind of replica, and --disaggregated has two: omit one", "--layout"
            )
    if request.prefix_hit_frac >= 1.0:
        yield _wrong(
            "--prefix-hit-frac 1 leaves no token to compute: the highest value is below 1",
            "--prefix-hit-frac",
            "--prefix-hit-frac 0.95",
        )


def without_system(request: ServeRequest) -> Iterator[Problem]:
    """Yield a problem where no system is given."""
    if not request.system:
        yield _wrong("--system is needed", "--system", "dcplan catalog list systems")


def _wrong(cause: str, place: str, help_text: str = "") -> Problem:
    return Problem("DC050", cause, Place(place), help=help_text)
