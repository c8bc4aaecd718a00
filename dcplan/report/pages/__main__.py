"""Write the generated pages: ``python -m dcplan.report.pages docs``."""

from __future__ import annotations

import sys
from pathlib import Path

from dcplan.report.pages import reference, validation
from dcplan.report.pages.python import python_page

PAGES = reference.PAGES | {"reference/python.md": python_page} | validation.PAGES
"""Every page that ``make docs`` writes and git ignores, by its path under ``docs/``."""


def main(folder: Path) -> None:
    """Write every generated page under a folder."""
    for name, text in PAGES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
