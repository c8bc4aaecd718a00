"""Checks of the names that services have: model, load shape, places of users."""

from __future__ import annotations

from dcplan.catalog.model_names import model_of
from dcplan.catalog.schema import LoadShape
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.errors import did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Inference

SHAPE_HOURS = (24, 168)


def check_service(check: Checker, service: Inference, path: Path) -> None:
    """Check the model, the load shape and the regions of a service."""
    model = service.model
    if model is not None and not model.endswith(".json") and not model_of(check.catalog, model):
        hint = did_you_mean(model, check.catalog.rows["models"])
        cause = f"no models row {model!r}"
        help_text = "dcplan catalog list models"
        check.add("DC010", cause, (*path, "model"), hint=hint, help=help_text)
    if isinstance(service.shape, str):
        check.need("load_shapes", service.shape, LoadShape, (*path, "shape"))
    elif service.shape is not None:
        values = [x.value for x in service.shape]
        if len(values) not in SHAPE_HOURS or not any(values):
            cause = (
                f"shape has {len(values)} numbers; give 24 for every day or 168 from Monday 00:00, "
                "one of them above 0"
            )
            check.add("DC004", cause, (*path, "shape"))
    check.unique((r.id for r in service.regions), (*path, "regions"))
    for i, region in enumerate(service.regions):
        check.need("sites", region.location, CatalogSite, (*path, "regions", i, "location"))
