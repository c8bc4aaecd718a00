"""Settings that a run leaves out, from the recipes that the publisher of its software published."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.answers.validation.runs.shapes import number
from dcplan.answers.validation.runs.words import Recompute, recipe_id
from dcplan.catalog.releases import software_version
from dcplan.catalog.schema import Accelerator, ExpertPath, Stack
from dcplan.inputs.training.published_recipes import (
    LAYOUT,
    PublishedRecipe,
    RecipeKey,
    recipe_of_run,
)
from dcplan.llm.architecture import Architecture
from dcplan.training.recompute import Recomputed, recomputed

Row = Mapping[str, str]


def published_settings(row: Row, stack: Stack, accelerator: Accelerator) -> PublishedRecipe | None:
    """Return the published recipe of a run, where its software states its version."""
    version = software_version(stack, row.get("software", ""))
    if version is None:
        return None
    model = row.get("model", "")
    task = next((word for word in ("sft", "lora") if f"({word})" in model.lower()), "pretrain")
    layout = tuple(int(number(row, name, 1.0)) for name in LAYOUT)
    precision = recipe_id(row.get("precision", ""))
    key = RecipeKey(stack.id, version, model, accelerator.id, precision, task, layout)
    return recipe_of_run(key)


def experts_of(row: Row, published: PublishedRecipe | None) -> ExpertPath | None:
    """Return the path of a run's experts, or None if only the stack says it.

    With token dropping, experts have static shapes and need no exchange of counts with the host.
    """
    if "tokendrop" in row.get("model", ""):
        return ExpertPath(dispatcher="alltoall", graphs="partial")
    return published.experts if published is not None else None


def published_recompute(said: Recompute, published: PublishedRecipe | None) -> Recompute:
    """Return the recompute setting of a run, that of its recipe where it does not say."""
    if published is None or said.mode >= 0:
        return said
    if published.recompute:
        return Recompute(1.0, published.recompute)
    if published.recompute_layers:
        return Recompute(2.0, layers=float(published.recompute_layers))
    return said


def shares_again(said: Recompute, shape: Architecture, pp: float) -> Recomputed | None:
    """Return the shares computed again by modules or single layers; None leaves them to the mode."""
    if said.modules:
        return recomputed(shape, said.modules)
    if said.layers:
        share = min(said.layers / (shape.layers / pp), 1.0)
        return Recomputed(share, share, share, share)
    return None
