"""Formats that a result can be exported to."""

from __future__ import annotations

from enum import StrEnum


class Target(StrEnum):
    """Formats that a result can be exported to."""

    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"
    XLSX = "xlsx"
    HTML = "html"
    MD = "md"
    FOCUS = "focus"
    PURCHASES = "purchases"
    MEMO = "memo"
    NETBOX = "netbox"


SEVERAL = tuple(target for target in Target if target is not Target.NETBOX)
"""Formats that ``--export`` accepts."""
OF_A_PLAN = frozenset({Target.XLSX, Target.FOCUS, Target.PURCHASES, Target.MEMO})
"""Formats that the answer of ``dcplan plan`` has only where it contains a plan."""
FOLDERS = frozenset({Target.CSV, Target.PARQUET, Target.NETBOX})
"""Formats of several files."""
SUFFIX = {Target.FOCUS: "focus.csv", Target.PURCHASES: "purchases.csv", Target.MEMO: "memo.md"}
