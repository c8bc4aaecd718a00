"""Columns with the same meaning in every table."""

from __future__ import annotations

from typing import Annotated

from dcplan.specs.table import Column

ConfidenceFrac = Annotated[
    float,
    Column(
        "Confidence level that the job requires: probability that the run takes at most the "
        "duration at confidence"
    ),
]
Cooling = Annotated[str, Column("Catalog id of the cooling option")]
Equipment = Annotated[str, Column("Kind of equipment")]
GapFrac = Annotated[
    float | None, Column("Proven gap to the best possible cost, as a fraction of the cost found")
]
Hall = Annotated[str, Column("Site and hall, as site/hall")]
InputKey = Annotated[str, Column("Key of the uncertain input")]
Job = Annotated[str, Column("Id of the training job in the scenario")]
Layout = Annotated[str | None, Column("Parallel layout of the run, as key=value pairs")]
MetricKey = Annotated[str, Column("Key of the metric")]
MfuFrac = Annotated[
    float | None,
    Column("Model FLOPs utilization: model FLOP/s over the dense peak of the precision"),
]
Now = Annotated[float | str | None, Column("Value of the input in the scenario")]
Offer = Annotated[str, Column("Catalog id of the cloud offer")]
OwnedOrRent = Annotated[str, Column("Owned, or the offer and term of a rent")]
P50_DAYS = Column("Median duration of the run, including interruptions and lost work")
P50Days = Annotated[float | None, P50_DAYS]
PRECISION = Column("Catalog id of the run's precision recipe")
Precision = Annotated[str | None, PRECISION]
Quarter = Annotated[str, Column("Calendar quarter, as YYYY-Qn")]
System = Annotated[str, Column("Catalog id of the system")]
Term = Annotated[
    str, Column("Rental term: on-demand, spot, capacity-block or the length of a commitment")
]
Variant = Annotated[
    str | None, Column("Variant in the scenario's scenarios block; empty for the base scenario")
]
