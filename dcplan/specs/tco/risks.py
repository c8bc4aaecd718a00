"""Tables of ``tco`` on inputs at their bounds, and on sampled costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import InputKey, Now, OwnedOrRent
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class TornadoRow:
    """One input at its bounds."""

    input: InputKey
    low: Annotated[float, Column("Low bound of the input")]
    now: Now
    high: Annotated[float, Column("High bound of the input")]
    owned_at_low_usd: Annotated[
        float, Column("Present cost of owning with the input at its low bound", shown=Shown.VERBOSE)
    ]
    owned_at_high_usd: Annotated[
        float,
        Column("Present cost of owning with the input at its high bound", shown=Shown.VERBOSE),
    ]
    over_rent_at_low_usd: Annotated[
        float,
        Column(
            "Cost of owning minus the cheapest rent, with the input at its low bound; negative if "
            "owning costs less"
        ),
    ]
    over_rent_at_high_usd: Annotated[
        float,
        Column(
            "Cost of owning minus the cheapest rent, with the input at its high bound; negative "
            "if owning costs less"
        ),
    ]
    swing_usd: Annotated[float, Column("Absolute difference of the two")]
    switches_at: Annotated[
        float | str,
        Column(
            "Value nearest to the scenario's value at which both sides cost the same; or none "
            "within the bounds"
        ),
    ]


@dataclass(frozen=True)
class TokenTornadoRow:
    """One input at its bounds, and the cost of tokens of the reference job."""

    input: InputKey
    low: Annotated[float, Column("Low bound of the input")]
    now: Now
    high: Annotated[float, Column("High bound of the input")]
    usd_per_million_tokens_at_low: Annotated[
        float, Column("Present cost of owning per million tokens, with the input at its low bound")
    ]
    usd_per_million_tokens_at_high: Annotated[
        float, Column("Present cost of owning per million tokens, with the input at its high bound")
    ]
    swing_usd_per_million_tokens: Annotated[float, Column("Absolute difference of the two")]


@dataclass(frozen=True)
class RiskRow:
    """One side in the Monte Carlo simulation."""

    side: OwnedOrRent
    mean_usd: Annotated[float, Column("Mean present cost over the sampled scenarios")]
    p5_usd: Annotated[
        float, Column("5th percentile of the present cost over the sampled scenarios")
    ]
    p10_usd: Annotated[
        float, Column("10th percentile of the present cost over the sampled scenarios")
    ]
    p50_usd: Annotated[float, Column("Median present cost over the sampled scenarios")]
    p90_usd: Annotated[
        float, Column("90th percentile of the present cost over the sampled scenarios")
    ]
    p95_usd: Annotated[
        float, Column("95th percentile of the present cost over the sampled scenarios")
    ]
    cheapest_frac: Annotated[
        float, Column("Share of sampled scenarios in which this side costs least")
    ]


TORNADO = TableSpec(
    "tornado",
    TornadoRow,
    "Cost of owning minus the cheapest rent, with one input at its bounds",
    first=8,
    section=Section.RISK,
    by_item=True,
)


TOKEN_TORNADO = TableSpec(
    "token_tornado",
    TokenTornadoRow,
    "Cost of a million tokens of the reference job on the owned fleet, with one input at its bounds",
    first=5,
    section=Section.RISK,
    by_item=True,
)


RISK = TableSpec(
    "risk", RiskRow, "Monte Carlo simulation of both sides", first=8, section=Section.RISK
)
