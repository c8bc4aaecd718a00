"""``dcplan train``."""

from __future__ import annotations

from typing import Annotated

import typer

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
    model: Annotated[str, typer.Argument(metavar="MODEL|FILE", help="catalog model, config.json, or a scenario")],
    system: Annotated[str | None, typer.Option("--system", help="catalog system, such as dgx-h100")] = None,
    accelerators: Annotated[int | None, typer.Option("--accelerators", "-n", min=1, help="how many")] = None,
    tokens: Annotated[float | None, typer.Option("--tokens", min=1, help="training tokens, such as 15.6e12")] = None,
    seq_len: Annotated[int, typer.Option("--seq-len", min=1, help="tokens of a sequence")] = 8192,
    global_batch_tokens: Annotated[
        float | None, typer.Option("--global-batch-tokens", min=1, help="tokens of a step; 4e6 where left out")
    ] = None,
    precision: Annotated[str, typer.Option("--precision", help="bf16, fp16, fp8 or fp4")] = "bf16",
    link_gbps: Annotated[float | None, typer.Option("--link-gbps", min=1, help="rate of a NIC port")] = None,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Time, memory and energy of training a model; of a scenario, all ways to run its jobs."""
    from dcplan.answers.train import train as answer
    from dcplan.catalog.schema.hardware import PRECISIONS
    from dcplan.cli.output import emit
    from dcplan.errors import InputError, Place, Problem, did_you_mean

    if precision not in PRECISIONS:
        hint = did_you_mean(precision, PRECISIONS)
        raise InputError(
            [
                Problem(
                    "DC050",
                    f"no precision {precision!r}: one of {', '.join(PRECISIONS)}",
                    Place("--precision"),
                    hint,
                )
            ]
        )
    result = answer(
        model,
        system=system,
        accelerators=accelerators,
        tokens=tokens,
        seq_len=seq_len,
        global_batch_tokens=global_batch_tokens,
        precision=precision,
        link_gbps=link_gbps,
        catalogs=catalogs or (),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
