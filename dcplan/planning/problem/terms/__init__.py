"""Tables of every candidate with its coefficients: the only input of the model and the audit.

Indices: ``hall`` and ``site`` are ids (``site/hall`` for halls), ``t`` counts quarters from 0,
months from 0.
"""

from __future__ import annotations

from dcplan.planning.problem.terms.finance import FinanceTerms, LeaseTerms
from dcplan.planning.problem.terms.hardware import (
    ExistingTerms,
    FleetTerms,
    PartsTerms,
    Placement,
    SupplyTerms,
)
from dcplan.planning.problem.terms.network import (
    NO_FABRIC,
    FabricOption,
    LeafGroup,
    Margin,
    NetworkShare,
    PortClass,
    SwitchSteps,
)
from dcplan.planning.problem.terms.problem import PlanningProblem
from dcplan.planning.problem.terms.site import Cooled, CoolingTerms, HallTerms, SiteTerms
from dcplan.planning.problem.terms.storage import ALL_DATA, COLD, HOT, StorageChoice, StorageShare
from dcplan.planning.problem.terms.upgrades import Capacity, UpgradeTerms

__all__ = [
    "ALL_DATA",
    "COLD",
    "HOT",
    "NO_FABRIC",
    "Capacity",
    "Cooled",
    "CoolingTerms",
    "ExistingTerms",
    "FabricOption",
    "FinanceTerms",
    "FleetTerms",
    "HallTerms",
    "LeafGroup",
    "LeaseTerms",
    "Margin",
    "NetworkShare",
    "PartsTerms",
    "Placement",
    "PlanningProblem",
    "PortClass",
    "SiteTerms",
    "StorageChoice",
    "StorageShare",
    "SupplyTerms",
    "SwitchSteps",
    "UpgradeTerms",
]
