"""``dcplan train``: how long a model takes on how many accelerators, in which layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcplan.answers.train.estimate import train_model
from dcplan.answers.train.phase import read_phase
from dcplan.answers.train.resolve import DEFAULT_BATCH_TOKENS, Ask
from dcplan.answers.train.settings import read_wishes
from dcplan.answers.train.sizing import Limits, train_inverse
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Model
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.result import Result
from dcplan.scenario.schema.work import Reliability, Storage
from dcplan.training.wide_area import WideArea


def train(  # noqa: PLR0913 - the flags of the verb
    model: str | Path,
    *,
    system: str | None = None,
    accelerators: int | None = None,
    tokens: float | None = None,
    seq_len: int = 8192,
    global_batch_tokens: float | None = None,
    precision: str | Sequence[str] = "bf16",
    link_gbps: float | None = None,
    stack: str | None = None,
    layout: str | None = None,
    top: int = 5,
    usd_per_accelerator_hour: float | None = None,
    hardware_age_years: float = 0.0,
    site: str | None = None,
    power_frac: float = 1.0,
    phases: Sequence[str] = (),
    in_network: bool = False,
    start: str | None = None,
    images: float = 0.0,
    sites: int = 1,
    local_steps: int = 1,
    wan_gbps: float | None = None,
    wan_value_bytes: float = 4.0,
    wan_overlap: bool = False,
    token_penalty_frac: float = 0.0,
    deadline_days: float | None = None,
    mw: float | None = None,
    budget_usd: float | None = None,
    reliability: str = "",
    storage: str = "",
    replicas: int = 0,
    catalogs: Sequence[str] = (),
) -> Result:
    """Estimate training: of every job of a scenario, or of one model on one system.

    Parameters
    ----------
    model : str or Path
        A scenario file or packaged example (then the other arguments are not used), a catalog
        model, or a Hugging Face ``config.json``.
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
    precision : str or sequence of str, default "bf16"
        Catalog recipes: bf16, fp16, tf32, fp8, fp8-rowwise, mxfp8 or fp4. Several are taken as
        equal in quality and the fastest is answered.
    link_gbps : float, optional
        One-way rate of a NIC port; the system's own where left out. [Gb/s]
    stack : str, optional
        Catalog stack; the accelerator's usual one where left out.
    layout : str, optional
        One layout, such as ``tp=8,pp=16,vpp=7,mbs=1,recompute=selective``, instead of the search.
    top : int, default 5
        Fastest layouts to list.
    usd_per_accelerator_hour : float, optional
        Rent; the catalog's median on-demand price where left out. [USD]
    site : str, optional
        Catalog site whose grid gives the carbon.
    power_frac : float, default 1.0
        Power limit of the accelerators over their TDP, 0.7 to 1. [-]
    phases : sequence of str
        Stretches with their own length and batch:
        ``tokens=1e12,seq-len=131072,global-batch-tokens=16e6``.
    in_network : bool, default False
        Scale-out switches add gradients up (SHARP).
    start : str, optional
        Quarter the run starts in, such as ``2026-Q4``: a young generation is slower.
    images : float, default 0
        Images (or tiles) of a sequence, for a model with a vision encoder; their tokens are part of
        the sequence. [-]
    sites, local_steps, wan_gbps, wan_value_bytes, wan_overlap, token_penalty_frac
        Low-communication training: sites of equal size, optimizer steps between exchanges, one-way
        rate of a site's link, bytes of an exchanged value, whether exchanges hide behind the next
        steps, and the share of tokens that lost statistical efficiency adds. [-, -, Gb/s, byte, -,
        -]
    hardware_age_years : float
        From the purchase of owned hardware to the start of the run, at least 0; for the amortised
        cost. [years]
    deadline_days, mw, budget_usd : float, optional
        Instead of ``accelerators``: the smallest cluster that ends in time at 80 % confidence;
        without a deadline the fastest under a rated IT power or a rent. A deadline with
        ``accelerators`` gives the probability of keeping it. [days, MW, USD]
    reliability, storage : str
        Fields of the scenario's blocks of these names: ``checkpoint=blocking,restart-s=300``;
        ``level=best``.
    replicas : int, default 0
        Runs to play through stop by stop beside the closed form.
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
        # a scenario needs the planner's room, which is slow to import
        from dcplan.answers.plan.job_options import train_scenario

        return train_scenario(name, catalogs)
    names = precision.split(",") if isinstance(precision, str) else precision
    precisions = tuple(filter(None, (p.strip() for p in names)))
    ask = Ask(
        name,
        system,
        accelerators,
        tokens,
        seq_len,
        global_batch_tokens,
        precisions,
        link_gbps,
        stack,
        layout,
        top,
        usd_per_accelerator_hour,
        site,
        power_frac,
        tuple(read_phase(text, global_batch_tokens or DEFAULT_BATCH_TOKENS) for text in phases),
        in_network,
        _wide(sites, local_steps, wan_gbps, wan_value_bytes, wan_overlap, token_penalty_frac),
        _quarter(start),
        reliability=read_wishes(reliability, Reliability, "--reliability"),
        storage=read_wishes(storage, Storage, "--storage"),
        replicas=replicas,
        images=images,
        hardware_age_years=hardware_age_years,
    )
    limits = Limits(deadline_days, mw, budget_usd)
    if (
        limits == Limits(deadline_days, None, None)
        and accelerators is not None
        and deadline_days is not None
    ):
        return train_model(replace(ask, deadline_days=deadline_days), catalog)
    if limits != Limits(None, None, None):
        _refuse_mixed(ask, limits)
        return train_inverse(ask, limits, catalog)
    return train_model(ask, catalog)


