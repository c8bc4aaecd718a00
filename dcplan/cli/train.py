"""``dcplan train``."""

from __future__ import annotations

from typing import Annotated

import typer

from dcplan.cli import complete
from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    VerboseOption,
)


def train(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FILE",
            help="catalog model, config.json, or a scenario",
            autocompletion=complete.models,
        ),
    ],
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            help="catalog system, such as dgx-h100",
            autocompletion=complete.ids("systems"),
        ),
    ] = None,
    accelerators: Annotated[
        int | None, typer.Option("--accelerators", "-n", min=1, help="how many")
    ] = None,
    tokens: Annotated[
        float | None, typer.Option("--tokens", min=1, help="training tokens, such as 15.6e12")
    ] = None,
    seq_len: Annotated[int, typer.Option("--seq-len", min=1, help="tokens of a sequence")] = 8192,
    global_batch_tokens: Annotated[
        float | None,
        typer.Option("--global-batch-tokens", min=1, help="tokens of a step; 4e6 where left out"),
    ] = None,
    precision: Annotated[
        str,
        typer.Option(
            "--precision", help="bf16, fp16, tf32, fp8, fp8-rowwise, mxfp8, fp4; several: bf16,fp8"
        ),
    ] = "bf16",
    link_gbps: Annotated[
        float | None, typer.Option("--link-gbps", min=1, help="rate of a NIC port")
    ] = None,
    stack: Annotated[
        str | None, typer.Option("--stack", help="training software; the usual one if left out")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout", help="one layout, such as tp=8,pp=16,vpp=7,mbs=1; searched if left out"
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="fastest layouts to list")] = 5,
    usd_per_accelerator_hour: Annotated[
        float | None,
        typer.Option("--usd-per-accelerator-hour", min=0, help="rent; catalog median if left out"),
    ] = None,
    hardware_age_years: Annotated[
        float,
        typer.Option(
            "--hardware-age-years", min=0, max=30, help="from its purchase to the start of the run"
        ),
    ] = 0.0,
    site: Annotated[
        str | None,
        typer.Option(
            "--site", help="catalog site whose grid gives the carbon and the price of energy"
        ),
    ] = None,
    power_frac: Annotated[
        float,
        typer.Option(
            "--power-frac", min=0.7, max=1.0, help="power limit over TDP; matrix products slow down"
        ),
    ] = 1.0,
    phase: Annotated[
        list[str] | None,
        typer.Option(
            "--phase", help="repeatable: tokens=1e12,seq-len=131072,global-batch-tokens=16e6"
        ),
    ] = None,
    in_network: Annotated[
        bool,
        typer.Option("--in-network-reduction", help="scale-out switches add gradients up (SHARP)"),
    ] = False,
    start: Annotated[
        str | None,
        typer.Option("--start", help="quarter such as 2026-Q4; a young generation is slower"),
    ] = None,
    images: Annotated[
        float,
        typer.Option(
            "--images",
            min=0,
            help="images or tiles of a sequence, for a model with a vision encoder",
        ),
    ] = 0.0,
    sites: Annotated[
        int, typer.Option("--sites", min=1, help="train over this many sites with few exchanges")
    ] = 1,
    local_steps: Annotated[
        int, typer.Option("--local-steps", min=1, help="steps between exchanges of sites")
    ] = 1,
    wan_gbps: Annotated[
        float | None, typer.Option("--wan-gbps", min=0.01, help="one-way rate of a site's link")
    ] = None,
    wan_value_bytes: Annotated[
        float,
        typer.Option(
            "--wan-value-bytes", min=0.01, help="bytes of an exchanged value; 4 uncompressed"
        ),
    ] = 4.0,
    wan_overlap: Annotated[
        bool, typer.Option("--wan-overlap", help="exchange beside the next local steps")
    ] = False,
    token_penalty_frac: Annotated[
        float,
        typer.Option(
            "--token-penalty-frac", min=0, help="tokens more that the same quality takes over sites"
        ),
    ] = 0.0,
    deadline_days: Annotated[
        float | None,
        typer.Option(
            "--deadline-days", min=0.1, help="find the smallest cluster that ends in time (80 %)"
        ),
    ] = None,
    mw: Annotated[
        float | None,
        typer.Option("--mw", min=0, help="find the fastest cluster under this IT power"),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", min=1, help="find the fastest cluster for this rent"),
    ] = None,
    reliability: Annotated[
        str,
        typer.Option(
            "--reliability",
            help="checkpoint=async|blocking|peer,save-s=,interval-s=,restart-s=,stops-per-1000-node-days=,"
            "spares=,repair-h=,early-life=,lemon-nodes=",
        ),
    ] = "",
    storage: Annotated[
        str,
        typer.Option(
            "--storage", help="level=good|better|best,bytes-per-token=,tier=,kept-checkpoints="
        ),
    ] = "",
    replicas: Annotated[
        int,
        typer.Option(
            "--replicas", min=0, max=100_000, help="play the run through stop by stop so many times"
        ),
    ] = 0,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Time, memory and energy of training a model; of a scenario, all ways to run its jobs."""
    from dcplan.answers.train.answer import train as answer
    from dcplan.cli.output import emit

    result = answer(
        model,
        system=system,
        accelerators=accelerators,
        tokens=tokens,
        seq_len=seq_len,
        global_batch_tokens=global_batch_tokens,
        precision=precision,
        link_gbps=link_gbps,
        stack=stack,
        layout=layout,
        top=top,
        usd_per_accelerator_hour=usd_per_accelerator_hour,
        hardware_age_years=hardware_age_years,
        site=site,
        power_frac=power_frac,
        phases=phase or (),
        in_network=in_network,
        start=start,
        images=images,
        sites=sites,
        local_steps=local_steps,
        wan_gbps=wan_gbps,
        wan_value_bytes=wan_value_bytes,
        wan_overlap=wan_overlap,
        token_penalty_frac=token_penalty_frac,
        deadline_days=deadline_days,
        mw=mw,
        budget_usd=budget_usd,
        reliability=reliability,
        storage=storage,
        replicas=replicas,
        catalogs=catalogs or (),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
