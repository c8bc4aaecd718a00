"""Cable schedule as CSV, streamed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dcplan.answers.fabric.inventory import Cabled
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.report.csvs import csv_lines
from dcplan.report.files import write_whole

COLUMNS = (
    "cable",
    "tier",
    "from_device",
    "from_port",
    "from_rack",
    "to_device",
    "to_port",
    "to_rack",
    "type",
    "part",
    "path_m",
    "length_m",
)


def write_cables(cables: Iterable[Cabled], file: Path | None) -> int:
    """Write one row per cable to a file or to stdout, and return their number.

    ``path_m`` is the length of the path with slack, ``length_m`` the stock length bought for it.
    """
    count = 0

    def rows() -> Iterator[tuple[object, ...]]:
        nonlocal count
        for one in cables:
            count, c = count + 1, one.cable
            bought = float(STOCK_M[c.stock]) if c.stock < STOCK_M.size else c.length_m
            ends = (c.from_device, c.from_port, c.from_rack, c.to_device, c.to_port, c.to_rack)
            yield (count, c.tier, *ends, one.kind, one.part, c.length_m, bought)

    lines = csv_lines(COLUMNS, rows())
    if file is None:
        sys.stdout.writelines(lines)
    else:
        write_whole(file, lines)
    return count
