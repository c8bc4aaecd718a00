"""``dcplan train``: duration, accelerators and layout of a training run."""

from __future__ import annotations

from pathlib import Path

from dcplan.answers.train.clusters.sizing import train_inverse
from dcplan.answers.train.conflicts import conflicts, idle_with_scenario
from dcplan.answers.train.estimate import train_model
from dcplan.answers.train.post_training.answer import post_train
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.train.resolve import unknown_names
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.schema import Model
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.result import Result
from dcplan.specs.verb import verb


@verb(TrainRequest, "train")
def train(request: TrainRequest) -> Result:
    """Estimate the training of every job of a scenario, or of one model on one system.

    Raises
    ------
    InputError
        When a name is unknown or an argument is missing.
    """
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    name = request.model
    if catalog.find("models", name, Model) is None and not name.endswith(".json"):
        if not name.endswith((".yaml", ".yml")):
            _refuse_unknown(name, catalog)
        idle = idle_with_scenario(request)
        if idle:
            raise InputError(idle)
        # a scenario needs the planner, which is slow to import
        from dcplan.answers.plan.job_options import train_scenario

        return train_scenario(name, request.catalogs)
    problems = [*conflicts(request), *unknown_names(request, catalog)]
    if problems:
        raise InputError(problems)
    if request.post_training is not None:
        return post_train(request, catalog)
    return (train_inverse if request.sizes_cluster else train_model)(request, catalog)


def _refuse_unknown(name: str, catalog: Catalog) -> None:
    """Reject a name that is neither a model nor a packaged scenario."""
    examples = [p.stem for p in data_dir("scenarios").glob("*.yaml")]
    if name in examples or Path(name).is_file():
        return
    hint = did_you_mean(name, [*catalog.rows["models"], *examples])
    cause = f"{name!r} is not a catalog model, a config.json or a scenario"
    raise InputError([Problem("DC010", cause, Place("train"), hint, "dcplan catalog list models")])
