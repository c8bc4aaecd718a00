"""Services of a plan: replicas with their latency and power, and the periods of the week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Quarter, System
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class ServiceRow:
    """Replicas of one service in one place and quarter, at its highest load."""

    quarter: Quarter
    service: Annotated[str, Column("Id of the service, with the region of its users")]
    model: Annotated[str, Column("Model of the catalog, or its file", shown=Shown.VERBOSE)]
    place: Annotated[str, Column("Hall or cloud offer")]
    system: System
    pool: Annotated[str, Column("Work of the replicas: prefill, decode, or both")]
    engine: Annotated[str, Column("Serving engine and release line", shown=Shown.VERBOSE)]
    precision: Annotated[str, Column("Format of the weights")]
    layout: Annotated[str, Column("Parallel layout of a replica")]
    replicas: Annotated[
        float,
        Column("Replicas at the highest load, without spares; fractions are rented by the hour"),
    ]
    spare_replicas: Annotated[int, Column("Idle replicas that replace failed ones")]
    accelerators: Annotated[float, Column("Accelerators of all replicas at the highest load")]
    output_tokens_per_s: Annotated[float, Column("Output tokens per second at the highest load")]
    ttft_ms: Annotated[
        float | None,
        Column(
            "Time to first token that the required share of the requests keeps, with the network"
        ),
    ]
    ttft_limit_ms: Annotated[float, Column("Limit of the time to first token", shown=Shown.VERBOSE)]
    tpot_ms: Annotated[
        float | None, Column("Time per output token that the required share of the requests keeps")
    ]
    tpot_limit_ms: Annotated[
        float, Column("Limit of the time per output token", shown=Shown.VERBOSE)
    ]


SERVICES = TableSpec(
    "services", ServiceRow, "Services at their highest load", first=10, section=Section.ORDERS
)


@dataclass(frozen=True)
class ServiceLoadRow:
    """Load, accelerators, power and energy of one service in one period of the week."""

    quarter: Quarter
    service: Annotated[str, Column("Id of the service, with the region of its users")]
    period: Annotated[int, Column("Period of the week; 1 has the highest loads")]
    hours_per_week: Annotated[float, Column("Hours of the period in a week")]
    output_tokens_per_s: Annotated[float, Column("Mean output tokens per second in the period")]
    owned_accelerators: Annotated[float, Column("Owned accelerators of the replicas, with spares")]
    rented_accelerators: Annotated[float, Column("Rented accelerators in the period")]
    it_kw: Annotated[float | None, Column("Mean IT power of the owned accelerators")]
    energy_j_per_token: Annotated[
        float | None, Column("IT energy of an output token on owned accelerators")
    ]


SERVICE_LOADS = TableSpec(
    "service_loads",
    ServiceLoadRow,
    "Load, accelerators and energy of the services by period of the week",
    shown=Shown.VERBOSE,
    section=Section.ORDERS,
)


@dataclass(frozen=True)
class LoadPeriodRow:
    """One period of the week."""

    period: Annotated[int, Column("Period of the week; 1 has the highest loads")]
    hours_per_week: Annotated[float, Column("Hours of the period in a week")]
    hours_utc: Annotated[str, Column("Hours of the week in UTC, by weekday")]


LOAD_PERIODS = TableSpec(
    "load_periods",
    LoadPeriodRow,
    "Periods of the week with different loads",
    shown=Shown.VERBOSE,
    section=Section.ORDERS,
)
