"""Columns that mean the same in every table."""

from __future__ import annotations

from typing import Annotated

from dcplan.specs.table import Column

Cooling = Annotated[str, Column("Catalog id of the cooling option")]
Equipment = Annotated[str, Column("Kind of equipment")]
GapFrac = Annotated[
    float | None, Column("Proven gap, over the cost found, to the least that any plan could cost")
]
Hall = Annotated[str, Column("Site and hall, as site/hall")]
InputKey = Annotated[str, Column("Key of the uncertain input")]
Job = Annotated[str, Column("Id of the training job in the scenario")]
Layout = Annotated[str | None, Column("How the run is cut over accelerators, as key=value pairs")]
MetricKey = Annotated[str, Column("Key of the figure")]
MfuFrac = Annotated[
    float | None,
    Column("Model FLOPs utilization, model FLOP/s over the dense peak of the precision"),
]
Now = Annotated[float | str | None, Column("Value of the input as the scenario has it")]
Offer = Annotated[str, Column("Catalog id of the cloud offer")]
P50_DAYS = Column("Median length of the run, stops and lost work in it")
P50Days = Annotated[float | None, P50_DAYS]
PRECISION = Column("Catalog recipe of number formats that the run is computed in")
Precision = Annotated[str | None, PRECISION]
Quarter = Annotated[str, Column("Calendar quarter, as YYYY-Qn")]
System = Annotated[str, Column("Catalog id of the system")]
Term = Annotated[
    str, Column("Rental term, on-demand, spot, capacity-block or a commitment by its length")
]
Variant = Annotated[
    str | None, Column("Name in the scenario's scenarios block; empty for the file without any")
]
