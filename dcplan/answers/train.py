"""``dcplan train``: how long a model takes on how many accelerators, in which layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcplan.answers.describe import describe, inputs_of
from dcplan.answers.plan_tables import left_out
from dcplan.answers.train_model import Ask, train_model
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Model
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.planning.menu.build import build
from dcplan.result import Result, Table
from dcplan.scenario.load import load


def train(
    model: str | Path,
    *,
    system: str | None = None,
    accelerators: int | None = None,
    tokens: float | None = None,
    seq_len: int = 8192,
    global_batch_tokens: float | None = None,
    precision: str = "bf16",
    link_gbps: float | None = None,
    catalogs: Sequence[str] = (),
) -> Result:
    """Estimate training: of every job of a scenario, or of one model on one system.

    Parameters
    ----------
    model : str or Path
        A scenario file or packaged example (then the other arguments are not used), a catalog model,
        or a Hugging Face ``config.json``.
    system : str, optional
        Catalog system that carries the accelerators.
    accelerators : int, optional
        How many, at least 1.
    tokens : float, optional
        Training tokens; the catalog's where it has them. [-]
    seq_len : int, default 8192
        Tokens of a sequence. [-]
    global_batch_tokens : float, optional
        Tokens of a step; 4e6 where left out, marked as a default. [-]
    precision : str, default "bf16"
        bf16, fp16, fp8 or fp4.
    link_gbps : float, optional
        One-way rate of a NIC port; the system's own where left out. [Gb/s]
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When a name is unknown or an argument is missing.
    """
    catalog = load_catalog(tuple(Path(c) for c in catalogs))
    name = str(model)
    if catalog.find("models", name, Model) is None and not name.endswith(".json"):
        if not name.endswith((".yaml", ".yml")):
            _refuse_unknown(name, catalog)
        return _scenario(name, catalogs)
    ask = Ask(name, system, accelerators, tokens, seq_len, global_batch_tokens, precision, link_gbps)
    return train_model(ask, catalog)


def _refuse_unknown(name: str, catalog: Catalog) -> None:
    """Say so when a name is neither a model nor a packaged scenario."""
    examples = [p.stem for p in data_dir("scenarios").glob("*.yaml")]
    if name in examples or Path(name).is_file():
        return
    hint = did_you_mean(name, [*catalog.rows["models"], *examples])
    cause = f"{name!r} is neither a catalog model, a config.json nor a scenario"
    raise InputError([Problem("DC010", cause, Place("train"), hint, "dcplan catalog list models")])


def _scenario(name: str, catalogs: Sequence[str]) -> Result:
    """The job menu of a scenario: every non-dominated way to run each job."""
    question = load(name, catalogs=catalogs)
    built = build(question)
    rows = []
    seen = set()
    for c in built.menu.configs:
        key = (c.job, c.place, c.system, c.accelerators, c.precision)
        if key in seen:
            continue
        seen.add(key)
        layout = " ".join(f"{k}={v}" for k, v in c.layout.items())
        rows.append((c.job, c.place, c.system, c.accelerators, c.precision, c.days_p50, c.days, c.mfu_frac, layout))
    columns = (
        "job",
        "place",
        "system",
        "accelerators",
        "precision",
        "p50_days",
        "days",
        "mfu_frac",
        "layout",
    )
    jobs = len({r[0] for r in rows})
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=f"{question.scenario.name}: {len(rows)} ways to run {jobs} of {len(built.menu.jobs)} jobs",
        scenario=describe(question),
        tables={"configs": Table(columns, tuple(sorted(rows))), "left_out": left_out(built.menu)},
        inputs=inputs_of(built),
    )
