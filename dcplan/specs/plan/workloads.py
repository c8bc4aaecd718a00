"""Workloads of a plan: what serves them in which quarter, and the cost that each bears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Quarter
from dcplan.specs.table import Column, Section, Shown, TableSpec

Workload = Annotated[
    str,
    Column(
        "Id of the training job or demand; (unused) for capacity that no workload uses, (paid "
        "before the plan) for sales and residual value of earlier hardware"
    ),
]
Kind = Annotated[str, Column("Training, capacity or inference; else what the row has instead")]
_ACCELERATORS = Column("Average of the accelerators over all hours of the quarter, with spares")
_HARDWARE = Column("Systems and their maintenance, by accelerator-hours")
_NETWORK = Column("Compute fabric, by NIC ports")
_STORAGE = Column("Shared storage, by accelerator-hours")
_ENERGY = Column("Energy by kWh, and demand charge by peak power")
_SPACE = Column(
    "Buildings, cooling, power equipment, lease, facility and staff, by rated power of the "
    "accelerators"
)
_CLOUD = Column("Rent of its own use, and commitments by the use that they cover")
_UNSERVED = Column("Value of its unserved demand")


@dataclass(frozen=True)
class WorkloadSystemRow:
    """Accelerators of one system or offer that serve one workload, over the horizon."""

    workload: Workload
    kind: Kind
    system: Annotated[str, Column("System, or accelerator of a cloud offer")]
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    first_quarter: Annotated[str, Column("First quarter with accelerators")]
    last_quarter: Annotated[str, Column("Last quarter with accelerators")]
    largest_accelerators: Annotated[
        float, Column("Largest of the quarterly averages of the accelerators")
    ]
    accelerator_hours: Annotated[float, Column("Accelerator-hours of the horizon, with spares")]
    energy_mwh: Annotated[
        float, Column("Energy of the facility for these accelerators; 0 for rent")
    ]
    present_cost_usd: Annotated[float, Column("Present cost of these accelerators")]


WORKLOAD_SYSTEMS = TableSpec(
    "workload_systems",
    WorkloadSystemRow,
    "Workloads by system",
    first=12,
    section=Section.ORDERS,
    by_item=True,
)


@dataclass(frozen=True)
class ServedRow:
    """Accelerators of one system or offer that serve one workload in one quarter."""

    workload: Workload
    kind: Kind
    system: Annotated[
        str | None, Column("System, or accelerator of a cloud offer; empty for a whole site")
    ]
    place: Annotated[
        str | None, Column("Hall as site/hall, or cloud and the offer; empty for a whole site")
    ]
    quarter: Quarter
    average_accelerators: Annotated[float, _ACCELERATORS]
    accelerator_hours: Annotated[
        float, Column("Accelerator-hours of the quarter, with spares", shown=Shown.VERBOSE)
    ]
    amount: Annotated[
        float | None, Column("Amount served, average of the quarter; for a run, its days")
    ]
    unit: Annotated[
        str | None, Column("Scenario field that sets the unit of the amount; days for a run")
    ]
    energy_mwh: Annotated[
        float, Column("Energy of the facility for these accelerators; 0 for rent")
    ]
    cost_usd: Annotated[
        float, Column("Cost of the quarter, with the quarter's charge for assets; not discounted")
    ]


SERVED_BY = TableSpec(
    "served_by",
    ServedRow,
    "Workloads by system and quarter",
    shown=Shown.VERBOSE,
    section=Section.ORDERS,
    by_item=True,
)


@dataclass(frozen=True)
class WorkloadCostRow:
    """Present cost of one workload over the horizon."""

    workload: Workload
    kind: Kind
    present_cost_usd: Annotated[
        float, Column("Present cost; the rows sum to the net present cost of the plan")
    ]
    after_tax_usd: Annotated[
        float | None,
        Column(
            "Present cost after taxes, payment terms and debt; the rows sum to "
            "cost.after_tax_npv_usd. All other costs of this table are before them"
        ),
    ]
    usd_share_frac: Annotated[float | None, Column("Share of the net present cost")]
    hardware_usd: Annotated[float, _HARDWARE]
    network_usd: Annotated[float, _NETWORK]
    storage_usd: Annotated[float, _STORAGE]
    energy_usd: Annotated[float, _ENERGY]
    space_usd: Annotated[float, _SPACE]
    cloud_usd: Annotated[float, _CLOUD]
    unserved_usd: Annotated[float, _UNSERVED]
    with_unused_usd: Annotated[
        float, Column("Present cost with that of unused capacity spread over the workloads")
    ]
    accelerator_hours: Annotated[float, Column("Accelerator-hours of the horizon, with spares")]
    cost_usd_per_accelerator_hour: Annotated[
        float | None, Column("Present cost over the discounted accelerator-hours")
    ]
    usd_per_run: Annotated[
        float | None, Column("Present cost of the training run", shown=Shown.VERBOSE)
    ]
    usd_per_million_tokens: Annotated[
        float | None, Column("Present cost over the discounted tokens that are served")
    ]


WORKLOAD_COSTS = TableSpec(
    "workload_costs",
    WorkloadCostRow,
    "Present cost by workload",
    section=Section.COST,
    by_item=True,
)


@dataclass(frozen=True)
class WorkloadQuarterRow:
    """Cost of one workload in one quarter."""

    workload: Workload
    kind: Kind
    quarter: Quarter
    average_accelerators: Annotated[float, _ACCELERATORS]
    cost_usd: Annotated[
        float,
        Column(
            "Cost of the quarter, not discounted: running cost, and the charge that recovers the "
            "price of assets, less residual value, over their quarters in service"
        ),
    ]
    with_unused_usd: Annotated[
        float, Column("Cost of the quarter with that of unused capacity spread over the workloads")
    ]
    hardware_usd: Annotated[float, _HARDWARE]
    network_usd: Annotated[float, _NETWORK]
    storage_usd: Annotated[float, _STORAGE]
    energy_usd: Annotated[float, _ENERGY]
    space_usd: Annotated[float, _SPACE]
    cloud_usd: Annotated[float, _CLOUD]
    unserved_usd: Annotated[float, _UNSERVED]
    usd_per_million_tokens: Annotated[
        float | None, Column("Cost of the quarter over the tokens that are served in it")
    ]


WORKLOAD_COSTS_BY_QUARTER = TableSpec(
    "workload_costs_by_quarter",
    WorkloadQuarterRow,
    "Cost by workload and quarter, not discounted",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
