"""The plan with the data of its workbook: what the command line and ``dcplan.plan`` return."""

from __future__ import annotations

import functools
from typing import Any

from dcplan.answers.plan import answer
from dcplan.report.book.data.tables import book_tables
from dcplan.result import Result


@functools.wraps(answer.plan)
def plan(*args: Any, **options: Any) -> Result:
    """Plan a scenario; the result holds what an exported workbook is computed from."""
    return answer.plan(*args, **options, more_tables=(book_tables,))
