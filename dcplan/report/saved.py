"""Results read back from where they were saved."""

from __future__ import annotations

import json
from pathlib import Path

from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result, from_dict


def read_result(path: Path) -> Result:
    """Return a result that was saved with ``-f json -o``.

    Raises
    ------
    InputError
        DC006 when the file is missing or is not a result.
    """
    try:
        return from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        help_text = "make one with: dcplan plan FILE -f json -o result.json"
        problem = Problem(
            "DC006", f"not a dcplan result: {error}", Place(str(path)), help=help_text
        )
        raise InputError([problem]) from error
