"""Training logs as rows of a table of runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from dcplan.answers.calibrate.log_row import WARM_UP_STEPS, Log, read
from dcplan.answers.calibrate.request import CalibrateRequest
from dcplan.answers.common.catalog_rows import named
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Model
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.llm.config import from_config
from dcplan.result import Result
from dcplan.specs.validation import calibrate as specs

COLUMNS = (
    *("id", "model", "params_b"),
    *("layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab", "seq_len"),
    *("experts", "experts_per_token", "expert_ffn", "shared_experts"),
    *("accelerator_id", "stack", "n_accelerators", "accelerators_per_node", "scaleout_fabric"),
    *(
        "precision",
        "tp",
        "pp",
        "vpp",
        "dp",
        "ep",
        "cp",
        "sp",
        "zero_stage_or_fsdp",
        "activation_recompute",
    ),
    *("global_batch_seqs", "micro_batch"),
    *("step_time_s", "tokens_per_s_per_accel", "peak_memory_gib", "software", "source_title"),
)
"""Columns of the rows, in their order; ``dcplan validate --runs`` reads them."""
UNSTEADY = 0.1
"""Width of the middle 80 % of the steps above which a log counts as unsteady."""


def answer(request: CalibrateRequest, catalog: Catalog) -> tuple[Result, str]:
    """Return the rows of the logs, as an answer and as a CSV.

    Raises
    ------
    InputError
        When a log cannot be read or has no step line, or a given column or id is unknown.
    """
    given = _given(request.set)
    part = None
    if request.accelerator is not None:
        part = named(catalog, "accelerators", request.accelerator, Accelerator, "--accelerator").id
    defaults = _model_columns(catalog, request.model)
    fixed = {"accelerator_id": part or "", "stack": request.name or "", **given}
    logs = [read(Path(f), defaults, fixed) for f in request.from_log]
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(x.row for x in logs)
    return _result(logs), out.getvalue()


def _given(texts: Sequence[str]) -> dict[str, str]:
    """Return the columns of --set."""
    found, problems = {}, []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in COLUMNS:
            cause = f"--set {text}: column=value is needed, with a column of the table of runs"
            problems.append(Problem("DC051", cause, Place("--set"), did_you_mean(name, COLUMNS)))
        found[name] = value
    if problems:
        raise InputError(problems)
    return found


def _model_columns(catalog: Catalog, name: str | None) -> dict[str, str]:
    """Return the columns of a catalog model."""
    if name is None:
        return {}
    row = named(catalog, "models", name, Model, "--model")
    shape = from_config(row.config)
    found = {
        "model": row.name,
        "params_b": shape.params / 1e9,
        "layers": shape.layers,
        "hidden": shape.hidden,
        "ffn_hidden": shape.ffn,
        "heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocab": shape.vocab,
    }
    if shape.moe_layers:
        found |= {
            "experts": shape.experts,
            "experts_per_token": shape.experts_per_token,
            "expert_ffn": shape.expert_ffn,
        }
    return {k: v if isinstance(v, str) else f"{v:.6g}" for k, v in found.items()}


def _result(logs: Sequence[Log]) -> Result:
    ready = sum(not x.blank for x in logs)
    return Result(
        verb="calibrate",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{len(logs)} log{'s' if len(logs) > 1 else ''}: {ready} rows are complete",
        tables={specs.LOGS.name: specs.LOGS.table(_row(x) for x in logs)},
        warnings=[{"code": "calibrate", "message": text} for x in logs for text in _doubts(x)],
    )


def _row(log: Log) -> specs.LogRow:
    def number(name: str) -> float | None:
        return float(log.row[name]) if log.row.get(name) else None

    return specs.LogRow(
        log=log.file.name,
        format=log.kind.title,
        steps=log.steps,
        skipped=log.skipped,
        outliers=log.outliers,
        step_time_s=number("step_time_s"),
        tokens_per_s_per_accel=number("tokens_per_s_per_accel"),
        spread_frac=log.spread,
        blank=", ".join(log.blank),
    )


def _doubts(log: Log) -> Iterator[str]:
    """Return what the user has to fill in or to check."""
    name = log.file.name
    if log.blank:
        yield (
            f"{name} does not say {', '.join(log.blank)}: fill in these columns, "
            "or give --model, --accelerator, --name or --set column=value"
        )
    if not log.row.get("activation_recompute"):
        yield f"{name} does not say activation_recompute: blank means the lightest that fits"
    if not log.row.get("precision"):
        yield f"{name} does not say precision: blank means 16 bits, or give --set precision=fp8"
    if log.kind.whole:
        yield f"{name} has only the mean of the whole run, with its start and its evaluations"
    elif log.steps - log.skipped < WARM_UP_STEPS:
        yield f"{name} has only {log.steps} step lines: the median needs more"
    if log.spread > UNSTEADY:
        yield f"the steps of {name} vary by {log.spread:.0%} (10th to 90th percentile)"