def _refuse_unknown(name: str, catalog: Catalog) -> None:
    """Say so when a name is neither a model nor a packaged scenario."""
    examples = [p.stem for p in data_dir("scenarios").glob("*.yaml")]
    if name in examples or Path(name).is_file():
        return
    hint = did_you_mean(name, [*catalog.rows["models"], *examples])
    cause = f"{name!r} is neither a catalog model, a config.json nor a scenario"
    raise InputError([Problem("DC010", cause, Place("train"), hint, "dcplan catalog list models")])


def _wide(
    sites: int,
    local_steps: int,
    gbps: float | None,
    value_bytes: float,
    overlap: bool,
    penalty: float,
) -> WideArea | None:
    if sites <= 1:
        if gbps is not None or local_steps > 1 or overlap or penalty:
            cause = "--local-steps, --wan-gbps, --wan-overlap and --token-penalty-frac need several --sites"
            raise InputError([Problem("DC050", cause, Place("--sites"))])
        return None
    if gbps is None:
        raise InputError(
            [Problem("DC050", "--wan-gbps is needed to train over several sites", Place("--sites"))]
        )
    return WideArea(
        sites, local_steps, gbps, value_bytes, overlapped=overlap, token_penalty_frac=penalty
    )


def _quarter(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(r"\d{4}-Q[1-4]", text):
        raise InputError(
            [Problem("DC050", f"{text!r}: expected a quarter such as 2026-Q4", Place("--start"))]
        )
    return text


def _refuse_mixed(ask: Ask, limits: Limits) -> None:
    """The inverse questions choose the count and the layout themselves, for one phase at one site."""
    flags = (
        ("--accelerators", ask.accelerators),
        ("--layout", ask.layout),
        ("--phase", ask.phases),
        ("--sites", ask.wide),
    )
    problems = [
        Problem(
            "DC050",
            f"{flag} does not go with --deadline-days, --mw or --budget-usd",
            Place("train"),
        )
        for flag, given in flags
        if given
    ]
    for flag, value in (
        ("--deadline-days", limits.deadline_days),
        ("--mw", limits.mw),
        ("--budget-usd", limits.budget_usd),
    ):
        if value is not None and not 0 < value <= LARGEST_LIMIT:
            problems.append(
                Problem(
                    "DC050",
                    f"{value:g}: a number above 0, at most {LARGEST_LIMIT:g}, is needed",
                    Place(flag),
                )
            )
    if problems:
        raise InputError(problems)


LARGEST_LIMIT = 1e15
