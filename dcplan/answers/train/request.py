"""What ``dcplan train`` is asked: every flag with its range, and flags that rule out each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag

LARGEST = 1e18
DEFAULT_BATCH_TOKENS = 4e6
"""Tokens of a step where none is given; the headline says so."""
SETTINGS_OF_RECOVERY = (
    "checkpoint=async|blocking|peer,save-s=,interval-s=,restart-s=,stops-per-1000-node-days=,"
    "spares=,repair-h=,production-slowdown=,early-life=,lemon-nodes="
)
SETTINGS_OF_STORAGE = "level=good|better|best,bytes-per-token=,dataset-tb=,tier=,kept-checkpoints="


@dataclass(frozen=True)
class TrainRequest:
    """One model on one cluster, or a scenario, whose jobs answer alone."""

    model: Annotated[
        str,
        Flag(
            "catalog model, config.json, or a scenario",
            metavar="MODEL|FILE",
            complete="models",
            argument=True,
        ),
    ]
    system: Annotated[str | None, Flag("catalog system, such as dgx-h100", complete="systems")] = (
        None
    )
    accelerators: Annotated[
        int | None, Flag("how many", low=1, high=10_000_000, names=("--accelerators", "-n"))
    ] = None
    tokens: Annotated[
        float | None, Flag("training tokens, such as 15.6e12", low=1, high=LARGEST)
    ] = None
    seq_len: Annotated[int, Flag("tokens of a sequence", low=1, high=LARGEST)] = 8192
    global_batch_tokens: Annotated[
        float | None, Flag("tokens of a step; 4e6 where left out", low=1, high=LARGEST)
    ] = None
    precision: Annotated[
        tuple[str, ...],
        Flag(
            "bf16, fp16, tf32, fp8, fp8-rowwise, mxfp8, fp4; of several, as bf16,fp8, the fastest "
            "is answered",
            comma=True,
        ),
    ] = ("bf16",)
    nic_port_gbps: Annotated[
        float | None,
        Flag(
            "one-way rate of a NIC port; left out, that of the system",
            unit="Gb/s",
            low=0.01,
            high=LARGEST,
        ),
    ] = None
    stack: Annotated[
        str | None, Flag("training software; the usual one if left out", complete="stacks")
    ] = None
    layout: Annotated[
        str | None, Flag("one layout, such as tp=8,pp=16,vpp=7,mbs=1; searched if left out")
    ] = None
    list_count: Annotated[
        int, Flag("fastest layouts to list", low=1, high=1_000_000, names=("--list",))
    ] = 5
    usd_per_accelerator_hour: Annotated[
        float | None, Flag("rent; catalog median if left out", unit="USD", low=0, high=LARGEST)
    ] = None
    hardware_age_years: Annotated[
        float, Flag("from its purchase to the start of the run", unit="years", low=0, high=30)
    ] = 0.0
    site: Annotated[
        str | None,
        Flag("catalog site whose grid gives the carbon and the price of energy", complete="sites"),
    ] = None
    power_limit_frac: Annotated[
        float, Flag("power limit over TDP; matrix products slow down", low=0.7, high=1)
    ] = 1.0
    phases: Annotated[
        tuple[str, ...],
        Flag("repeatable: tokens=1e12,seq-len=131072,global-batch-tokens=16e6", names=("--phase",)),
    ] = ()
    in_network_reduction: Annotated[bool, Flag("scale-out switches add gradients up (SHARP)")] = (
        False
    )
    start: Annotated[str | None, Flag("quarter such as 2026-Q4; a young generation is slower")] = (
        None
    )
    images: Annotated[
        float,
        Flag(
            "images or tiles of a sequence, for a model with a vision encoder", low=0, high=LARGEST
        ),
    ] = 0.0
    wan_sites: Annotated[
        int, Flag("train over this many sites with few exchanges", low=1, high=10_000_000)
    ] = 1
    local_steps: Annotated[int, Flag("steps between exchanges of sites", low=1, high=LARGEST)] = 1
    wan_gbps: Annotated[
        float | None, Flag("one-way rate of a site's link", unit="Gb/s", low=0.01, high=LARGEST)
    ] = None
    sync_bytes_per_param: Annotated[
        float, Flag("bytes of an exchanged value; 4 uncompressed", low=0.01, high=64)
    ] = 4.0
    wan_overlap: Annotated[bool, Flag("exchange beside the next local steps")] = False
    deadline_days: Annotated[
        float | None,
        Flag(
            "find the smallest cluster that ends in time (80 %); with --accelerators, the "
            "probability that it does",
            unit="days",
            low=0.1,
            high=1e15,
        ),
    ] = None
    max_it_mw: Annotated[
        float | None,
        Flag("find the fastest cluster under this IT power", unit="MW", low=0, high=1e15),
    ] = None
    budget_usd: Annotated[
        float | None, Flag("find the fastest cluster for this rent", unit="USD", low=1, high=1e15)
    ] = None
    reliability: Annotated[str | None, Flag(SETTINGS_OF_RECOVERY)] = None
    storage: Annotated[str | None, Flag(SETTINGS_OF_STORAGE)] = None
    simulations: Annotated[
        int, Flag("play the run through stop by stop so many times", low=0, high=100_000)
    ] = 0
    catalogs: Annotated[tuple[str, ...], Flag("overlay folder; repeatable, the last wins")] = ()

    @property
    def step_tokens(self) -> float:
        """Tokens of a step: those given, or the default, at least one sequence."""
        return self.global_batch_tokens or max(DEFAULT_BATCH_TOKENS, float(self.seq_len))

    @property
    def sizes_cluster(self) -> bool:
        """Whether the number of accelerators is asked for, not given."""
        if self.max_it_mw is not None or self.budget_usd is not None:
            return True
        return self.deadline_days is not None and self.accelerators is None


def conflicts(request: TrainRequest) -> list[Problem]:
    """Return what is wrong with the flags of a model together."""
    found = [*_texts(request), *_of_sites(request), *_of_batch(request)]
    if request.sizes_cluster:
        found += _of_size(request)
    return found


def _texts(request: TrainRequest) -> Iterator[Problem]:
    """Find texts that no catalog decides on."""
    if not request.precision:
        yield _wrong("at least one precision is needed", "--precision")
    if request.start is not None and not re.fullmatch(r"\d{4}-Q[1-4]", request.start):
        yield _wrong(f"{request.start!r}: expected a quarter such as 2026-Q4", "--start")


def _of_sites(request: TrainRequest) -> Iterator[Problem]:
    """Find flags of several sites that one site does not use, and what several sites lack."""
    only_with_sites = (request.wan_gbps is not None, request.local_steps > 1, request.wan_overlap)
    if request.wan_sites == 1:
        if any(only_with_sites):
            flags = "--local-steps, --wan-gbps and --wan-overlap"
            yield _wrong(f"{flags} need several --wan-sites", "--wan-sites")
        return
    if request.wan_gbps is None:
        yield _wrong("--wan-gbps is needed to train over several sites", "--wan-sites")
    count = request.accelerators
    if count is not None and count % request.wan_sites:
        cause = f"{count} accelerators do not divide among {request.wan_sites} sites"
        yield _wrong(f"{cause}: -n counts all of them", "--wan-sites")
    if (request.global_batch_tokens or DEFAULT_BATCH_TOKENS) / request.wan_sites < request.seq_len:
        yield _wrong("each site needs at least one sequence a step", "--global-batch-tokens")


def _of_batch(request: TrainRequest) -> Iterator[Problem]:
    """Find a batch below a sequence, and a run below a step; phases have their own."""
    if request.phases:
        return
    batch, tokens = request.global_batch_tokens, request.tokens
    if batch and batch < request.seq_len:
        cause = f"{batch:g} tokens a step is less than one sequence of {request.seq_len}"
        yield _wrong(cause, "--global-batch-tokens")
    if tokens is not None and tokens < request.step_tokens:
        cause = f"{tokens:g} tokens are less than one step of {request.step_tokens:,.0f}"
        yield _wrong(cause, "--tokens", "--tokens 15e12 is 15 trillion")


def _of_size(request: TrainRequest) -> Iterator[Problem]:
    """Find flags of what a search for the cluster decides itself."""
    given = {
        "--accelerators": request.accelerators is not None,
        "--layout": request.layout is not None,
        "--phase": bool(request.phases),
        "--wan-sites": request.wan_sites > 1,
    }
    for flag in (name for name, is_given in given.items() if is_given):
        cause = f"{flag} does not go with --deadline-days, --max-it-mw or --budget-usd"
        yield _wrong(cause, "train")


def _wrong(cause: str, place: str, help_text: str = "") -> Problem:
    return Problem("DC050", cause, Place(place), help=help_text)
