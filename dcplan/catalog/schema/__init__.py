"""The kinds of the catalog: folder name -> files -> row model."""

from __future__ import annotations

from dcplan.catalog.schema.base import Parameter, Row
from dcplan.catalog.schema.demand import LoadShape
from dcplan.catalog.schema.device_types import DeviceType
from dcplan.catalog.schema.engine import Engine, EngineRelease, ServingFamily
from dcplan.catalog.schema.glossary import Term
from dcplan.catalog.schema.hardware import Accelerator, System
from dcplan.catalog.schema.market import Curve, DepreciationTable, Offer, Region
from dcplan.catalog.schema.network import Fabric, Nic, Optic, Switch
from dcplan.catalog.schema.place import CoolingOption, OnsitePower, PueRow, ReportedSite, Site
from dcplan.catalog.schema.reliability import Component, StorageTier
from dcplan.catalog.schema.serving import TensorFormats, WeightFormat
from dcplan.catalog.schema.training import (
    Dispatcher,
    ExpertPath,
    Family,
    Recipe,
    Release,
    Stack,
    TrainingTerms,
)
from dcplan.catalog.schema.workload import LibraryDefaults, Model

KINDS: dict[str, type[Row]] = {
    "accelerators": Accelerator,
    "systems": System,
    "switches": Switch,
    "device_types": DeviceType,
    "nics": Nic,
    "optics": Optic,
    "fabrics": Fabric,
    "network": Parameter,
    "facility": Parameter,
    "onsite": OnsitePower,
    "cooling": CoolingOption,
    "pue": PueRow,
    "reported": ReportedSite,
    "power": Parameter,
    "storage": Parameter,
    "storage_tiers": StorageTier,
    "sites": Site,
    "cloud": Offer,
    "regions": Region,
    "models": Model,
    "library_defaults": LibraryDefaults,
    "families": Family,
    "stacks": Stack,
    "recipes": Recipe,
    "formats": WeightFormat,
    "training": Parameter,
    "serving": Parameter,
    "load_shapes": LoadShape,
    "engines": Engine,
    "serving_families": ServingFamily,
    "reliability": Parameter,
    "components": Component,
    "finance": Parameter,
    "residuals": Curve,
    "depreciation": DepreciationTable,
    "glossary": Term,
}
"""A file declares its kind in its first key (``systems:``), so a folder may hold several kinds."""

__all__ = [
    "KINDS",
    "Accelerator",
    "Component",
    "CoolingOption",
    "Curve",
    "DepreciationTable",
    "DeviceType",
    "Dispatcher",
    "Engine",
    "EngineRelease",
    "ExpertPath",
    "Fabric",
    "Family",
    "LibraryDefaults",
    "LoadShape",
    "Model",
    "Nic",
    "Offer",
    "OnsitePower",
    "Optic",
    "Parameter",
    "PueRow",
    "Recipe",
    "Region",
    "Release",
    "ReportedSite",
    "Row",
    "ServingFamily",
    "Site",
    "Stack",
    "StorageTier",
    "Switch",
    "System",
    "TensorFormats",
    "Term",
    "TrainingTerms",
    "WeightFormat",
]
