"""Names of the engines."""

from __future__ import annotations

from enum import StrEnum


class EngineName(StrEnum):
    """Engines that run the solves of a study."""

    SERIAL = "serial"
    PROCESSES = "processes"
    DASK = "dask"
