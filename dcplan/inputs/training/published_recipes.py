"""Settings of training software as its publisher's recipes have them, by release."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from dcplan.catalog.locate import data_dir
from dcplan.catalog.releases import version_number
from dcplan.catalog.schema import ExpertPath

LAYOUT = ("tp", "pp", "vpp", "cp", "ep", "micro_batch")
"""Columns of a layout."""


@dataclass(frozen=True)
class PublishedRecipe:
    """A row of ``catalogs/runs/published_recipes.csv``."""

    stack: str
    release: str
    model: str
    accelerator: str
    precision: str
    task: str
    layout: tuple[int, ...]
    experts: ExpertPath | None
    """Path of the experts; None for dense models."""
    recompute: tuple[str, ...]
    """Modules that are computed again."""
    recompute_layers: int
    """Layers of a stage that are computed again in full."""
    offload_layers: int
    """Layers whose activations move to host memory."""


@dataclass(frozen=True)
class RecipeKey:
    """What a run states about itself: names as in the catalog, and its layout."""

    stack: str
    version: str
    model: str
    """Name in the words of the source."""
    accelerator: str
    precision: str
    task: str
    layout: tuple[int, ...]


@cache
def published_recipes() -> tuple[PublishedRecipe, ...]:
    """Return the packaged recipes."""
    file = data_dir("catalogs") / "runs" / "published_recipes.csv"
    with file.open(encoding="utf-8", newline="") as text:
        return tuple(_recipe(row) for row in csv.DictReader(text))


def _recipe(row: dict[str, str]) -> PublishedRecipe:
    return PublishedRecipe(
        stack=row["stack"],
        release=row["release"],
        model=row["model"],
        accelerator=row["accelerator"],
        precision=row["precision"],
        task=row["task"],
        layout=tuple(int(row[name]) for name in LAYOUT),
        experts=ExpertPath.model_validate(
            {
                "dispatcher": row["dispatcher"],
                "graphs": row["graphs"],
                "overlap": row["overlap"] == "1",
            }
        )
        if row["dispatcher"]
        else None,
        recompute=tuple(filter(None, row["recompute"].split("+"))),
        recompute_layers=int(row["recompute_layers"] or 0),
        offload_layers=int(row["offload_layers"] or 0),
    )


def recipe_of_run(key: RecipeKey) -> PublishedRecipe | None:
    """Return the recipe that a run most likely used, or None if none was published.

    It is the newest up to the run's release for the same model, accelerator and task, first with
    the same layout and precision, then with the same layout, then with the same precision.
    """
    version = version_number(key.version)
    known = [
        r
        for r in published_recipes()
        if r.stack == key.stack
        and r.accelerator == key.accelerator
        and r.task == key.task
        and version_number(r.release) <= version
        and _plain(key.model).startswith(_plain(r.model))
    ]
    for same in (
        [r for r in known if r.layout == key.layout and r.precision == key.precision],
        [r for r in known if r.layout == key.layout],
        [r for r in known if r.precision == key.precision],
    ):
        if same:
            return _newest(same)
    return None


def _newest(recipes: Iterable[PublishedRecipe]) -> PublishedRecipe:
    return max(recipes, key=lambda r: version_number(r.release))


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
