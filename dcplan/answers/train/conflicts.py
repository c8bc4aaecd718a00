"""Flags of ``dcplan train`` that exclude each other, need each other or have no effect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcplan.answers.train.request import DEFAULT_BATCH_TOKENS, TrainRequest
from dcplan.errors import Place, Problem
from dcplan.specs.request import fields_of

OF_SCENARIOS = ("model", "catalogs")
"""Fields of the request that a scenario uses."""


def idle_with_scenario(request: TrainRequest) -> list[Problem]:
    """Return a problem for each flag that has no effect on the jobs of a scenario."""
    cause = "has no effect with a scenario, whose jobs have their own systems, amounts and layouts"
    help_text = "leave it out, or give a model with --system and --accelerators"
    return [
        Problem("DC015", f"{each.spelled} {cause}", Place(each.spelled), help=help_text)
        for each in fields_of(type(request))
        if each.name not in OF_SCENARIOS and getattr(request, each.name) != each.default
    ]


def conflicts(request: TrainRequest) -> list[Problem]:
    """Return the problems of the combination of flags."""
    found = [*_texts(request), *_of_sites(request), *_of_parts(request), *_of_batch(request)]
    if request.sizes_cluster:
        found += _of_size(request)
    if request.cost is not None and request.post_training is not None:
        cause = "--cost applies to a training run; the cost of --post-training has its own table"
        found.append(_wrong(cause, "--cost"))
    return found


def _texts(request: TrainRequest) -> Iterator[Problem]:
    """Check texts that need no catalog."""
    if not request.precision:
        yield _wrong("at least one precision is needed", "--precision")
    if request.start is not None and not re.fullmatch(r"\d{4}-Q[1-4]", request.start):
        yield _wrong(f"{request.start!r}: expected a quarter such as 2026-Q4", "--start")


def _of_sites(request: TrainRequest) -> Iterator[Problem]:
    """Find flags that one site does not use, and flags that several sites lack."""
    only_with_sites = (
        request.wan_gbps is not None,
        request.wan_rtt_ms is not None,
        request.local_steps > 1,
        request.wan_overlap,
    )
    if request.wan_sites == 1 and any(only_with_sites):
        flags = "--local-steps, --wan-gbps, --wan-rtt-ms and --wan-overlap"
        yield _wrong(f"{flags} need --wan-sites of at least 2", "--wan-sites")
    if request.wan_sites > 1 and request.wan_gbps is None:
        yield _wrong("--wan-gbps is needed to train over several sites", "--wan-sites")
    if request.extra_tokens_frac is not None and request.local_steps == 1:
        cause = "--extra-tokens-frac needs --local-steps of at least 2"
        yield _wrong(cause, "--extra-tokens-frac")


def _of_parts(request: TrainRequest) -> Iterator[Problem]:
    """Find flags that one hall does not use, and parts that have no equal share."""
    if request.halls == 1 and (request.hall_gbps is not None or request.hall_rtt_ms is not None):
        yield _wrong("--hall-gbps and --hall-rtt-ms need --halls of at least 2", "--halls")
    if request.halls > 1 and request.hall_gbps is None:
        help_text = (
            "give the rate of the links between a hall and the others, such as --hall-gbps 100000"
        )
        yield _wrong("--hall-gbps is needed to train over several halls", "--halls", help_text)
    parts = request.halls * request.wan_sites
    if parts == 1:
        if request.sync_bytes_per_param != TrainRequest.sync_bytes_per_param:
            cause = "--sync-bytes-per-param needs --halls or --wan-sites of at least 2"
            yield _wrong(cause, "--sync-bytes-per-param")
        return
    name, flag = ("site", "--wan-sites") if request.halls == 1 else ("hall", "--halls")
    count = request.accelerators
    if count is not None and count % parts:
        cause = f"{count} accelerators do not divide among {parts} {name}s"
        yield _wrong(f"{cause}: -n is the total of all {name}s", flag)
    if (request.global_batch_tokens or DEFAULT_BATCH_TOKENS) / parts < request.seq_len:
        yield _wrong(f"each {name} needs at least one sequence per step", "--global-batch-tokens")


def _of_batch(request: TrainRequest) -> Iterator[Problem]:
    """Find a batch smaller than a sequence, and a run shorter than a step; phases are separate."""
    if request.phases:
        return
    batch, tokens = request.global_batch_tokens, request.tokens
    if batch and batch < request.seq_len:
        cause = f"{batch:g} tokens per step is less than one sequence of {request.seq_len}"
        yield _wrong(cause, "--global-batch-tokens")
    if tokens is not None and tokens < request.step_tokens:
        cause = f"{tokens:g} tokens are less than one step of {request.step_tokens:,.0f}"
        yield _wrong(cause, "--tokens", "--tokens 15e12 is 15 trillion")


def _of_size(request: TrainRequest) -> Iterator[Problem]:
    """Find flags that set what the search for a cluster decides."""
    given = {
        "--accelerators": request.accelerators is not None,
        "--layout": request.layout is not None,
        "--phase": bool(request.phases),
        "--batch-ramp": request.batch_ramp is not None,
        "--halls": request.halls > 1,
        "--wan-sites": request.wan_sites > 1,
        "--cost": request.cost is not None,
    }
    for flag in (name for name, is_given in given.items() if is_given):
        cause = f"{flag} cannot be combined with --deadline-days, --max-it-mw or --budget-usd"
        yield _wrong(cause, "train")


def _wrong(cause: str, place: str, help_text: str = "") -> Problem:
    return Problem("DC050", cause, Place(place), help=help_text)
